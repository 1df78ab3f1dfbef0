/* SPDX-License-Identifier: Apache-2.0 */
#include "db/figure_rows.h"
#include "db/hurries.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { READ_MOST = 100000, PRUNED_MOST = 5000 /* rows of a kind in one call */ };

static const struct {
    const char *word;
    int64_t kept;
} kinds[FIGURE_KIND_COUNT] = {
#define FIGURE_KIND_ROW(name, word, kept) {word, kept},
    FIGURE_KINDS(FIGURE_KIND_ROW)
#undef FIGURE_KIND_ROW
};

enum status db_figures_write(struct db *db, enum figure_kind kind, int64_t begin, int64_t process,
                             struct text figures)
{
    return DB_RUN(db, figures_write, NULL, .kind = text_from(kinds[kind].word), .begin = begin,
                  .process = process, .figures = figures);
}

enum status db_figures_read(struct db *db, struct arena *arena, enum figure_kind kind,
                            int64_t since, struct figures_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, figures_read, arena, ret_rows, ret_count, .kind = text_from(kinds[kind].word),
                  .since = since, .most = READ_MOST);
}

enum status db_figures_prune(struct db *db, int64_t now)
{
    enum status status = STATUS_OK;

    for (int i = 0; status == STATUS_OK && i < FIGURE_KIND_COUNT; i++)
        if (kinds[i].kept > 0)
            status = DB_RUN(db, figures_prune, NULL, .kind = text_from(kinds[i].word),
                            .before = now - kinds[i].kept, .most = PRUNED_MOST);
    return status;
}

enum status db_servers_known(struct db *db, struct arena *arena, int64_t most,
                             struct server_known_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, servers_known, arena, ret_rows, ret_count, .most = most);
}

enum status db_count_results(struct db *db, int64_t appid, int64_t server_state, int64_t *ret_count)
{
    struct jobs_counted_row row = {.jobs = 0};
    enum status status =
        DB_ONE(db, figures_results, NULL, &row, .appid = appid, .server_state = server_state);

    *ret_count = row.jobs;
    return status;
}

enum status db_count_outputs(struct db *db, struct outputs_waiting_row *ret_outputs)
{
    return DB_ONE(db, batch_outputs_waiting, NULL, ret_outputs, DB_NO_VALUES);
}

enum status db_count_waiting(struct db *db, struct waiting_counts_row *ret_counts)
{
    return DB_ONE(db, figures_waiting, NULL, ret_counts, DB_NO_VALUES);
}

enum status db_count_people(struct db *db, int64_t since, struct people_counts_row *ret_counts)
{
    return DB_ONE(db, figures_people, NULL, ret_counts, .since = since);
}

enum status db_runtimes(struct db *db, int64_t appid, int64_t since, int64_t most,
                        struct runtimes_row *ret_runtimes)
{
    return DB_ONE(db, figures_runtimes, NULL, ret_runtimes, .appid = appid, .since = since,
                  .most = most);
}

enum status db_batches_are_indexed(struct db *db, bool *ret_are)
{
    struct jobs_counted_row row = {.jobs = 0};
    enum status status = DB_ONE(db, figures_batch_indexes, NULL, &row, DB_NO_VALUES);

    *ret_are = row.jobs > 0;
    return status;
}

enum status db_batch_before(struct db *db, int64_t before, int64_t *ret_batch)
{
    struct batch_number_row row = {.batch = 0};
    enum status status = DB_ONE(db, figures_batch_before, NULL, &row, .before = before);

    *ret_batch = row.batch;
    return status;
}

enum status db_batch_span(struct db *db, struct arena *arena, int64_t batch,
                          struct batch_span_row *ret_span)
{
    return DB_ONE(db, figures_batch_span, arena, ret_span, .batch = batch);
}

enum status db_batch_part(struct db *db, int64_t batch, int64_t first, int64_t most,
                          struct batch_part_row *ret_part)
{
    return DB_ONE(db, figures_batch_part, NULL, ret_part, .batch = batch, .first = first,
                  .most = most);
}

enum status db_batch_copies(struct db *db, int64_t batch, int64_t *ret_copies)
{
    struct batch_copies_row row = {.copies = 0};
    enum status status =
        DB_ONE(db, figures_batch_copies, NULL, &row, .batch = batch, .most = HURRY_JOBS_MOST);

    *ret_copies = row.copies;
    return status;
}
