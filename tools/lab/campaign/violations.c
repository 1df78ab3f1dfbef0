/* SPDX-License-Identifier: Apache-2.0 */
/* A violation is what a server at fault would leave behind: a line in the history, or another row.
 */
#include "tools/lab/campaign/violations.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/banned.h"

struct violation_stage {
    struct history *history;
    struct extract *extract;
    const struct audit_limits *limits;
};

static void tell(const struct violation_stage *stage, const char *format, ...) PRINTF_LIKE(2, 3);

static void tell(const struct violation_stage *stage, const char *format, ...)
{
    char line[400];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    history_take(stage->history, text_from(line));
}

/* --- what can be broken ----------------------------------------------------------------------- */

static const struct told_job *job_of(const struct violation_stage *stage,
                                     const struct extract_row *row)
{
    return history_job(stage->history, text_from(row->name));
}

static struct told_machine *machine_of_row(const struct violation_stage *stage,
                                           const struct extract_row *row)
{
    return history_machine_of_host(stage->history, row->hostid);
}

typedef bool fits(const struct violation_stage *stage, const struct extract_row *row);

static bool is_acknowledged(const struct violation_stage *stage, const struct extract_row *row)
{
    const struct told_job *job = job_of(stage, row);

    return job != NULL && job->acked_for != NULL && machine_of_row(stage, row) != NULL;
}

/* Told to a host, and still there. */
static bool is_held(const struct violation_stage *stage, const struct extract_row *row)
{
    const struct told_job *job = job_of(stage, row);

    return row->server_state == STATE_IN_PROGRESS && job != NULL && job->machine != NULL &&
           job->acked_for == NULL && job->hostid == row->hostid;
}

static bool is_held_and_counts(const struct violation_stage *stage, const struct extract_row *row)
{
    return is_held(stage, row) && audit_counts_for_day(stage->limits, row);
}

/* Held by a host that is there, and that still is who it was. */
static bool is_held_by_settled(const struct violation_stage *stage, const struct extract_row *row)
{
    const struct told_machine *machine = machine_of_row(stage, row);

    return is_held(stage, row) && !job_of(stage, row)->is_reported && machine->is_settled &&
           machine->hostid == row->hostid;
}

static bool is_unsent(const struct violation_stage *stage, const struct extract_row *row)
{
    return row->hostid == 0 && row->server_state < STATE_IN_PROGRESS && job_of(stage, row) == NULL;
}

/* Given, and the next row is given too, of the same workunit. */
static bool is_one_of_two(const struct violation_stage *stage, const struct extract_row *row)
{
    const struct extract_row *end = stage->extract->rows + stage->extract->count;

    return row + 1 < end && row[0].workunitid == row[1].workunitid &&
           machine_of_row(stage, row) != NULL && machine_of_row(stage, row + 1) != NULL;
}

static bool are_bound(const struct violation_stage *stage, const struct extract_row *row)
{
    return is_one_of_two(stage, row) && extract_binds(row) && extract_binds(row + 1);
}

static bool is_one_of_two_alike(const struct violation_stage *stage, const struct extract_row *row)
{
    return are_bound(stage, row) && row->is_alike_hosts;
}

static bool is_one_of_two_versions(const struct violation_stage *stage,
                                   const struct extract_row *row)
{
    return are_bound(stage, row) && row->is_one_version;
}

static bool is_aimed(const struct violation_stage *stage, const struct extract_row *row)
{
    const struct told_job *job = job_of(stage, row);

    return row->target_user > 0 && job != NULL && job->machine != NULL;
}

/* The first row that fits; NULL: the run has none. */
static struct extract_row *first(const struct violation_stage *stage, fits *fit)
{
    for (size_t i = 0; i < stage->extract->count; i++) {
        if (fit(stage, &stage->extract->rows[i]))
            return &stage->extract->rows[i];
    }
    return NULL;
}

