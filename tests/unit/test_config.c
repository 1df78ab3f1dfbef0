/* SPDX-License-Identifier: Apache-2.0 */
/* config/: the table, the loader, what it forgives and what it refuses. */
#include "config/config.h"
#include "config/internal.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PLENTY = 16 * 1024 * 1024 };

/* A project folder with a config.xml. */
struct world {
    struct arena *arena;
    char folder[64];
    struct text main_file, aux_file;
    struct config *config;
    struct config_findings findings;
    struct failure failure;
};

static int make_world(void **state)
{
    static struct world world;
    world = (struct world){.arena = arena_create(PLENTY), .folder = "/tmp/qm-config-XXXXXX"};
    if (world.arena == NULL || mkdtemp(world.folder) == NULL)
        return -1;
    world.main_file = text_print(world.arena, "%s/config.xml", world.folder);
    world.aux_file = text_print(world.arena, "%s/config_aux.xml", world.folder);
    *state = &world;
    return 0;
}

static int remove_world(void **state)
{
    struct world *world = *state;
    config_release(world->config);
    (void)unlink(world->main_file.at);
    (void)unlink(world->aux_file.at);
    int failed = rmdir(world->folder);
    arena_destroy(world->arena);
    return failed;
}

static enum status load(struct world *world)
{
    config_release(world->config);
    world->config = NULL;
    world->failure = (struct failure){0};
    return config_load(world->folder, world->arena, &world->config, &world->findings,
                       &world->failure);
}

static enum status load_text(struct world *world, struct text text)
{
    assert_status(STATUS_OK, file_write(world->main_file.at, text, 0644, NULL));
    return load(world);
}

/* The options, without what stands around them; they begin on line 3. */
static enum status load_options(struct world *world, const char *options)
{
    return load_text(
        world, text_print(world->arena, "<boinc>\n<config>\n%s\n</config>\n</boinc>\n", options));
}

static void assert_finding(const struct world *world, bool is_error, int line, const char *part)
{
    for (size_t i = 0; i < world->findings.count; i++) {
        const struct config_finding *finding = &world->findings.items[i];
        if (finding->is_error == is_error && finding->line == line &&
            text_contains(finding->text, text_from(part)))
            return;
    }
    for (size_t i = 0; i < world->findings.count; i++)
        print_message("%d: " TEXT_FORMAT "\n", world->findings.items[i].line,
                      TEXT_ARG(world->findings.items[i].text));
    fail_msg("no %s in line %d with \"%s\"", is_error ? "error" : "warning", line, part);
}

static void options_are_sorted_unique_and_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_option_count; i++) {
        const struct config_option *option = &config_options[i];
        if (i > 0 && strcmp(config_options[i - 1].name, option->name) >= 0)
            fail_msg("options.def: %s is not in its place", option->name);
        assert_true(strlen(option->help) > 10);
        if (strstr(option->help, "--") != NULL)
            fail_msg("options.def: %s: \"--\" cannot stand in the sample's comment", option->name);
        if (option->help[strlen(option->help) - 1] != '.')
            fail_msg("options.def: %s: the explanation is no sentence", option->name);
        assert_ptr_equal(config_option_find(text_from(option->name)), option);
        assert_null(strchr(option->name, '*'));
    }
}

static void defaults_and_bounds_fit_their_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_option_count; i++) {
        const struct config_option *option = &config_options[i];
        bool is_number = option->type == CONFIG_INTEGER || option->type == CONFIG_REAL;
        struct text most = text_from(option->maximum_text);
        bool caps = option->type == CONFIG_INTEGER && text_ends(most, TEXT("+"));
        struct text bounds[] = {text_from(option->default_text), text_from(option->minimum_text),
                                text_first(most, most.length - caps)};
        double values[3] = {0, -1e300, 1e300};
        for (size_t b = 0; b < 3; b++) {
            int64_t whole;
            if (bounds[b].length == 0)
                continue;
            if (!is_number && b > 0)
                fail_msg("options.def: %s has a bound and is no number", option->name);
            if (is_number && !text_to_real(bounds[b], &values[b]))
                fail_msg("options.def: %s: unreadable default or bound", option->name);
            if (option->type == CONFIG_INTEGER && !text_to_i64(bounds[b], &whole))
                fail_msg("options.def: %s: default or bound is not whole", option->name);
        }
        if (is_number && bounds[0].length == 0)
            fail_msg("options.def: %s has no default", option->name);
        if (is_number && (values[0] < values[1] || values[0] > values[2]))
            fail_msg("options.def: %s: default out of range", option->name);
        if (option->type == CONFIG_FLAG && !text_is(bounds[0], "0") && !text_is(bounds[0], "1"))
            fail_msg("options.def: %s: default of a flag is 0 or 1", option->name);
        if ((option->type == CONFIG_CHOICE) != (option->words != NULL))
            fail_msg("options.def: %s: words are for a choice, which has some", option->name);
    }
}

