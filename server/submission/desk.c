/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/desk.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "db/submitted.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/crypto.h"
#include "server/join/join_limits.h"

#include "server/base/banned.h"

enum { KEY_BYTES = 32, NAME_SHOWN = 100 };

enum status desk_failed(struct desk *desk, enum status status, const char *what)
{
    return db_failed(desk->db, status, what, desk->failure);
}

struct pass_owner desk_owner(struct desk *desk)
{
    return (struct pass_owner){.db = desk->db,
                               .config = desk->config,
                               .arena = desk->arena,
                               .failure = desk->failure,
                               .is_to_end = desk->is_to_end,
                               .context = desk->context};
}

/* --- who asks --------------------------------------------------------------------------------- */

/* A try is taken before the look-up, so that many at once are no more. */
static bool may_try(const struct desk *desk)
{
    return desk->limits == NULL ||
           join_limits_take(desk->limits, JOIN_OF_ADDRESS, desk->address,
                            desk->config->join_tries_of_address, clock_ns());
}

static void was_no_guess(const struct desk *desk)
{
    if (desk->limits != NULL)
        join_limits_give_back(desk->limits, JOIN_OF_ADDRESS, desk->address,
                              desk->config->join_tries_of_address, clock_ns());
}

static enum status find_user(struct desk *desk, struct text authenticator,
                             struct user_row *ret_user)
{
    struct text team_name;
    enum status status = STATUS_NOT_FOUND;

    if (text_is_hex(authenticator, KEY_BYTES))
        status =
            db_user_by_authenticator(desk->db, desk->arena, authenticator, ret_user, &team_name);
    if (status == STATUS_OK && !secret_equal(authenticator, ret_user->authenticator))
        status = STATUS_NOT_FOUND; /* the database compares without case */
    if (status == STATUS_NOT_FOUND)
        return fail(desk->failure, STATUS_INVALID, "no account has this authenticator");
    return desk_failed(desk, status, "user");
}

enum status desk_submitter(struct desk *desk, struct text authenticator,
                           struct submitter *ret_submitter)
{
    struct user_row user;
    enum status status;

    if (desk->db == NULL)
        return fail(desk->failure, STATUS_DB_GONE, "the project's database is away");
    if (authenticator.length == 0)
        return fail(desk->failure, STATUS_INVALID, "no authenticator was given");
    if (!may_try(desk))
        return fail(desk->failure, STATUS_INVALID,
                    "too many wrong authenticators came from this address: wait some minutes");
    status = find_user(desk, authenticator, &user);
    if (status == STATUS_INVALID)
        return status;
    was_no_guess(desk);
    if (status != STATUS_OK)
        return status;
    if (!db_has_batches(desk->db))
        return fail(desk->failure, STATUS_INVALID,
                    "the project's database has no tables for batches");
    *ret_submitter = (struct submitter){.userid = user.id, .name = user.name};
    status = db_submitter_rights(desk->db, user.id, &ret_submitter->rights);
    if (status == STATUS_NOT_FOUND)
        return fail(desk->failure, STATUS_INVALID, "this account may not submit jobs");
    return desk_failed(desk, status, "submitter");
}

/* --- what he may use -------------------------------------------------------------------------- */

static enum status no_such(struct desk *desk, const char *what, struct text name)
{
    return fail(desk->failure, STATUS_INVALID, "there is no %s " TEXT_FORMAT " for you", what,
                TEXT_ARG(text_first(name, NAME_SHOWN)));
}

/* That an application is not there, and that it is not allowed, sound alike. */
enum status desk_app(struct desk *desk, const struct submitter *submitter, struct text name,
                     struct app_row *ret_app)
{
    enum status status;

    if (name.length == 0)
        return fail(desk->failure, STATUS_INVALID, "no app_name was given");
    status = db_admin_app_find(desk->db, desk->arena, name, ret_app);
    if (status == STATUS_OK && !submitter->rights.submit_all)
        status = db_submitter_has_app(desk->db, submitter->userid, ret_app->id);
    return status == STATUS_NOT_FOUND ? no_such(desk, "application", name)
                                      : desk_failed(desk, status, "app");
}

enum status desk_batch(struct desk *desk, const struct submitter *submitter,
                       const struct batch_named *named, struct owned_batch_row *ret_batch)
{
    enum status status;

    if (named->id == 0 && named->name.length == 0)
        return fail(desk->failure, STATUS_INVALID, "neither batch_id nor batch_name was given");
    status =
        db_owned_batch(desk->db, desk->arena, submitter->userid, named->id, named->name, ret_batch);
    if (status != STATUS_NOT_FOUND)
        return desk_failed(desk, status, "batch");
    return named->id == 0 ? no_such(desk, "batch", named->name)
                          : no_such(desk, "batch", text_print(desk->arena, "%" PRId64, named->id));
}