/* Another machine than this one, which is some host. */
static struct told_machine *other_machine(const struct violation_stage *stage,
                                          const struct told_machine *than)
{
    struct told_machine *machine = stage->history->first_born;

    while (machine != NULL && (machine->user == than->user || machine->hostid == 0 ||
                               strcmp(machine->vendor, than->vendor) == 0))
        machine = machine->next_born;
    return machine;
}

/* --- one function for each rule; false: there is nothing to break it with --------------------- */

/* The transaction was lost after its reply had gone out. */
static bool break_ack_not_booked(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_acknowledged);

    if (row == NULL)
        return false;
    row->server_state = STATE_IN_PROGRESS;
    row->outcome = row->received_time = 0;
    return true;
}

/* The row has gone back among the unsent ones. */
static bool break_job_not_kept(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);

    if (row == NULL)
        return false;
    row->server_state = 2;
    row->hostid = 0;
    return true;
}

/* A claim of which no reply told, and which is not sent again either. */
static bool break_job_not_told(const struct violation_stage *stage)
{
    struct extract_row *holder = first(stage, is_held_by_settled);
    struct extract_row *row = first(stage, is_unsent);

    if (row == NULL || holder == NULL)
        return false;
    row->server_state = STATE_IN_PROGRESS;
    row->hostid = holder->hostid;
    row->userid = holder->userid;
    return true;
}

static bool break_two_hosts(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);
    struct told_machine *machine = row == NULL ? NULL : machine_of_row(stage, row);
    struct told_machine *other = machine == NULL ? NULL : other_machine(stage, machine);

    if (other == NULL)
        return false;
    tell(stage, "g %" PRId64 " %" PRId64 " %s 0", other->number, other->hostid, row->name);
    return true;
}

/* The request listed it, and the reply brings it again. */
static bool break_told_again(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);

    if (row == NULL)
        return false;
    tell(stage, "g %" PRId64 " %" PRId64 " %s 1", machine_of_row(stage, row)->number, row->hostid,
         row->name);
    return true;
}

static bool break_ack_of_another(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_acknowledged);
    struct told_machine *other =
        row == NULL ? NULL : other_machine(stage, machine_of_row(stage, row));

    if (other == NULL)
        return false;
    row->hostid = other->hostid;
    row->userid = other->user;
    return true;
}

static bool break_ack_unasked(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);

    if (row == NULL)
        return false;
    tell(stage, "a %" PRId64 " %s 0", machine_of_row(stage, row)->number, row->name);
    return true;
}

static bool break_report_of_nobody(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held_by_settled);

    if (row == NULL)
        return false;
    row->server_state = STATE_OVER;
    row->outcome = OUTCOME_OF_SUCCESS;
    row->received_time = row->sent_time + 1;
    return true;
}

static bool break_wrong_outcome(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_acknowledged);

    if (row == NULL)
        return false;
    row->outcome = row->outcome == OUTCOME_OF_SUCCESS ? OUTCOME_OF_ERROR : OUTCOME_OF_SUCCESS;
    return true;
}

static bool break_wrong_user(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);

    if (row == NULL)
        return false;
    row->userid++;
    return true;
}

/* Two claims of one account at the same moment, of which neither saw the other: on two hosts. */
static bool break_one_per_user(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_one_of_two);

    if (row == NULL)
        return false;
    row[1].userid = row[0].userid;
    return true;
}

static bool break_one_per_host(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_one_of_two);

    if (row == NULL)
        return false;
    row[1].hostid = row[0].hostid;
    return true;
}

static bool break_alike_hosts(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_one_of_two_alike);
    struct told_machine *other =
        row == NULL ? NULL : other_machine(stage, machine_of_row(stage, row));

    if (other == NULL)
        return false;
    row[1].hostid = other->hostid;
    return true;
}

static bool break_one_version(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_one_of_two_versions);

    if (row == NULL)
        return false;
    row[1].app_version_id = row[0].app_version_id + 1;
    return true;
}