static void other_names_are_sorted_and_not_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_other_count; i++) {
        const char *pattern = config_other[i].pattern;
        if (i > 0 && strcmp(config_other[i - 1].pattern, pattern) >= 0)
            fail_msg("other_options.def: %s is not in its place", pattern);
    }
    for (size_t i = 0; i < config_option_count; i++)
        if (config_other_find(text_from(config_options[i].name)) != NULL)
            fail_msg("%s is in both tables", config_options[i].name);
}

static void defaults_are_those_of_the_table(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, config_defaults(&world->config));
    assert_i64(world->config->max_wus_to_send, 10);
    assert_i64(world->config->max_ncpus, 64);
    assert_true(world->config->resend_lost_results);
    assert_false(world->config->ended);
    assert_real(world->config->default_disk_min_free_gb, 1, 0);
    assert_real(world->config->maintenance_delay, 3600, 0);
    assert_int_equal(world->config->master_url.length, 0);
    assert_int_equal(world->config->ban_cpu.texts.count, 0);
}

static void values_of_every_type_are_read(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, load_options(world, "<long_name>\n  Deep  Sky </long_name>\n"
                                                 "<msg_to_host/>\n"
                                                 "<ended>1</ended>\n"
                                                 "<resend_lost_results> 0 </resend_lost_results>\n"
                                                 "<max_ncpus>16</max_ncpus>\n"
                                                 "<next_rpc_delay>1.5e3</next_rpc_delay>\n"
                                                 "<ban_cpu>^AMD\tK6</ban_cpu>\n"
                                                 "<edf_min_queue> never\n</edf_min_queue>\n"
                                                 "<ban_cpu>Duron</ban_cpu>\n"));
    assert_int_equal(world->findings.count, 0);
    const struct config *config = world->config;
    assert_text(config->long_name, "Deep  Sky");
    assert_true(config->msg_to_host);
    assert_true(config->ended);
    assert_false(config->resend_lost_results);
    assert_i64(config->max_ncpus, 16);
    assert_real(config->next_rpc_delay, 1500, 0);
    assert_int_equal(config->edf_min_queue, EDF_MIN_QUEUE_NEVER);
    assert_int_equal(config->ban_cpu.texts.count, 2);
    assert_text(config->ban_cpu.texts.items[0], "^AMD\tK6");
    assert_text(config->ban_cpu.texts.items[1], "Duron");
    assert_true(text_starts(config->project_dir_path, TEXT("/")));
}

static void the_folder_of_science_apps_is_looked_for(void **state)
{
    struct world *world = *state;
    struct text folder = text_print(world->arena, "%s/buda_apps", world->folder);

    assert_status(STATUS_OK, load_options(world, ""));
    assert_false(world->config->has_buda_apps);
    assert_int_equal(mkdir(folder.at, 0700), 0);
    assert_status(STATUS_OK, load_options(world, ""));
    assert_int_equal(rmdir(folder.at), 0);
    assert_true(world->config->has_buda_apps);
}

static void last_of_several_wins_and_empty_number_is_zero(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, load_options(world, "<max_ncpus>16</max_ncpus>\n"
                                                 "<max_wus_to_send></max_wus_to_send>\n"
                                                 "<max_ncpus>17</max_ncpus>\n"));
    assert_i64(world->config->max_ncpus, 17);
    assert_i64(world->config->max_wus_to_send, 0);
}

/* As programs write them that keep whole numbers as real ones. */
static void whole_numbers_may_be_written_as_real_ones(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK,
                  load_options(world, "<max_ncpus>16.000000</max_ncpus>\n<ended>1.0</ended>\n"
                                      "<max_jobs_in_progress><project><total_limit><jobs>5.0</jobs>"
                                      "</total_limit></project></max_jobs_in_progress>\n"));
    assert_i64(world->config->max_ncpus, 16);
    assert_true(world->config->ended);
    assert_int_equal(world->config->jobs_in_progress_count, 1);
    assert_i64(world->config->jobs_in_progress[0].total.jobs, 5);
}

