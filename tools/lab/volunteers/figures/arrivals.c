/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/figures/arrivals.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define DAY 86400.0
bool arrivals_init(struct arrivals *arrivals, double begin, double end, double width)
{
    *arrivals = (struct arrivals){.begin = begin, .width = fmax(width, 1)};
    while ((end - begin) / arrivals->width > ARRIVALS_BINS_MAX)
        arrivals->width *= 2;
    arrivals->count = end > begin ? (size_t)ceil((end - begin) / arrivals->width) : 1;
    arrivals->bins = calloc(arrivals->count, sizeof(*arrivals->bins));
    return arrivals->bins != NULL;
}

void arrivals_free(struct arrivals *arrivals)
{
    free(arrivals->bins);
    *arrivals = (struct arrivals){0};
}

void arrivals_count(struct arrivals *arrivals, const struct rpc *rpc)
{
    double place = (rpc->time - arrivals->begin) / arrivals->width;
    struct arrivals_bin *bin;

    if (!(place >= 0 && place < (double)arrivals->count) ||
        (unsigned)rpc->outcome >= RPC_OUTCOME_COUNT)
        return;
    bin = &arrivals->bins[(size_t)place];
    bin->rpcs[rpc->outcome]++;
    bin->jobs += rpc->jobs;
    bin->reported += rpc->reported;
}

static void count(void *context, const struct rpc *rpc)
{
    arrivals_count(context, rpc);
}

struct observer arrivals_observer(struct arrivals *arrivals)
{
    return (struct observer){.context = arrivals, .rpc = count};
}

const char *rpc_outcome_word(enum rpc_outcome outcome)
{
    static const char *const words[] = {
#define RPC_OUTCOME_WORD(name, word) word,
        RPC_OUTCOMES(RPC_OUTCOME_WORD)
#undef RPC_OUTCOME_WORD
    };

    return (unsigned)outcome < RPC_OUTCOME_COUNT ? words[outcome] : "?";
}

void arrivals_write(const struct arrivals *arrivals, struct buffer *buffer)
{
    buffer_add_string(buffer, "day");
    for (int outcome = 0; outcome < RPC_OUTCOME_COUNT; outcome++)
        buffer_print(buffer, ",%s", rpc_outcome_word((enum rpc_outcome)outcome));
    buffer_add_string(buffer, ",jobs,reports\n");
    for (size_t i = 0; i < arrivals->count; i++) {
        const struct arrivals_bin *bin = &arrivals->bins[i];

        buffer_print(buffer, "%.6f", (double)i * arrivals->width / DAY);
        for (int outcome = 0; outcome < RPC_OUTCOME_COUNT; outcome++)
            buffer_print(buffer, ",%" PRIu64, bin->rpcs[outcome]);
        buffer_print(buffer, ",%" PRIu64 ",%" PRIu64 "\n", bin->jobs, bin->reported);
    }
}
