/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that a host might get, for a server without a job pool (plain CGI).
 *
 * One query reads the oldest jobs of the highest priority, which is normally enough. If they were
 * not, a second one reads the priorities below. If both found nothing at all, because a flood of
 * jobs of other apps lies in front, a third asks for this host's apps alone. Each query stops after
 * a bounded number of rows looked at.
 *
 * Hosts that ask at the same moment would all try the same first rows; so rows of equal priority
 * are shuffled, differently for each host. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

static enum status read_candidates(struct db *db, struct arena *arena, enum statement statement,
                                   const struct candidate_filter *filter,
                                   struct candidate *candidates, size_t *count)
{
    size_t apps = filter->appid_count < DB_LIST_MOST ? filter->appid_count : DB_LIST_MOST;
    struct db_rows rows;
    enum status status =
        db_query(db, arena, statement,
                 DB_VALUES(db_numbers(filter->appids, apps), db_real(filter->memory_max),
                           db_real(filter->disk_max), db_id(filter->userid), db_id(filter->userid),
                           db_integer((int64_t)(filter->rows_max - *count))),
                 &rows);

    if (status != STATUS_OK)
        return status;
    while (*count < filter->rows_max && db_rows_next(&rows)) {
        struct candidate *candidate = &candidates[(*count)++];

        candidate->resultid = rows.cells[0].integer;
        candidate->workunitid = rows.cells[1].integer;
        candidate->appid = rows.cells[2].integer;
        candidate->priority = rows.cells[3].integer;
        (void)db_cells_to_row(rows.cells + 4, ROW_workunit, &candidate->workunit);
    }
    return db_rows_end(&rows);
}

/* A place for each row and host; the mixer of splitmix64. */
static uint64_t place(uint64_t spread, int64_t id)
{
    uint64_t x = spread ^ ((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

struct placed {
    uint64_t place;
    struct candidate candidate;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;

    if (left->candidate.priority != right->candidate.priority)
        return left->candidate.priority > right->candidate.priority ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

static enum status shuffle(struct arena *arena, struct candidate *candidates, size_t count,
                           uint64_t spread)
{
    struct placed *placed = ARENA_ARRAY(arena, count, struct placed);

    if (placed == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        placed[i] = (struct placed){place(spread, candidates[i].resultid), candidates[i]};
    qsort(placed, count, sizeof(placed[0]), compare_placed);
    for (size_t i = 0; i < count; i++)
        candidates[i] = placed[i].candidate;
    return STATUS_OK;
}

enum status db_candidates(struct db *db, struct arena *arena, const struct candidate_filter *filter,
                          struct candidate **ret_candidates, size_t *ret_count)
{
    struct candidate *candidates = ARENA_ARRAY(arena, filter->rows_max, struct candidate);
    size_t count = 0;
    enum status status = STATUS_OK;

    if (candidates == NULL)
        return STATUS_TOO_LARGE;
    if (filter->appid_count > 0 && filter->rows_max > 0)
        status = read_candidates(db, arena, STATEMENT_candidates_top, filter, candidates, &count);
    if (status == STATUS_OK && filter->appid_count > 0 && count < filter->rows_max)
        status = read_candidates(db, arena, STATEMENT_candidates_below, filter, candidates, &count);
    if (status == STATUS_OK && filter->appid_count > 0 && count == 0 && filter->rows_max > 0)
        status =
            read_candidates(db, arena, STATEMENT_candidates_by_app, filter, candidates, &count);
    if (status == STATUS_OK)
        status = shuffle(arena, candidates, count, filter->spread);
    if (status != STATUS_OK)
        return status;
    *ret_candidates = candidates;
    *ret_count = count;
    return STATUS_OK;
}
