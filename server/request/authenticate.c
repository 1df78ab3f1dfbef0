/* SPDX-License-Identifier: Apache-2.0 */
/* After this step it is known who speaks: the account, the host's locked row with what the client
 * now says about it, the preferences in force, the host's statistics, and whether there is a reason
 * to refuse work already. Reasons against work never stand against reports, so nothing ends here
 * but a request whose key belongs to nobody.
 *
 * Whenever the client is told an id, the stored sequence number becomes 0, because the client
 * counts from 0 under its new id. */
#include "server/request/authenticate.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/policy/host/bounds.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/host/host_record.h"
#include "server/policy/host/identity.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/identify.h"
#include "server/request/plan_conditions.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"
#include "server/rpc/request_delay.h"

#include <math.h>

#include "server/base/banned.h"

/* host.max_results_day of a host that its project has excluded */
static const int64_t blacklisted = -1;

/* Names from the client are cut to this many bytes when they are repeated to the user. */
enum { SHOWN_NAME = 80 };

/* Unknown applications of a client that are named to its user. */
enum { OWN_APPS_SAID = 3 };

/* --- the host's row --------------------------------------------------------------------------- */

/* The lock on the user's row, under which a host is made, holds on one node of a cluster only. A
 * row that really changes is what lets one of two nodes fail and try again, and find the other's
 * host; the guard rows of hosts to be have their user's id, negated. */
static enum status insert_host(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    enum status status =
        db_host_guard(request->db, -attempt->user.id, request->token, (int64_t)request->now);

    if (status != STATUS_OK)
        return status;
    return db_host_insert(request->db, &attempt->host, &attempt->host.id);
}

/* One that carries trickles and nothing else: its client does not read the reply, nor in it the
 * delay after which it may ask for work. So it does not count as the host's last request. */
static bool is_trickle_alone(const struct message *message)
{
    return message->trickle_count > 0 && !host_record_is_described(message) &&
           !message_wants_work(message);
}

static enum next update_host(struct request *request)
{
    struct message *message = &request->message;
    struct attempt *attempt = &request->attempt;
    struct host_row *host = &attempt->host;
    enum status status;

    attempt->stored = *host;
    host_record_complete(&attempt->stored, message);
    host_record_copy(message, attempt->user.email_addr, request->arena, host);
    host->external_ip_addr = host_record_external_address(
        request->transport.forwarded_for, request->transport.remote_addr,
        request->config->trusted_proxy.items, request->config->trusted_proxy.count);
    if (attempt->host_is_new || !is_trickle_alone(message))
        host->rpc_time = (int64_t)request->now;
    if (attempt->host_is_new) {
        host->create_time = host->rpc_time;
        host->venue = attempt->user.venue;
        status = insert_host(request);
        if (status != STATUS_OK)
            return request_failed(request, status, "new host");
        attempt->answer.hostid = host->id;
    }
    host->rpc_seqno = attempt->answer.hostid != 0 ? 0 : bound_int32(message->rpc_seqno);
    attempt->is_new_day = quota_day_is_new(host->id, attempt->stored.rpc_time, host->rpc_time);
    return NEXT_STEP;
}

/* What was read for several requests, as far as the plan reads it. False: without the versions. */
static bool take_rows(struct request *request)
{
    const struct host_rows *host_rows = request->host_rows;
    struct attempt *attempt = &request->attempt;
    const struct request_plan *plan = &attempt->plan;

    if (host_rows == NULL || !host_rows->is_found || host_rows->hostid != attempt->host.id)
        return false;
    if (plan->reads_in_progress && host_rows->has_results)
        in_progress_take(request, host_rows->results, host_rows->result_count);
    if (!plan->reads_versions || !host_rows->has_versions)
        return false;
    attempt->versions = host_rows->versions;
    attempt->version_count = host_rows->version_count;
    return true;
}

