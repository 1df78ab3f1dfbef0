/* SPDX-License-Identifier: Apache-2.0 */
/* Of the rows of the database only the numbers in the tables below are written: what decisions look
 * at and the request does not say. */
#include "server/recording/recorded_request.h"

#include "db/db.h"
#include "server/base/buffer.h"
#include "server/policy/refusal/reason.h"
#include "server/recording/anonymous.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static void add_real(struct buffer *text, const char *name, double value)
{
    buffer_print(text, "<%s>%.17g</%s>\n", name, value, name);
}

static void add_integer(struct buffer *text, const char *name, int64_t value)
{
    buffer_print(text, "<%s>%" PRId64 "</%s>\n", name, value, name);
}

/* --- who -------------------------------------------------------------------------------------- */

/* Numbers get pseudonyms of their own: host 5 and user 5 are two. */
static void add_number(struct buffer *text, const struct digest_secret *secret, const char *name,
                       int64_t number)
{
    char plain[64];
    struct pseudonym pseudonym;

    if (number == 0)
        return;
    (void)snprintf(plain, sizeof plain, "%s %" PRId64, name, number);
    pseudonym = pseudonym_of(secret, text_from(plain));
    buffer_add_element(text, 0, name, text_from(pseudonym.text));
}

/* --- what was known --------------------------------------------------------------------------- */

/* Numbers of a row or another struct. Of a host neither its age nor its credit: by these it could
 * be found in the statistics that projects publish. What it said itself is in its request. */
