/* SPDX-License-Identifier: Apache-2.0 */
/* The project's tables, of whichever year, and what its apps do with them. */
#include "config/config.h"
#include "db/admin.h"
#include "db/adoption_rows.h"
#include "db/schema.h"
#include "server/adoption/adoption_parts.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <string.h>

#include "server/base/banned.h"

enum { SHORT_DELAY_S = 600 };

static void not_read(struct adoption_view *view, struct db *db, const char *what)
{
    adoption_found(view, ADOPTION_ERROR, "tables", what, "it cannot be read: %s", db_error(db));
    view->adoption->stops = true;
}

/* --- columns, engines, indexes --------------------------------------------------------------- */

/* What db_revision claims and the tables lack, BOINC's own upgrade will not bring any more. */
static void look_at_eras(struct adoption_view *view, struct db *db)
{
    bool lacks_any = false;

    for (size_t i = 0; i < adoption_era_count; i++) {
        const struct adoption_era *era = &adoption_eras[i];
        struct text lacks = db_adoption_lacks(db, view->arena, era);
        bool is_claimed = era->revision <= view->revision;

        if (lacks.length == 0)
            continue;
        lacks_any = true;
        adoption_found(view, is_claimed ? ADOPTION_WARNING : ADOPTION_NOTE, "columns",
                       text_string(view->arena, lacks),
                       "missing (BOINC has it since %s, revision %d): the server works without "
                       "%s%s",
                       era->since, era->revision, era->what,
                       is_claimed ? "; but db_revision says that this upgrade was done" : "");
    }
    if (lacks_any)
        adoption_found(
            view, ADOPTION_NOTE, "columns", "",
            "BOINC's html/ops/db_update.php adds missing columns; this server finds them after a "
            "restart");
    else
        adoption_found(view, ADOPTION_OK, "columns", "", "all exist");
}

static void look_at_engines(struct adoption_view *view, struct db *db)
{
    struct adoption_table_row *tables;
    size_t count;

    if (db_adoption_engines(db, view->arena, &tables, &count) != STATUS_OK) {
        not_read(view, db, "engines of tables");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = text_string(view->arena, tables[i].name);

        if (!db_adoption_writes(tables[i].name)) {
            adoption_found(view, ADOPTION_WARNING, "tables", name,
                           "its engine is " TEXT_FORMAT ", which has no transactions: a server "
                           "only reads it, so it may stay so while qmctl does not write there "
                           "(transition --validate, user delete): ALTER TABLE %s ENGINE=InnoDB",
                           TEXT_ARG(tables[i].engine), name);
            continue;
        }
        adoption_found(view, ADOPTION_ERROR, "tables", name,
                       "its engine is " TEXT_FORMAT ", which knows neither transactions nor locks "
                       "of rows: while the project stands still, ALTER TABLE %s ENGINE=InnoDB",
                       TEXT_ARG(tables[i].engine), name);
        view->adoption->stops = true;
    }
}

/* They were made for BOINC's programs, whose statements are others. */
static void look_at_triggers(struct adoption_view *view, struct db *db)
{
    struct adoption_trigger_row *triggers;
    size_t count;

    if (db_adoption_triggers(db, view->arena, &triggers, &count) != STATUS_OK) {
        not_read(view, db, "triggers of tables");
        return;
    }
    for (size_t i = 0; i < count; i++)
        adoption_found(view, ADOPTION_WARNING, "tables",
                       text_string(view->arena, triggers[i].table_name),
                       "the trigger " TEXT_FORMAT " runs " TEXT_FORMAT
                       " of each row here: a request waits for it, fails if it fails, and does "
                       "not know its changes",
                       TEXT_ARG(triggers[i].name), TEXT_ARG(triggers[i].event));
}