static enum next read_versions(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    enum status status;

    if (take_rows(request))
        return NEXT_STEP;
    status = in_progress_ask_ahead(request);
    if (status != STATUS_OK)
        return request_failed(request, status, "jobs in progress");
    if (!attempt->plan.reads_versions)
        return NEXT_STEP;
    status = db_host_app_versions(request->db, request->arena, attempt->host.id, &attempt->versions,
                                  &attempt->version_count);
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "host_app_version");
}

/* --- preferences and cross-project id --------------------------------------------------------- */

/* As the database holds them: the whole element. */
static struct text preferences_document(struct arena *arena, struct text content)
{
    const struct text start = TEXT("<global_preferences>"), end = TEXT("</global_preferences>");
    struct buffer document;

    content = text_trim(content);
    if (text_starts(content, start))
        return content;
    document = buffer_in(arena);
    buffer_add(&document, start);
    buffer_add_char(&document, '\n');
    buffer_add(&document, content);
    buffer_add_char(&document, '\n');
    buffer_add(&document, end);
    buffer_add_char(&document, '\n');
    return buffer_text(&document);
}

static enum next decide_preferences(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    struct preferences_decision decision;
    char email_md5[MD5_HEX_SIZE];
    enum status status = STATUS_OK;

    md5_hex(attempt->user.email_addr, NO_TEXT, email_md5);
    decision =
        preferences_decide(&request->message, attempt->user.global_prefs, attempt->host.venue,
                           !attempt->is_weak, email_md5, request->now, request->arena);
    attempt->prefs = decision.in_force;
    preferences_parse_project(attempt->user.project_prefs, attempt->host.venue, request->arena,
                              &attempt->project_prefs);
    if (decision.send)
        attempt->answer.global_preferences = attempt->user.global_prefs;
    if (decision.store && !request->is_read_only) {
        struct text document =
            preferences_document(request->arena, request->message.global_preferences);

        if (document.length <= BOUND_BLOB)
            status = db_user_save_global_prefs(request->db, attempt->user.id, document);
    }
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "global_prefs");
}

/* The client knows the oldest of its user's ids, by which all his projects come to agree. The reply
 * still shows the id read before. */
static enum next keep_cross_project_id(struct request *request)
{
    const struct attempt *attempt = &request->attempt;
    struct text id = request->message.cross_project_id;
    enum status status;

    if (request->is_read_only || attempt->is_weak || !identity_is_cross_project_id(id) ||
        text_equal(id, attempt->user.cross_project_id))
        return NEXT_STEP;
    status = db_user_save_cross_project_id(request->db, attempt->user.id, id);
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "cross_project_id");
}

/* --- reasons against work --------------------------------------------------------------------- */

static void refuse_work(struct request *request, const struct refusal *refusal)
{
    request->attempt.work_refused = true;
    answer_refuse(request->arena, &request->attempt.answer, refusal);
}

static void delay_not_accepted(struct request *request)
{
    answer_delay(&request->attempt.answer, delay_of_request(request, DELAY_NOT_ACCEPTED, 0));
}

static void check_blacklist(struct request *request)
{
    if (request->attempt.host.max_results_day != blacklisted)
        return;
    refuse_work(request, &(struct refusal){.reason = REASON_HOST_BLACKLISTED});
    delay_not_accepted(request);
}

static void check_platform(struct request *request)
{
    const struct message *message = &request->message;
    struct text shown = message->platform_count > 0 ? message->platforms[0] : NO_TEXT;

    if (message->anonymous_platform) {
        shown = TEXT("anonymous");
        if (catalog_platform_by_name(request->catalog, shown) != NULL)
            return;
    }
    for (size_t i = 0; !message->anonymous_platform && i < message->platform_count; i++) {
        if (catalog_platform_by_name(request->catalog, message->platforms[i]) != NULL)
            return;
    }
    refuse_work(request, &(struct refusal){.reason = shown.length > 0 ? REASON_PLATFORM_NOT_KNOWN
                                                                      : REASON_PLATFORM_NOT_NAMED,
                                           .name = bound_head(shown, SHOWN_NAME)});
    delay_not_accepted(request);
}

