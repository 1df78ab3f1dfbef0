/* SPDX-License-Identifier: Apache-2.0 */
/* What every step needs of the request: failing it, and the changes to the host's statistics of
 * app versions, which several steps make and one statement writes. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/policy/limits/limits.h"

#include <string.h>

#include "server/base/banned.h"

enum { KEY_WITHIN = 4096 }; /* bytes */

uint64_t request_account(struct text key)
{
    return text_hash(text_trim(key));
}

/* The content of the first element with these tags. */
static bool find_content(struct text text, struct text start, struct text end,
                         struct text *ret_content)
{
    size_t at = text_find(text, start);
    struct text rest;

    if (at == text.length)
        return false;
    at += start.length;
    rest = (struct text){.at = text.at + at, .length = text.length - at};
    *ret_content = text_first(rest, text_find(rest, end));
    return true;
}

bool request_find_key(struct text body, struct text *ret_key)
{
    return find_content(text_first(body, KEY_WITHIN), TEXT("<authenticator>"),
                        TEXT("</authenticator>"), ret_key);
}

enum next request_failed(struct request *request, enum status status, const char *what)
{
    const char *words = request->db == NULL ? "" : db_error(request->db);

    fail(&request->failure, status, "%s: %s%s%s", what, status_word(status),
         words[0] == '\0' ? "" : ": ", words);
    request->failure.status = status;
    return NEXT_FAILED;
}

const struct host_app_version_row *request_version(const struct request *request,
                                                   int64_t app_version_id)
{
    const struct attempt *attempt = &request->attempt;

    for (size_t i = 0; i < attempt->version_count; i++) {
        if (attempt->versions[i].app_version_id == app_version_id)
            return &attempt->versions[i];
    }
    return NULL;
}

/* 0 stands for the whole quota. */
static int64_t quota_now(const struct request *request, const struct host_app_version_row *row)
{
    const struct attempt *attempt = &request->attempt;
    int64_t quota = row->max_jobs_per_day;

    for (size_t i = 0; i < attempt->version_change_count; i++) {
        const struct host_app_version_change *change = &attempt->version_changes[i];

        if (change->app_version_id == row->app_version_id && change->sets_max_jobs_per_day)
            quota = change->max_jobs_per_day;
    }
    return quota > 0 ? quota : request->config->daily_result_quota;
}

int64_t request_first_quota(const struct request *request)
{
    const struct attempt *attempt = &request->attempt;
    int64_t best = 0;

    for (size_t i = 0; i < attempt->version_count; i++) {
        int64_t quota = quota_now(request, &attempt->versions[i]);

        best = quota > best ? quota : best;
    }
    return limits_first_quota(request->config, best);
}

struct host_app_version_change *request_version_change(struct request *request,
                                                       int64_t app_version_id)
{
    struct attempt *attempt = &request->attempt;
    struct host_app_version_change *change;

    for (size_t i = 0; i < attempt->version_change_count; i++) {
        if (attempt->version_changes[i].app_version_id == app_version_id)
            return &attempt->version_changes[i];
    }
    if (attempt->version_change_count == attempt->version_change_capacity) {
        size_t capacity =
            attempt->version_change_capacity == 0 ? 16 : attempt->version_change_capacity * 2;
        struct host_app_version_change *grown =
            ARENA_ARRAY(request->arena, capacity, struct host_app_version_change);

        if (grown == NULL) /* the walk ends after this step */
            return &attempt->spare_change;
        if (attempt->version_change_count > 0)
            memcpy(grown, attempt->version_changes, attempt->version_change_count * sizeof(*grown));
        attempt->version_changes = grown;
        attempt->version_change_capacity = capacity;
    }
    change = &attempt->version_changes[attempt->version_change_count++];
    change->app_version_id = app_version_id;
    change->reset_today = attempt->is_new_day;
    return change;
}

struct availability request_availability(const struct request *request)
{
    const struct message *message = &request->message;

    return availability_of(message, availability_reported(message, request->client_version));
}

struct availability request_expected_availability(const struct request *request)
{
    struct presence_shares shares = request->attempt.presence_shares;

    return shares.cpu > 0 || shares.gpu > 0 ? availability_of(&request->message, shares)
                                            : request_availability(request);
}
