/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/volunteers/figures/arrivals.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

bool series_init(struct series *series, double begin, double end, double width)
{
    *series = (struct series){.begin = begin, .width = fmax(width, 1)};
    while ((end - begin) / series->width > SERIES_BINS_MAX)
        series->width *= 2;
    series->count = end > begin ? (size_t)ceil((end - begin) / series->width) : 1;
    series->bins = calloc(series->count, sizeof(*series->bins));
    return series->bins != NULL;
}

void series_free(struct series *series)
{
    free(series->bins);
    *series = (struct series){0};
}

void series_count(struct series *series, const struct rpc *rpc)
{
    double place = (rpc->time - series->begin) / series->width;
    struct series_bin *bin;

    if (!(place >= 0 && place < (double)series->count) ||
        (unsigned)rpc->outcome >= RPC_OUTCOME_COUNT)
        return;
    bin = &series->bins[(size_t)place];
    bin->rpcs[rpc->outcome]++;
    bin->jobs += rpc->jobs;
    bin->reported += rpc->reported;
}

static void count(void *context, const struct rpc *rpc)
{
    series_count(context, rpc);
}

struct observer series_observer(struct series *series)
{
    return (struct observer){.context = series, .rpc = count};
}
