/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/pass_repeat.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/random.h"
#include "server/passes/pass.h"

#include <time.h>

#include "server/base/banned.h"

enum { TRIES_MAX = 8, PAUSE_LEAST = 10 /* ms */, PAUSE_MOST = 200, FAILURES_LEAST = 3 };
#define FAILING_SECONDS 2.0
#define PART_SHORT      1.0 /* s */
#define PART_LONG       5.0
#define WRITE_PART      20
#define WRITE_SOONEST   0.05 /* s */
#define WRITE_LATEST    1.0
#define REST            3   /* times as long as the work */
#define REST_MOST       5.0 /* s */
#define CATALOG_BYTES   ((size_t)1 << 30)

static void pause_a_moment(void)
{
    long milliseconds = PAUSE_LEAST + (long)(random_u64() % (PAUSE_MOST - PAUSE_LEAST));
    struct timespec span = {.tv_nsec = milliseconds * 1000000};

    (void)nanosleep(&span, NULL);
}

enum status repeat_transaction(struct db *db, transaction_call *call, void *subject)
{
    enum status status = STATUS_OK;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        status = call(subject);
        if (status == STATUS_OK)
            return status;
        (void)db_rollback(db);
        if (status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN) {
            if (db_reopen(db) != STATUS_OK)
                break;
        } else if (status != STATUS_DB_RETRY) {
            break;
        }
        pause_a_moment();
    }
    return status;
}

bool failure_row_ends_pass(const struct failure_row *row)
{
    return row->failures >= FAILURES_LEAST && row->seconds >= FAILING_SECONDS;
}

size_t pass_part_jobs(size_t *part, double seconds, size_t least, size_t most, int64_t left)
{
    if (*part == 0)
        *part = least;
    else if (seconds < PART_SHORT)
        *part *= 2;
    else if (seconds > PART_LONG)
        *part /= 2;
    *part = *part > least ? *part : least;
    *part = *part < most ? *part : most;
    return left < (int64_t)*part ? (size_t)left : *part;
}

double pass_next_write(double begun, double ended)
{
    double pause = WRITE_PART * (ended - begun);

    pause = pause > WRITE_SOONEST ? pause : WRITE_SOONEST;
    return ended + (pause < WRITE_LATEST ? pause : WRITE_LATEST);
}

double pass_pause(double pace, double seconds, bool has_failed)
{
    if (has_failed)
        return pace;
    return seconds < pace ? pace - seconds : 0;
}

double pass_rest(double seconds)
{
    double rest = REST * seconds;

    return rest < REST_MOST ? rest : REST_MOST;
}

enum status pass_give_way(const struct pass_owner *owner, double seconds)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    double until;
    bool hosts_wait = false;
    enum status status = db_servers_hosts_wait(owner->db, &hosts_wait);

    if (status == STATUS_OK)
        status = db_end(owner->db);
    until = clock_seconds() + (hosts_wait ? pass_rest(seconds) : 0);
    while (status == STATUS_OK && clock_seconds() < until && !pass_is_to_end(owner))
        (void)nanosleep(&moment, NULL);
    return status;
}

enum status for_each_app(struct db *db, app_call *call, void *subject)
{
    struct catalog_rows catalog;
    struct arena *arena = arena_create(CATALOG_BYTES);
    enum status status = arena == NULL ? STATUS_NO_MEMORY : db_catalog(db, arena, &catalog);

    for (size_t i = 0; status == STATUS_OK && i < catalog.app_count; i++)
        status = call(subject, &catalog.apps[i]);
    arena_destroy(arena);
    return status;
}