static void judge_index(struct adoption_view *view, const struct needed_index *needed,
                        size_t number, enum index_state state)
{
    const char *where =
        text_string(view->arena, text_print(view->arena, "%s.%s", needed->table, needed->name));
    struct adoption_finding *finding;

    if (state == INDEX_THERE)
        return;
    if (state == INDEX_OTHERWISE) {
        adoption_found(view, needed->how == INDEX_BY_NAME ? ADOPTION_WARNING : ADOPTION_NOTE,
                       "indexes", where, "this index is on columns other than %s: %s, slowly",
                       needed->columns, needed->why);
        return;
    }
    if (needed->how == INDEX_UNIQUE) {
        adoption_found(view, ADOPTION_WARNING, "indexes", where,
                       "no unique index is over %s alone, though %s: CREATE UNIQUE INDEX %s ON %s "
                       "(%s), which fails where two rows are equal",
                       needed->columns, needed->why, needed->name, needed->table, needed->columns);
        return;
    }
    finding = adoption_found(view, ADOPTION_CHANGE, "indexes", where,
                             "the index on %s is missing and will be made, while work continues: "
                             "%s",
                             needed->columns, needed->why);
    if (finding != NULL) {
        finding->act = ACT_INDEX;
        finding->number = number;
    }
}

static void look_at_indexes(struct adoption_view *view, struct db *db)
{
    struct adoption_index_row *rows;
    size_t count, missing = 0;

    if (db_adoption_indexes(db, view->arena, &rows, &count) != STATUS_OK) {
        not_read(view, db, "indexes");
        return;
    }
    for (size_t i = 0; i < needed_index_count; i++) {
        enum index_state state = needed_index_state(&needed_indexes[i], rows, count);

        missing += state != INDEX_THERE;
        judge_index(view, &needed_indexes[i], i, state);
    }
    if (missing == 0)
        adoption_found(view, ADOPTION_OK, "indexes", "", "all required indexes exist");
}

/* --- our own tables ----------------------------------------------------------------------------
 */

/* What an upgrade makes, by its own words: "table qm_host, table qm_workunit". */
static struct text made_by(struct arena *arena, const char *sql)
{
    const struct {
        struct text begins;
        const char *what, *after;
    } makers[] = {{TEXT("CREATE TABLE IF NOT EXISTS "), "table ", ""},
                  {TEXT("CREATE INDEX IF NOT EXISTS "), "index ", ", while work continues"}};
    struct text rest = text_from(sql);
    struct buffer list = buffer_in(arena);

    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');

        for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
            if (!text_starts(line, makers[i].begins))
                continue;
            line = (struct text){line.at + makers[i].begins.length,
                                 line.length - makers[i].begins.length};
            buffer_add_string(&list, list.length > 0 ? ", " : "");
            buffer_add_string(&list, makers[i].what);
            buffer_add(&list, text_split(&line, ' '));
            buffer_add_string(&list, makers[i].after);
        }
    }
    return buffer_text(&list);
}

static void look_at_upgrades(struct adoption_view *view, struct db *db)
{
    struct failure failure = {.status = STATUS_OK};
    bool has_ours = true;
    int64_t version;

    if (db_adoption_version(db, &version) != STATUS_OK) {
        not_read(view, db, "qm_schema");
        return;
    }
    for (size_t i = 0; i < schema_upgrade_count; i++) {
        const struct schema_upgrade *upgrade = &schema_upgrades[i];
        struct text makes = made_by(view->arena, upgrade->sql);
        struct adoption_finding *finding;

        if (schema_upgrade_number(upgrade) <= version)
            continue;
        has_ours = false;
        finding = adoption_found(view, ADOPTION_CHANGE, "upgrade", upgrade->name,
                                 makes.length > 0 ? "adds what is missing of: " TEXT_FORMAT
                                                  : "only its number is recorded" TEXT_FORMAT,
                                 TEXT_ARG(makes));
        if (finding != NULL)
            finding->act = ACT_TABLES;
    }
    if (has_ours && db_adoption_tables(db, true, &failure) == STATUS_OK)
        adoption_found(view, ADOPTION_OK, "upgrade", "", "the tables of this server exist");
    else if (has_ours)
        adoption_found(view, ADOPTION_ERROR, "upgrade", "qm_schema",
                       "it says that all was made, but a table of this server is missing: DELETE "
                       "FROM qm_schema WHERE version > 0, and --apply makes what is missing");
    if (version > schema_upgrade_number(&schema_upgrades[schema_upgrade_count - 1])) {
        adoption_found(view, ADOPTION_ERROR, "upgrade", "qm_schema",
                       "the database was upgraded by a newer program (version %lld)",
                       (long long)version);
        view->adoption->stops = true;
    }
}