static void unreadable_values_are_errors_with_line_and_range(void **state)
{
    static const struct {
        const char *option, *part;
    } cases[] = {
        {"<candidate_rows>5</candidate_rows>",
         "candidate_rows is \"5\"; it must be a whole number from 10 to 100000"},
        {"<candidate_rows>many</candidate_rows>", "candidate_rows is \"many\""},
        {"<candidate_rows>50.5</candidate_rows>", "candidate_rows"},
        {"<candidate_rows>99999999999999999999</candidate_rows>", "candidate_rows"},
        {"<delay_jitter>1.5</delay_jitter>", "delay_jitter is \"1.5\"; it must be a number from"},
        {"<delay_jitter>nan</delay_jitter>", "delay_jitter"},
        {"<min_core_client_upgrade_deadline>-1</min_core_client_upgrade_deadline>", "at least 0"},
        {"<ended>yes</ended>", "ended is \"yes\"; it must be empty (true), 1 or 0"},
        {"<long_name>a <b>bold</b> name</long_name>", "long_name contains other elements"},
        {"<edf_min_queue>when_idle</edf_min_queue>",
         "edf_min_queue is \"when_idle\"; it must be one of by_client, always, when_not_idle, "
         "never"},
        {"<edf_min_queue>Always</edf_min_queue>", "edf_min_queue is \"Always\""},
        {"<edf_min_queue>always never</edf_min_queue>", "edf_min_queue"},
        {"<edf_min_queue/>", "edf_min_queue is \"\"; it must be one of"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text options =
            text_print(world->arena, "<max_ncpus>4</max_ncpus>\n%s", cases[i].option);
        assert_status(STATUS_INVALID, load_options(world, options.at));
        assert_finding(world, true, 4, cases[i].part);
        assert_null(world->config);
        assert_non_null(strstr(world->failure.text, "/config.xml:4: "));
    }
}

static void all_errors_are_found_at_once(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_INVALID, load_options(world, "<max_ncpus>0</max_ncpus>\n"
                                                      "<thread>4</thread>\n"
                                                      "<threads>0</threads>"));
    assert_finding(world, true, 3, "max_ncpus");
    assert_finding(world, false, 4, "did you mean threads?");
    assert_finding(world, true, 5, "threads");
    assert_int_equal(world->findings.count, 3);
}

static void misspelt_names_get_the_nearest_known_one(void **state)
{
    static const struct {
        const char *wrong, *right;
    } cases[] = {
        {"max_wu_to_send", "max_wus_to_send"},
        {"daily_results_quota", "daily_result_quota"},
        {"dowload_url", "download_url"},
        {"recaptcha_pubic_key", "recaptcha_public_key"}, /* of another program */
        {"Max_ncpus", "max_ncpus"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text option = text_print(world->arena, "<%s>1</%s>", cases[i].wrong, cases[i].wrong);
        struct text wanted = text_print(world->arena, "unknown option %s; did you mean %s?",
                                        cases[i].wrong, cases[i].right);
        assert_status(STATUS_OK, load_options(world, option.at));
        assert_finding(world, false, 3, wanted.at);
    }
    assert_status(STATUS_OK, load_options(world, "<something_of_their_own><max_ncpus>3</max_ncpus>"
                                                 "</something_of_their_own>"));
    assert_int_equal(world->findings.count, 1);
    assert_text(world->findings.items[0].text, "unknown option something_of_their_own");
    assert_i64(world->config->max_ncpus, 64);
}

static void options_of_other_programs_are_passed_over(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK,
                  load_text(world, TEXT("<?xml version=\"1.0\" encoding=\"latin1\"?>\n"
                                        "<boinc>\n<config>\n<host>h</host>\n"
                                        "<replica_db_host>r</replica_db_host>\n"
                                        "<replica2_db_name>r</replica2_db_name>\n"
                                        "<debug_send/><show_results>1</show_results>\n"
                                        "<shmem_key>0x1111</shmem_key>\n"
                                        "<cgi_url>http://x/demo_cgi/</cgi_url>\n" /* until 2013 */
                                        "<fp_benchmark_weight>1</fp_benchmark_weight>\n"
                                        "<matchmaker>1</matchmaker><mm_min_slots>5</mm_min_slots>"
                                        "<mm_max_slots>9</mm_max_slots><no_vista_sandbox/>\n"
                                        "<homogeneous_redundancy>0</homogeneous_redundancy>\n"
                                        "</config>\n<tasks><task><cmd>a</cmd><max_ncpus>9"
                                        "</max_ncpus></task></tasks>\n"
                                        "<daemons><daemon><cmd>b -d 3</cmd></daemon></daemons>\n"
                                        "</boinc>\n")));
    assert_int_equal(world->findings.count, 0);
    assert_i64(world->config->max_ncpus, 64);
}

/* BOINC takes any number there; one of ours that is too large is a mistake. */
static void more_than_the_highest_counts_as_that(void **state)
{
    struct world *world = *state;

    assert_status(STATUS_OK, load_options(world, "<sched_debug_level>99</sched_debug_level>\n"
                                                 "<max_wus_to_send>1000001</max_wus_to_send>\n"
                                                 "<report_max>1000000</report_max>"));
    assert_i64(world->config->sched_debug_level, 4);
    assert_i64(world->config->max_wus_to_send, 1000000);
    assert_int_equal(world->findings.count, 2);
    assert_finding(world, false, 3, "sched_debug_level is 99, which counts as 4");
    assert_finding(world, false, 4, "max_wus_to_send is 1000001, which counts as 1000000");
}

