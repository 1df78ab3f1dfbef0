/* SPDX-License-Identifier: Apache-2.0 */
/* Plan classes before real and made-up hosts: every field of the table does something, every
 * built-in class goes to the hosts that it is for, and whoever is refused is told by how much. */
#include "server/policy/plan_class/plan_verdict.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/marked.h"
#include "server/base/xml.h"
#include "server/parse/client_age.h"
#include "server/policy/plan_class/coproc_figures.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_versions.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

static struct arena *arena;
static struct parsed *parsed;
static struct plan_host host;

/* The host of a capture, as the server sees it. */
static void use_capture(const char *number)
{
    struct text body = capture_read(number);

    parsed_free(parsed);
    parsed = parse_body(body);
    text_free(body);
    assert_status(STATUS_OK, parsed->status);
    host = (struct plan_host){.message = &parsed->message,
                              .client_version = message_client_version(&parsed->message),
                              .userid = 17,
                              .cpus = (double)parsed->message.p_ncpus,
                              .memory = parsed->message.m_nbytes,
                              .cpu_flops = 4e9,
                              .primary_platform = parsed->message.platforms[0],
                              .chance = 0.5};
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 24);
    parsed = NULL;
    use_capture("137");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    parsed_free(parsed);
    parsed = NULL;
    arena_destroy(arena);
    return 0;
}

static struct plan_verdict judge_builtin(const char *name)
{
    struct plan_classes classes = plan_classes_builtin();

    return plan_class_judge(&classes, text_from(name), &host, arena);
}

/* The class "c" of these elements, from a file. */
static struct plan_verdict judge_spec(const char *elements)
{
    struct text document = text_print(
        arena, "<plan_classes><plan_class><name>c</name>%s</plan_class></plan_classes>", elements);
    struct plan_classes classes;
    struct failure failure = {0};
    struct plan_verdict verdict;

    if (plan_classes_parse(document, &classes, &failure) != STATUS_OK)
        fail_msg("%s: %s", elements, failure.text);
    verdict = plan_class_judge(&classes, TEXT("c"), &host, arena);
    plan_classes_free(&classes);
    return verdict;
}

static void expect_refused(const char *elements, const char *words)
{
    struct plan_verdict verdict = judge_spec(elements);

    if (verdict.is_usable || !text_contains(verdict.why, text_from(words)))
        fail_msg("%s: usable %d, why \"" TEXT_FORMAT "\", wanted \"%s\"", elements,
                 verdict.is_usable, TEXT_ARG(verdict.why), words);
}

static void expect_usable(const char *elements)
{
    struct plan_verdict verdict = judge_spec(elements);

    if (!verdict.is_usable)
        fail_msg("%s: " TEXT_FORMAT, elements, TEXT_ARG(verdict.why));
}

/* --- every field ------------------------------------------------------------------------------ */

#define NVIDIA "<gpu_type>nvidia</gpu_type>"
#define ATI    "<gpu_type>ati</gpu_type>"
#define APPLE  "<gpu_type>apple_gpu</gpu_type>"
#define VBOX   "<virtualbox/><is64bit/>"

static void with_preferences(void)
{
    host.project_prefs = TEXT("<project_preferences>\n<gpu_part>0.5</gpu_part>\n<night>no</night>\n"
                              "</project_preferences>\n");
}

static void with_virtualbox(void)
{
    parsed->message.virtualbox_version = TEXT("7.0.10");
    parsed->message.p_features = TEXT("sse svm");
    parsed->message.p_vm_extensions_disabled = false;
}

static void without_acceleration(void)
{
    with_virtualbox();
    parsed->message.p_vm_extensions_disabled = true;
}

static struct wsl_distro distro;

static void with_wsl(void)
{
    parsed->message.os_name = TEXT("Microsoft Windows 11");
    parsed->message.os_version = TEXT("Professional x64 Edition, (10.00.22621.00)");
    distro = (struct wsl_distro){.distro_name = TEXT("boinc-buda-runner"),
                                 .libc_version = TEXT("2.31"),
                                 .docker_version = TEXT("27.0"),
                                 .distro_version = 4};
    parsed->message.distros = &distro;
    parsed->message.distro_count = 1;
}

static void with_android(void)
{
    parsed->message.os_name = TEXT("Android");
    parsed->message.os_version = TEXT("5.4.86 (Android 11)");
}

static void with_apple(void)
{
    parsed->message.coprocs[0] = (struct coproc){
        .type = TEXT("apple_gpu"), .count = 1, .has_metal = true, .metal_support = 2};
}

static void with_cal(void)
{
    for (size_t i = 0; i < parsed->message.coproc_count; i++)
        parsed->message.coprocs[i].has_cal = true;
}

static void with_generic(void)
{
    use_capture("052");
}

/* What a field does: with it the verdict on `base` is another one. */
static const struct effect {
    const char *field, *base, *element;
    void (*prepare)(void);
} effects[] = {
    {"avg_ncpus", "", "<avg_ncpus>0.5</avg_ncpus>", NULL},
    {"cal", ATI, "<cal/>", NULL},
    {"cpu_feature", "", "<cpu_feature>avx512x</cpu_feature>", NULL},
    {"cpu_frac", NVIDIA, "<cpu_frac>0.3</cpu_frac>", NULL},
    {"cpu_model_regex", "", "<cpu_model_regex>^Intel</cpu_model_regex>", NULL},
    {"cpu_vendor_regex", "", "<cpu_vendor_regex>Intel</cpu_vendor_regex>", NULL},
    {"cuda", NVIDIA "<min_cuda_version>13000</min_cuda_version>", "<cuda/>", NULL},
    {"disabled", "", "<disabled>1</disabled>", NULL},
    {"docker", "", "<docker/>", NULL},
    {"double_precision_fp", "<gpu_type>intel_gpu</gpu_type><opencl/>", "<double_precision_fp/>",
     NULL},
    {"exclude_vbox_version", VBOX, "<exclude_vbox_version>70010</exclude_vbox_version>",
     with_virtualbox},
    {"gpu_peak_flops_scale", NVIDIA, "<gpu_peak_flops_scale>0.2</gpu_peak_flops_scale>", NULL},
    {"gpu_ram_used_mb", NVIDIA, "<gpu_ram_used_mb>700</gpu_ram_used_mb>", NULL},
    {"gpu_type", "", "<gpu_type>intel_gpu</gpu_type>", NULL},
    {"gpu_type_regex", "", "<gpu_type_regex>^miner_</gpu_type_regex>", with_generic},
    {"gpu_utilization_tag", NVIDIA, "<gpu_utilization_tag>gpu_part</gpu_utilization_tag>",
     with_preferences},
    {"infeasible_random", "", "<infeasible_random>0.6</infeasible_random>", NULL},
    {"is64bit", "<virtualbox/>", "<is64bit/>", with_virtualbox},
    {"max_android_version", "", "<max_android_version>100000</max_android_version>", with_android},
    {"max_batch", "", "<max_batch>7</max_batch>", NULL},
    {"max_cal_target", ATI, "<max_cal_target>19</max_cal_target>", NULL},
    {"max_core_client_version", "", "<max_core_client_version>70000</max_core_client_version>",
     NULL},
    {"max_cuda_version", NVIDIA "<cuda/>", "<max_cuda_version>11000</max_cuda_version>", NULL},
    {"max_driver_version", NVIDIA, "<max_driver_version>50000</max_driver_version>", NULL},
    {"max_gpu_peak_flops", NVIDIA, "<max_gpu_peak_flops>1e12</max_gpu_peak_flops>", NULL},
    {"max_nvidia_compcap", NVIDIA, "<max_nvidia_compcap>799</max_nvidia_compcap>", NULL},
    {"max_opencl_driver_revision", NVIDIA "<opencl/>",
     "<max_opencl_driver_revision>50000</max_opencl_driver_revision>", NULL},
    {"max_opencl_version", NVIDIA "<opencl/>", "<max_opencl_version>200</max_opencl_version>",
     NULL},
    {"max_os_version", "", "<max_os_version>50000</max_os_version>", NULL},
    {"max_threads", "", "<max_threads>3</max_threads>", NULL},
    {"max_vbox_version", VBOX, "<max_vbox_version>60000</max_vbox_version>", with_virtualbox},
    {"max_wu_id", "", "<max_wu_id>7</max_wu_id>", NULL},
    {"mem_usage_base_mb", "", "<mem_usage_base_mb>100</mem_usage_base_mb>", NULL},
    {"mem_usage_per_cpu_mb", "", "<mem_usage_per_cpu_mb>100</mem_usage_per_cpu_mb>", NULL},
    {"min_android_version", "", "<min_android_version>120000</min_android_version>", with_android},
    {"min_batch", "", "<min_batch>7</min_batch>", NULL},
    {"min_boinc_wsl_distro_version", "<docker/>",
     "<min_boinc_wsl_distro_version>5</min_boinc_wsl_distro_version>", with_wsl},
    {"min_cal_target", ATI, "<min_cal_target>21</min_cal_target>", NULL},
    {"min_core_client_version", "", "<min_core_client_version>90000</min_core_client_version>",
     NULL},
    {"min_cuda_version", NVIDIA "<cuda/>", "<min_cuda_version>13000</min_cuda_version>", NULL},
    {"min_driver_version", NVIDIA, "<min_driver_version>60000</min_driver_version>", NULL},
    {"min_gpu_peak_flops", NVIDIA, "<min_gpu_peak_flops>1e15</min_gpu_peak_flops>", NULL},
    {"min_gpu_ram_mb", NVIDIA, "<min_gpu_ram_mb>10000</min_gpu_ram_mb>", NULL},
    {"min_libc_version", "", "<min_libc_version>237</min_libc_version>", NULL},
    {"min_metal_support", APPLE, "<min_metal_support>3</min_metal_support>", with_apple},
    {"min_ncpus", "", "<min_ncpus>5</min_ncpus>", NULL},
    {"min_nvidia_compcap", NVIDIA, "<min_nvidia_compcap>900</min_nvidia_compcap>", NULL},
    {"min_opencl_driver_revision", NVIDIA "<opencl/>",
     "<min_opencl_driver_revision>60000</min_opencl_driver_revision>", NULL},
    {"min_opencl_version", NVIDIA "<opencl/>", "<min_opencl_version>301</min_opencl_version>",
     NULL},
    {"min_os_version", "", "<min_os_version>60200</min_os_version>", NULL},
    {"min_vbox_version", VBOX, "<min_vbox_version>70100</min_vbox_version>", with_virtualbox},
    {"min_wu_id", "", "<min_wu_id>7</min_wu_id>", NULL},
    {"name", "", "<name>other</name>", NULL},
    {"need_amd_libs", ATI, "<need_amd_libs/>", NULL},
    {"need_ati_libs", ATI "<need_amd_libs/>", "<need_ati_libs/>", NULL},
    {"ngpus", NVIDIA, "<ngpus>0.5</ngpus>", NULL},
    {"nthreads_cmdline", "", "<nthreads_cmdline/>", NULL},
    {"opencl", NVIDIA "<max_opencl_version>200</max_opencl_version>", "<opencl/>", NULL},
    {"os_regex", "", "<os_regex>^Fedora</os_regex>", NULL},
    {"project_prefs_default_true",
     "<project_prefs_tag>day</project_prefs_tag><project_prefs_regex>yes</project_prefs_regex>",
     "<project_prefs_default_true/>", with_preferences},
    {"project_prefs_regex", "<project_prefs_tag>night</project_prefs_tag>",
     "<project_prefs_regex>yes</project_prefs_regex>", with_preferences},
    {"project_prefs_tag", "<project_prefs_regex>yes</project_prefs_regex>",
     "<project_prefs_tag>night</project_prefs_tag>", with_preferences},
    {"projected_flops_scale", "", "<projected_flops_scale>1.5</projected_flops_scale>", NULL},
    {"user_id", "", "<user_id>18</user_id>", NULL},
    {"virtualbox", "", "<virtualbox/>", NULL},
    {"vm_accel_required", VBOX, "<vm_accel_required/>", without_acceleration},
    {"without_opencl", ATI, "<without_opencl/>", NULL},
    {"wsl", "", "<wsl/>", NULL},
};

