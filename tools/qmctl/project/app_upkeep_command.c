/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of an application in the course of time: classes of homogeneous redundancy whose
 * hosts have gone, statistics that are wrong, estimates that were never right. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "server/policy/host/hr_class.h"
#include "server/submit/estimate_advice.h"
#include "tools/qmctl/project/buda_apps.h"
#include "tools/qmctl/project/version_rows.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    READ_AT_ONCE = 5000,
    HOSTS_READ = 100000, /* the newest */
    CLASSES_MOST = 1000,
    HOST_DAYS = 7,
    RESULTS_READ = 10000
};

/* --- classes -----------------------------------------------------------------------------------
 */

struct class_line {
    int64_t number, jobs, out, hosts;
};

struct classes {
    struct session *session;
    int64_t appid;
    enum hr_type type;
    struct class_line lines[CLASSES_MOST];
    size_t count;
    int64_t free_jobs; /* of no class */
    int64_t hosts;     /* that were looked at */
};

/* NULL: there are too many. */
static struct class_line *line_of(struct classes *classes, int64_t number, bool adds)
{
    for (size_t i = 0; i < classes->count; i++)
        if (classes->lines[i].number == number)
            return &classes->lines[i];
    if (!adds || classes->count == CLASSES_MOST)
        return NULL;
    classes->lines[classes->count] = (struct class_line){.number = number};
    return &classes->lines[classes->count++];
}

static void take_job(struct classes *classes, const struct classed_job_row *job)
{
    struct class_line *line = job->hr_class == 0 ? NULL : line_of(classes, job->hr_class, true);

    if (line == NULL) {
        classes->free_jobs++;
        return;
    }
    line->jobs++;
    line->out += job->is_out != 0;
}

/* Piece by piece, each a transaction of its own. */
static enum status read_jobs(struct classes *classes)
{
    struct session *session = classes->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct classed_job_row *rows;
    size_t count = READ_AT_ONCE;
    int64_t after = 0, sum = 0;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == READ_AT_ONCE) {
        status = db_admin_classed_jobs(session->db, session->arena, classes->appid, after,
                                       READ_AT_ONCE, &rows, &count);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            take_job(classes, &rows[i]);
            after = rows[i].id;
        }
        if (status == STATUS_OK)
            status = db_end(session->db);
        arena_rewind(session->arena, mark);
        progress(session, "jobs looked at", sum += (int64_t)count);
    }
    return session_db_failed(session, status, "jobs");
}

static enum status read_hosts(struct classes *classes)
{
    struct session *session = classes->session;
    struct arena_mark mark = arena_mark(session->arena);
    int64_t before = INT64_MAX, since = session->now - HOST_DAYS * 86400;
    struct host_kind_row *rows;
    size_t count = READ_AT_ONCE;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == READ_AT_ONCE && classes->hosts < HOSTS_READ) {
        status =
            db_admin_host_kinds(session->db, session->arena, before, READ_AT_ONCE, &rows, &count);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            int64_t number =
                hr_class(classes->type, rows[i].os_name, rows[i].p_vendor, rows[i].p_model);
            struct class_line *line =
                rows[i].rpc_time < since || !hr_class_is_known(classes->type, number)
                    ? NULL
                    : line_of(classes, number, true);

            if (line != NULL)
                line->hosts++;
            before = rows[i].id;
        }
        if (status == STATUS_OK)
            status = db_end(session->db);
        classes->hosts += (int64_t)count;
        arena_rewind(session->arena, mark);
    }
    return session_db_failed(session, status, "hosts");
}

static struct text state_of(const struct classes *classes, const struct class_line *line)
{
    if (line->jobs == 0)
        return TEXT("no jobs");
    if (classes->type == HR_NONE)
        return TEXT("not asked for: the application goes to any computers");
    if (line->hosts > 0)
        return TEXT("ok");
    return line->out > 0 ? TEXT("no host has come within a week; some jobs are still with one")
                         : TEXT("DIED OUT: no host has come within a week");
}

static bool print_classes(struct classes *classes)
{
    static const char *const titles[] = {"class", "system", "jobs", "with_hosts", "hosts", "state"};
    struct output_table table = TABLE_BEGIN(classes->session, "classes", titles);
    bool some_died = false;

    for (size_t i = 0; i < classes->count; i++) {
        const struct class_line *line = &classes->lines[i];

        some_died |= line->jobs > 0 && line->hosts == 0 && classes->type != HR_NONE;
        table_number(&table, line->number);
        table_text(&table, text_from(hr_class_system(line->number)));
        table_number(&table, line->jobs);
        table_number(&table, line->out);
        table_number(&table, line->hosts);
        table_words(&table, state_of(classes, line));
    }
    table_print(&table);
    return some_died;
}

/* --- jobs of a class whose hosts have gone -----------------------------------------------------
 */