/* For a look at the rest: what is wrong is told as ever. */
static void wrong_values_are_their_defaults_in_part(void **state)
{
    struct world *world = *state;
    struct config_findings findings;
    struct config *config = NULL;
    bool is_whole = false;

    assert_status(STATUS_INVALID, load_options(world, "<threads>many</threads>\n"
                                                      "<long_name>A</long_name>"));
    assert_null(world->config);
    assert_status(STATUS_INVALID, config_load_partly(world->folder, world->arena, &config,
                                                     &is_whole, &findings, &world->failure));
    assert_non_null(config);
    assert_true(is_whole);
    assert_int_equal(findings.count, 1);
    assert_i64(config->threads, 8);
    assert_text(config->long_name, "A");
    config_release(config);
    assert_status(STATUS_INVALID,
                  load_text(world, TEXT("<boinc>\n<config>\n<threads>2</threads>\n</confg>")));
    assert_null(world->config);
    assert_status(STATUS_INVALID, config_load_partly(world->folder, world->arena, &config,
                                                     &is_whole, &findings, &world->failure));
    assert_non_null(config); /* what stands before the error */
    assert_false(is_whole);
    assert_i64(config->threads, 2);
    config_release(config);
    assert_status(STATUS_NOT_FOUND, config_load_partly("/nowhere", world->arena, &config, &is_whole,
                                                       &findings, &world->failure));
    assert_null(config);
}

static void less_than_the_lowest_is_refused(void **state)
{
    struct world *world = *state;

    assert_status(STATUS_INVALID, load_options(world, "<sched_debug_level>0</sched_debug_level>\n"
                                                      "<threads>1000000</threads>"));
    assert_finding(world, true, 3, "it must be a whole number from 1 to 4");
    assert_finding(world, true, 4, "threads is \"1000000\"");
}

static void unserved_options_are_told_of(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK,
                  load_options(world,
                               "<locality_scheduler_fraction>1</locality_scheduler_fraction>\n"
                               "<locality_scheduling/>\n"
                               "<replace_download_url_by_timezone/>\n"
                               "<file_deletion_strategy>0</file_deletion_strategy>"));
    assert_finding(world, false, 3, "locality_scheduler_fraction is not supported");
    assert_finding(world, false, 4, "locality_scheduling is not supported");
    assert_finding(world, false, 5, "replace_download_url_by_timezone is not supported");
    assert_int_equal(world->findings.count, 3);
}

static void limits_in_progress_are_read(void **state)
{
    struct world *world = *state;
    const struct jobs_in_progress *limits;

    assert_status(STATUS_OK,
                  load_options(world, "<max_jobs_in_progress>\n"
                                      "<project><total_limit><jobs>10</jobs></total_limit>"
                                      "<gpu_limit><jobs>2</jobs><per_proc/></gpu_limit></project>\n"
                                      "<app><app_name>\nx\n</app_name>"
                                      "<cpu_limit><jobs>3</jobs><per_proc>0</per_proc></cpu_limit>"
                                      "</app>\n"
                                      "<app><cpu_limit><jobs>9</jobs></cpu_limit></app>\n"
                                      "<apps><app_name>y</app_name></apps>\n"
                                      "</max_jobs_in_progress>\n"
                                      "<max_ncpus>7</max_ncpus>"));
    assert_int_equal(world->config->jobs_in_progress_count, 2);
    limits = world->config->jobs_in_progress;
    assert_int_equal(limits[0].app_name.length, 0);
    assert_i64(limits[0].total.jobs, 10);
    assert_false(limits[0].total.per_processor);
    assert_i64(limits[0].gpu.jobs, 2);
    assert_true(limits[0].gpu.per_processor);
    assert_i64(limits[0].cpu.jobs, 0);
    assert_text(limits[1].app_name, "x");
    assert_i64(limits[1].cpu.jobs, 3);
    assert_false(limits[1].cpu.per_processor);
    assert_finding(world, false, 8, "an app in max_jobs_in_progress has no app_name");
    assert_finding(world, false, 9, "unknown element in max_jobs_in_progress: apps");
    assert_int_equal(world->findings.count, 2);
    struct buffer dump = buffer_on_heap(0);
    config_dump(world->config, &dump);
    assert_true(text_contains(buffer_text(&dump),
                              TEXT("max_jobs_in_progress.(project).gpu = 2 per processor\n")));
    assert_true(text_contains(buffer_text(&dump), TEXT("max_jobs_in_progress.x.cpu = 3\n")));
    assert_false(text_contains(buffer_text(&dump), TEXT("max_jobs_in_progress.x.gpu")));
    buffer_free(&dump);
    assert_i64(world->config->max_ncpus, 7); /* what follows is read as ever */
}

static void faulty_limits_are_errors(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_INVALID, load_options(world, "<max_jobs_in_progress><project>\n"
                                                      "<cpu_limit><jobs>many</jobs></cpu_limit>\n"
                                                      "</project></max_jobs_in_progress>"));
    assert_finding(world, true, 4, "is not a number");
}