/* --- what the apps use -------------------------------------------------------------------------
 */

/* The apps of which it holds, as "a, b"; deprecated ones are left out. */
static struct text apps_with(struct arena *arena, const struct catalog_rows *rows,
                             bool (*holds)(const struct app_row *app))
{
    struct buffer list = buffer_in(arena);

    for (size_t i = 0; i < rows->app_count; i++) {
        if (rows->apps[i].deprecated != 0 || !holds(&rows->apps[i]))
            continue;
        buffer_add_string(&list, list.length > 0 ? ", " : "");
        buffer_add(&list, rows->apps[i].name);
    }
    return buffer_text(&list);
}

static bool has_redundancy(const struct app_row *app)
{
    return app->homogeneous_redundancy != 0;
}
static bool has_one_version(const struct app_row *app)
{
    return app->homogeneous_app_version != 0;
}
static bool has_locality(const struct app_row *app)
{
    return app->locality_scheduling == 1;
}
static bool has_other_locality(const struct app_row *app)
{
    return app->locality_scheduling > 1;
}
static bool is_test(const struct app_row *app)
{
    return app->beta != 0;
}
static bool has_sizes(const struct app_row *app)
{
    return app->n_size_classes > 1;
}
static bool has_replication(const struct app_row *app)
{
    return app->target_nresults > 1;
}
static bool is_always_on(const struct app_row *app)
{
    return app->non_cpu_intensive != 0;
}

/* Equal ones said nothing to BOINC either. */
static bool have_weights(const struct catalog_rows *rows)
{
    const struct app_row *first = NULL;

    for (size_t i = 0; i < rows->app_count; i++) {
        const struct app_row *app = &rows->apps[i];

        if (app->deprecated != 0)
            continue;
        if (first != NULL && app->weight != first->weight)
            return true;
        first = app;
    }
    return false;
}

static void look_at_apps(struct adoption_view *view, struct db *db)
{
    static const struct {
        bool (*holds)(const struct app_row *app);
        enum adoption_level level;
        const char *words;
    } features[] = {
        {has_redundancy, ADOPTION_OK,
         "homogeneous redundancy: hosts are in the same classes as in BOINC, so unfinished "
         "workunits continue (policy(7) 7.3)"},
        {has_one_version, ADOPTION_OK, "homogeneous app version: works as in BOINC"},
        {has_locality, ADOPTION_OK,
         "locality scheduling 1: jobs go first to hosts that have their files (policy(7) 10.7)"},
        {has_other_locality, ADOPTION_WARNING,
         "locality scheduling other than 1 is not supported: their jobs are handed out like all "
         "others"},
        {is_test, ADOPTION_OK, "test apps: for volunteers who allow them, as in BOINC"},
        {has_replication, ADOPTION_OK,
         "adaptive replication: reliable hosts are those of policy(7) 4.4"},
        {is_always_on, ADOPTION_OK, "always-on apps: one job for each host"},
    };
    struct catalog_rows rows;
    struct text sizes;

    if (db_catalog(db, view->arena, &rows) != STATUS_OK) {
        not_read(view, db, "app");
        return;
    }
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        struct text apps = apps_with(view->arena, &rows, features[i].holds);

        if (apps.length > 0)
            adoption_found(view, features[i].level, "apps", text_string(view->arena, apps), "%s",
                           features[i].words);
    }
    if (have_weights(&rows))
        adoption_found(view, ADOPTION_NOTE, "apps", "weight",
                       "their weights have no effect, because there is no feeder; the option "
                       "stream divides the hosts among apps (policy(7) 10.3)");
    sizes = apps_with(view->arena, &rows, has_sizes);
    if (sizes.length > 0)
        adoption_found(view, view->config->size_classes ? ADOPTION_OK : ADOPTION_WARNING, "apps",
                       text_string(view->arena, sizes),
                       view->config->size_classes
                           ? "jobs of several sizes: chosen by size_census_APP (policy(7) 10.2); "
                             "size_regulator keeps running"
                           : "jobs of several sizes, but size_classes is not set in config.xml: "
                             "any host gets any size");
}

