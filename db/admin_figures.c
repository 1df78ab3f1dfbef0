/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator looks at: queues and hosts. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static void count_state(struct queue_line *line, int64_t state, int64_t jobs, int64_t oldest)
{
    switch (state) {
    case RESULT_INACTIVE:
        line->inactive = jobs;
        break;
    case RESULT_UNSENT:
        line->unsent = jobs;
        line->oldest_unsent = oldest;
        break;
    case RESULT_IN_PROGRESS:
        line->in_progress = jobs;
        break;
    default:
        line->over += jobs;
        break;
    }
}

enum status db_admin_queue(struct db *db, struct arena *arena, bool by_batch,
                           struct queue_line **ret_rows, size_t *ret_count)
{
    struct queue_row *rows;
    size_t row_count, count = 0;
    struct queue_line *lines;
    enum status status =
        by_batch ? DB_ALL(db, admin_queue_by_batch, arena, &rows, &row_count, DB_NO_VALUES)
                 : DB_ALL(db, admin_queue, arena, &rows, &row_count, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    lines = ARENA_ARRAY(arena, row_count, struct queue_line);
    if (lines == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < row_count; i++) {
        struct queue_line *line = count > 0 ? &lines[count - 1] : NULL;

        if (line == NULL || !text_equal(line->app, rows[i].app) || line->batch != rows[i].batch) {
            line = &lines[count++];
            line->app = rows[i].app;
            line->batch = rows[i].batch;
        }
        count_state(line, rows[i].server_state, rows[i].jobs, rows[i].oldest);
    }
    *ret_rows = lines;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_admin_buda_jobs(struct db *db, struct arena *arena, int64_t most,
                               struct buda_jobs_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_buda_jobs, arena, ret_rows, ret_count, .most = most);
}

static bool has_variant_tables(struct db *db)
{
    return actual_table_exists(db_actual_columns(db), "qm_host_variant");
}

enum status db_admin_variant_jobs(struct db *db, struct arena *arena, int64_t most,
                                  struct variant_jobs_row **ret_rows, size_t *ret_count)
{
    *ret_count = 0;
    return has_variant_tables(db)
               ? DB_ALL(db, admin_variant_jobs, arena, ret_rows, ret_count, .most = most)
               : STATUS_OK;
}

enum status db_admin_variant_speeds(struct db *db, struct arena *arena, int64_t most,
                                    struct variant_speed_row **ret_rows, size_t *ret_count)
{
    *ret_count = 0;
    return has_variant_tables(db)
               ? DB_ALL(db, admin_variant_speeds, arena, ret_rows, ret_count, .most = most)
               : STATUS_OK;
}

static enum status count_queue(struct db *db, int64_t appid, int64_t most, struct queue_line *line)
{
    const struct {
        int64_t state, *count;
    } states[] = {{RESULT_UNSENT, &line->unsent},
                  {RESULT_IN_PROGRESS, &line->in_progress},
                  {RESULT_OVER, &line->over}};

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct jobs_counted_row row;
        enum status status = DB_ONE(db, admin_queue_state, NULL, &row, .appid = appid,
                                    .server_state = states[i].state, .most = most);

        if (status != STATUS_OK)
            return status;
        *states[i].count = row.jobs;
    }
    return STATUS_OK;
}

