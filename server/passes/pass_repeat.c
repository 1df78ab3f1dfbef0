/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/pass_repeat.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/random.h"

#include <time.h>

#include "server/base/banned.h"

enum { TRIES_MAX = 8, PAUSE_LEAST = 10 /* ms */, PAUSE_MOST = 200, FAILURES_LEAST = 3 };
#define FAILING_SECONDS 2.0
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