/* Whatever is written, what is kept of it is bounded, and that is said. */
static void much_is_bounded(void **state)
{
    enum { LIMITS = 1001, UNKNOWN = 300, VALUE = 70000 };
    struct world *world = *state;
    struct buffer text = buffer_on_heap(0);

    buffer_add_string(&text, "<max_jobs_in_progress>");
    for (int i = 0; i < LIMITS; i++)
        buffer_add_string(&text, "<project><cpu_limit><jobs>1</jobs></cpu_limit></project>");
    buffer_add_string(&text, "</max_jobs_in_progress>");
    assert_status(STATUS_INVALID,
                  load_options(world, text_string(world->arena, buffer_text(&text))));
    assert_finding(world, true, 3, "too many limits");
    text.length = 0;
    for (int i = 0; i < UNKNOWN; i++)
        buffer_add_string(&text, "<something_of_their_own/>");
    assert_status(STATUS_OK, load_options(world, text_string(world->arena, buffer_text(&text))));
    assert_int_equal(world->findings.count, 200);
    assert_text(world->findings.items[199].text, "further findings are omitted");
    text.length = 0;
    buffer_add_string(&text, "<long_name>");
    for (int i = 0; i < VALUE; i++)
        buffer_add_char(&text, 'x');
    buffer_add_string(&text, "</long_name>");
    assert_status(STATUS_INVALID,
                  load_options(world, text_string(world->arena, buffer_text(&text))));
    assert_finding(world, true, 3, "longer than 65536 bytes");
    buffer_free(&text);
}

/* Beside the options, with a byte order mark before all, by a name that is far too long. */
static void what_is_not_known_is_told(void **state)
{
    struct world *world = *state;
    struct text name = text_print(world->arena, "<%070d_/>", 7);

    assert_status(STATUS_OK, load_text(world, TEXT("\xef\xbb\xbf<boinc>\n<confog/>\n<config>\n"
                                                   "<max_ncpus>3</max_ncpus></config>\n"
                                                   "</boinc>\n")));
    assert_finding(world, false, 2, "unknown element confog next to config");
    assert_i64(world->config->max_ncpus, 3);
    name = text_print(world->arena, "<x" TEXT_FORMAT,
                      TEXT_ARG(text_print(world->arena, "%070d/>", 7)));
    assert_status(STATUS_OK, load_options(world, name.at));
    assert_finding(world, false, 3, "unknown option x000");
    assert_status(STATUS_INVALID, load_text(world, TEXT("<boinc>\n<config>\n<")));
}

static void bad_regular_expression_is_an_error(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_INVALID,
                  load_options(world, "<ban_os>Windows(</ban_os>\n<ban_os>Win & <95</ban_os>\n"
                                      "<ban_os></ban_os>"));
    assert_finding(world, true, 3, "ban_os: \"Windows(\" is no regular expression");
    assert_status(STATUS_OK, load_options(world, "<ban_os>Win & <95</ban_os>\n<ban_os></ban_os>"));
    assert_int_equal(world->config->ban_os.texts.count, 1);
    assert_text(world->config->ban_os.texts.items[0], "Win & <95");
    assert_true(config_matches(&world->config->ban_os, "Win & <95\t4.0"));
    assert_false(config_matches(&world->config->ban_os, "Linux\t4.0"));
    assert_false(config_matches(&world->config->ban_cpu, "Win & <95\t4.0"));
}

static void slips_of_the_pen_are_forgiven(void **state)
{
    static const struct {
        const char *written, *read;
    } cases[] = {
        {"http://a/b?x=1&y=2", "http://a/b?x=1&y=2"},
        {"a &amp; b &lt; c", "a & b < c"},
        {"a &nbsp; b", "a &nbsp; b"},
        {"a < b && c <= d", "a < b && c <= d"},
        {"Universit\xe4t \xc3\xa9", "Universit\xe4t \xc3\xa9"},
        {"caf&#233; &#195;&#169;", "caf\xe9 \xc3\xa9"},
        {"<![CDATA[a<b>&amp;\xe4]]>", "a<b>&amp;\xe4"},
        {"a]]>b", "a]]>b"},
        {"one<!-- a -- b & <c> -->two", "onetwo"},
        {"bell\a!", "bell !"},
        {"&#7;&#0;&#x41;", "&#7;&#0;&#x41;"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text option =
            text_print(world->arena, "<long_name>%s</long_name>", cases[i].written);
        if (load_options(world, option.at) != STATUS_OK)
            fail_msg("\"%s\": %s", cases[i].written, world->failure.text);
        assert_text(world->config->long_name, cases[i].read);
    }
}

static void comments_keep_line_numbers_right(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_INVALID, load_options(world, "<!-- one\n two -- three\n-->\n"
                                                      "<max_ncpus>x</max_ncpus>"));
    assert_finding(world, true, 6, "max_ncpus");
}