struct releasing {
    struct session *session;
    int64_t appid, number;
    int64_t last; /* of the jobs that were looked at, when its transaction had ended */
    bool is_done;
    struct class_released sums;
};

/* One transaction. */
static enum status release_part(void *subject)
{
    struct releasing *releasing = subject;
    struct session *session = releasing->session;
    struct class_released some;
    int64_t last = releasing->last;
    enum status status =
        db_admin_class_release(session->db, releasing->appid, releasing->number, &last, &some);

    if (status == STATUS_OK)
        status = db_commit(session->db);
    if (status != STATUS_OK)
        return status;
    releasing->is_done = last == 0;
    releasing->last = last;
    releasing->sums.released += some.released;
    releasing->sums.kept += some.kept;
    return STATUS_OK;
}

static enum exit_code release(struct session *session, int64_t appid, int64_t number)
{
    static const char *const titles[] = {"class", "released", "kept"};
    struct output_table done = TABLE_BEGIN(session, "classes", titles);
    struct releasing releasing = {.session = session, .appid = appid, .number = number};
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !releasing.is_done) {
        status = repeat_transaction(session->db, release_part, &releasing);
        progress(session, "jobs released", (int64_t)releasing.sums.released);
    }
    if (session_db_failed(session, status, "release") != STATUS_OK)
        return session_failed(session);
    table_number(&done, number);
    table_number(&done, (int64_t)releasing.sums.released);
    table_number(&done, (int64_t)releasing.sums.kept);
    table_tell(&done,
               text_print(session->arena,
                          COUNT_FORMAT " released: the next host binds each to its own class; "
                                       "%" PRIu64 " kept, which are with hosts or have a success. "
                                       "Servers see it within pool_sweep",
                          COUNT_ARG(releasing.sums.released, "job"), releasing.sums.kept));
    return EXIT_DONE;
}

enum exit_code command_app_classes(struct session *session)
{
    struct classes *classes = ARENA_NEW(session->arena, struct classes);
    struct app_row app = {.id = 0};
    int64_t number = 0;
    enum status status = option_number(session, "release", 1, INT32_MAX, &number);

    if (classes == NULL)
        return session_failed(session);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status != STATUS_OK)
        return session_failed(session);
    if (number != 0)
        return release(session, app.id, number);
    *classes = (struct classes){.session = session, .appid = app.id};
    classes->type = (enum hr_type)(app.homogeneous_redundancy != HR_NONE
                                       ? app.homogeneous_redundancy
                                       : session->config->homogeneous_redundancy);
    status = read_jobs(classes);
    if (status == STATUS_OK)
        status = read_hosts(classes);
    if (status != STATUS_OK)
        return session_failed(session);
    return print_classes(classes) ? EXIT_NOTHING : EXIT_DONE;
}

/* --- statistics that are forgotten -------------------------------------------------------------
 */

struct forgetting {
    struct session *session;
    int64_t appid, last;
    bool is_rehearsed; /* each transaction is undone */
    bool has_versions, is_done;
    uint64_t rows;
};

/* One transaction: at first the versions, then some hosts each time. */
static enum status forget_part(void *subject)
{
    struct forgetting *forgetting = subject;
    struct session *session = forgetting->session;
    int64_t last = forgetting->last;
    uint64_t rows = 0;
    enum status status =
        forgetting->has_versions
            ? db_admin_host_statistics_forget(session->db, forgetting->appid, &last, &rows)
            : db_admin_statistics_forget(session->db, forgetting->appid);

    if (status == STATUS_OK)
        status = forgetting->is_rehearsed ? db_rollback(session->db) : db_commit(session->db);
    if (status != STATUS_OK)
        return status;
    forgetting->is_done = forgetting->has_versions && last == 0;
    forgetting->has_versions = true;
    forgetting->last = last;
    forgetting->rows += rows;
    return STATUS_OK;
}

enum exit_code command_app_forget(struct session *session)
{
    static const char *const titles[] = {"app", "host_versions"};
    struct output_table done = TABLE_BEGIN(session, "applications", titles);
    struct forgetting forgetting = {.session = session,
                                    .is_rehearsed = option_given(session, "dry-run")};
    struct app_row app = {.id = 0};
    enum exit_code code;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status != STATUS_OK)
        return session_failed(session);
    (void)db_rollback(session->db);
    code = forgetting.is_rehearsed
               ? EXIT_DONE
               : confirm(session,
                         text_print(session->arena,
                                    "what is known of run times and efficiency of %s, "
                                    "with each host",
                                    session->arguments[0]),
                         app.name);
    if (code != EXIT_DONE)
        return code;
    forgetting.appid = app.id;
    while (status == STATUS_OK && !forgetting.is_done) {
        status = repeat_transaction(session->db, forget_part, &forgetting);
        progress(session, "hosts and versions", (int64_t)forgetting.rows);
    }
    if (session_db_failed(session, status, "statistics") != STATUS_OK)
        return session_failed(session);
    if (!forgetting.is_rehearsed)
        session_catalog_changed(session);
    table_text(&done, app.name);
    table_number(&done, (int64_t)forgetting.rows);
    table_tell(&done,
               text_print(session->arena,
                          forgetting.is_rehearsed
                              ? "would reset the statistics of " TEXT_FORMAT ", of %" PRIu64
                                " pairs of host and version"
                              : "the statistics of " TEXT_FORMAT " are forgotten, of %" PRIu64
                                " pairs of host and version; run times are estimated by "
                                "benchmarks until there are new ones",
                          TEXT_ARG(app.name), forgetting.rows));
    return EXIT_DONE;
}

