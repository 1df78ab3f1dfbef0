/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/check/hourly_look.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/thread.h"
#include "tools/qmctl/check/web_look.h"
#include "tools/qmctl/session/project_session.h"
#include "tools/qmctl/why/why_keep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

enum { HOUR_S = 3600 };
#define LOOK_BYTES_MAX ((size_t)512 << 20)

struct hourly_look {
    struct session guest; /* with an arena and a connection of its own */
    pthread_t thread;
    atomic_bool is_over;
};

static enum status take_turn(struct session *session, bool *ret_is_ours)
{
    enum status status = db_duty_take(session->db, TEXT("stuck jobs"), HOUR_S, ret_is_ours);

    if (status == STATUS_OK)
        status = db_commit(session->db);
    if (status != STATUS_OK)
        (void)db_rollback(session->db);
    return session_db_failed(session, status, "qm_duty");
}

/* The one is kept where the other fails. */
static enum status look_around(struct session *guest)
{
    enum status status = session_db(guest), of_web;
    struct web_look web;

    if (status != STATUS_OK)
        return status;
    status = why_jobs_look(guest);
    web_look(guest, true, &web);
    of_web = web_look_keep(guest, &web);
    db_close(guest->db);
    return status == STATUS_OK ? of_web : status;
}

static void *look_aside(void *argument)
{
    struct hourly_look *look = argument;

    if (look_around(&look->guest) != STATUS_OK)
        (void)session_failed(&look->guest);
    atomic_store(&look->is_over, true);
    return NULL;
}

static enum status start(struct hourly_look *look, struct failure *failure)
{
    return thread_start(&look->thread, look_aside, look)
               ? STATUS_OK
               : fail(failure, STATUS_NO_MEMORY, "no thread can be started");
}

enum status hourly_look_begin(struct session *session, struct hourly_look **ret_look)
{
    struct hourly_look *look;
    bool is_ours = false;
    enum status status = take_turn(session, &is_ours);

    *ret_look = NULL;
    if (status != STATUS_OK || !is_ours)
        return status;
    look = calloc(1, sizeof(*look));
    if (look == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    look->guest = *session;
    look->guest.db = NULL;
    look->guest.now = (int64_t)time(NULL);
    look->guest.arena = arena_create(LOOK_BYTES_MAX);
    if (look->guest.arena == NULL)
        status = fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    if (status == STATUS_OK)
        status = start(look, &session->failure);
    if (status == STATUS_OK) {
        *ret_look = look;
        return status;
    }
    arena_destroy(look->guest.arena);
    free(look);
    return status;
}

bool hourly_look_is_over(const struct hourly_look *look)
{
    return look == NULL || atomic_load(&look->is_over);
}

void hourly_look_end(struct hourly_look *look)
{
    if (look == NULL)
        return;
    (void)pthread_join(look->thread, NULL);
    arena_destroy(look->guest.arena);
    free(look);
}