static void malformed_file_is_an_error_with_its_line(void **state)
{
    static const struct {
        const char *text;
        int line;
    } cases[] = {
        {"<boinc>\n<config>\n<max_ncpus>4\n</config>\n</boinc>\n", 4},
        {"<boinc>\n<config>\n", 3},
        {"", 0},
        {"plain text", 1},
        {"<config>\n</config>\n", 1},
        {"<boinc>\n<!-- never ends\n</boinc>\n", 0},
        {"<!DOCTYPE x [<!ENTITY a \"b\">]>\n<boinc/>", 1},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_status(STATUS_INVALID, load_text(world, text_from(cases[i].text)));
        assert_int_equal(world->findings.count, 1);
        assert_true(world->findings.items[0].is_error);
        if (cases[i].line > 0)
            assert_int_equal(world->findings.items[0].line, cases[i].line);
        assert_null(world->config);
    }
}

static void missing_file_or_folder_is_an_error(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_INVALID, load(world));
    assert_non_null(strstr(world->failure.text, "config.xml: open: No such file"));
    assert_status(STATUS_NOT_FOUND, config_load("/no/such/folder", world->arena, &world->config,
                                                &world->findings, NULL));
    assert_int_equal(world->findings.count, 0);
}

static void second_file_goes_over_the_first(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK,
                  file_write(world->aux_file.at,
                             TEXT("<config>\n<max_ncpus>5</max_ncpus>\n</config>\n"), 0644, NULL));
    assert_status(STATUS_OK, load_options(world, "<max_ncpus>4</max_ncpus><threads>3</threads>"));
    assert_i64(world->config->max_ncpus, 5);
    assert_i64(world->config->threads, 3);
    assert_status(STATUS_OK, file_write(world->aux_file.at, TEXT("<boinc/>"), 0644, NULL));
    assert_status(STATUS_INVALID, load(world));
    assert_non_null(strstr(world->failure.text, "config_aux.xml:1: the root element is boinc"));
}

static void grace_period_in_seconds_wins_over_hours(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, load_options(world, "<grace_period_hours>1.5</grace_period_hours>"));
    assert_i64(world->config->report_grace_period, 5400);
    assert_status(STATUS_OK, load_options(world, "<report_grace_period>60</report_grace_period>"
                                                 "<grace_period_hours>2</grace_period_hours>"));
    assert_i64(world->config->report_grace_period, 60);
    assert_status(STATUS_OK, load_options(world, "<grace_period_hours>2</grace_period_hours>"
                                                 "<report_grace_period>60</report_grace_period>"));
    assert_i64(world->config->report_grace_period, 60);
}

static void old_client_versions_are_scaled(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK,
                  load_options(world, "<min_core_client_version>712</min_core_client_version>"));
    assert_i64(world->config->min_core_client_version, 71200);
    assert_status(STATUS_OK,
                  load_options(world, "<min_core_client_version>71200</min_core_client_version>"));
    assert_i64(world->config->min_core_client_version, 71200);
}

static void tests_set_options_by_name(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, config_defaults(&world->config));
    struct failure failure = {0};
    assert_status(STATUS_OK, config_set(world->config, TEXT("threads"), TEXT("3"), &failure));
    assert_i64(world->config->threads, 3);
    assert_status(STATUS_OK,
                  config_set(world->config, TEXT("grace_period_hours"), TEXT("1"), &failure));
    assert_i64(world->config->report_grace_period, 3600);
    assert_status(STATUS_INVALID, config_set(world->config, TEXT("threads"), TEXT("0"), &failure));
    assert_i64(world->config->threads, 3);
    assert_status(STATUS_NOT_FOUND, config_set(world->config, TEXT("thread"), TEXT("3"), NULL));
}

/* What is said of an option and what is told of a change are the same. */
static void options_read_at_start_say_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_option_count; i++) {
        bool is_said = strstr(config_options[i].help, "A change needs a restart.") != NULL;
        bool is_listed = false;

        for (size_t j = 0; j < config_at_start_count; j++)
            is_listed = is_listed || strcmp(config_at_start[j].name, config_options[i].name) == 0;
        if (is_said != is_listed)
            fail_msg("%s: said %d, listed %d", config_options[i].name, is_said, is_listed);
    }
}

static void changes_are_counted(void **state)
{
    struct world *world = *state;
    struct buffer words = buffer_on_heap(1000);
    struct config *before;

    assert_status(STATUS_OK, load_options(world, "<ban_os>a</ban_os><db_passwd>x</db_passwd>"));
    before = config_hold(world->config);
    assert_int_equal(config_log_changes(before, world->config, NULL), 0);
    assert_status(STATUS_OK,
                  load_options(world, "<ban_os>a</ban_os><ban_os>b</ban_os><db_passwd>y</db_passwd>"
                                      "<threads>9</threads><upload_threads>5</upload_threads>"
                                      "<max_jobs_in_progress><project><total_limit><jobs>3</jobs>"
                                      "</total_limit></project></max_jobs_in_progress>"));
    assert_int_equal(config_log_changes(before, world->config, &words), 5);
    assert_text(buffer_text(&words), "ban_os: a b, was a\ndb_passwd: (hidden)\nthreads: 9, was 8\n"
                                     "upload_threads: 5, was 4\nmax_jobs_in_progress");
    buffer_free(&words);
    assert_int_equal(config_log_changes(world->config, before, NULL), 5);
    assert_int_equal(config_restarts_wanted(before, world->config, PROGRAM_SERVER), 1);
    assert_int_equal(config_restarts_wanted(before, world->config, PROGRAM_UPLOAD), 1);
    config_release(before);
}