/* --- estimates ---------------------------------------------------------------------------------
 */

/* What names are looked up in. */
struct estimated {
    struct version_entry_row *versions;
    size_t version_count;
    struct buda_apps buda;
};

static struct text title_of_version(struct session *session, const struct estimated *estimated,
                                    int64_t id)
{
    for (size_t i = 0; i < estimated->version_count; i++)
        if (estimated->versions[i].app_version.id == id)
            return version_title(session->arena, &estimated->versions[i]);
    return id < 0 ? TEXT("versions of volunteers") : TEXT("a version that is gone");
}

/* Of a wrapper, with what ran in it. */
static struct text title_of(struct session *session, const struct estimated *estimated,
                            const struct run_time_row *row)
{
    struct text version = title_of_version(session, estimated, row->app_version_id);

    return row->variant == 0
               ? version
               : text_print(
                     session->arena, TEXT_FORMAT ", " TEXT_FORMAT, TEXT_ARG(version),
                     TEXT_ARG(buda_variant_title(session->arena, &estimated->buda, row->variant)));
}

static void add_spread(struct output_table *table, struct text app, struct text version,
                       struct estimate_sample *samples, size_t count)
{
    struct estimate_spread spread = estimate_spread_of(samples, count);

    table_text(table, app);
    table_text(table, version);
    table_number(table, (int64_t)count);
    table_real(table, spread.low, 3);
    table_real(table, spread.median, 3);
    table_real(table, spread.high, 3);
    table_words(table, estimate_words(table->session->arena, &spread));
}

static int compare_versions(const void *a, const void *b)
{
    const struct run_time_row *left = a, *right = b;

    if (left->app_version_id != right->app_version_id)
        return left->app_version_id > right->app_version_id ? 1 : -1;
    return (left->variant > right->variant) - (left->variant < right->variant);
}

/* A line for each version and variant, and one for all where there are several. */
static enum status add_app(struct output_table *table, const struct app_row *app,
                           const struct estimated *estimated)
{
    struct session *session = table->session;
    struct run_time_row *rows = NULL;
    struct estimate_sample *samples;
    size_t count = 0, first = 0;
    enum status status = session_db_failed(
        session,
        db_admin_run_times(session->db, session->arena, app->id, RESULTS_READ, &rows, &count),
        "results");

    if (status == STATUS_OK)
        status = session_db_failed(session, db_end(session->db), "results");
    samples = ARENA_ARRAY(session->arena, count, struct estimate_sample);
    if (status != STATUS_OK || samples == NULL)
        return status == STATUS_OK ? fail(&session->failure, STATUS_NO_MEMORY, "no memory")
                                   : status;
    if (count > 0)
        qsort(rows, count, sizeof rows[0], compare_versions);
    for (size_t i = 0; i < count; i++) {
        samples[i] = (struct estimate_sample){.flop = rows[i].flop,
                                              .fpops_est = rows[i].fpops_est,
                                              .fpops_bound = rows[i].fpops_bound};
        if (i + 1 < count && compare_versions(&rows[i], &rows[i + 1]) == 0)
            continue;
        add_spread(table, app->name, title_of(session, estimated, &rows[i]), &samples[first],
                   i + 1 - first);
        first = i + 1;
    }
    if (count == 0 || compare_versions(&rows[0], &rows[count - 1]) != 0)
        add_spread(table, app->name, TEXT("all"), samples, count);
    return STATUS_OK;
}

enum exit_code command_app_estimates(struct session *session)
{
    static const char *const titles[] = {"app",    "version", "results", "low",
                                         "median", "high",    "advice"};
    struct output_table table = TABLE_BEGIN(session, "estimates", titles);
    struct estimated estimated = {0};
    struct app_row *apps = NULL, app = {.id = 0};
    size_t count = 0;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = buda_apps_read(session, &estimated.buda);
    if (status == STATUS_OK && session->argument_count > 0)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_apps(session->db, session->arena, &apps, &count), "apps");
    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_admin_versions(session->db, session->arena,
                                                     &estimated.versions, &estimated.version_count),
                                   "versions");
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (app.id == 0 || apps[i].id == app.id)
            status = add_app(&table, &apps[i], &estimated);
    if (status != STATUS_OK)
        return session_failed(session);
    table_print(&table);
    return EXIT_DONE;
}