struct number {
    const char *name;
    size_t offset;
    enum { NUMBER_INTEGER, NUMBER_REAL, NUMBER_FLAG } type;
};
#define NUMBER(record, field)                                \
    {                                                        \
#field, offsetof(struct record, field),              \
            _Generic(((struct record *)NULL)->field, int64_t \
                     : NUMBER_INTEGER, double                \
                     : NUMBER_REAL, bool                     \
                     : NUMBER_FLAG)                          \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct number host_numbers[] = {
    NUMBER(host_row, rpc_seqno),      NUMBER(host_row, rpc_time),
    NUMBER(host_row, on_frac),        NUMBER(host_row, connected_frac),
    NUMBER(host_row, active_frac),    NUMBER(host_row, gpu_active_frac),
    NUMBER(host_row, avg_turnaround), NUMBER(host_row, duration_correction_factor),
    NUMBER(host_row, error_rate),     NUMBER(host_row, max_results_day),
};
static const struct number version_numbers[] = {
    NUMBER(host_app_version_row, app_version_id), NUMBER(host_app_version_row, pfc_n),
    NUMBER(host_app_version_row, pfc_avg),        NUMBER(host_app_version_row, et_n),
    NUMBER(host_app_version_row, et_avg),         NUMBER(host_app_version_row, max_jobs_per_day),
    NUMBER(host_app_version_row, n_jobs_today),   NUMBER(host_app_version_row, turnaround_n),
    NUMBER(host_app_version_row, turnaround_avg), NUMBER(host_app_version_row, consecutive_valid),
};
static const struct number global_numbers[] = {
    NUMBER(global_preferences, disk_max_used_gb),
    NUMBER(global_preferences, disk_max_used_pct),
    NUMBER(global_preferences, disk_min_free_gb),
    NUMBER(global_preferences, work_buf_min_days),
    NUMBER(global_preferences, ram_max_used_busy_fraction),
    NUMBER(global_preferences, ram_max_used_idle_fraction),
    NUMBER(global_preferences, max_ncpus_pct),
    NUMBER(global_preferences, max_cpus),
};
static const struct number project_numbers[] = {
    NUMBER(project_preferences, resource_share),
    NUMBER(project_preferences, allow_non_preferred_apps),
    NUMBER(project_preferences, allow_beta_work),
    NUMBER(project_preferences, no_cpu),
    NUMBER(project_preferences, no_gpus),
    NUMBER(project_preferences, max_cpus),
    NUMBER(project_preferences, max_jobs),
};
static const struct number job_numbers[] = {
    NUMBER(result_row, appid),
    NUMBER(result_row, app_version_id),
    NUMBER(result_row, sent_time),
    NUMBER(result_row, report_deadline),
};

static void add_field(struct buffer *text, const struct number *number, const void *record)
{
    const char *field = (const char *)record + number->offset;
    int64_t integer;
    double real;
    bool flag;

    switch (number->type) {
    case NUMBER_INTEGER:
        memcpy(&integer, field, sizeof integer);
        add_integer(text, number->name, integer);
        return;
    case NUMBER_REAL:
        memcpy(&real, field, sizeof real);
        add_real(text, number->name, real);
        return;
    case NUMBER_FLAG:
        memcpy(&flag, field, sizeof flag);
        add_integer(text, number->name, flag);
        return;
    }
}

static void add_fields(struct buffer *text, const char *name, const struct number *numbers,
                       size_t count, const void *record)
{
    buffer_print(text, "<%s>\n", name);
    for (size_t i = 0; i < count; i++)
        add_field(text, &numbers[i], record);
    buffer_print(text, "</%s>\n", name);
}

static void add_known(struct buffer *text, const struct visit *visit)
{
    add_fields(text, "host_row", host_numbers, COUNT_OF(host_numbers), &visit->stored);
    add_integer(text, "is_new_day", visit->is_new_day);
    for (size_t i = 0; i < visit->version_count; i++)
        add_fields(text, "host_app_version", version_numbers, COUNT_OF(version_numbers),
                   &visit->versions[i]);
    add_fields(text, "global_preferences_in_force", global_numbers, COUNT_OF(global_numbers),
               &visit->prefs);
    add_fields(text, "project_preferences", project_numbers, COUNT_OF(project_numbers),
               &visit->project_prefs);
    for (size_t i = 0; i < visit->project_prefs.app_id_count; i++)
        add_integer(text, "selected_appid", visit->project_prefs.app_ids[i]);
    for (size_t i = 0; visit->in_progress_is_read && i < visit->in_progress_count; i++)
        add_fields(text, "job_in_progress", job_numbers, COUNT_OF(job_numbers),
                   &visit->in_progress[i]);
}

/* --- what became of it ------------------------------------------------------------------------ */

static void add_job(struct buffer *text, const struct answer_job *job)
{
    buffer_add_string(text, "<job>\n");
    add_integer(text, "appid", job->appid);
    add_integer(text, "app_version_id", job->version != NULL ? job->version->id : 0);
    add_integer(text, "is_resent", job->is_resent);
    add_real(text, "avg_ncpus", job->usage.avg_ncpus);
    add_real(text, "coproc_count", job->usage.coproc_count);
    add_real(text, "projected_flops", job->usage.projected_flops);
    add_real(text, "wall_time", job->wall_time);
    add_real(text, "rsc_fpops_est", job->rsc_fpops_est);
    buffer_add_string(text, "</job>\n");
}

static void add_outcome(struct buffer *text, const struct visit *visit)
{
    static const char *const kinds[] = {
        [ANSWER_FULL] = "full", [ANSWER_NUCLEUS] = "short", [ANSWER_DOWN] = "down"};
    const struct answer *answer = &visit->answer;

    buffer_add_element(text, 0, "reply", text_from(kinds[answer->kind]));
    add_real(text, "request_delay", answer->request_delay);
    add_integer(text, "reports_booked", (int64_t)visit->booked);
    for (size_t i = 0; i < answer->reason_count; i++)
        buffer_add_element(text, 0, "reason", text_from(reason_word(answer->reasons[i])));
    for (size_t i = 0; i < answer->job_count; i++)
        add_job(text, &answer->jobs[i]);
}

void record_write(const struct request *request, const struct digest_secret *secret,
                  struct buffer *ret_text)
{
    const struct visit *visit = &request->visit;

    buffer_add_string(ret_text, "<recorded>\n");
    add_integer(ret_text, "format", RECORD_FORMAT);
    buffer_print(ret_text, "<time>%.6f</time>\n", request->now);
    add_number(ret_text, secret, "host", visit->host.id);
    add_number(ret_text, secret, "user", visit->user.id);
    if (visit->answer.kind == ANSWER_FULL)
        add_known(ret_text, visit);
    add_outcome(ret_text, visit);
    anonymous_request(&request->message, secret, ret_text);
    buffer_add_string(ret_text, "</recorded>\n");
}
