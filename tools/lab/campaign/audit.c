/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the rows, workunit by workunit, and one over the jobs of the history. */
#include "tools/lab/campaign/audit.h"

#include "server/base/buffer.h"
#include "server/base/random.h"
#include "tools/lab/qmload/load_host.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *name, *words;
    enum rule_kind kind;
} rules[RULE_COUNT] = {
#define RULE(name_, kind_, words_) \
    [RULE_##name_] = {.name = #name_, .words = words_, .kind = RULES_OF_##kind_},
#include "tools/lab/campaign/rules.def"
#undef RULE
};

const char *rule_name(enum rule rule)
{
    return rules[rule].name;
}

const char *rule_words(enum rule rule)
{
    return rules[rule].words;
}

static const int64_t day_length = 86400; /* s */
/* How far the clocks of two servers may be apart, in seconds: one was set an hour ahead and the
 * other an hour back; or one was set some seconds ahead. */
static const int64_t hours_apart = 7200, seconds_apart = 10;

/* Jobs of one version that one host got on one day. */
struct host_quota {
    struct {
        int64_t hostid, app_version_id, day;
    } key;
    int64_t given;
    UT_hash_handle hh;
};

/* Jobs that one host has by the database. */
struct host_load {
    int64_t id, in_progress;
    UT_hash_handle hh;
};

struct auditor {
    struct audit audit;
    struct history *history;
    const struct audit_limits *limits;
    struct load_profile profile; /* says which jobs fail */
    struct host_quota *quotas;
    struct host_load *loads;
};

static void find(struct auditor *auditor, enum rule rule, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void find(struct auditor *auditor, enum rule rule, const char *format, ...)
{
    struct audit_finding *finding = &auditor->audit.findings[rule];
    char words[300];
    va_list values;

    if (finding->count < EXAMPLES_MAX) {
        va_start(values, format);
        vsnprintf(words, sizeof(words), format, values);
        va_end(values);
        finding->examples[finding->count] = text_keep(text_from(words));
    }
    finding->count++;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The time of a host, shifted so that its days begin at whole multiples of one. The server's
 * arithmetic, written once more: the auditor has nothing of the server's. */
static int64_t shifted_time(int64_t hostid, int64_t time)
{
    const uint64_t spread = UINT64_C(0x71756f7461646179);

    return time + (int64_t)(random_mix((uint64_t)hostid, spread) % (uint64_t)day_length);
}

int64_t audit_day(int64_t hostid, int64_t time)
{
    return shifted_time(hostid, time) / day_length;
}

bool audit_counts_for_day(const struct audit_limits *limits, const struct extract_row *row)
{
    int64_t apart = limits->clocks_were_hours_apart ? hours_apart : seconds_apart;
    int64_t since = shifted_time(row->hostid, row->sent_time) % day_length;

    return row->target_user == 0 && !row->is_one_version && since >= apart &&
           since < day_length - apart;
}

static void count_for_day(struct auditor *auditor, const struct extract_row *row)
{
    struct host_quota *quota, wanted;

    memset(&wanted, 0, sizeof(wanted));
    wanted.key.hostid = row->hostid;
    wanted.key.app_version_id = row->app_version_id;
    wanted.key.day = audit_day(row->hostid, row->sent_time);
    HASH_FIND(hh, auditor->quotas, &wanted.key, sizeof(wanted.key), quota);
    if (quota == NULL) {
        quota = malloc(sizeof(*quota));
        if (quota == NULL)
            abort();
        *quota = wanted;
        HASH_ADD(hh, auditor->quotas, key, sizeof(quota->key), quota);
    }
    quota->given++;
}

static void count_load(struct auditor *auditor, const struct extract_row *row)
{
    struct host_load *load;

    HASH_FIND(hh, auditor->loads, &row->hostid, sizeof(row->hostid), load);
    if (load == NULL) {
        load = calloc(1, sizeof(*load));
        if (load == NULL)
            abort();
        load->id = row->hostid;
        HASH_ADD(hh, auditor->loads, id, sizeof(load->id), load);
    }
    load->in_progress++;
}

/* Jobs for one user are beyond these limits. */
static void count_row(struct auditor *auditor, const struct extract_row *row)
{
    bool is_in_progress = row->server_state == STATE_IN_PROGRESS;

    auditor->audit.in_progress += is_in_progress;
    if (audit_counts_for_day(auditor->limits, row))
        count_for_day(auditor, row);
    if (is_in_progress && row->target_user == 0)
        count_load(auditor, row);
}

/* An acknowledgement was heard. */
static void check_acknowledged(struct auditor *auditor, const struct told_job *job,
                               const struct extract_row *row)
{
    struct told_host *host = history_host(auditor->history, row->hostid);
    int64_t outcome;

    if (row->server_state != STATE_OVER || row->received_time == 0) {
        find(auditor, RULE_ack_not_booked,
             "%s: state %" PRId64 ", outcome %" PRId64 ", host %" PRId64
             ", acknowledged for machine %" PRId64,
             row->name, row->server_state, row->outcome, row->hostid, job->acked_for->number);
        return;
    }
    if (host == NULL || host->machine != job->acked_for)
        find(auditor, RULE_ack_of_another,
             "%s: of host %" PRId64 ", machine %" PRId64 " (host %" PRId64 ")", row->name,
             row->hostid, job->acked_for->number, job->acked_for->hostid);
    outcome = host_job_fails(&auditor->profile, text_from(row->name)) ? OUTCOME_OF_ERROR
                                                                      : OUTCOME_OF_SUCCESS;
    if (row->outcome != outcome)
        find(auditor, RULE_wrong_outcome, "%s: %" PRId64 " for %" PRId64, row->name, row->outcome,
             outcome);
}

/* The row is a host's. */
static void check_given(struct auditor *auditor, const struct told_job *job,
                        const struct extract_row *row)
{
    const struct told_machine *machine = history_machine_of_host(auditor->history, row->hostid);
    bool is_told = job != NULL && job->machine != NULL;

    count_row(auditor, row);
    if (machine == NULL) {
        auditor->audit.strangers++;
        return;
    }
    if (row->userid != machine->user)
        find(auditor, RULE_wrong_user, "%s: user %" PRId64 ", host %" PRId64 " of user %" PRId64,
             row->name, row->userid, row->hostid, machine->user);
    if (row->server_state != STATE_IN_PROGRESS || is_told)
        return;
    if (machine->is_gone || machine->hostid != row->hostid)
        auditor->audit.gone++;
    else if (machine->is_settled)
        find(auditor, RULE_job_not_told, "%s: for host %" PRId64 ", machine %" PRId64, row->name,
             row->hostid, machine->number);
}

/* A server has given up what the host goes on with, so the host may get others for it. */
static void count_detached(struct auditor *auditor, const struct told_job *job)
{
    struct told_host *host =
        job->machine == NULL ? NULL : history_host(auditor->history, job->hostid);

    auditor->audit.detached++;
    if (host != NULL)
        host->detached++;
}

static void check_row(struct auditor *auditor, const struct extract_row *row)
{
    struct told_job *job = history_job(auditor->history, text_from(row->name));

    if (row->hostid > 0)
        check_given(auditor, job, row);
    /* Other outcomes are the server's own: given up, detached. */
    if (row->server_state == STATE_OVER &&
        (row->outcome == OUTCOME_OF_SUCCESS || row->outcome == OUTCOME_OF_ERROR) &&
        (job == NULL || !job->is_reported))
        find(auditor, RULE_report_of_nobody, "%s: of host %" PRId64, row->name, row->hostid);
    if (job == NULL)
        return;
    job->is_in_database = true;
    if (row->outcome == OUTCOME_OF_DETACHED && auditor->limits->clocks_were_hours_apart)
        count_detached(auditor, job);
    else if (job->acked_for != NULL)
        check_acknowledged(auditor, job, row);
    else if (job->machine != NULL &&
             (row->hostid != job->hostid ||
              (row->server_state != STATE_IN_PROGRESS && !job->is_reported)))
        find(auditor, RULE_job_not_kept,
             "%s: told to host %" PRId64 ", is host %" PRId64 "'s in state %" PRId64, row->name,
             job->hostid, row->hostid, row->server_state);
    if (row->target_user > 0 && job->machine != NULL && job->machine->user != row->target_user)
        find(auditor, RULE_target, "%s: for user %" PRId64 ", told to one of user %" PRId64,
             row->name, row->target_user, job->machine->user);
}

/* Two given results of one workunit. */
static void check_pair(struct auditor *auditor, const struct extract_row *a,
                       const struct extract_row *b)
{
    const struct told_machine *first = history_machine_of_host(auditor->history, a->hostid);
    const struct told_machine *second = history_machine_of_host(auditor->history, b->hostid);

    if (a->userid == b->userid || (first != NULL && second != NULL && first->user == second->user))
        find(auditor, RULE_one_per_user, "%s and %s: user %" PRId64, a->name, b->name, b->userid);
    if (a->hostid == b->hostid)
        find(auditor, RULE_one_per_host, "%s and %s: host %" PRId64, a->name, b->name, b->hostid);
    if (!extract_binds(a) || !extract_binds(b))
        return;
    if (a->is_alike_hosts && first != NULL && second != NULL &&
        strcmp(first->vendor, second->vendor) != 0)
        find(auditor, RULE_alike_hosts, "%s and %s: %s and %s", a->name, b->name, first->vendor,
             second->vendor);
    if (a->is_one_version && a->app_version_id != b->app_version_id)
        find(auditor, RULE_one_version, "%s and %s: %" PRId64 " and %" PRId64, a->name, b->name,
             a->app_version_id, b->app_version_id);
}

static void check_rows(struct auditor *auditor, const struct extract *extract)
{
    size_t first = 0;

    for (size_t i = 0; i < extract->count; i++) {
        const struct extract_row *row = &extract->rows[i];

        check_row(auditor, row);
        if (row->workunitid != extract->rows[first].workunitid)
            first = i;
        for (size_t j = first; j < i && row->hostid > 0; j++) {
            if (extract->rows[j].hostid > 0)
                check_pair(auditor, &extract->rows[j], row);
        }
    }
}

/* --- what the rows cannot say ----------------------------------------------------------------- */

static void check_jobs(struct auditor *auditor)
{
    struct told_job *job, *next;

    HASH_ITER(hh, auditor->history->jobs, job, next)
    {
        if (job->went_to_two)
            find(auditor, RULE_two_hosts, "%s: machine %" PRId64 " was the first", job->name,
                 job->machine->number);
        if (job->came_again)
            find(auditor, RULE_told_again, "%s", job->name);
        if (job->has_odd_ack)
            find(auditor, RULE_ack_unasked, "%s: machine %" PRId64, job->name,
                 job->acked_for->number);
        if (job->is_in_database)
            continue;
        if (job->acked_for != NULL)
            find(auditor, RULE_ack_not_booked, "%s: not there", job->name);
        else if (job->machine != NULL)
            find(auditor, RULE_job_not_kept, "%s: not there", job->name);
    }
}

static void check_limits(struct auditor *auditor)
{
    struct host_quota *quota, *next_quota;
    struct host_load *load, *next_load;
    struct told_host *host, *next_host;
    int64_t daily = auditor->limits->daily, in_progress = auditor->limits->in_progress;

    HASH_ITER(hh, auditor->quotas, quota, next_quota)
    {
        if (daily > 0 && quota->given > daily)
            find(auditor, RULE_daily_quota,
                 "host %" PRId64 ", version %" PRId64 ": %" PRId64 " for %" PRId64,
                 quota->key.hostid, quota->key.app_version_id, quota->given, daily);
    }
    HASH_ITER(hh, auditor->loads, load, next_load)
    {
        if (in_progress > 0 && load->in_progress > in_progress)
            find(auditor, RULE_most_in_progress, "host %" PRId64 ": %" PRId64 " for %" PRId64,
                 load->id, load->in_progress, in_progress);
    }
    HASH_ITER(hh, auditor->history->hosts, host, next_host)
    {
        if (in_progress > 0 && host->most_in_progress - host->detached > in_progress)
            find(auditor, RULE_most_in_progress, "host %" PRId64 " had %" PRId64 " for %" PRId64,
                 host->id, host->most_in_progress, in_progress);
    }
}

static void count_machines(struct auditor *auditor)
{
    const struct told_machine *machine = auditor->history->first_born;

    for (; machine != NULL; machine = machine->next_born) {
        auditor->audit.machines++;
        auditor->audit.unsettled += !machine->is_settled && !machine->is_gone;
    }
}

static void clear_tables(struct auditor *auditor)
{
    struct host_quota *quota = auditor->quotas, *next_quota;
    struct host_load *load = auditor->loads, *next_load;

    HASH_CLEAR(hh, auditor->quotas);
    HASH_CLEAR(hh, auditor->loads);
    for (; quota != NULL; quota = next_quota) {
        next_quota = quota->hh.next;
        free(quota);
    }
    for (; load != NULL; load = next_load) {
        next_load = load->hh.next;
        free(load);
    }
}

struct audit audit_run(struct history *history, const struct extract *extract,
                       const struct audit_limits *limits)
{
    struct auditor auditor = {
        .history = history, .limits = limits, .profile.errors = limits->errors};

    check_rows(&auditor, extract);
    check_jobs(&auditor);
    check_limits(&auditor);
    count_machines(&auditor);
    clear_tables(&auditor);
    return auditor.audit;
}

void audit_clear(struct audit *audit)
{
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        for (int i = 0; i < EXAMPLES_MAX; i++)
            free(audit->findings[rule].examples[i]);
    }
    *audit = (struct audit){0};
}

int64_t audit_count(const struct audit *audit, enum rule_kind kind)
{
    int64_t count = 0;

    for (int rule = 0; rule < RULE_COUNT; rule++) {
        if (rules[rule].kind == kind)
            count += audit->findings[rule].count;
    }
    return count;
}
