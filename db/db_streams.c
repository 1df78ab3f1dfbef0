/* SPDX-License-Identifier: Apache-2.0 */
#include "db/columns.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { STREAMS_READ_MOST = 100000 };

bool db_has_batches(const struct db *db)
{
    static const char *const tables[] = {"batch", "user_submit", "user_submit_app"};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (!actual_table_exists(db_actual_columns(db), tables[i]))
            return false;
    return true;
}

/* Where no job is of a batch, nothing is asked. */
static enum status find_owners(struct db *db, struct arena *arena, const int64_t *batches,
                               size_t count, struct batch_owner_row **ret_rows, size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t id_count = 0;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        if (batches[i] > 0)
            ids[id_count++] = batches[i];
    id_count = sorted_ids(ids, id_count);
    return id_count == 0
               ? STATUS_OK
               : DB_ALL(db, batch_owners, arena, ret_rows, ret_count, .ids = {ids, id_count});
}

enum status db_batch_owners(struct db *db, struct arena *arena, const int64_t *batches,
                            size_t count, struct batch_owner_row *ret_owners)
{
    struct batch_owner_row *rows = NULL;
    size_t row_count = 0;
    enum status status = find_owners(db, arena, batches, count, &rows, &row_count);

    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct batch_owner_row *found =
            row_count == 0
                ? NULL
                : bsearch(&batches[i], rows, row_count, sizeof(*rows), sorted_compare_ids);

        ret_owners[i] = found != NULL ? *found : (struct batch_owner_row){.quota = -1};
    }
    return status;
}

enum status db_submitter_quotas(struct db *db, struct arena *arena,
                                struct submitter_quota_row **ret_quotas, size_t *ret_count)
{
    return DB_ALL(db, submitter_quotas, arena, ret_quotas, ret_count, DB_NO_VALUES);
}

enum status db_app_names(struct db *db, struct arena *arena, struct app_name_row **ret_apps,
                         size_t *ret_count)
{
    return DB_ALL(db, app_names, arena, ret_apps, ret_count, DB_NO_VALUES);
}

enum status db_streams_add(struct db *db, struct arena *arena, const struct stream_added *added,
                           size_t count)
{
    struct stream_add_values *values = ARENA_ARRAY(arena, count, struct stream_add_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct stream_add_values){.kind = added[i].kind,
                                               .id = added[i].id,
                                               .begin = added[i].begin,
                                               .clock = added[i].clock,
                                               .flops = added[i].flops};
    return DB_RUN_BULK(db, stream_add, values, count, NULL);
}

enum status db_streams_given(struct db *db, struct arena *arena, int64_t age,
                             struct stream_given_row **ret_streams, size_t *ret_count)
{
    return DB_ALL(db, streams_given, arena, ret_streams, ret_count, .age = age,
                  .most = STREAMS_READ_MOST);
}
