/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that a host might get, for a server without a job pool (plain CGI).
 *
 * One query reads the oldest jobs of the highest priority, and behind them the priorities below. It
 * stops after a bounded number of rows looked at; if it found nothing at all until then, because a
 * flood of jobs of other apps lies in front, a second one asks for this host's apps alone. Where
 * rows are refused for what no query knows of the host, another reads on below them, and keeps only
 * rows that suit.
 *
 * Hosts that ask at the same moment would all try the same first rows; so rows of equal priority
 * are shuffled, differently for each host. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define SPEED_ANY 1e300

enum { EXAMINED_MAX = 800000 }; /* rows that one query looks at: seconds, not minutes */

static struct db_ids apps_of(const struct candidate_filter *filter)
{
    return (struct db_ids){filter->appids,
                           filter->appid_count < DB_LIST_MOST ? filter->appid_count : DB_LIST_MOST};
}

static double speed_of(const struct candidate_filter *filter)
{
    return filter->speed_max > 0 ? filter->speed_max : SPEED_ANY;
}

static int64_t examined_of(const struct candidate_filter *filter)
{
    return filter->examined_max > 0 ? filter->examined_max : EXAMINED_MAX;
}

/* The next rows that a query has given, `most` at most: how many these are. */
static size_t read_candidates(struct candidate_cursor *rows, size_t most,
                              struct candidate *candidates)
{
    struct candidate_row row;
    size_t count = 0;

    while (count < most && DB_NEXT(rows, &row))
        candidates[count++] = (struct candidate){.resultid = row.resultid,
                                                 .workunitid = row.workunitid,
                                                 .appid = row.appid,
                                                 .priority = row.priority,
                                                 .workunit = row.workunit};
    return count;
}

static enum status query_candidates(struct db *db, struct arena *arena,
                                    const struct candidate_filter *filter,
                                    struct candidate *candidates, size_t *count)
{
    struct db_ids apps = apps_of(filter);
    double speed = speed_of(filter);
    int64_t most = (int64_t)filter->rows_max, examined = examined_of(filter);
    struct candidate_cursor rows;
    enum status status =
        DB_QUERY(db, candidates, arena, &rows, .appids = apps, .memory_max = filter->memory_max,
                 .disk_max = filter->disk_max, .speed_max = speed, .userid = filter->userid,
                 .most = most, .examined_max = examined);

    if (status != STATUS_OK)
        return status;
    *count = read_candidates(&rows, filter->rows_max, candidates);
    status = DB_END(&rows);
    if (status != STATUS_OK || *count > 0 || !rows.rows.is_cut)
        return status;
    status =
        DB_QUERY(db, candidates_by_app, arena, &rows, .appids = apps,
                 .memory_max = filter->memory_max, .disk_max = filter->disk_max, .speed_max = speed,
                 .userid = filter->userid, .most = most, .examined_max = examined);
    if (status != STATUS_OK)
        return status;
    *count = read_candidates(&rows, filter->rows_max, candidates);
    return DB_END(&rows);
}

static enum status query_below(struct db *db, struct arena *arena,
                               const struct candidate_filter *filter, struct candidate *candidates,
                               size_t *count)
{
    struct candidate_place *place = filter->below;
    struct candidate_cursor rows;
    size_t looked_at = 0;
    enum status status = DB_QUERY(db, candidates_below, arena, &rows, .appids = apps_of(filter),
                                  .memory_max = filter->memory_max, .disk_max = filter->disk_max,
                                  .speed_max = speed_of(filter), .userid = filter->userid,
                                  .priority = place->priority, .before = place->resultid,
                                  .most = CANDIDATES_BELOW, .examined_max = examined_of(filter));

    while (status == STATUS_OK && *count < filter->rows_max &&
           read_candidates(&rows, 1, &candidates[*count])) {
        const struct candidate *candidate = &candidates[*count];

        place->priority = candidate->priority;
        place->resultid = candidate->resultid;
        *count += filter->suits(filter->context, candidate);
        looked_at++;
    }
    place->is_end = looked_at < CANDIDATES_BELOW && *count < filter->rows_max;
    return status == STATUS_OK ? DB_END(&rows) : status;
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
        status = filter->below != NULL ? query_below(db, arena, filter, candidates, &count)
                                       : query_candidates(db, arena, filter, candidates, &count);
    if (status == STATUS_OK)
        status = shuffle(arena, candidates, count, filter->spread);
    if (status != STATUS_OK)
        return status;
    *ret_candidates = candidates;
    *ret_count = count;
    return STATUS_OK;
}
