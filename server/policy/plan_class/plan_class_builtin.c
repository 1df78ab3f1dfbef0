/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in classes are made from their names: the first row that matches the name fills in demands
 * as a file would. Rows stand in the order in which names are compared, since some names contain
 * others.
 *
 * Two families that never worked in the project's other scheduler do here: AMD's OpenCL classes
 * under both of their names. */
#include "server/policy/plan_class/plan_class_builtin.h"

#include "server/base/banned.h"

enum match { MATCH_EXACTLY, MATCH_START, MATCH_PART };

#define NO_MORE_THREADS 64

static void make_mt(struct plan_class *class)
{
    class->min_ncpus = 2;
    class->max_threads = NO_MORE_THREADS;
    class->projected_flops_scale = 0.99;
    class->nthreads_cmdline = true;
}

static void make_nci(struct plan_class *class)
{
    class->avg_ncpus = 0.01;
    class->projected_flops_scale = 101; /* 1.01 times the CPU, though it uses a hundredth of it */
}

static void make_sse3(struct plan_class *class)
{
    static const struct text pni[] = {{.at = "pni", .length = 3}};

    class->cpu_feature = (struct text_list){.items = pni, .count = 1};
    class->projected_flops_scale = 1.1;
}

static void make_vbox(struct plan_class *class)
{
    class->virtualbox = true;
    class->min_vbox_version = 30200;
    class->is64bit = text_contains(class->name, TEXT("64"));
    class->vm_accel_required = class->is64bit || text_contains(class->name, TEXT("hwaccel"));
    if (text_contains(class->name, TEXT("mt"))) {
        class->max_threads = NO_MORE_THREADS;
        class->nthreads_cmdline = true;
        class->projected_flops_scale = 0.99;
    }
}

static void make_wsl(struct plan_class *class)
{
    class->wsl = true;
}

static void make_gpu(struct plan_class *class, const char *type, double cpu_fraction,
                     double efficiency)
{
    class->gpu_type = text_from(type);
    class->cpu_frac = cpu_fraction;
    class->gpu_peak_flops_scale = efficiency;
    class->peak_unscaled = true;
}

static void make_nvidia(struct plan_class *class, double driver, double megabytes,
                        double efficiency)
{
    make_gpu(class, "nvidia", 0.01, efficiency);
    class->cuda = true;
    class->min_driver_version = driver;
    class->min_gpu_ram_mb = megabytes;
}

static void make_cuda(struct plan_class *class)
{
    make_nvidia(class, 17700, 256, 0.20);
    class->min_nvidia_compcap = 100;
    class->max_nvidia_compcap = 199;
}

static void make_cuda23(struct plan_class *class)
{
    make_nvidia(class, 19038, 384, 0.21);
    class->min_nvidia_compcap = 100;
    class->max_nvidia_compcap = 199;
    class->min_cuda_version = 2030;
}

static void make_cuda_fermi(struct plan_class *class)
{
    make_nvidia(class, 19500, 384, 0.22);
    class->min_nvidia_compcap = 200;
    class->min_cuda_version = 3000;
}

static void make_ati(struct plan_class *class)
{
    make_gpu(class, "ati", 0.01, 0.20);
    class->min_gpu_ram_mb = 256;
    class->need_amd_libs = true;
    class->cal = true;
    class->min_driver_version = 10000000;
}

static void make_ati13amd(struct plan_class *class)
{
    make_ati(class);
    class->gpu_peak_flops_scale = 0.21;
    class->min_driver_version = 10030000;
}

static void make_ati13ati(struct plan_class *class)
{
    make_ati13amd(class);
    class->gpu_peak_flops_scale = 0.22;
    class->need_amd_libs = false;
    class->need_ati_libs = true;
    class->min_driver_version = 10030186;
}

static void make_ati14(struct plan_class *class)
{
    make_ati13ati(class);
    class->gpu_peak_flops_scale = 0.23;
    class->min_driver_version = 10040000;
}

/* The digits that end a name are the least OpenCL version, as in opencl_nvidia_101. */
static void make_opencl(struct plan_class *class, const char *type, double cpu_fraction,
                        double efficiency)
{
    struct text name = class->name;
    double version = 0, place = 1;

    make_gpu(class, type, cpu_fraction, efficiency);
    class->opencl = true;
    class->min_gpu_ram_mb = 256;
    for (; name.length > 0 && place < 1e4; name.length--, place *= 10) {
        char digit = name.at[name.length - 1];

        if (digit < '0' || digit > '9')
            break;
        version += place * (digit - '0');
    }
    class->min_opencl_version = version;
}

static void make_opencl_cpu(struct plan_class *class)
{
    make_mt(class);
    class->opencl = true;
    class->opencl_cpu_vendor = TEXT("intel");
}

static void make_opencl_nvidia(struct plan_class *class)
{
    make_opencl(class, "nvidia", 0.01, 0.14);
}

static void make_opencl_amd(struct plan_class *class)
{
    make_opencl(class, "amd", 0.01, 0.14);
}

static void make_opencl_intel(struct plan_class *class)
{
    make_opencl(class, "intel_gpu", 0.1, 0.2);
}

static void make_opencl_apple(struct plan_class *class)
{
    make_opencl(class, "apple_gpu", 0.1, 0.2);
}

static const struct {
    enum match match;
    const char *pattern;
    void (*make)(struct plan_class *class);
} rows[] = {
    {MATCH_EXACTLY, "mt", make_mt},
    {MATCH_PART, "opencl_cpu_intel", make_opencl_cpu},
    {MATCH_START, "opencl_nvidia", make_opencl_nvidia},
    {MATCH_START, "opencl_ati", make_opencl_amd},
    {MATCH_START, "opencl_amd", make_opencl_amd},
    {MATCH_START, "opencl_intel_gpu", make_opencl_intel},
    {MATCH_START, "opencl_apple_gpu", make_opencl_apple},
    {MATCH_EXACTLY, "ati13amd", make_ati13amd},
    {MATCH_EXACTLY, "ati13ati", make_ati13ati},
    {MATCH_EXACTLY, "ati14", make_ati14},
    {MATCH_EXACTLY, "ati", make_ati},
    {MATCH_EXACTLY, "cuda23", make_cuda23},
    {MATCH_EXACTLY, "cuda_fermi", make_cuda_fermi},
    {MATCH_EXACTLY, "cuda", make_cuda},
    {MATCH_EXACTLY, "nci", make_nci},
    {MATCH_EXACTLY, "sse3", make_sse3},
    {MATCH_PART, "vbox", make_vbox},
    {MATCH_PART, "wsl", make_wsl},
};

static bool matches(enum match match, struct text name, struct text pattern)
{
    switch (match) {
    case MATCH_EXACTLY:
        return text_equal(name, pattern);
    case MATCH_START:
        return text_starts(name, pattern);
    case MATCH_PART:
        return text_contains(name, pattern);
    }
    return false;
}

bool plan_class_builtin(struct text name, struct plan_class *ret_class)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!matches(rows[i].match, name, text_from(rows[i].pattern)))
            continue;
        plan_class_init(ret_class);
        ret_class->name = name;
        rows[i].make(ret_class);
        return true;
    }
    return false;
}

struct plan_classes plan_classes_builtin(void)
{
    return (struct plan_classes){.is_builtin = true};
}
