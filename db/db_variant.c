/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of science apps: with which one a result was sent, and how long a host takes for each.
 */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_host_variants(struct db *db, struct arena *arena, int64_t hostid,
                             struct host_variant_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, host_variants, arena, ret_rows, ret_count, .hostid = hostid);
}

enum status db_host_variants_save(struct db *db, struct arena *arena, int64_t hostid,
                                  const struct host_variant_row *rows, size_t count)
{
    struct host_variant_save_values *values =
        ARENA_ARRAY(arena, count, struct host_variant_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct host_variant_save_values){.hostid = hostid,
                                                      .variant = rows[i].variant,
                                                      .et_n = rows[i].et_n,
                                                      .et_avg = rows[i].et_avg,
                                                      .et_var = rows[i].et_var,
                                                      .et_q = rows[i].et_q};
    return DB_RUN_BULK(db, host_variant_save, values, count, NULL);
}

enum status db_result_variants_save(struct db *db, struct arena *arena,
                                    const struct sent_variant *sent, size_t count)
{
    struct result_variant_save_values *values =
        ARENA_ARRAY(arena, count, struct result_variant_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct result_variant_save_values){.workunitids = {&sent[i].workunitid, 1},
                                                        .resultid = sent[i].resultid,
                                                        .variant = sent[i].variant};
    return DB_RUN_BULK(db, result_variant_save, values, count, NULL);
}

enum status db_workunit_estimates(struct db *db, struct arena *arena, const int64_t *ids,
                                  size_t count, struct workunit_estimate_row **ret_rows,
                                  size_t *ret_count)
{
    enum status status = DB_ALL(db, workunit_estimates, arena, ret_rows, ret_count,
                                .ids = db_sorted_ids(arena, ids, count));

    if (status == STATUS_OK && *ret_count > 1)
        qsort(*ret_rows, *ret_count, sizeof((*ret_rows)[0]), sorted_compare_ids);
    return status;
}