enum status db_admin_queue_counted(struct db *db, struct arena *arena, int64_t most,
                                   struct queue_line **ret_rows, size_t *ret_count)
{
    struct app_row *apps;
    struct queue_line *lines;
    size_t app_count, count = 0;
    enum status status = DB_ALL(db, apps, arena, &apps, &app_count, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    lines = ARENA_ARRAY(arena, app_count, struct queue_line);
    if (lines == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < app_count; i++) {
        struct queue_line line = {.app = apps[i].name, .appid = apps[i].id};

        status = count_queue(db, apps[i].id, most, &line);
        if (status != STATUS_OK)
            return status;
        if (line.unsent + line.in_progress + line.over > 0)
            lines[count++] = line;
    }
    *ret_rows = lines;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_admin_connection_limits(struct db *db, struct connection_limits_row *ret_limits)
{
    return DB_ONE(db, admin_connection_limits, NULL, ret_limits, DB_NO_VALUES);
}

enum status db_admin_settings(struct db *db, struct arena *arena, const struct text *names,
                              size_t count, struct setting_row **ret_rows, size_t *ret_count,
                              struct database_load_row *ret_load)
{
    enum status status =
        DB_ALL(db, admin_settings, arena, ret_rows, ret_count, .names = {names, count});

    return status == STATUS_OK ? DB_ONE(db, admin_database_load, NULL, ret_load, DB_NO_VALUES)
                               : status;
}

enum status db_backlog(struct db *db, int64_t now, int64_t most, struct backlog *ret_backlog)
{
    struct overdue_row overdue;
    struct jobs_counted_row validations, assimilations;
    enum status status =
        DB_ONE(db, admin_transitions_waiting, NULL, &overdue, .now = now, .most = most);

    if (status == STATUS_OK)
        status = DB_ONE(db, admin_validations_waiting, NULL, &validations, .most = most);
    if (status == STATUS_OK)
        status = DB_ONE(db, admin_assimilations_waiting, NULL, &assimilations, .most = most);
    if (status == STATUS_OK)
        *ret_backlog =
            (struct backlog){.transitions = overdue.jobs,
                             .oldest_transition = overdue.oldest <= now ? overdue.oldest : 0,
                             .validations = validations.jobs,
                             .assimilations = assimilations.jobs};
    return status;
}

enum status db_admin_deletions_waiting(struct db *db, int64_t most, int64_t *ret_jobs)
{
    struct jobs_counted_row counted;
    enum status status = DB_ONE(db, admin_deletions_waiting, NULL, &counted, .most = most);

    if (status == STATUS_OK)
        *ret_jobs = counted.jobs;
    return status;
}

enum status db_admin_oldest_waiting(struct db *db, struct oldest_waiting_row *ret_oldest)
{
    return DB_ONE(db, admin_oldest_waiting, NULL, ret_oldest, DB_NO_VALUES);
}

enum status db_admin_short_deadlines(struct db *db, struct arena *arena, size_t looked_at,
                                     int64_t below, struct short_deadline_row **ret_rows,
                                     size_t *ret_count)
{
    return DB_ALL(db, admin_short_deadlines, arena, ret_rows, ret_count,
                  .looked_at = (int64_t)looked_at, .below = below);
}

enum status db_admin_slacks(struct db *db, struct arena *arena, size_t looked_at, double times,
                            struct app_slack_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_slacks, arena, ret_rows, ret_count, .looked_at = (int64_t)looked_at,
                  .times = times);
}

enum status db_admin_recent_hosts(struct db *db, struct arena *arena, int64_t since, size_t most,
                                  struct recent_host_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_recent_hosts, arena, ret_rows, ret_count, .since = since,
                  .most = (int64_t)most);
}

static enum status add_counts(struct db *db, struct host_entry *hosts, struct db_ids ids)
{
    struct host_counts_cursor rows;
    struct host_counts_row row;
    enum status status = DB_QUERY(db, admin_host_counts, NULL, &rows, .hostids = ids);

    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&rows, &row))
        for (size_t i = 0; i < ids.count; i++)
            if (ids.items[i] == row.hostid) {
                hosts[i].in_progress = row.in_progress;
                hosts[i].success = row.success;
                hosts[i].error = row.error;
            }
    return DB_END(&rows);
}

enum status db_admin_hosts(struct db *db, struct arena *arena, int64_t id, int64_t userid,
                           size_t most, struct host_entry **ret_rows, size_t *ret_count)
{
    struct host_row *rows;
    struct host_entry *hosts;
    int64_t *ids;
    size_t count;
    enum status status = id != 0 ? DB_ALL(db, admin_host_by_id, arena, &rows, &count, .id = id)
                                 : DB_ALL(db, admin_hosts_of_user, arena, &rows, &count,
                                          .userid = userid, .most = (int64_t)most);

    if (status != STATUS_OK)
        return status;
    hosts = ARENA_ARRAY(arena, count, struct host_entry);
    ids = ARENA_ARRAY(arena, count, int64_t);
    if (hosts == NULL || ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        hosts[i].row = rows[i];
        ids[i] = rows[i].id;
    }
    *ret_rows = hosts;
    *ret_count = count;
    return add_counts(db, hosts, (struct db_ids){ids, count});
}

enum status db_admin_host_results(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                  struct host_result_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_host_results, arena, ret_rows, ret_count, .hostid = hostid,
                  .most = (int64_t)most);
}

static enum status take_classes(struct arena *arena, const struct job_class_row *rows, size_t count,
                                struct job_class **ret_classes, size_t *ret_count)
{
    struct job_class *classes = ARENA_ARRAY(arena, count, struct job_class);

