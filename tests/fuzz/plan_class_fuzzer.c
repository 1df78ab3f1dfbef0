/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as plan_class_spec.xml: it is refused with a reason, or each class in it has a verdict
 * on a host with coprocessors of every kind, whose figures are numbers. */
#include "server/base/arena.h"
#include "server/base/status.h"
#include "server/base/xml.h"
#include "server/policy/plan_class/plan_class.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "tests/support/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    xml_startup();
    return 0;
}

static void judge(const struct plan_classes *classes, struct arena *arena)
{
    static struct coproc coprocs[] = {
        {.type = {.at = "NVIDIA", .length = 6},
         .count = 2,
         .peak_flops = 1e13,
         .has_cuda = true,
         .cuda_version = 12020,
         .driver_version = 53512,
         .total_global_mem = 8e9,
         .compute_major = 8,
         .has_opencl = true,
         .opencl = {.device_version = {.at = "OpenCL 3.0 CUDA", .length = 15}}},
        {.type = {.at = "ATI", .length = 3},
         .count = 1,
         .peak_flops = 1e12,
         .has_opencl = true,
         .opencl = {.device_version = {.at = "OpenCL 3.0 CUDA", .length = 15}},
         .total_global_mem = 4e9},
        {.type = {.at = "intel_gpu", .length = 9}, .count = 1, .has_opencl = true}};
    struct message message;
    struct plan_host host = {.message = &message,
                             .client_version = 80000,
                             .userid = 17,
                             .cpus = 4,
                             .memory = 8e9,
                             .cpu_flops = 1e9,
                             .primary_platform = TEXT("x86_64-pc-linux-gnu"),
                             .chance = 0.5};

    message_of_a_host(&message);
    message.coprocs = coprocs;
    message.coproc_count = sizeof(coprocs) / sizeof(coprocs[0]);
    message.client_cap_plan_class = true;
    for (size_t i = 0; i < classes->count; i++) {
        struct plan_verdict verdict =
            plan_class_judge(classes, classes->items[i].name, &host, arena);

        must(verdict.is_usable || verdict.why.length > 0);
        must(!verdict.is_usable ||
             (isfinite(verdict.usage.avg_ncpus) && isfinite(verdict.usage.coproc_count) &&
              isfinite(verdict.usage.projected_flops) && isfinite(verdict.usage.peak_flops)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 24);
    struct plan_classes classes = {0};
    struct failure failure = {0};
    char *bytes = malloc(size + 1); /* exactly its size would be 0 */

    must(arena != NULL && bytes != NULL);
    memcpy(bytes, data, size);
    if (plan_classes_parse((struct text){.at = bytes, .length = size}, &classes, &failure) ==
        STATUS_OK) {
        judge(&classes, arena);
        plan_classes_free(&classes);
    } else {
        must(failure.text[0] != '\0');
    }
    free(bytes);
    arena_destroy(arena);
    return 0;
}