static bool same_bounds(const struct plan_bounds *a, const struct plan_bounds *b)
{
    return a->min_wu_id == b->min_wu_id && a->max_wu_id == b->max_wu_id &&
           a->min_batch == b->min_batch && a->max_batch == b->max_batch;
}

static bool is_same(const struct plan_verdict *a, const struct plan_verdict *b)
{
    return a->is_usable == b->is_usable && a->is_fit == b->is_fit && a->memory == b->memory &&
           same_bounds(&a->bounds, &b->bounds) && a->usage.avg_ncpus == b->usage.avg_ncpus &&
           text_equal(a->usage.coproc_type, b->usage.coproc_type) &&
           a->usage.coproc_count == b->usage.coproc_count && a->usage.gpu_ram == b->usage.gpu_ram &&
           a->usage.projected_flops == b->usage.projected_flops &&
           a->usage.peak_flops == b->usage.peak_flops &&
           text_equal(a->usage.cmdline, b->usage.cmdline);
}

static const struct effect *find_effect(const char *field)
{
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
        if (strcmp(effects[i].field, field) == 0)
            return &effects[i];
    fail_msg("no effect of %s is known", field);
    return NULL;
}

static void expect_effect(const char *field)
{
    const struct effect *effect = find_effect(field);
    struct plan_verdict without, with;
    const char *both;

    use_capture("137");
    if (effect->prepare != NULL)
        effect->prepare();
    both = text_string(arena, text_print(arena, "%s%s", effect->base, effect->element));
    without = judge_spec(effect->base);
    with = judge_spec(both);
    if (is_same(&without, &with))
        fail_msg("%s changes nothing", field);
    if (!with.is_usable && with.why.length == 0)
        fail_msg("%s refuses without a word", field);
    if (!without.is_usable && strcmp(field, "is64bit") != 0 &&
        strcmp(field, "need_ati_libs") != 0 && strcmp(field, "project_prefs_default_true") != 0)
        fail_msg("%s: the base is refused: " TEXT_FORMAT, field, TEXT_ARG(without.why));
}

static void every_field_has_an_effect(void **state)
{
    (void)state;
#define FIELD(name, type, default_, of) expect_effect(#name);
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
}

/* --- built-in classes on the hosts of captures ----------------------------------------------- */