static void check_code_sign_key(struct request *request)
{
    const struct project_keys *keys = request->keys;
    struct answer *answer = &request->attempt.answer;
    struct text signature = NO_TEXT;

    if (keys->code_sign_public.length == 0)
        return;
    switch (code_sign_decide(request->message.code_sign_key, request->client_version,
                             keys->code_sign_public, keys->old_keys, keys->old_key_count,
                             &signature)) {
    case CODE_SIGN_SAME:
        break;
    case CODE_SIGN_SEND_SIGNED:
        answer->code_sign_key_signature = signature;
        answer->code_sign_key = keys->code_sign_public;
        break;
    case CODE_SIGN_SEND:
        answer->code_sign_key = keys->code_sign_public;
        break;
    case CODE_SIGN_UNKNOWN:
        refuse_work(request, &(struct refusal){.reason = REASON_CODE_SIGN_KEY});
        break;
    }
}

static void check_interval(struct request *request)
{
    double interval = request->config->min_sendwork_interval;
    double since = request->now - (double)request->attempt.stored.rpc_time;

    if (interval <= 0 || since >= interval)
        return;
    if (since < 0) /* a clock was set back */
        since = 0;
    request->attempt.too_recent = !request->attempt.work_refused;
    refuse_work(request,
                &(struct refusal){.reason = REASON_TOO_RECENT, .need = ceil(interval - since)});
    answer_delay(&request->attempt.answer, delay_of_request(request, DELAY_TOO_RECENT, interval));
}

/* What the volunteer may have misspelt in app_info.xml. */
static void check_own_versions(struct request *request)
{
    const struct message *message = &request->message;
    size_t said = 0;

    for (size_t i = 0; message->anonymous_platform && i < message->app_version_count; i++) {
        const struct client_app_version *own = &message->app_versions[i];
        bool is_known =
            own->is_placeholder || catalog_app_by_name(request->catalog, own->app_name) != NULL;

        for (size_t j = 0; j < i && !is_known; j++)
            is_known = text_equal(message->app_versions[j].app_name, own->app_name);
        if (is_known)
            continue;
        if (said++ == OWN_APPS_SAID)
            return;
        answer_say(request->arena, &request->attempt.answer, MESSAGE_NOTICE,
                   "Your app_info.xml file has a version of \"" TEXT_FORMAT
                   "\", which is no application of this project",
                   TEXT_ARG(bound_head(own->app_name, SHOWN_NAME)));
    }
}

void authenticate_judge(struct request *request)
{
    request->attempt.work_refused = request->work_forbidden;
    check_blacklist(request);
    check_platform(request);
    if (request_may_bring_jobs(request))
        check_code_sign_key(request);
    if (message_wants_work(&request->message)) {
        check_own_versions(request);
        check_interval(request);
    }
    request->attempt.plan = request_plan_make(request);
}

/* Of a guard row that was not there, or not read, nothing is learned before the next contact. */
static enum next learn_presence(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    struct learned_presence presence;

    if (!request->config->learn_availability || !(attempt->host_is_new || attempt->has_guard))
        return NEXT_STEP;
    presence = presence_read(attempt->stored_presence);
    if (presence_contact(&presence, request->now, &request->message))
        attempt->presence = presence_write(&presence, request->arena);
    attempt->presence_shares =
        presence_expect(&presence, request->catalog->crowd,
                        availability_reported(&request->message, request->client_version));
    return NEXT_STEP;
}

enum next step_authenticate(struct request *request)
{
    static enum next (*const parts[])(struct request * request) = {
        identify, update_host, learn_presence, decide_preferences, keep_cross_project_id};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        enum next next = parts[i](request);

        if (next != NEXT_STEP)
            return next;
    }
    authenticate_judge(request);
    return read_versions(request);
}