static void every_figure_of_a_limit_in_progress_is_compared(void **state)
{
    struct world *world = *state;
    struct config *before;
#define LIMIT_OF_X(app, total, cpu, gpu)                                                    \
    "<max_jobs_in_progress><app><app_name>" app "</app_name><total_limit><jobs>" total      \
    "</jobs></total_limit><cpu_limit><jobs>" cpu "</jobs></cpu_limit><gpu_limit><jobs>" gpu \
    "</gpu_limit></app></max_jobs_in_progress>"
    static const struct {
        const char *options;
        size_t changes;
    } cases[] = {{LIMIT_OF_X("x", "3", "4", "5</jobs>"), 0},
                 {LIMIT_OF_X("y", "3", "4", "5</jobs>"), 1},
                 {LIMIT_OF_X("x", "2", "4", "5</jobs>"), 1},
                 {LIMIT_OF_X("x", "3", "1", "5</jobs>"), 1},
                 {LIMIT_OF_X("x", "3", "4", "6</jobs>"), 1},
                 {LIMIT_OF_X("x", "3", "4", "5</jobs><per_proc/>"), 1}};

    assert_status(STATUS_OK, load_options(world, cases[0].options));
    before = config_hold(world->config);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_status(STATUS_OK, load_options(world, cases[i].options));
        assert_int_equal(config_log_changes(before, world->config, NULL), cases[i].changes);
    }
    config_release(before);
}

static void a_place_is_file_and_line(void **state)
{
    struct world *world = *state;

    assert_status(STATUS_OK, load_options(world, "\n<threads>9</threads>"));
    assert_text(text_from(config_place(world->config, "threads", world->arena)),
                text_string(world->arena, text_print(world->arena, TEXT_FORMAT ":4: threads",
                                                     TEXT_ARG(world->main_file))));
    assert_text(text_from(config_place(world->config, "db_name", world->arena)),
                "config.xml: db_name");
}

static void last_holder_frees(void **state)
{
    (void)state;
    struct config *config;
    assert_status(STATUS_OK, config_defaults(&config));
    assert_ptr_equal(config_hold(config), config);
    config_release(config);
    assert_i64(config->threads, 8); /* under the address sanitizer: still there */
    config_release(config);
    config_release(NULL);
}

static void dump_tells_values_and_origins(void **state)
{
    struct world *world = *state;
    struct buffer buffer = buffer_in(world->arena);
    assert_status(STATUS_OK, load_options(world, "<threads>3</threads>\n"
                                                 "<db_passwd>secret</db_passwd>\n"
                                                 "<ban_cpu>a</ban_cpu><ban_cpu>b</ban_cpu>\n"
                                                 "<edf_min_queue>when_not_idle</edf_min_queue>\n"
                                                 "<grace_period_hours>1</grace_period_hours>"));
    config_dump(world->config, &buffer);
    struct text dump = buffer_text(&buffer);
    struct text wanted[] = {
        text_print(world->arena, "\nthreads = 3  # " TEXT_FORMAT ":3\n",
                   TEXT_ARG(world->main_file)),
        text_print(world->arena, "\ndb_passwd = (hidden)  # " TEXT_FORMAT ":4\n",
                   TEXT_ARG(world->main_file)),
        text_print(world->arena, "ban_cpu = b  # " TEXT_FORMAT ":5\n", TEXT_ARG(world->main_file)),
        text_print(world->arena, "\nedf_min_queue = when_not_idle  # " TEXT_FORMAT ":6\n",
                   TEXT_ARG(world->main_file)),
        TEXT("\nmax_ncpus = 64  # default\n"),
        TEXT("\ndelay_jitter = 0.25  # default\n"),
        TEXT("\ndb_user =   # default\n"),
        TEXT("\nreport_grace_period = 3600  # grace_period_hours\n"),
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!text_contains(dump, wanted[i]))
            fail_msg("no \"" TEXT_FORMAT "\" in:\n" TEXT_FORMAT, TEXT_ARG(wanted[i]),
                     TEXT_ARG(dump));
    assert_false(text_contains(dump, TEXT("secret")));
}

