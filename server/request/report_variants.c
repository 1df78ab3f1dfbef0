/* SPDX-License-Identifier: Apache-2.0 */
/* Only reports of results that were sent with a variant come here. As no verdict is waited for, it
 * makes no difference who validates. */
#include "server/request/report_variants.h"

#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/policy/result/run_statistics.h"
#include "server/rpc/host_variants.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

struct estimates {
    struct workunit_estimate_row *rows; /* by rising id */
    size_t count;
};

static enum status read_estimates(struct request *request, const struct variant_run *runs,
                                  size_t count, struct estimates *ret_estimates)
{
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);

    if (ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = runs[i].workunitid;
    return db_workunit_estimates(request->db, request->arena, ids, count, &ret_estimates->rows,
                                 &ret_estimates->count);
}

/* Room for so many more. */
static bool grow(struct request *request, size_t more)
{
    struct attempt *attempt = &request->attempt;
    struct host_variant_row *rows =
        ARENA_ARRAY(request->arena, attempt->variant_count + more, struct host_variant_row);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < attempt->variant_count; i++)
        rows[i] = attempt->variants[i];
    attempt->variants = rows;
    return true;
}

/* The row of a variant, which is made where there is none. */
static struct host_variant_row *row_of(struct attempt *attempt, int64_t variant)
{
    struct host_variant_row *row =
        host_variant_find(attempt->variants, attempt->variant_count, variant);
    size_t place = attempt->variant_count;

    if (row != NULL)
        return row;
    for (; place > 0 && attempt->variants[place - 1].variant > variant; place--)
        attempt->variants[place] = attempt->variants[place - 1];
    attempt->variants[place] = (struct host_variant_row){.variant = variant};
    attempt->variant_count++;
    return &attempt->variants[place];
}

static void add_run(struct attempt *attempt, const struct estimates *estimates,
                    const struct variant_run *run)
{
    const struct workunit_estimate_row wanted = {.id = run->workunitid};
    const struct workunit_estimate_row *estimate =
        estimates->count > 0 ? bsearch(&wanted, estimates->rows, estimates->count,
                                       sizeof(estimates->rows[0]), sorted_compare_ids)
                             : NULL;

    if (estimate != NULL)
        run_statistics_add_variant(row_of(attempt, run->variant), run->elapsed_time,
                                   estimate->rsc_fpops_est);
}

/* The rows of the runs' variants, each once, in order. */
static enum status save(struct request *request, const struct variant_run *runs, size_t count)
{
    struct attempt *attempt = &request->attempt;
    int64_t *variants = ARENA_ARRAY(request->arena, count, int64_t);
    struct host_variant_row *rows = ARENA_ARRAY(request->arena, count, struct host_variant_row);
    size_t variant_count, row_count = 0;

    if (variants == NULL || rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        variants[i] = runs[i].variant;
    variant_count = sorted_ids(variants, count);
    for (size_t i = 0; i < variant_count; i++) {
        const struct host_variant_row *row =
            host_variant_find(attempt->variants, attempt->variant_count, variants[i]);

        if (row != NULL && row->et_n > 0)
            rows[row_count++] = *row;
    }
    return row_count == 0 ? STATUS_OK
                          : db_host_variants_save(request->db, request->arena, attempt->host.id,
                                                  rows, row_count);
}

enum status report_variants(struct request *request, const struct variant_run *runs, size_t count)
{
    struct estimates estimates = {0};
    enum status status;

    if (count == 0)
        return STATUS_OK;
    status = host_variants_read(request);
    if (status == STATUS_OK)
        status = read_estimates(request, runs, count, &estimates);
    if (status != STATUS_OK)
        return status;
    if (!grow(request, count))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        add_run(&request->attempt, &estimates, &runs[i]);
    return save(request, runs, count);
}