    if (classes == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        classes[i] = (struct job_class){.job = {.resultid = rows[i].resultid,
                                                .workunitid = rows[i].workunit.id,
                                                .appid = rows[i].appid,
                                                .priority = rows[i].priority,
                                                .workunit = rows[i].workunit},
                                        .count = rows[i].jobs,
                                        .user_has_one = rows[i].of_user != 0,
                                        .host_has_one = rows[i].of_host != 0};
    *ret_classes = classes;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_admin_job_classes(struct db *db, struct arena *arena,
                                 const struct job_class_filter *filter, struct job_class **ret_rows,
                                 size_t *ret_count)
{
    struct job_class_row *rows;
    size_t count;
    enum status status =
        DB_ALL(db, admin_job_classes, arena, &rows, &count, .userid = filter->userid,
               .hostid = filter->hostid, .appid = filter->appid, .by_batch = filter->by_batch,
               .by_keywords = filter->by_keywords, .most = (int64_t)filter->most);

    return status == STATUS_OK ? take_classes(arena, rows, count, ret_rows, ret_count) : status;
}

enum status db_admin_waiting_classes(struct db *db, struct arena *arena,
                                     const struct waiting_filter *filter,
                                     struct job_class **ret_rows, size_t *ret_count)
{
    struct job_class_row *rows;
    size_t count;
    enum status status =
        DB_ALL(db, admin_waiting_classes, arena, &rows, &count, .appid = filter->appid,
               .by_holders = filter->by_holders, .by_batch = filter->by_batch,
               .by_keywords = filter->by_keywords, .looked_at = (int64_t)filter->looked_at,
               .most = (int64_t)filter->most);

    return status == STATUS_OK ? take_classes(arena, rows, count, ret_rows, ret_count) : status;
}

enum status db_admin_waiting_job(struct db *db, struct arena *arena, struct text name,
                                 bool by_holders, struct job_class **ret_rows, size_t *ret_count)
{
    struct job_class_row *rows;
    size_t count;
    enum status status =
        DB_ALL(db, admin_waiting_job, arena, &rows, &count, .name = name, .by_holders = by_holders);

    return status == STATUS_OK ? take_classes(arena, rows, count, ret_rows, ret_count) : status;
}

enum status db_admin_unsent_documents(struct db *db, struct arena *arena, int64_t appid,
                                      size_t looked_at, struct waiting_document_row **ret_rows,
                                      size_t *ret_count)
{
    return DB_ALL(db, admin_unsent_documents, arena, ret_rows, ret_count, .appid = appid,
                  .looked_at = (int64_t)looked_at);
}

enum status db_admin_unfinished_templates(struct db *db, struct arena *arena, int64_t appid,
                                          size_t looked_at, struct job_template_row **ret_rows,
                                          size_t *ret_count)
{
    return DB_ALL(db, admin_unfinished_templates, arena, ret_rows, ret_count, .appid = appid,
                  .looked_at = (int64_t)looked_at);
}

enum status db_admin_large_quorums(struct db *db, struct arena *arena, int64_t appid,
                                   size_t looked_at, struct large_quorum_row **ret_rows,
                                   size_t *ret_count)
{
    return DB_ALL(db, admin_large_quorums, arena, ret_rows, ret_count, .appid = appid,
                  .looked_at = (int64_t)looked_at);
}

enum status db_admin_holders(struct db *db, struct arena *arena, int64_t workunitid, size_t most,
                             struct holder_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_holders, arena, ret_rows, ret_count, .workunitid = workunitid,
                  .most = (int64_t)most);
}

enum status db_admin_apps(struct db *db, struct arena *arena, struct app_row **ret_rows,
                          size_t *ret_count)
{
    return DB_ALL(db, apps, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_admin_server_lives(struct db *db, int64_t id, bool *ret_lives)
{
    struct id_row row;
    enum status status = DB_ONE(db, admin_server_lives, NULL, &row, .id = id);

    *ret_lives = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_admin_said_span(struct db *db, size_t most, struct id_span_row *ret_span)
{
    return DB_ONE(db, admin_said_span, NULL, ret_span, .most = (int64_t)most);
}

enum status db_admin_said_since(struct db *db, struct arena *arena,
                                const struct said_filter *filter, struct id_row **ret_rows,
                                size_t *ret_count)
{
    return DB_ALL(db, admin_said_since, arena, ret_rows, ret_count, .first = filter->first,
                  .since = filter->since, .looked_at = (int64_t)filter->looked_at,
                  .most = (int64_t)filter->most);
}

enum status db_admin_host(struct db *db, struct arena *arena, int64_t id, struct host_row *ret_host)
{
    return DB_ONE(db, admin_host_by_id, arena, ret_host, .id = id);
}

enum status db_admin_assigned_jobs(struct db *db, int64_t hostid, int64_t userid, int64_t teamid,
                                   int64_t *ret_count)
{
    struct assigned_jobs_row row = {.jobs = 0};
    enum status status = DB_ONE(db, admin_assigned_jobs, NULL, &row, .hostid = hostid,
                                .userid = userid, .teamid = teamid);

    *ret_count = row.jobs;
    return status;
}

enum status db_admin_host_presence(struct db *db, struct arena *arena, int64_t hostid,
                                   struct text *ret_presence)
{
    struct host_presence_row row = {0};
    enum status status = DB_ONE(db, admin_host_presence, arena, &row, .hostid = hostid);

    *ret_presence = row.presence;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_admin_host_said(struct db *db, struct arena *arena, int64_t hostid,
                               struct text *ret_request)
{
    struct host_request_row row = {.request = NO_TEXT};
    enum status status = DB_ONE(db, admin_host_said, arena, &row, .hostid = hostid);

    *ret_request = row.request;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_admin_host_platforms(struct db *db, struct arena *arena, int64_t hostid,
                                    struct text **ret_names, size_t *ret_count)
{
    struct name_row *rows;
    struct text *names;
    size_t count;
    enum status status = DB_ALL(db, admin_host_platforms, arena, &rows, &count, .hostid = hostid);

    if (status != STATUS_OK)
        return status;
    names = ARENA_ARRAY(arena, count, struct text);
    if (names == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        names[i] = rows[i].name;
    *ret_names = names;
    *ret_count = count;
    return STATUS_OK;
}

enum { CONTACT_STRETCHES = 20 };

/* In stretches at even distances, as those that ask most may be old or new. */
static enum status sample_contacts(struct db *db, int64_t since, int64_t most,
                                   struct last_contact_row *ret_contact)
{
    struct id_span_row span;
    enum status status = DB_ONE(db, admin_host_span, NULL, &span, DB_NO_VALUES);
    int64_t step = status == STATUS_OK ? (span.last - span.first) / CONTACT_STRETCHES + 1 : 0;

    *ret_contact = (struct last_contact_row){.last = 0};
    for (int64_t i = 0; status == STATUS_OK && i < CONTACT_STRETCHES; i++) {
        struct last_contact_row stretch;

        status = DB_ONE(db, admin_last_contact, NULL, &stretch, .since = since,
                        .first = span.first + i * step, .last = span.first + (i + 1) * step - 1,
                        .most = most / CONTACT_STRETCHES);
        if (status != STATUS_OK)
            break;
        if (stretch.last > ret_contact->last)
            ret_contact->last = stretch.last;
        ret_contact->since += stretch.since;
        ret_contact->hosts += stretch.hosts;
    }
    return status;
}

enum status db_admin_last_contact(struct db *db, int64_t since, int64_t most,
                                  struct last_contact_row *ret_contact, bool *ret_is_sample)
{
    enum status status = DB_ONE(db, admin_last_contact, NULL, ret_contact, .since = since,
                                .first = 0, .last = INT64_MAX, .most = most + 1);

    *ret_is_sample = status == STATUS_OK && ret_contact->hosts > most;
    return *ret_is_sample ? sample_contacts(db, since, most, ret_contact) : status;
}

enum status db_admin_lost_jobs(struct db *db, size_t most, struct lost_jobs_row *ret_lost)
{
    return DB_ONE(db, admin_lost_jobs, NULL, ret_lost, .most = (int64_t)most);
}

enum status db_admin_clock_traces(struct db *db, int64_t latest, size_t most,
                                  struct clock_traces_row *ret_traces)
{
    return DB_ONE(db, admin_clock_traces, NULL, ret_traces, .latest = latest,
                  .most = (int64_t)most);
}

enum status db_admin_used_ids(struct db *db, struct arena *arena, struct used_ids_row **ret_rows,
                              size_t *ret_count)
{
    return DB_ALL(db, admin_used_ids, arena, ret_rows, ret_count, DB_NO_VALUES);
}