static void look_at_counts(struct adoption_view *view, struct db *db)
{
    const struct config *config = view->config;
    struct adoption_counts_row counts;

    if (db_adoption_counts(db, &counts) != STATUS_OK) {
        not_read(view, db, "msg_from_host, msg_to_host, assignment");
        return;
    }
    view->has_trickles = view->has_trickles || counts.trickles != 0;
    if (counts.messages != 0 && !config->msg_to_host)
        adoption_found(view, ADOPTION_WARNING, "apps", "msg_to_host",
                       "there are messages to hosts, but the option msg_to_host is not set: they "
                       "wait, as in BOINC");
    if (counts.assignments == 0)
        return;
    if (config->enable_assignment || config->enable_assignment_multi)
        adoption_found(view, ADOPTION_OK, "apps", "assignment",
                       "assigned jobs are made and sent as in BOINC (policy(7) 10.5)");
    else
        adoption_found(view, ADOPTION_WARNING, "apps", "assignment",
                       "there are assigned jobs, but neither enable_assignment nor "
                       "enable_assignment_multi is set: they are not sent");
}

enum { JOBS_MOST = 100000 };

/* What is wrong with their files project_check says. */
static void look_at_science_apps(struct adoption_view *view, struct db *db)
{
    struct buda_jobs_row *jobs = NULL;
    size_t count = 0;
    int64_t waiting = 0;

    if (db_admin_buda_jobs(db, view->arena, JOBS_MOST, &jobs, &count) != STATUS_OK)
        return; /* an index is missing, which was said */
    for (size_t i = 0; i < count; i++)
        waiting += jobs[i].unsent + jobs[i].in_progress;
    if (count > 0)
        adoption_found(view, ADOPTION_OK, "apps", "buda_apps",
                       COUNT_FORMAT " of " COUNT_FORMAT
                                    ": sent with the variant that suits the host (policy(7) 4.6)",
                       COUNT_ARG((size_t)waiting, "unfinished job"),
                       COUNT_ARG(count, "science app"));
}

void adoption_look_at_tables(struct adoption_view *view)
{
    struct failure failure = {.status = STATUS_OK};
    struct db *db = NULL;

    if (db_adoption_open(view->config, &db, &failure) != STATUS_OK) {
        view->adoption->stops = true; /* project_check says why */
        return;
    }
    if (db_adoption_tables(db, false, &failure) != STATUS_OK) {
        adoption_found(view, ADOPTION_ERROR, "tables", "", "%s", failure.text);
        view->adoption->stops = true;
    } else {
        look_at_engines(view, db);
        look_at_triggers(view, db);
        look_at_eras(view, db);
        look_at_indexes(view, db);
        look_at_upgrades(view, db);
        look_at_apps(view, db);
        look_at_counts(view, db);
        look_at_science_apps(view, db);
    }
    db_close(db);
}

/* --- what clients are told -------------------------------------------------------------------- */

void adoption_look_at_delays(struct adoption_view *view)
{
    const struct config *config = view->config;

    if (config->maintenance_delay > SHORT_DELAY_S)
        adoption_found(view, ADOPTION_NOTE, "clients",
                       config_place(config, "maintenance_delay", view->arena),
                       "clients that ask while the project is stopped come again after %.0f s: set "
                       "<maintenance_delay>120</maintenance_delay> for the switch to make it two "
                       "minutes, with BOINC and with this server",
                       config->maintenance_delay);
    if (view->has_trickles && config->no_work_delay > 0)
        adoption_found(
            view, ADOPTION_WARNING, "clients", config_place(config, "no_work_delay", view->arena),
            "jobs of this project send messages (trickles), and a host that got no work holds back "
            "its messages, too, for %.0f s, unlike with BOINC: if that is too long, set "
            "<no_work_delay>0</no_work_delay>",
            config->no_work_delay);
}