static void built_in_classes_go_to_the_right_hosts(void **state)
{
    /* 057: NVIDIA GeForce RTX 3070; 137: the same, AMD Radeon RX 6800 (no CAL), Intel UHD 770;
     * 052: a generic coprocessor; 066: none; 001: one CPU */
    static const struct {
        const char *capture, *class, *type; /* type NULL: refused; "": on the CPU */
    } rows[] = {
        {"057", "mt", ""},
        {"057", "nci", ""},
        {"057", "sse3", ""},
        {"057", "cuda", NULL}, /* for old cards only */
        {"057", "cuda23", NULL},
        {"057", "cuda_fermi", "NVIDIA"},
        {"057", "cuda102", NULL}, /* no such class */
        {"057", "ati14", NULL},
        {"057", "opencl_nvidia_101", "NVIDIA"},
        {"057", "opencl_nvidia_301", NULL}, /* the card has 3.0 */
        {"057", "opencl_ati_101", NULL},
        {"057", "opencl_intel_gpu_101", NULL},
        {"057", "vbox64_mt", NULL},
        {"057", "wsl", NULL},
        {"057", "opencl_cpu_intel", NULL},
        {"057", "anything", NULL},
        {"137", "cuda_fermi", "NVIDIA"},
        {"137", "opencl_nvidia_101", "NVIDIA"},
        {"137", "opencl_amd_101", "ATI"},
        {"137", "opencl_ati_200", "ATI"},
        {"137", "opencl_ati_210", NULL}, /* the device has 2.0, though its platform has 2.1 */
        {"137", "ati", NULL},
        {"137", "ati13ati", NULL},
        {"137", "opencl_intel_gpu_101", "intel_gpu"},
        {"137", "opencl_apple_gpu", NULL},
        {"137", "mt", ""},
        {"052", "cuda_fermi", NULL},
        {"052", "opencl_nvidia_101", NULL},
        {"052", "mt", ""},
        {"066", "cuda_fermi", NULL},
        {"066", "mt", ""},
        {"001", "opencl_intel_gpu_101", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct plan_verdict verdict;

        use_capture(rows[i].capture);
        verdict = judge_builtin(rows[i].class);
        if (verdict.is_usable != (rows[i].type != NULL) ||
            (rows[i].type != NULL && !text_is(verdict.usage.coproc_type, rows[i].type)))
            fail_msg("%s on %s: usable %d, \"" TEXT_FORMAT "\", " TEXT_FORMAT, rows[i].class,
                     rows[i].capture, verdict.is_usable, TEXT_ARG(verdict.usage.coproc_type),
                     TEXT_ARG(verdict.why));
        if (!verdict.is_usable && verdict.why.length == 0)
            fail_msg("%s refuses %s without a word", rows[i].class, rows[i].capture);
    }
}

static void old_cards_get_the_old_classes(void **state)
{
    struct coproc *card = &parsed->message.coprocs[0];

    (void)state;
    card->compute_major = 1;
    card->compute_minor = 3;
    assert_true(judge_builtin("cuda").is_usable);
    assert_true(judge_builtin("cuda23").is_usable);
    assert_false(judge_builtin("cuda_fermi").is_usable);
    card->cuda_version = 2020;
    assert_true(judge_builtin("cuda").is_usable);
    assert_false(judge_builtin("cuda23").is_usable);
    card->driver_version = 17600;
    assert_text(judge_builtin("cuda").why,
                "it needs driver 177.00 or later; yours is 176.00. " MARKED(SAYS_DRIVER_FOR_APPS));
    card->driver_version = 0; /* not known: no reason to refuse */
    assert_true(judge_builtin("cuda").is_usable);
    card->compute_major = 0;
    card->compute_minor = 99;
    assert_text(judge_builtin("cuda").why,
                "it needs compute capability 1.0 or later; yours is 0.99");
}

static void versions_are_written_as_people_do(void **state)
{
    static const struct {
        enum version_form form;
        double version;
        const char *words;
    } cases[] = {
        {VERSION_PLAIN, 14, "14"},
        {VERSION_OF_CLIENT, 80206, "8.2.6"},
        {VERSION_OF_CLIENT, 61234, "6.12.34"},
        {VERSION_OF_WINDOWS, 1001904500, "10.0.19045"},
        {VERSION_OF_WINDOWS, 601760100, "6.1.7601"},
        {VERSION_OF_LIBRARY, 236, "2.36"},
        {VERSION_OF_LIBRARY, 102, "1.2"},
        {VERSION_OF_LIBRARY, 705, "7.5"},
        {VERSION_OF_CUDA, 11040, "11.4"},
        {VERSION_OF_DRIVER, 53512, "535.12"},
        {VERSION_OF_DRIVER, 57204, "572.04"},
        {VERSION_OF_CAL, 10041741, "1.4.1741"},
        {VERSION_OF_CLIENT, -1, "unknown"},
        {VERSION_OF_DRIVER, 1e300, "10000000000.00"},
        {VERSION_OF_WINDOWS, 1e300, "10000.0.0"},
        {VERSION_OF_WINDOWS, -1, "unknown"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(version_words(cases[i].form, cases[i].version).text, cases[i].words);
}

static void a_card_without_its_library_is_refused(void **state)
{
    (void)state;
    parsed->message.coprocs[0].has_cuda = false;
    assert_false(judge_builtin("cuda_fermi").is_usable);
    assert_true(judge_builtin("opencl_nvidia").is_usable);
    parsed->message.coprocs[0].has_opencl = false;
    assert_text(
        judge_builtin("opencl_nvidia").why,
        "it needs OpenCL, which your graphics driver does not offer. " MARKED(SAYS_DRIVER_FOR_GPU));
    /* A client of 6.12 says nothing of libraries. */
    host.client_version = 61200;
    assert_true(judge_builtin("cuda_fermi").is_usable);
    parsed->message.coprocs[0].cuda_version = 0; /* but some do not tell the version of CUDA */
    assert_true(judge_builtin("cuda_fermi").is_usable);
    parsed->message.coprocs[0].driver_version = 0;
    assert_false(judge_builtin("cuda_fermi").is_usable);
    parsed->message.coprocs[0].cuda_version = 12000;
    assert_true(judge_builtin("cuda_fermi").is_usable);
}

static void amd_classes_look_at_libraries_and_cal(void **state)
{
    struct coproc *card = &parsed->message.coprocs[1];

    (void)state;
    expect_usable(ATI "<min_driver_version>99999999</min_driver_version>"); /* a version of CAL */
    with_cal();
    assert_false(judge_builtin("ati").is_usable); /* only ATI's own libraries are there */
    assert_true(judge_builtin("ati13ati").is_usable);
    assert_true(judge_builtin("ati14").is_usable);
    card->cal_version = TEXT("1.3.186");
    assert_true(judge_builtin("ati13ati").is_usable);
    assert_text(judge_builtin("ati14").why, "it needs CAL 1.4.0 or later; yours is 1.3.186");
    card->atirt_detected = false;
    card->amdrt_detected = true;
    assert_true(judge_builtin("ati").is_usable);
    assert_true(judge_builtin("ati13amd").is_usable);
    assert_false(judge_builtin("ati13ati").is_usable);
    expect_usable(ATI "<max_driver_version>10030186</max_driver_version>");
    expect_refused(ATI "<max_driver_version>10030185</max_driver_version>",
                   "CAL 1.3.185 or earlier; yours is 1.3.186");
    card->cal_version = TEXT("new");
    assert_false(judge_builtin("ati").is_usable);
}

static void one_platform_of_the_cpu_is_enough(void **state)
{
    struct opencl_cpu cpus[2] = {
        {.platform_vendor = TEXT("The pocl project"),
         .opencl = {.device_version = TEXT("OpenCL 1.2 pocl"), .driver_version = TEXT("1.8")}},
        {.platform_vendor = TEXT("Intel(R) Corporation"),
         .opencl = {.device_version = TEXT("OpenCL 3.0 (Build 0)"),
                    .driver_version = TEXT("2023.16.6"),
                    .double_fp_config = 63}}};

    (void)state;
    assert_text(judge_builtin("opencl_cpu_intel").why,
                "it needs OpenCL on the CPU, which no driver of yours offers");
    parsed->message.opencl_cpus = cpus;
    parsed->message.opencl_cpu_count = 1;
    assert_false(judge_builtin("opencl_cpu_intel").is_usable); /* of another vendor */
    expect_usable("<opencl/><max_threads>4</max_threads>");
    expect_refused("<opencl/><double_precision_fp/>", "double precision");
    expect_refused("<opencl/><min_opencl_version>200</min_opencl_version>",
                   "it needs OpenCL 2.0 or later; yours is 1.2");
    parsed->message.opencl_cpu_count = 2;
    assert_true(judge_builtin("opencl_cpu_intel").is_usable);
    assert_real(judge_builtin("opencl_cpu_intel").usage.avg_ncpus, 4, 0);
    assert_text(judge_builtin("opencl_cpu_intel").why, "");
    assert_text(judge_builtin("opencl_cpu_intel").usage.coproc_type, "");
    expect_usable("<opencl/><double_precision_fp/><min_opencl_version>300</min_opencl_version>"
                  "<min_opencl_driver_revision>202300</min_opencl_driver_revision>");
    expect_refused("<opencl/><min_opencl_version>301</min_opencl_version>",
                   "3.1 or later; yours is 3.0");
}

static void versions_of_virtualbox_are_numbers(void **state)
{
    (void)state;
    expect_refused(VBOX, "VirtualBox, and BOINC found none when it started");
    with_virtualbox();
    parsed->message.virtualbox_version = TEXT("7.0.10 (unusable)");
    expect_refused(VBOX, "your BOINC client says that its VirtualBox cannot be used");
    parsed->message.virtualbox_version = TEXT("7.0");
    expect_refused(VBOX, "the version of your VirtualBox is not known");
    parsed->message.virtualbox_version = TEXT("6.1.38.1");
    expect_usable(VBOX "<min_vbox_version>60138</min_vbox_version>");
    expect_refused(VBOX "<min_vbox_version>60139</min_vbox_version>",
                   "6.1.39 or later; yours is 6.1.38");
    parsed->message.virtualbox_version = TEXT("7.1.6");
    expect_refused(VBOX "<min_vbox_version>70107</min_vbox_version>", "7.1.7 or later");
    expect_refused(VBOX "<max_vbox_version>70105</max_vbox_version>", "7.1.5 or earlier");
    expect_refused(VBOX "<exclude_vbox_version>70106</exclude_vbox_version>", "7.1.6");
    expect_usable(VBOX "<min_vbox_version>70106</min_vbox_version>"
                       "<max_vbox_version>70106</max_vbox_version>"
                       "<exclude_vbox_version>70105</exclude_vbox_version>"
                       "<exclude_vbox_version>70107</exclude_vbox_version>");
}

static void virtual_machines_need_the_same_number_of_bits(void **state)
{
    (void)state;
    with_virtualbox();
    assert_true(judge_builtin("vbox64").is_usable);
    assert_real(judge_builtin("vbox64").usage.avg_ncpus, 1, 0);
    assert_real(judge_builtin("vbox64_mt").usage.avg_ncpus, 4, 0);
    assert_text(judge_builtin("vbox64_mt").usage.cmdline, "--nthreads 4");
    assert_text(judge_builtin("vbox32").why, "it is for the 32-bit version of BOINC");
    without_acceleration();
    assert_false(judge_builtin("vbox64").is_usable);
    host.primary_platform = TEXT("i686-pc-linux-gnu");
    assert_real(judge_builtin("vbox32_mt").usage.avg_ncpus, 1, 0); /* not accelerated */
}

/* --- use -------------------------------------------------------------------------------------- */

static void threads_are_all_cpus_that_may_be_used(void **state)
{
    struct plan_verdict verdict;

    (void)state;
    host.cpus = 3;
    verdict = judge_builtin("mt");
    assert_real(verdict.usage.avg_ncpus, 3, 0);
    assert_real(verdict.usage.peak_flops, 12e9, 1);
    assert_real(verdict.usage.projected_flops, 0.99 * 12e9, 1);
    assert_text(verdict.usage.cmdline, "--nthreads 3");
    host.cpus = 100;
    assert_real(judge_builtin("mt").usage.avg_ncpus, 64, 0);
    host.cpus = 1;
    assert_text(judge_builtin("mt").why, "it needs 2 CPUs; BOINC may use 1");
}

static void threads_fit_into_the_memory(void **state)
{
    static const char elements[] = "<min_ncpus>2</min_ncpus><max_threads>16</max_threads>"
                                   "<mem_usage_base_mb>1000</mem_usage_base_mb>"
                                   "<mem_usage_per_cpu_mb>500</mem_usage_per_cpu_mb>"
                                   "<nthreads_cmdline/>";
    struct plan_verdict verdict;

    (void)state;
    host.cpus = 16;
    host.memory = 3600 * 1048576.0;
    verdict = judge_spec(elements);
    assert_real(verdict.usage.avg_ncpus, 5, 0);
    assert_real(verdict.memory, 3500 * 1048576.0, 1);
    assert_text(verdict.usage.cmdline, "--nthreads 5 --memory_size_mb 3500");
    host.memory = 1999 * 1048576.0;
    assert_text(judge_spec(elements).why, "it needs 2000 MB of memory; BOINC may use 1999 MB");
}

/* policy(7) 4.2 with C = 4e9, G = 0.2 * 2.03136e13, f = 0.01 */
static void a_coprocessor_job_takes_a_part_of_a_cpu(void **state)
{
    double s1 = 4e9, s2 = 0.22 * 20313600000000.0, y = 0.01 * s2 + 0.99 * s1;
    struct plan_verdict verdict = judge_builtin("cuda_fermi");

    (void)state;
    assert_real(verdict.usage.avg_ncpus, 0.01 * s2 / y, 1e-9);
    assert_real(verdict.usage.projected_flops, s1 * s2 / y, 1);
    assert_real(verdict.usage.peak_flops, 20313600000000.0 + verdict.usage.avg_ncpus * s1, 1);
    assert_real(verdict.usage.gpu_ram, 384 * 1048576.0, 0);
    assert_real(verdict.usage.coproc_count, 1, 0);
}

static void a_file_counts_the_scaled_peak(void **state)
{
    struct plan_verdict verdict =
        judge_spec(NVIDIA "<gpu_peak_flops_scale>0.5</gpu_peak_flops_scale>");

    (void)state;
    assert_real(verdict.usage.peak_flops, 0.5 * 20313600000000.0 + verdict.usage.avg_ncpus * 4e9,
                1);
}

static void parts_of_a_coprocessor(void **state)
{
    (void)state;
    /* 7976 MB hold two whole jobs of 3000 MB */
    assert_real(judge_spec(NVIDIA "<ngpus>-1</ngpus><gpu_ram_used_mb>3000</gpu_ram_used_mb>")
                    .usage.coproc_count,
                0.5, 0);
    assert_real(judge_spec(NVIDIA "<ngpus>-1</ngpus><gpu_ram_used_mb>1</gpu_ram_used_mb>")
                    .usage.coproc_count,
                1.0 / 7976, 0);
    assert_real(judge_spec(NVIDIA "<ngpus>0</ngpus>").usage.coproc_count, 1, 0);
    assert_real(judge_spec(NVIDIA "<ngpus>-1</ngpus>").usage.coproc_count, 1, 0);
    assert_real(judge_spec(NVIDIA "<ngpus>0</ngpus><gpu_ram_used_mb>3000</gpu_ram_used_mb>")
                    .usage.coproc_count,
                1, 0);
    with_preferences();
    assert_real(
        judge_spec(NVIDIA "<ngpus>0</ngpus><gpu_utilization_tag>gpu_part</gpu_utilization_tag>")
            .usage.coproc_count,
        0.5, 0);
    host.project_prefs = TEXT("<gpu_part>0</gpu_part>"); /* as if it were not there */
    assert_real(
        judge_spec(NVIDIA "<gpu_utilization_tag>gpu_part</gpu_utilization_tag>").usage.coproc_count,
        1, 0);
    host.project_prefs = TEXT("<gpu_part>1e-9</gpu_part>"); /* nobody runs a billion at once */
    assert_real(
        judge_spec(NVIDIA "<gpu_utilization_tag>gpu_part</gpu_utilization_tag>").usage.coproc_count,
        0.01, 0);
    expect_refused(NVIDIA "<ngpus>2</ngpus>", "it needs 2 NVIDIA GPUs; your computer has "
                                              "1");
}

static void a_generic_type_is_found_by_name_or_pattern(void **state)
{
    (void)state;
    use_capture("052");
    assert_text(judge_spec("<gpu_type>miner_asic</gpu_type>").usage.coproc_type, "miner_asic");
    assert_text(judge_spec("<gpu_type_regex>^miner</gpu_type_regex>").usage.coproc_type,
                "miner_asic");
    expect_refused("<gpu_type>miner</gpu_type>", "BOINC found no miner in your computer");
    expect_refused("<gpu_type_regex>^asic</gpu_type_regex>", "^asic");
    /* A known type is not looked for by the pattern. */
    expect_refused("<gpu_type>nvidia</gpu_type><gpu_type_regex>miner</gpu_type_regex>", "NVIDIA");
    /* Memory of such devices is not told. */
    expect_refused("<gpu_type>miner_asic</gpu_type><min_gpu_ram_mb>1</min_gpu_ram_mb>",
                   "needs 1 MB of graphics memory; how much yours has is not known");
}

static void a_speed_that_is_not_known_is_no_reason(void **state)
{
    struct coproc *card = &parsed->message.coprocs[0];

    (void)state;
    *card = (struct coproc){.type = TEXT("NVIDIA"), .count = 1, .has_cuda = true};
    expect_usable(NVIDIA "<min_gpu_peak_flops>1</min_gpu_peak_flops>");
    card->peak_flops = 1;
    expect_usable(NVIDIA "<min_gpu_peak_flops>1</min_gpu_peak_flops>");
    expect_refused(NVIDIA "<min_gpu_peak_flops>2</min_gpu_peak_flops>", "GFLOPS or more");
    with_apple();
    card->metal_support = -1;
    expect_usable(APPLE);
}

static void memory_is_that_of_opencl_where_the_type_has_no_figure(void **state)
{
    struct coproc card = {.type = TEXT("intel_gpu"), .available_ram = 1e9, .local_ram = 77};

    (void)state;
    assert_real(coproc_memory(&card, false), 1e9, 0);
    card.opencl.global_mem_size = 4e9;
    assert_real(coproc_memory(&card, false), 4e9, 0);
    card.type = TEXT("ATI");
    assert_real(coproc_memory(&card, false), 77 * 1048576.0, 0);
    assert_real(coproc_memory(&card, true), 4e9, 0);
    card.type = TEXT("NVIDIA");
    card.total_global_mem = 3e9;
    assert_real(coproc_memory(&card, false), 3e9, 0);
}

static void speed_is_worked_out_where_it_is_not_told(void **state)
{
    struct coproc card = parsed->message.coprocs[0];

    (void)state;
    assert_real(coproc_peak_flops(&card), 20313600000000.0, 0);
    card.peak_flops = 43e18; /* as a driver once had it */
    assert_real(coproc_peak_flops(&card), 20313600000000.0, 1e6);
    card.clock_rate *= 1e6; /* the cause of it */
    assert_real(coproc_peak_flops(&card), 1e11, 0);
    card.clock_rate /= 1e6;
    card.peak_flops = 0;
    assert_real(coproc_peak_flops(&card), 20313600000000.0, 1e6);
    card.compute_major = 1;
    card.compute_minor = 3;
    assert_real(coproc_peak_flops(&card), 1725e6 * 46 * 24, 1e6);
    card = parsed->message.coprocs[1];
    card.peak_flops = 0;
    assert_real(coproc_peak_flops(&card), 60.0 * 64 * 5 * 2105e6, 1e6);
    card = parsed->message.coprocs[2];
    card.peak_flops = 0;
    assert_real(coproc_peak_flops(&card), 396800000000.0, 1e6);
    card = (struct coproc){.type = TEXT("apple_gpu")};
    assert_real(coproc_peak_flops(&card), 1e11, 0);
    card = (struct coproc){.type = TEXT("miner_asic")};
    assert_real(coproc_peak_flops(&card), 0, 0);
    card = (struct coproc){.type = TEXT("NVIDIA"), .compute_major = -1};
    assert_real(coproc_peak_flops(&card), 0, 0);
    card = (struct coproc){.type = TEXT("ATI"), .simd_count = -1, .wavefront_size = 64};
    card.engine_clock = 1000;
    assert_real(coproc_peak_flops(&card), 0, 0);
}

/* Nothing is known of its speed: it counts as a CPU, and nothing is divided by zero. */
static void a_device_of_unknown_speed_is_as_fast_as_a_cpu(void **state)
{
    struct plan_verdict verdict;

    (void)state;
    use_capture("052");
    parsed->message.coprocs[0].peak_flops = 0;
    verdict = judge_spec("<gpu_type>miner_asic</gpu_type>");
    assert_true(verdict.is_usable);
    assert_real(verdict.usage.projected_flops, 4e9, 0);
    assert_real(verdict.usage.avg_ncpus, 0.1, 1e-12);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void refusals_carry_their_figures(void **state)
{
    (void)state;
    expect_refused(NVIDIA "<min_driver_version>60000</min_driver_version>",
                   "driver 600.00 or later; yours is 535.12");
    expect_refused(NVIDIA "<min_gpu_ram_mb>10000</min_gpu_ram_mb>",
                   "10000 MB of graphics memory; yours has 7976 MB");
    expect_refused("<min_os_version>60200</min_os_version>", "6.2.0 or later; yours is 6.1.0");
    expect_usable("<min_os_version>60100</min_os_version>");
    expect_refused("<min_libc_version>237</min_libc_version>", "2.37 or later; yours is 2.36");
    expect_refused(NVIDIA "<min_nvidia_compcap>900</min_nvidia_compcap>", "9.0 or later; yours is "
                                                                          "8.6");
    expect_refused(NVIDIA "<min_gpu_peak_flops>3e13</min_gpu_peak_flops>",
                   "3e+04 GFLOPS or more; yours has 2.03e+04");
    expect_refused("<min_core_client_version>90000</min_core_client_version>", "9.0.0 or later");
    expect_refused("<docker/>", "Docker or Podman");
    expect_refused("<min_android_version>1</min_android_version>", "it is for Android only");
    expect_refused(NVIDIA "<max_gpu_peak_flops>1e12</max_gpu_peak_flops>",
                   "up to 1e+03 GFLOPS; yours has 2.03e+04");
    expect_usable(NVIDIA "<max_gpu_peak_flops>3e13</max_gpu_peak_flops>");
    expect_refused("<infeasible_random>0.6</infeasible_random>", "(60% of requests)");
    expect_refused("<cpu_feature>avx512x</cpu_feature><cpu_feature>sse</cpu_feature>", "avx512x");
    parsed->message.docker_version = TEXT("27.0");
    expect_usable("<docker/>");
    host.client_version = 80205;
    expect_usable("<docker/>");
    parsed->message.dont_use_docker = true;
    expect_refused("<docker/>", "forbids the use of Docker");
    parsed->message.dont_use_docker = false;
    parsed->message.os_name = TEXT("Darwin");
    expect_refused("<docker/>", "BOINC 8.2.6 or later");
    host.client_version = 80206;
    expect_usable("<docker/>");
    expect_refused("<opencl/>", "OpenCL on the CPU");
}

/* Chance and preferences are no reason to call a processor unsupported. */
static void soft_refusals_are_told_from_hard_ones(void **state)
{
    static const char prefs[] = "<project_prefs_tag>night</project_prefs_tag>"
                                "<project_prefs_regex>yes</project_prefs_regex>" NVIDIA;
    static const char *const hard[] = {
        "<disabled/>",
        "<min_core_client_version>90000</min_core_client_version>",
        "<cpu_feature>avx512x</cpu_feature>",
        "<min_os_version>60200</min_os_version>",
        VBOX,
        "<docker/>",
        "<gpu_type>miner_asic</gpu_type>",
        NVIDIA "<min_driver_version>60000</min_driver_version>",
        ATI "<min_cal_target>21</min_cal_target>",
        APPLE "<min_metal_support>3</min_metal_support>",
        "<opencl/>",
        NVIDIA "<min_gpu_ram_mb>10000</min_gpu_ram_mb>",
    };
    struct plan_verdict verdict;

    (void)state;
    with_preferences();
    verdict = judge_spec(prefs);
    assert_false(verdict.is_usable);
    assert_true(verdict.is_fit);
    assert_text(verdict.usage.coproc_type, "NVIDIA");
    assert_true(text_contains(verdict.why, TEXT("night")));
    verdict = judge_spec("<infeasible_random>1</infeasible_random>");
    assert_false(verdict.is_usable);
    assert_true(verdict.is_fit);
    for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
        if (judge_spec(hard[i]).is_fit)
            fail_msg("%s", hard[i]);
    parsed->message.coproc_count = 0; /* what the computer lacks counts more */
    verdict = judge_spec(prefs);
    assert_false(verdict.is_fit);
    assert_true(text_contains(verdict.why, TEXT("BOINC found no NVIDIA GPU")));
    assert_text(verdict.usage.coproc_type, "NVIDIA");
}

static void the_block_of_the_venue_decides(void **state)
{
    static const char class[] = "<project_prefs_tag>night</project_prefs_tag>"
                                "<project_prefs_regex>^yes$</project_prefs_regex>";

    (void)state;
    host.project_prefs = TEXT("<night>no</night>\n<venue name=\"home\">\n<night>yes</night>\n"
                              "</venue>\n");
    expect_refused(class, "preferences");
    host.venue = TEXT("home");
    expect_usable(class);
}

static void words_in_a_name_are_demands(void **state)
{
    static const char document[] =
        "<plan_classes><plan_class><name>my_opencl</name><gpu_type>nvidia</gpu_type></plan_class>"
        "<plan_class><name>my_cuda</name><gpu_type>nvidia</gpu_type></plan_class>"
        "<plan_class><name>sati</name><gpu_type>ati</gpu_type></plan_class>"
        "<plan_class><name>old_docker</name></plan_class></plan_classes>";
    struct plan_classes classes;

    (void)state;
    assert_status(STATUS_OK, plan_classes_parse(text_from(document), &classes, NULL));
    parsed->message.coprocs[0].has_opencl = false;
    assert_false(plan_class_judge(&classes, TEXT("my_opencl"), &host, arena).is_usable);
    assert_true(plan_class_judge(&classes, TEXT("my_cuda"), &host, arena).is_usable);
    parsed->message.coprocs[0].has_cuda = false;
    assert_false(plan_class_judge(&classes, TEXT("my_cuda"), &host, arena).is_usable);
    assert_false(plan_class_judge(&classes, TEXT("sati"), &host, arena).is_usable);
    with_cal();
    assert_true(plan_class_judge(&classes, TEXT("sati"), &host, arena).is_usable);
    assert_false(plan_class_judge(&classes, TEXT("old_docker"), &host, arena).is_usable);
    parsed->message.docker_version = TEXT("27.0");
    assert_true(plan_class_judge(&classes, TEXT("old_docker"), &host, arena).is_usable);
    plan_classes_free(&classes);
}

/* --- Windows' Linux --------------------------------------------------------------------------- */

static void wsl_needs_a_distribution_that_is_allowed(void **state)
{
    (void)state;
    with_wsl();
    expect_usable("<wsl/>");
    expect_usable("<wsl/><min_libc_version>231</min_libc_version>");
    expect_refused("<wsl/><min_libc_version>232</min_libc_version>",
                   "2.32 or later; yours is 2.31");
    expect_usable("<docker/>");
    expect_usable("<docker/><min_boinc_wsl_distro_version>4</min_boinc_wsl_distro_version>");
    expect_refused("<docker/><min_boinc_wsl_distro_version>5</min_boinc_wsl_distro_version>",
                   "version 5");
    distro.distro_name = TEXT("Ubuntu"); /* any has Docker, but only that one has a version */
    expect_usable("<docker/>");
    expect_refused("<docker/><min_boinc_wsl_distro_version>4</min_boinc_wsl_distro_version>",
                   "version 4");
    distro.disallowed = true;
    expect_refused("<wsl/>", "there are 1 in all");
    expect_refused("<docker/>", "WSL distribution");
    distro.disallowed = false;
    parsed->message.dont_use_wsl = true;
    expect_refused("<wsl/>", "forbids the use of WSL");
    expect_refused("<docker/>", "forbids the use of WSL");
}

/* --- containers: kinds of clients by what classes demand -------------------------------------- */

#define REQUEST(version, os, host_elements, elements)                                            \
    "<scheduler_request>\n<platform_name>x86_64-pc-linux-gnu</platform_name>\n" version elements \
    "<host_info>\n<os_name>" os "</os_name>\n" host_elements                                     \
    "</host_info>\n</scheduler_request>\n"
#define CLIENT(minor, release)                                            \
    "<core_client_major_version>8</core_client_major_version>\n"          \
    "<core_client_minor_version>" #minor "</core_client_minor_version>\n" \
    "<core_client_release>" #release "</core_client_release>\n"
#define DOCKER(type)                                                                 \
    "<docker_version>4.9.3</docker_version>\n<docker_type>" #type "</docker_type>\n" \
    "<docker_compose_version>2.1</docker_compose_version>\n"                         \
    "<docker_compose_type>1</docker_compose_type>\n"
#define DISTRO(name, version, elements)                                        \
    "<distro>\n<distro_name>" name "</distro_name>\n<distro_version>" #version \
    "</distro_version>\n" elements "</distro>\n"
#define WSL(distros)     "<wsl>\n" distros "</wsl>\n"
#define GPU(name, flags) "<wsl_gpu>\n<name>" name "</name>\n" flags "</wsl_gpu>\n"
#define CUDA             "<has_cuda/>\n"
#define OPENCL           "<has_opencl/>\n"
#define COPROCS                                                                              \
    "<coprocs>\n<coproc_cuda>\n<count>1</count>\n<name>G</name>\n<have_cuda>1</have_cuda>\n" \
    "<have_opencl>1</have_opencl>\n<peak_flops>1e12</peak_flops>\n</coproc_cuda>\n"          \
    "<coproc_ati>\n<count>1</count>\n<name>A</name>\n<have_opencl>1</have_opencl>\n"         \
    "<peak_flops>1e12</peak_flops>\n</coproc_ati>\n"                                         \
    "<coproc_intel_gpu>\n<count>1</count>\n<name>I</name>\n<have_opencl>1</have_opencl>\n"   \
    "<peak_flops>1e12</peak_flops>\n</coproc_intel_gpu>\n</coprocs>\n"
#define WINDOWS(distros) REQUEST(CLIENT(3, 0), "Microsoft Windows 11", WSL(distros), COPROCS)
#define RUNNER(gpus)     WINDOWS(DISTRO("boinc-buda-runner", 6, DOCKER(2) gpus))

/* The columns: what a class demands beside <docker/>. */
static const char *const container_classes[] = {
    "",
    "<min_boinc_wsl_distro_version>6</min_boinc_wsl_distro_version>",
    "<gpu_type>nvidia</gpu_type><cuda/>",
    "<gpu_type>nvidia</gpu_type><opencl/>",
    "<gpu_type>amd</gpu_type><opencl/>",
    "<gpu_type>intel</gpu_type><opencl/>",
    "<gpu_type>nvidia</gpu_type>",
};
/* The rows: a letter for each class; y: usable, n: refused, s: refused softly. */
static const struct {
    const char *request, *expected;
} container_hosts[] = {
    {REQUEST(CLIENT(2, 0), "Linux Debian", "", COPROCS), "nnnnnnn"},
    {REQUEST(CLIENT(2, 0), "Linux Debian", DOCKER(2), COPROCS), "yyyyyyy"},
    {REQUEST(CLIENT(2, 0), "Linux Debian", DOCKER(1), ""), "yynnnnn"},
    {REQUEST(CLIENT(2, 0), "Linux Debian", DOCKER(1), "<dont_use_docker/>\n"), "nnnnnnn"},
    {REQUEST(CLIENT(2, 0), "Linux Debian", DOCKER(1), "<dont_use_wsl/>\n"), "yynnnnn"},
    {REQUEST(CLIENT(2, 0), "Linux Debian", "<docker_compose_version>2</docker_compose_version>\n",
             ""),
     "nnnnnnn"},
    {REQUEST(CLIENT(2, 5), "Darwin", DOCKER(2), ""), "nnnnnnn"},
    {REQUEST(CLIENT(2, 6), "Darwin", DOCKER(2), ""), "yynnnnn"},
    {REQUEST(CLIENT(2, 6), "Darwin", "", ""), "ssnnnnn"}, /* its machine has not started yet */
    {WINDOWS(""), "nnnnnnn"},
    {REQUEST(CLIENT(3, 0), "Microsoft Windows 11", DOCKER(1), ""), "nnnnnnn"},
    {WINDOWS(DISTRO("Ubuntu", 0, "<disallowed/>\n" DOCKER(1))), "nnnnnnn"},
    {WINDOWS(DISTRO("Ubuntu", 0, "")), "nnnnnnn"},
    {WINDOWS(DISTRO("Ubuntu", 0, DOCKER(1))), "ynnnnnn"},
    {WINDOWS(DISTRO("boinc-buda-runner", 5, DOCKER(2))), "ynnnnnn"},
    {RUNNER(""), "yynnnnn"},
    {WINDOWS(DISTRO("boinc-buda-runner", 6, GPU("NVIDIA", CUDA))), "nnnnnnn"}, /* Podman fails */
    {WINDOWS(DISTRO("boinc-buda-runner", 6, "<disallowed/>\n" DOCKER(2) GPU("NVIDIA", CUDA))),
     "nnnnnnn"},
    {REQUEST(CLIENT(3, 0), "Microsoft Windows 11",
             WSL(DISTRO("boinc-buda-runner", 6, DOCKER(2) GPU("NVIDIA", CUDA))),
             "<dont_use_wsl/>\n" COPROCS),
     "nnnnnnn"},
    {RUNNER(GPU("NVIDIA", CUDA)), "yyynnnn"},
    {RUNNER(GPU("nvidia", OPENCL)), "yynynnn"},
    {RUNNER(GPU("NVIDIA", "")), "yynnnnn"},
    {RUNNER(GPU("NVIDIA RTX", CUDA OPENCL)), "yynnnnn"},
    {RUNNER(GPU("AMD", OPENCL)), "yynnynn"},
    {RUNNER(GPU("ati", OPENCL)), "yynnynn"},
    {RUNNER(GPU("Intel Arc", OPENCL)), "yynnnyn"},
    {RUNNER(GPU("intel_gpu", CUDA)), "yynnnnn"},
    {RUNNER("<wsl_gpu>\n<has_cuda/>\n</wsl_gpu>\n" GPU("AMD", OPENCL)), "yynnynn"},
    {RUNNER(GPU("CPU", OPENCL) GPU("AMD", OPENCL) GPU("NVIDIA", CUDA OPENCL)), "yyyyynn"},
    {WINDOWS(DISTRO("Ubuntu", 0, GPU("NVIDIA", CUDA)) DISTRO("Debian", 0, DOCKER(1))), "ynnnnnn"},
    {WINDOWS(DISTRO("Ubuntu", 0, "") DISTRO("Debian", 0, DOCKER(1) GPU("NVIDIA", CUDA))),
     "ynynnnn"},
};

static void containers_by_client_and_demand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof container_hosts / sizeof *container_hosts; i++) {
        char found[sizeof container_classes / sizeof *container_classes + 1] = {0};

        parsed_free(parsed);
        parsed = parse_body(text_from(container_hosts[i].request));
        assert_status(STATUS_OK, parsed->status);
        host.message = &parsed->message;
        host.client_version = message_client_version(&parsed->message);
        for (size_t j = 0; j + 1 < sizeof found; j++) {
            const struct plan_verdict verdict = judge_spec(
                text_string(arena, text_print(arena, "<docker/>%s", container_classes[j])));

            found[j] = verdict.is_usable ? 'y' : verdict.is_fit ? 's' : 'n';
            assert_int_equal(verdict.is_usable, verdict.why.length == 0);
        }
        if (!text_is(text_from(found), container_hosts[i].expected))
            fail_msg("%zu: %s, wanted %s:\n%s", i, found, container_hosts[i].expected,
                     container_hosts[i].request);
    }
}

static void a_gpu_of_a_subsystem_is_asked_for_in_words(void **state)
{
    (void)state;
    parsed_free(parsed);
    parsed = parse_body(text_from(RUNNER(GPU("AMD", OPENCL))));
    host.message = &parsed->message;
    expect_refused("<docker/><gpu_type>nvidia</gpu_type><cuda/>",
                   "it needs the NVIDIA GPU with CUDA in a WSL distribution");
    expect_refused("<docker/><gpu_type>nvidia</gpu_type>", "neither CUDA nor OpenCL, and WSL");
}

static void a_class_that_no_windows_can_run_is_warned_of(void **state)
{
    static const struct {
        const char *elements;
        size_t warnings;
    } cases[] = {
        {"<name>c</name><docker/><gpu_type>nvidia</gpu_type>", 1},
        {"<name>c</name><docker/><gpu_type>nvidia</gpu_type><cuda/>", 0},
        {"<name>c</name><docker/><gpu_type>nvidia</gpu_type><opencl/>", 0},
        {"<name>docker_cuda</name><docker/><gpu_type>nvidia</gpu_type>", 0},
        {"<name>c</name><gpu_type>nvidia</gpu_type>", 0},
        {"<name>c</name><docker/>", 0},
        {"<name>docker</name><docker/>", 0},
        {"<name>docker_old</name>", 1}, /* it runs in a container by its name */
        {"<name>docker_old</name><gpu_type>nvidia</gpu_type>", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_classes classes;
        struct text document = text_print(
            arena, "<plan_classes><plan_class>%s</plan_class></plan_classes>", cases[i].elements);

        assert_status(STATUS_OK, plan_classes_parse(document, &classes, NULL));
        assert_i64((int64_t)classes.warning_count, (int64_t)cases[i].warnings);
        plan_classes_free(&classes);
    }
}

/* --- versions as numbers ---------------------------------------------------------------------- */

static void versions_of_systems(void **state)
{
    double numbers[2];

    (void)state;
#define OS(name, version) plan_os_version(TEXT(name), TEXT(version))
    assert_real(OS("Linux Debian", "Debian GNU/Linux 12 (bookworm) [6.1.0-27-amd64|libc 2.36]"),
                60100, 0);
    assert_real(OS("Linux", "2.6.32-5-686"), 20632, 0);
    assert_real(OS("Darwin", "22.6.0"), 220600, 0);
    assert_real(OS("Microsoft Windows 10", "Professional x64 Edition, (10.00.19041.00)"),
                1001904100, 0);
    assert_real(OS("Microsoft Windows 10", "Professional (N) Edition, (10.00.19041.00)"),
                1001904100, 0);
    assert_real(OS("Microsoft Windows 11", "Professional, (10.00.22621)"), 1002262100, 0);
    assert_real(OS("Microsoft Windows 11", "(10.00.22621.01.02)"), 1002262101, 0);
    assert_real(OS("Microsoft Windows 7", "Ultimate, (06.01.7601.00)"), 601760100, 0);
    assert_real(OS("Microsoft Windows 10", "Professional"), -1, 0);
    assert_real(OS("Linux", "unknown"), -1, 0);
    assert_real(OS("Haiku", "1.2.3"), -1, 0);
#undef OS
    assert_real(plan_android_version(TEXT("5.4.86 (Android 11)")), 110000, 0);
    assert_real(plan_android_version(TEXT("5.4.86 (Android 4.2.1)")), 40201, 0);
    assert_real(plan_android_version(TEXT("5.4.86")), -1, 0);
    assert_real(plan_libc_version(TEXT("[6.1|libc 2.36]")), 236, 0);
    assert_real(plan_libc_version(TEXT("6.1")), 0, 0);
    assert_real(opencl_revision(TEXT("unknown")), 0, 0);
    assert_real(opencl_version(TEXT("OpenCL 1.2.3 AMD-APP")), 102, 0);
    assert_real(opencl_version(TEXT("OpenCL 2")), 0, 0);
    /* What follows the text is not looked at. */
    assert_int_equal(version_read_dotted((struct text){.at = "1.5", .length = 2}, numbers, 2), 1);
    assert_int_equal(version_read_dotted((struct text){.at = "25", .length = 1}, numbers, 2), 1);
    assert_real(numbers[0], 2, 0);
}

static void an_unknown_system_fails_both_bounds(void **state)
{
    (void)state;
    parsed->message.os_version = TEXT("unknown");
    expect_refused("<min_os_version>1</min_os_version>", "is not known");
    expect_refused("<max_os_version>999999</max_os_version>", "is not known");
    expect_usable("");
}

/* Of a Mac's cards old clients know nothing that CUDA needs. */
static void old_clients_run_no_cuda_on_macos(void **state)
{
    (void)state;
    parsed->message.os_name = TEXT("Darwin");
    host.client_version = CLIENT_USES_CUDA_ON_MACOS - 1;
    expect_refused(NVIDIA "<cuda/>", "or later; yours is");
    expect_usable(NVIDIA);
    host.client_version = CLIENT_USES_CUDA_ON_MACOS;
    expect_usable(NVIDIA "<cuda/>");
}

static void an_unknown_android_fails_a_minimum_only(void **state)
{
    (void)state;
    parsed->message.os_name = TEXT("Android");
    parsed->message.os_version = TEXT("5.4.86");
    expect_refused("<min_android_version>1</min_android_version>", "Android");
    expect_usable("<max_android_version>100000</max_android_version>");
    with_android();
    expect_usable("<min_android_version>110000</min_android_version>"); /* exactly this one */
}

/* --- files ------------------------------------------------------------------------------------ */

static void expect_invalid(const char *document, const char *words)
{
    struct plan_classes classes;
    struct failure failure = {0};

    assert_status(STATUS_INVALID, plan_classes_parse(text_from(document), &classes, &failure));
    if (!text_contains(text_from(failure.text), text_from(words)))
        fail_msg("\"%s\", wanted \"%s\"", failure.text, words);
}

static void a_faulty_file_is_refused_with_its_line(void **state)
{
    (void)state;
    expect_invalid("<plan_classes>\n<plan_class>\n<name>a</name>\n<min_ncpus>two</min_ncpus>\n"
                   "</plan_class>\n</plan_classes>\n",
                   "line 4: <min_ncpus>: \"two\" is not a number");
    expect_invalid("<plan_classes>\n<plan_class>\n<name>a</name>\n<min_ncpus>1e31</min_ncpus>\n"
                   "</plan_class>\n</plan_classes>\n",
                   "line 4: <min_ncpus>: \"1e31\" is not a number, or too large");
    expect_invalid("<plan_classes>\n<plan_class>\n<name>a</name>\n<os_regex>(</os_regex>\n"
                   "</plan_class>\n</plan_classes>\n",
                   "line 4: <os_regex>");
    expect_invalid("<plan_classes>\n<plan_class>\n</plan_class>\n</plan_classes>\n",
                   "line 3: a plan class has no <name>");
    expect_invalid("<plan_classes>\n<class/>\n</plan_classes>\n", "line 2");
    expect_invalid("<config/>", "line 1: not a <plan_classes> file");
    expect_invalid("<plan_classes>\n<plan_class>\n", "line");
    expect_invalid("", "");
}

/* "<plan_classes>" and as often as that one class with `head`, so many times `piece`, and `tail`.
 */
static void expect_too_much(int classes, const char *head, int count, const char *piece,
                            const char *tail, const char *words)
{
    struct buffer document = buffer_on_heap(0);

    buffer_add_string(&document, "<plan_classes>\n");
    for (int i = 0; i < classes; i++) {
        buffer_print(&document, "<plan_class><name>c</name>%s", head);
        for (int j = 0; j < count; j++)
            buffer_add_string(&document, piece);
        buffer_print(&document, "%s</plan_class>\n", tail);
    }
    buffer_add_string(&document, "</plan_classes>\n");
    buffer_add_char(&document, '\0');
    expect_invalid(document.at, words);
    buffer_free(&document);
}

static void a_file_of_too_much_is_refused(void **state)
{
    (void)state;
    expect_too_much(1, "", 1001, "<cpu_feature>a</cpu_feature>", "",
                    "line 2: too many of one element");
    expect_too_much(1, "", 1001, "<exclude_vbox_version>1</exclude_vbox_version>", "",
                    "line 2: too many of one element");
    expect_too_much(1, "<os_regex>", 5000, "a", "</os_regex>", "line 2: <os_regex> is too long");
    expect_too_much(10241, "", 0, "", "", "too many plan classes");
}

static void a_file_stands_instead_of_the_built_in_classes(void **state)
{
    struct plan_classes classes;

    (void)state;
    assert_status(STATUS_OK,
                  plan_classes_parse(TEXT("<plan_classes>\n<!-- none yet -->\n</plan_classes>\n"),
                                     &classes, NULL));
    assert_false(plan_class_judge(&classes, TEXT("mt"), &host, arena).is_usable);
    plan_classes_free(&classes);
    assert_true(judge_builtin("mt").is_usable);
    /* Unknown elements are passed over, the first of two classes of a name counts. */
    assert_status(STATUS_OK, plan_classes_parse(
                                 TEXT("<plan_classes>\n<plan_class><name>a</name><new>1<b/></new>"
                                      "<max_threads>2</max_threads></plan_class>"
                                      "<plan_class><name>a</name></plan_class></plan_classes>"),
                                 &classes, NULL));
    assert_real(plan_class_judge(&classes, TEXT("a"), &host, arena).usage.avg_ncpus, 2, 0);
    plan_classes_free(&classes);
}

static void a_file_that_is_cut_off_is_refused(void **state)
{
    const struct text whole = TEXT("<plan_classes><plan_class><name>a</name><cuda/></plan_class>");

    (void)state;
    for (size_t length = 1; length <= whole.length; length++) {
        struct text cut = text_copy(arena, text_first(whole, length)); /* nothing is behind it */
        struct plan_classes classes;

        assert_status(STATUS_INVALID, plan_classes_parse(cut, &classes, NULL));
    }
}

/* As in the sample that BOINC has: the end tag of a field lacks its slash, or is not there. */
static void a_field_that_is_not_closed_ends_at_the_next_tag(void **state)
{
    static const struct {
        const char *document, *warning;
    } cases[] = {
        {"<plan_classes>\n<plan_class>\n<name>a</name>\n<max_threads> 2 <max_threads>\n"
         "<min_ncpus>1</min_ncpus>\n</plan_class>\n</plan_classes>\n",
         "line 4: <max_threads> is not closed; it ends before the next tag"},
        {"<plan_classes>\n<plan_class>\n<name>a</name>\n<max_threads>2\n<min_ncpus>1\n"
         "</plan_class>\n</plan_classes>\n",
         "line 4: <max_threads> is not closed; it ends before the next tag (2 such fields)"},
        {"<?xml version=\"1.0\"?>\n<plan_classes><plan_class><name>a</name>\n"
         "<max_threads> 2 <!-- <two> --></max_threads><min_ncpus>1</min_ncpus>\n"
         "<gpu_type>nvidia</gpu_type><cuda/><opencl>0</opencl><cuda>0</cuda></plan_class>"
         "</plan_classes>\n",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct plan_classes classes;
        struct failure failure = {0};

        if (plan_classes_parse(text_from(cases[i].document), &classes, &failure) != STATUS_OK)
            fail_msg("case %zu: %s", i, failure.text);
        assert_int_equal(classes.warning_count, cases[i].warning != NULL);
        if (cases[i].warning != NULL)
            assert_text(classes.warnings[0], cases[i].warning);
        assert_int_equal(classes.count, 1);
        assert_real(classes.items[0].max_threads, 2, 0);
        assert_real(classes.items[0].min_ncpus, 1, 0);
        plan_classes_free(&classes);
    }
    expect_invalid("<plan_classes>\n<plan_class>\n<name>a</name>\n<min_ncpus>2</max_threads>\n"
                   "</plan_class>\n</plan_classes>\n",
                   "line 4");
}

/* --- what may not be meant so ------------------------------------------------------------------
 */

/* The warnings of a file, one behind the other. */
static struct text warnings_of(const char *document)
{
    struct plan_classes classes;
    struct failure failure = {0};
    struct buffer words = buffer_in(arena);

    if (plan_classes_parse(text_from(document), &classes, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    for (size_t i = 0; i < classes.warning_count; i++) {
        buffer_add(&words, classes.warnings[i]);
        buffer_add_char(&words, '\n');
    }
    plan_classes_free(&classes);
    return buffer_text(&words);
}

static void what_may_not_be_meant_so_is_warned_of(void **state)
{
    static const struct {
        const char *fields, *warnings;
    } cases[] = {
        {"<gpu_type>nvidia</gpu_type><cuda/><min_gpu_ram_mb>1</min_gpu_ram_mb>", ""},
        {"<gpu_type_regex>GPU</gpu_type_regex><ngpus>1</ngpus>", ""},
        {"<opencl/><double_precision_fp/>", ""}, /* of the CPU */
        {"<gpu_type>miner_asic</gpu_type>", ""},
        {"<gpu_type>nvidia</gpu_type><ngpus>-1</ngpus><min_driver_version>0</min_driver_version>",
         ""},
        {"<gpu_type>nvidia</gpu_type>\n<min_driver_version>-26000</min_driver_version>",
         "line 2: <min_driver_version> is below 0, so it demands nothing\n"},
        {"\n<gputype>nvidia</gputype>\n<min_gpu_ram>100</min_gpu_ram>\n<avgncpus>1</avgncpus>",
         "line 2: unknown element <gputype>, which is passed over; did you mean <gpu_type>?\n"
         "line 3: unknown element <min_gpu_ram>, which is passed over; did you mean "
         "<min_gpu_ram_mb>?\n"
         "line 4: unknown element <avgncpus>, which is passed over; did you mean <avg_ncpus>?\n"},
        {"<something_of_ours>1</something_of_ours>",
         "line 1: unknown element <something_of_ours>, which is passed over\n"},
        {"\n<cuda/>\n<min_cuda_version>400</min_cuda_version>\n",
         "line 2: <cuda> has no effect, as plan class a has no <gpu_type>: hosts without a GPU get "
         "its versions\n"},
        {"<gpu_type>nvdia</gpu_type>", "line 1: <gpu_type>: \"nvdia\"; did you mean nvidia?\n"},
        {"</plan_class>\n<plan_class><name>a</name>",
         "line 2: a second plan class a: the first one holds\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *document =
            text_string(arena, text_print(arena,
                                          "<plan_classes><plan_class><name>a</name>%s</plan_class>"
                                          "</plan_classes>",
                                          cases[i].fields));

        assert_text(warnings_of(document), cases[i].warnings);
    }
}

static void warnings_are_bounded(void **state)
{
    struct buffer document = buffer_in(arena);
    struct text warnings;

    (void)state;
    buffer_add_string(&document, "<plan_classes><plan_class><name>a</name>");
    for (int i = 0; i < 30; i++)
        buffer_add_string(&document, "<nothing_like_it/>");
    buffer_add_string(&document, "</plan_class></plan_classes>");
    warnings = warnings_of(text_string(arena, buffer_text(&document)));
    assert_true(text_ends(warnings, TEXT("\nand 10 more like these\n")));
}

/* Fields of GPUs do nothing in other classes: the table, and what reads it, say the same. */
static void expect_no_effect_without_a_gpu(const char *field)
{
    struct plan_host where = {0};
    struct message message = {.p_ncpus = 4};
    struct plan_verdict verdicts[2];

    where.message = &message;
    where.cpus = 4;
    where.cpu_flops = 1e9;
    where.memory = 1e9;
    where.client_version = 80000;
    for (int i = 0; i < 2; i++) {
        struct plan_classes classes;
        struct text element = text_print(arena, "<%s>1000</%s>", field, field);
        struct text document = text_print(arena,
                                          "<plan_classes><plan_class><name>a</name>" TEXT_FORMAT
                                          "</plan_class></plan_classes>",
                                          TEXT_ARG(i == 0 ? NO_TEXT : element));

        assert_status(STATUS_OK, plan_classes_parse(document, &classes, NULL));
        assert_int_equal(classes.warning_count, i);
        verdicts[i] = plan_class_judge(&classes, TEXT("a"), &where, arena);
        plan_classes_free(&classes);
    }
    if (!verdicts[0].is_usable || !verdicts[1].is_usable ||
        verdicts[0].usage.avg_ncpus != verdicts[1].usage.avg_ncpus ||
        verdicts[0].usage.peak_flops != verdicts[1].usage.peak_flops)
        fail_msg("%s has an effect without a GPU", field);
}

static void fields_of_gpus_do_nothing_without_one(void **state)
{
    (void)state;
#define OF_ANY(name)
#define OF_GPU(name)                    expect_no_effect_without_a_gpu(#name);
#define FIELD(name, type, default_, of) OF_##of(name)
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
#undef OF_ANY
#undef OF_GPU
}

static void bounds_include_both_ends(void **state)
{
    const struct plan_bounds bounds = {
        .min_wu_id = 10, .max_wu_id = 20, .min_batch = 3, .max_batch = 3};

    (void)state;
    assert_true(plan_bounds_take(&bounds, 10, 3));
    assert_true(plan_bounds_take(&bounds, 20, 3));
    assert_false(plan_bounds_take(&bounds, 9, 3));
    assert_false(plan_bounds_take(&bounds, 21, 3));
    assert_false(plan_bounds_take(&bounds, 10, 2));
    assert_false(plan_bounds_take(&bounds, 10, 4));
    assert_true(plan_bounds_take(&(struct plan_bounds){0}, 1, 0));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(every_field_has_an_effect),
        CASE(built_in_classes_go_to_the_right_hosts),
        CASE(old_cards_get_the_old_classes),
        CASE(versions_are_written_as_people_do),
        CASE(a_card_without_its_library_is_refused),
        CASE(amd_classes_look_at_libraries_and_cal),
        CASE(one_platform_of_the_cpu_is_enough),
        CASE(versions_of_virtualbox_are_numbers),
        CASE(virtual_machines_need_the_same_number_of_bits),
        CASE(threads_are_all_cpus_that_may_be_used),
        CASE(threads_fit_into_the_memory),
        CASE(a_coprocessor_job_takes_a_part_of_a_cpu),
        CASE(a_file_counts_the_scaled_peak),
        CASE(parts_of_a_coprocessor),
        CASE(a_generic_type_is_found_by_name_or_pattern),
        CASE(a_speed_that_is_not_known_is_no_reason),
        CASE(memory_is_that_of_opencl_where_the_type_has_no_figure),
        CASE(speed_is_worked_out_where_it_is_not_told),
        CASE(a_device_of_unknown_speed_is_as_fast_as_a_cpu),
        CASE(refusals_carry_their_figures),
        CASE(soft_refusals_are_told_from_hard_ones),
        CASE(the_block_of_the_venue_decides),
        CASE(words_in_a_name_are_demands),
        CASE(wsl_needs_a_distribution_that_is_allowed),
        CASE(containers_by_client_and_demand),
        CASE(a_gpu_of_a_subsystem_is_asked_for_in_words),
        CASE(a_class_that_no_windows_can_run_is_warned_of),
        CASE(versions_of_systems),
        CASE(an_unknown_system_fails_both_bounds),
        CASE(old_clients_run_no_cuda_on_macos),
        CASE(an_unknown_android_fails_a_minimum_only),
        CASE(a_faulty_file_is_refused_with_its_line),
        CASE(a_file_of_too_much_is_refused),
        CASE(a_file_stands_instead_of_the_built_in_classes),
        CASE(a_file_that_is_cut_off_is_refused),
        CASE(what_may_not_be_meant_so_is_warned_of),
        CASE(warnings_are_bounded),
        CASE(fields_of_gpus_do_nothing_without_one),
        CASE(a_field_that_is_not_closed_ends_at_the_next_tag),
        CASE(bounds_include_both_ends),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
