/* SPDX-License-Identifier: Apache-2.0 */
/* The pool's figures for the page of counters; these go up and down. */
#include "server/base/buffer.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"

#include "server/base/banned.h"

void filler_write_figures(struct filler *filler, struct pool *pool, struct buffer *ret_page)
{
    struct pool_figures held;
    struct filler_figures filled = {0};

    pool_figures(pool, &held);
    if (filler != NULL)
        filler_figures(filler, &filled);
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"jobs", "unsent jobs held in memory", (double)held.jobs},
        {"own_jobs", "of these, jobs of this server's part", (double)held.own},
        {"taken_jobs", "of these, jobs that requests have in their hands", (double)held.taken},
        {"classes", "kinds of jobs held", (double)held.classes},
        {"groups", "groups of kinds", (double)held.groups},
        {"bytes", "memory of the pool", (double)held.bytes},
        {"complete", "1 if every unsent job is held", held.is_complete ? 1 : 0},
        {"lag_seconds", "between the last two looks for new jobs", filled.lag},
        {"sweep_seconds", "that the last sweep took", filled.sweep_seconds},
        {"servers", "servers that share the database's jobs", (double)filled.servers},
    };

    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        buffer_print(ret_page,
                     "# HELP quartermaster_pool_%s %s\n# TYPE quartermaster_pool_%s gauge\n"
                     "quartermaster_pool_%s %.15g\n",
                     gauges[i].name, gauges[i].help, gauges[i].name, gauges[i].name,
                     gauges[i].value);
}
