/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/check/hourly_look.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "tools/qmctl/check/web_look.h"
#include "tools/qmctl/session/project_session.h"
#include "tools/qmctl/why/why_keep.h"

#include <time.h>

#include "server/base/banned.h"

enum { HOUR_S = 3600 };
#define LOOK_BYTES_MAX ((size_t)512 << 20)

static enum status take_turn(struct session *session, bool *ret_is_ours)
{
    enum status status = db_duty_take(session->db, TEXT("stuck jobs"), HOUR_S, ret_is_ours);

    if (status == STATUS_OK)
        status = db_commit(session->db);
    if (status != STATUS_OK)
        (void)db_rollback(session->db);
    return session_db_failed(session, status, "qm_duty");
}

/* In a session that has its own memory and connection. The one is kept where the other fails. */
static enum status look(struct session *guest)
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

enum status hourly_look(struct session *session)
{
    struct session guest = *session;
    bool is_ours = false;
    enum status status = take_turn(session, &is_ours);

    if (status != STATUS_OK || !is_ours)
        return status;
    guest.db = NULL;
    guest.arena = arena_create(LOOK_BYTES_MAX);
    if (guest.arena == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    guest.now = (int64_t)time(NULL);
    status = look(&guest);
    session->failure = guest.failure;
    arena_destroy(guest.arena);
    return status;
}