/* The host got as many jobs of other hosts as the quota allows, beside its own one. */
static bool break_daily_quota(const struct violation_stage *stage)
{
    struct extract_row *given = first(stage, is_held_and_counts);
    int64_t left = stage->limits->daily;

    for (size_t i = 0; given != NULL && i < stage->extract->count && left > 0; i++) {
        struct extract_row *row = &stage->extract->rows[i];

        if (row == given || row->hostid == 0 || row->target_user > 0 || row->is_one_version)
            continue;
        row->hostid = given->hostid;
        row->app_version_id = given->app_version_id;
        row->sent_time = given->sent_time;
        left--;
    }
    return given != NULL && stage->limits->daily > 0 && left == 0;
}

/* Rows of a host that a server gave up; where clocks were apart, the auditor lets each make room.
 */
static int64_t count_given_up(const struct violation_stage *stage, int64_t hostid)
{
    int64_t count = 0;

    for (size_t i = 0; i < stage->extract->count; i++) {
        const struct extract_row *row = &stage->extract->rows[i];
        const struct told_job *job = job_of(stage, row);

        count += row->outcome == OUTCOME_OF_DETACHED && job != NULL && job->hostid == hostid;
    }
    return count;
}

static bool break_most_in_progress(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_held);
    struct told_machine *machine = row == NULL ? NULL : machine_of_row(stage, row);
    int64_t too_many;

    if (machine == NULL || stage->limits->in_progress == 0)
        return false;
    too_many = stage->limits->in_progress + count_given_up(stage, row->hostid) + 1;
    for (int64_t i = 0; i < too_many; i++)
        tell(stage, "g %" PRId64 " %" PRId64 " invented_%" PRId64 " 0", machine->number,
             row->hostid, i);
    return true;
}

static bool break_target(const struct violation_stage *stage)
{
    struct extract_row *row = first(stage, is_aimed);

    if (row == NULL)
        return false;
    row->target_user = job_of(stage, row)->machine->user + 1;
    return true;
}

static bool (*const breaks[RULE_COUNT])(const struct violation_stage *stage) = {
#define RULE(name, kind, words) [RULE_##name] = break_##name,
#include "tools/lab/campaign/rules.def"
#undef RULE
};

/* --- the trial -------------------------------------------------------------------------------- */

enum violation_trial { TRIAL_FOUND, TRIAL_MISSED, TRIAL_NO_MATERIAL };

static enum violation_trial try_rule(const struct violation_stage *stage, enum rule rule,
                                     int64_t before)
{
    struct audit audit;
    enum violation_trial trial;

    if (!breaks[rule](stage))
        return TRIAL_NO_MATERIAL;
    audit = audit_run(stage->history, stage->extract, stage->limits);
    trial = audit.findings[rule].count > before ? TRIAL_FOUND : TRIAL_MISSED;
    audit_clear(&audit);
    return trial;
}

/* In a process of its own, so that what it breaks is whole for the next one. */
static enum violation_trial try_apart(const struct violation_stage *stage, enum rule rule,
                                      int64_t before)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit((int)try_rule(stage, rule, before));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) > TRIAL_NO_MATERIAL)
        return TRIAL_MISSED;
    return (enum violation_trial)WEXITSTATUS(status);
}

bool violations_find_all(struct history *history, struct extract *extract,
                         const struct audit_limits *limits, FILE *stream)
{
    static const char *const words[] = {[TRIAL_FOUND] = "found",
                                        [TRIAL_MISSED] = "NOT FOUND",
                                        [TRIAL_NO_MATERIAL] =
                                            "nothing in this run to break it with"};
    const struct violation_stage stage = {.history = history, .extract = extract, .limits = limits};
    struct audit before = audit_run(history, extract, limits);
    bool are_all_found = true;

    fflush(stream);
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        enum violation_trial trial =
            try_apart(&stage, (enum rule)rule, before.findings[rule].count);

        fprintf(stream, "seeded %-18s %s\n", rule_name((enum rule)rule), words[trial]);
        are_all_found = are_all_found && trial == TRIAL_FOUND;
    }
    audit_clear(&before);
    return are_all_found;
}
