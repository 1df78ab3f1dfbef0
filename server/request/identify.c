/* SPDX-License-Identifier: Apache-2.0 */
/* A request names an account by its key and, after the first contact, a host by its id. The host's
 * row is locked for the whole transaction, so that requests of one host come one after the other.
 * Where the id cannot be used, a record of the same machine is looked for, under the lock of the
 * user's row: two identical first contacts then find one another's host instead of making two.
 *
 * Locks are taken in one order, user before host. A request whose named host turns out to be the
 * wrong one therefore gives that lock back, with a rollback (nothing has been written yet), before
 * it locks the user. */
#include "server/request/identify.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/policy/host/bounds.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/host/identity.h"
#include "server/rpc/request_delay.h"

#include <string.h>

#include "server/base/banned.h"

static enum next refuse_key(struct request *request, enum message_priority priority)
{
    const struct refusal wrong_key = {.reason = REASON_ACCOUNT_KEY};
    struct answer *answer = &request->attempt.answer;

    memset(&request->attempt.user, 0, sizeof(request->attempt.user));
    answer->kind = ANSWER_NUCLEUS;
    answer_reason(answer, REASON_ACCOUNT_KEY);
    answer_say(request->arena, answer, priority, TEXT_FORMAT,
               TEXT_ARG(reason_explain(request->arena, &wrong_key)));
    answer_delay(answer, delay_of_request(request, DELAY_BAD_KEY, 0));
    return NEXT_REPLY;
}

/* Of a host that was read for several requests the lock is held already. */
static enum status lock_host(struct request *request, int64_t id, struct host_with_user *ret_host)
{
    const struct host_rows *host_rows = request->host_rows;

    if (host_rows == NULL || !host_rows->is_found || host_rows->hostid != id)
        return db_host_lock_with_user(request->db, request->arena, id, ret_host);
    *ret_host = host_rows->known;
    return STATUS_OK;
}

/* The row that the request's id leads to, over zombies, locked. */
static enum next lock_named_host(struct request *request, struct host_with_user *ret_host,
                                 bool *ret_found, bool *ret_forwarded)
{
    struct zombie_walk walk = {0};
    int64_t id = request->message.hostid;

    *ret_found = *ret_forwarded = false;
    while (id != 0) {
        enum status status = lock_host(request, id, ret_host);

        if (status == STATUS_NOT_FOUND)
            break;
        if (status != STATUS_OK)
            return request_failed(request, status, "host");
        if (!identity_is_zombie(&ret_host->host)) {
            *ret_found = true;
            return NEXT_STEP;
        }
        id = identity_next_host(&walk, &ret_host->host);
        *ret_forwarded = true;
    }
    if (request->message.hostid != 0)
        answer_say(request->arena, &request->attempt.answer, MESSAGE_LOW,
                   "This project has no record of host %lld; your computer gets another id",
                   (long long)request->message.hostid);
    return NEXT_STEP;
}

/* Takes the user into the attempt if the key is his; *ret_found tells. */
static enum next try_user(struct request *request, enum status status, bool *ret_found)
{
    struct attempt *attempt = &request->attempt;
    enum key_match match = KEY_NO_MATCH;

    if (status == STATUS_OK)
        match = account_key_match(request->message.authenticator, &attempt->user);
    else if (status != STATUS_NOT_FOUND)
        return request_failed(request, status, "user");
    *ret_found = match != KEY_NO_MATCH;
    attempt->is_weak = match == KEY_WEAK;
    return NEXT_STEP;
}

/* The others of a shared transaction keep theirs: the request is tried again alone. */
static enum status give_locks_back(struct request *request)
{
    return request->is_joining || request->others_are_read ? STATUS_DB_RETRY
                                                           : db_rollback(request->db);
}

static enum next try_weak_key(struct request *request, bool *ret_found)
{
    struct attempt *attempt = &request->attempt;
    int64_t userid = 0;

    if (!account_key_read_weak(request->message.authenticator, &userid))
        return NEXT_STEP;
    return try_user(
        request,
        db_user_by_id(request->db, request->arena, userid, &attempt->user, &attempt->team_name),
        ret_found);
}

/* Whose key it is, where the named host is not his or there is none. */
static enum next find_user(struct request *request, bool host_is_found, bool *ret_found)
{
    struct attempt *attempt = &request->attempt;
    struct text key = request->message.authenticator;
    enum next next = NEXT_STEP;

    *ret_found = false;
    if (key.length == 0 || key.length > BOUND_STRING)
        return NEXT_STEP;
    if (!host_is_found)
        next = try_weak_key(request, ret_found);
    if (next != NEXT_STEP || *ret_found)
        return next;
    return try_user(request,
                    db_user_by_authenticator(request->db, request->arena, key, &attempt->user,
                                             &attempt->team_name),
                    ret_found);
}

/* Whether the key is that of the host's user. If not, the host's lock is given back at once: who
 * sends a wrong key keeps nobody from the host. */
static enum next try_owner(struct request *request, const struct host_with_user *host,
                           bool *ret_is_owner)
{
    struct attempt *attempt = &request->attempt;
    struct text key = request->message.authenticator;
    bool is_usable = host->has_user && key.length > 0 && key.length <= BOUND_STRING;
    enum status status = STATUS_OK;
    enum next next;

    attempt->user = host->user;
    attempt->team_name = host->team_name;
    next = try_user(request, is_usable ? STATUS_OK : STATUS_NOT_FOUND, ret_is_owner);
    if (next == NEXT_STEP && !*ret_is_owner)
        status = give_locks_back(request);
    return status == STATUS_OK ? next : request_failed(request, status, "rollback");
}