/* The same file, with every option taken out of its comment, must be readable too. */
static struct text uncommented(struct arena *arena, struct text sample)
{
    struct buffer buffer = buffer_in(arena);
    while (sample.length > 0) {
        struct text line = text_split(&sample, '\n');
        if (text_starts(line, TEXT("    <!-- <"))) {
            line = (struct text){.at = line.at + 9, .length = line.length - 9};
            line.length = text_find(line, TEXT(" -->"));
        }
        buffer_add(&buffer, line);
        buffer_add_char(&buffer, '\n');
    }
    return buffer_text(&buffer);
}

static void manual_page_is_that_of_the_table(void **state)
{
    struct world *world = *state;
    struct buffer manual = buffer_in(world->arena);
    struct text kept = NO_TEXT;
    struct text path =
        text_print(world->arena, "%s/config/config.xml.5.md", getenv("QM_SOURCE_DIR"));

    config_write_manual(&manual);
    (void)!file_read(world->arena, path.at, PLENTY, &kept, NULL);
    if (!text_equal(kept, buffer_text(&manual)))
        fail_msg("the table has changed: build/debug/quartermaster --write-manual >%s", path.at);
    struct text rest = kept;
    while (rest.length > 0)
        assert_true(text_split(&rest, '\n').length <= 120);
}

static void sample_file_is_that_of_the_table(void **state)
{
    struct world *world = *state;
    struct buffer sample = buffer_in(world->arena);
    struct text kept = NO_TEXT;
    struct text path = text_print(world->arena, "%s/config/config.xml", getenv("QM_SOURCE_DIR"));
    struct text fresh = text_print(world->arena, "%s/config.xml", getenv("QM_BINARY_DIR"));
    config_write_sample(&sample);
    (void)!file_read(world->arena, path.at, PLENTY, &kept, NULL);
    if (!text_equal(kept, buffer_text(&sample))) {
        assert_status(STATUS_OK, file_write(fresh.at, buffer_text(&sample), 0644, NULL));
        fail_msg("the tables have changed: cp %s %s", fresh.at, path.at);
    }
    struct text rest = kept;
    while (rest.length > 0)
        assert_true(text_split(&rest, '\n').length <= 100);

    struct buffer defaults = buffer_in(world->arena), loaded = buffer_in(world->arena);
    assert_status(STATUS_OK, config_defaults(&world->config));
    config_dump(world->config, &defaults);
    assert_status(STATUS_OK, load_text(world, kept));
    assert_int_equal(world->findings.count, 0);
    config_dump(world->config, &loaded);
    assert_true(text_equal(buffer_text(&defaults), buffer_text(&loaded)));
    assert_status(STATUS_OK, load_text(world, uncommented(world->arena, kept)));
    assert_int_equal(world->findings.count, 0);
    assert_i64(world->config->threads, 8);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, remove_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_sorted_unique_and_explained),
        cmocka_unit_test(defaults_and_bounds_fit_their_type),
        cmocka_unit_test(other_names_are_sorted_and_not_ours),
        IN_WORLD(defaults_are_those_of_the_table),
        IN_WORLD(values_of_every_type_are_read),
        IN_WORLD(the_folder_of_science_apps_is_looked_for),
        IN_WORLD(last_of_several_wins_and_empty_number_is_zero),
        IN_WORLD(whole_numbers_may_be_written_as_real_ones),
        IN_WORLD(unreadable_values_are_errors_with_line_and_range),
        IN_WORLD(all_errors_are_found_at_once),
        IN_WORLD(misspelt_names_get_the_nearest_known_one),
        IN_WORLD(options_of_other_programs_are_passed_over),
        IN_WORLD(more_than_the_highest_counts_as_that),
        IN_WORLD(wrong_values_are_their_defaults_in_part),
        IN_WORLD(less_than_the_lowest_is_refused),
        IN_WORLD(unserved_options_are_told_of),
        IN_WORLD(limits_in_progress_are_read),
        IN_WORLD(faulty_limits_are_errors),
        IN_WORLD(much_is_bounded),
        IN_WORLD(what_is_not_known_is_told),
        IN_WORLD(bad_regular_expression_is_an_error),
        IN_WORLD(slips_of_the_pen_are_forgiven),
        IN_WORLD(comments_keep_line_numbers_right),
        IN_WORLD(malformed_file_is_an_error_with_its_line),
        IN_WORLD(missing_file_or_folder_is_an_error),
        IN_WORLD(second_file_goes_over_the_first),
        IN_WORLD(grace_period_in_seconds_wins_over_hours),
        IN_WORLD(old_client_versions_are_scaled),
        IN_WORLD(tests_set_options_by_name),
        cmocka_unit_test(last_holder_frees),
        cmocka_unit_test(options_read_at_start_say_so),
        IN_WORLD(changes_are_counted),
        IN_WORLD(every_figure_of_a_limit_in_progress_is_compared),
        IN_WORLD(a_place_is_file_and_line),
        IN_WORLD(dump_tells_values_and_origins),
        IN_WORLD(sample_file_is_that_of_the_table),
        IN_WORLD(manual_page_is_that_of_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
