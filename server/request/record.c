/* SPDX-License-Identifier: Apache-2.0 */
/* The last writes before the transaction ends (transaction.c): the host, and its statistics and
 * quotas. A new host's row was written whole when it was made; one that says what it said before is
 * written with the guard row, at the end. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/policy/host/host_record.h"
#include "server/policy/host/host_said.h"

#include "server/base/banned.h"

/* Counters that a new day clears and quotas that nobody has set yet, beside what the other steps
 * changed. What a host's past says of a new version is what it says of the one before. */
static void complete_changes(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    int64_t quota = request->config->daily_result_quota, first;

    for (size_t i = 0; i < attempt->version_count; i++) {
        const struct host_app_version_row *version = &attempt->versions[i];
        bool starts = quota > 0 && version->max_jobs_per_day <= 0;
        struct host_app_version_change *change;

        if (!starts && !(attempt->is_new_day && version->n_jobs_today != 0))
            continue;
        change = request_version_change(request, version->app_version_id);
        change->reset_today = attempt->is_new_day;
        if (starts && !change->sets_max_jobs_per_day) {
            change->sets_max_jobs_per_day = true;
            change->max_jobs_per_day = quota;
        }
    }
    first = request_first_quota(request);
    for (size_t i = 0; i < attempt->version_change_count; i++) {
        struct host_app_version_change *change = &attempt->version_changes[i];

        if (request_version(request, change->app_version_id) != NULL)
            continue;
        change->inherits = change->jobs_sent > 0;
        if (!change->sets_max_jobs_per_day) /* of a row that begins as no copy */
            change->max_jobs_per_day = first;
    }
}

/* A client says the same of itself for weeks. */
static enum status keep_said(const struct request *request)
{
    const struct message *message = &request->message;
    const struct attempt *attempt = &request->attempt;

    if (message->said_digest == attempt->said || !host_record_is_described(message))
        return STATUS_OK;
    return db_host_say(request->db, attempt->host.id, message->said_digest,
                       host_said_write(message, request->arena));
}

enum next step_record(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    enum status status = STATUS_OK;

    complete_changes(request);
    attempt->contact_waits =
        !attempt->host_is_new && db_host_says_the_same(&attempt->stored, &attempt->host);
    if (!attempt->host_is_new && !attempt->contact_waits)
        status = db_host_save(request->db, &attempt->host);
    if (status != STATUS_OK)
        return request_failed(request, status, "host");
    status = keep_said(request);
    if (status != STATUS_OK)
        return request_failed(request, status, "host_said");
    if (attempt->version_change_count > 0)
        status = db_host_app_versions_save(request->db, attempt->host.id, attempt->version_changes,
                                           attempt->version_change_count);
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "host_app_version");
}