enum next step_head(struct request *request)
{
    struct text key;
    bool is_known = false;

    if (request->transport.body.length <= LARGE_BODY || request->transport.is_known)
        return NEXT_STEP;
    message_init(&request->message);
    if (request_find_key(request->transport.body, &key)) {
        request->message.authenticator = text_trim(key);
        if (find_user(request, false, &is_known) != NEXT_STEP)
            return NEXT_FAILED;
    }
    return is_known ? NEXT_STEP : refuse_key(request, MESSAGE_LOW);
}

/* Locks a record that a search found and looks whether it is still the user's. */
static enum next take_found_host(struct request *request, int64_t id, enum host_found found,
                                 bool *ret_taken)
{
    struct attempt *attempt = &request->attempt;
    enum status status = db_host_lock(request->db, request->arena, id, &attempt->host);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return request_failed(request, status, "host");
    *ret_taken = status == STATUS_OK && attempt->host.userid == attempt->user.id;
    if (*ret_taken) {
        attempt->answer.hostid = attempt->host.id;
        attempt->detaches =
            identity_jobs_are_lost(&request->message, found, attempt->host.rpc_time, request->now);
    }
    return NEXT_STEP;
}

static enum next search_by_cpid(struct request *request, bool *ret_taken)
{
    const struct attempt *attempt = &request->attempt;
    char hash[MD5_HEX_SIZE];
    struct host_row found;
    enum status status;

    if (request->message.host_cpid.length == 0)
        return NEXT_STEP;
    identity_hash_cpid(request->message.host_cpid, attempt->user.email_addr, hash);
    status = db_host_newest_by_cpid(request->db, request->arena, attempt->user.id, text_from(hash),
                                    &found);
    if (status == STATUS_NOT_FOUND)
        return NEXT_STEP;
    if (status != STATUS_OK)
        return request_failed(request, status, "host by cpid");
    if (identity_host_differs(&request->message, &found))
        return NEXT_STEP;
    return take_found_host(request, found.id, HOST_FOUND_BY_CPID, ret_taken);
}

static enum next search_alike(struct request *request, bool *ret_taken)
{
    const struct attempt *attempt = &request->attempt;
    struct text_list exempt = request->config->dont_search_host_for_user;
    struct host_row like, found;
    enum status status;

    if (!identity_may_search_alike(&request->message, exempt.items, exempt.count, attempt->user.id,
                                   &like))
        return NEXT_STEP;
    status = db_host_newest_alike(request->db, request->arena, attempt->user.id, &like, &found);
    if (status == STATUS_NOT_FOUND)
        return NEXT_STEP;
    if (status != STATUS_OK)
        return request_failed(request, status, "similar host");
    return take_found_host(request, found.id, HOST_FOUND_ALIKE, ret_taken);
}

static enum next search_host(struct request *request, enum host_decision decision, bool is_locked)
{
    struct attempt *attempt = &request->attempt;
    enum next next = NEXT_STEP;
    enum status status = STATUS_OK;
    bool taken = false;

    if (is_locked) /* give the wrong host's lock back: user before host */
        status = give_locks_back(request);
    if (status == STATUS_OK)
        status = db_user_lock(request->db, attempt->user.id);
    if (status == STATUS_NOT_FOUND) /* gone since it was read */
        return refuse_key(request, MESSAGE_LOW);
    if (status != STATUS_OK)
        return request_failed(request, status, "user lock");
    if (decision == HOST_SEARCH_BY_CPID)
        next = search_by_cpid(request, &taken);
    if (next == NEXT_STEP && !taken)
        next = search_alike(request, &taken);
    if (next == NEXT_STEP && !taken) {
        memset(&attempt->host, 0, sizeof(attempt->host));
        attempt->host.userid = attempt->user.id;
        attempt->host_is_new = true;
    }
    return next;
}

enum next identify(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    struct host_with_user named;
    bool found, forwarded, is_owner = false, authenticated;
    enum host_decision decision;
    enum next next = lock_named_host(request, &named, &found, &forwarded);

    if (next == NEXT_STEP && found)
        next = try_owner(request, &named, &is_owner);
    authenticated = is_owner;
    if (next == NEXT_STEP && !is_owner)
        next = find_user(request, found, &authenticated);
    if (next != NEXT_STEP)
        return next;
    if (!authenticated)
        return refuse_key(request, found ? MESSAGE_NOTICE : MESSAGE_LOW);
    /* Made by another node a moment ago, and not here yet? */
    if (!found && request->message.hostid != 0 && request->catch_up == CATCH_UP_NOT &&
        db_may_lag(request->db)) {
        request->catch_up = CATCH_UP_WANTED;
        return request_failed(request, STATUS_DB_RETRY, "host");
    }
    decision = identity_decide_host(found ? &named.host : NULL, forwarded, attempt->user.id,
                                    request->message.rpc_seqno);
    /* Not without the lock: its owner's key has changed since it was locked. */
    if (decision == HOST_USE && !is_owner)
        decision = HOST_SEARCH_BY_CPID;
    if (decision != HOST_USE)
        return search_host(request, decision, request->message.hostid != 0 && (is_owner || !found));
    attempt->host = named.host;
    attempt->has_guard = named.has_guard;
    attempt->said = named.said;
    attempt->stored_presence = named.presence;
    if (forwarded)
        attempt->answer.hostid = named.host.id;
    return NEXT_STEP;
}
