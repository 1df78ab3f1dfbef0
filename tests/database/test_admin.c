/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator asks of the database: what is written, and what is left alone. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/admin.h"
#include "db/mariadb.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/submit/catalog_settings.h"
#include "server/submit/jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define NOW 1800000000

static int64_t appid; /* of the app "demo" */

static int setup(void **state)
{
    struct test_fixture *fixture;

    (void)test_fixture_open(state);
    fixture = *state;
    return db_admin_app_add(fixture->db, TEXT("demo"), TEXT("Demo"), NOW, &appid) != STATUS_OK ||
           db_commit(fixture->db) != STATUS_OK;
}

static int64_t count(struct test_fixture *fixture, const char *what)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM %s", what);
}

static void app_by_name(void **state)
{
    struct test_fixture *fixture = *state;
    struct app_row app;
    int64_t id;
    assert_status(STATUS_OK, db_admin_app_find(fixture->db, fixture->arena, TEXT("demo"), &app));
    assert_i64(app.id, appid);
    assert_text(app.user_friendly_name, "Demo");
    assert_status(STATUS_NOT_FOUND,
                  db_admin_app_find(fixture->db, fixture->arena, TEXT("none"), &app));
    assert_status(STATUS_DB_REFUSED,
                  db_admin_app_add(fixture->db, TEXT("demo"), TEXT("again"), NOW, &id));
    db_rollback(fixture->db);
}

/* Every setting, at both ends of what it may be, reaches its column and comes back as it was typed;
 * what is not set stays. */
static void settings_reach_their_columns(void **state)
{
    struct test_fixture *fixture = *state;
    struct app_setting_row row, again;

    for (size_t i = 0; i < 2 * app_settings.count; i++) {
        const struct catalog_setting *setting = &app_settings.items[i / 2];
        bool is_name = setting->kind == SETTING_NAME;
        double end = i % 2 == 0 ? setting->lowest : setting->highest;
        struct text typed = setting->kind == SETTING_FLAG ? (end > 0 ? TEXT("yes") : TEXT("no"))
                            : is_name                     ? TEXT("It's \xC3\xA4")
                            : setting->kind == SETTING_VERSION && end > 0
                                ? TEXT("7.20")
                                : text_print(fixture->arena, "%.15g", end);

        assert_status(STATUS_OK,
                      db_admin_app_settings_lock(fixture->db, fixture->arena, appid, &row));
        assert_status(STATUS_OK, catalog_setting_read(setting, typed, &row, NULL));
        assert_status(STATUS_OK, db_admin_app_settings_save(fixture->db, &row));
        assert_status(STATUS_OK,
                      db_admin_app_settings_lock(fixture->db, fixture->arena, appid, &again));
        assert_true(text_equal(catalog_setting_words(fixture->arena, setting, &again), typed));
    }
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(count(fixture, "app WHERE deprecated = 1 AND weight = 1e6 AND name = 'demo' AND"
                              " target_nresults = 99 AND min_avg_pfc = 1e9 AND min_version = 720"),
               1);
    assert_status(STATUS_NOT_FOUND,
                  db_admin_app_settings_lock(fixture->db, fixture->arena, appid + 1, &row));
}

static void platform_is_added_once(void **state)
{
    struct test_fixture *fixture = *state;
    bool added;
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK, db_admin_platform_add(fixture->db, TEXT("anonymous"), TEXT("Own"),
                                                       NOW, &added));
        assert_int_equal(added, i == 0);
    }
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(count(fixture, "platform WHERE name = 'anonymous'"), 1);
}

static void versions(void **state)
{
    struct test_fixture *fixture = *state;
    struct version_setting_row setting;
    struct version_entry_row *rows;
    struct new_version version = {.appid = appid,
                                  .version_num = 103,
                                  .plan_class = TEXT("mt"),
                                  .xml_doc = TEXT("<x/>"),
                                  .now = NOW};
    int64_t id;
    size_t found;
    bool added;
    assert_status(STATUS_OK, db_admin_platform_add(fixture->db, TEXT("p"), TEXT("P"), NOW, &added));
    assert_status(STATUS_OK, db_admin_platform_find(fixture->db, TEXT("p"), &version.platformid));
    assert_status(STATUS_OK, db_admin_version_add(fixture->db, &version, &id));
    assert_status(STATUS_OK, db_admin_version_save_document(fixture->db, id, TEXT("<y/>")));
    assert_status(STATUS_OK,
                  db_admin_version_settings_lock(fixture->db, fixture->arena, id, &setting));
    setting.deprecated = 1;
    setting.max_core_version = 71600;
    assert_status(STATUS_OK, db_admin_version_settings_save(fixture->db, &setting));
    assert_status(STATUS_OK, db_admin_versions(fixture->db, fixture->arena, &rows, &found));
    assert_int_equal(found, 1);
    assert_i64(rows[0].app_version.id, id);
    assert_i64(rows[0].app_version.deprecated, 1);
    assert_i64(rows[0].app_version.max_core_version, 71600);
    assert_text(rows[0].app_version.plan_class, "mt");
    assert_text(rows[0].app_version.xml_doc, "<y/>");
    assert_text(rows[0].app, "demo");
    assert_text(rows[0].platform, "p");
}

static void users(void **state)
{
    struct test_fixture *fixture = *state;
    const struct new_account new_user = {.email_addr = TEXT("a@b.c"),
                                         .name = TEXT("A'; --"),
                                         .authenticator = TEXT("0123"),
                                         .passwd_hash = TEXT("h"),
                                         .cross_project_id = TEXT("c"),
                                         .now = NOW};
    struct user_row user, *rows;
    int64_t id;
    size_t found;
    assert_status(STATUS_OK, db_account_create(fixture->db, &new_user, &id));
    assert_status(STATUS_OK,
                  db_admin_user_find(fixture->db, fixture->arena, TEXT("a@b.c"), 0, &user));
    assert_i64(user.id, id);
    assert_text(user.name, "A'; --");
    assert_text(user.authenticator, "0123");
    assert_status(STATUS_OK, db_admin_user_find(fixture->db, fixture->arena, NO_TEXT, id, &user));
    assert_status(STATUS_NOT_FOUND,
                  db_admin_user_find(fixture->db, fixture->arena, TEXT("x@b.c"), 0, &user));
    assert_status(STATUS_OK,
                  db_admin_user_find(fixture->db, fixture->arena, TEXT("A@B.c"), 0, &user));
    /* What the collation takes for the same is somebody else. */
    assert_status(STATUS_NOT_FOUND,
                  db_admin_user_find(fixture->db, fixture->arena, TEXT("\xC3\xA4@b.c"), 0, &user));
    assert_status(STATUS_OK, db_admin_users(fixture->db, fixture->arena, 10, &rows, &found));
    assert_int_equal(found, 1);
}

/* Every column that a job may set, read back; and the row that numbers belong to, far beyond one
 * list of the database room. */
static void workunits_get_their_own_numbers(void **state)
{
    struct test_fixture *fixture = *state;
    enum { COUNT = 1000 };
    struct new_workunit *rows = ARENA_ARRAY(fixture->arena, COUNT, struct new_workunit);
    int64_t *ids = ARENA_ARRAY(fixture->arena, COUNT, int64_t);
    for (int i = 0; i < COUNT; i++)
        rows[i] =
            (struct new_workunit){.name = text_print(fixture->arena, "w_%d", (i * 7919) % COUNT),
                                  .xml_doc = text_print(fixture->arena, "<d>%d</d>", i),
                                  .appid = appid,
                                  .result_template_file = TEXT("templates/out"),
                                  .keywords = TEXT("1 2"),
                                  .batch = 5,
                                  .priority = -1800000000,
                                  .delay_bound = 60,
                                  .transition_time = NOW,
                                  .create_time = NOW,
                                  .min_quorum = 2,
                                  .target_nresults = 3,
                                  .max_error_results = 4,
                                  .max_total_results = 6,
                                  .max_success_results = 5,
                                  .hr_class = 7,
                                  .size_class = 8,
                                  .app_version_num = 9,
                                  .rsc_fpops_est = 1e12,
                                  .rsc_fpops_bound = 1e13,
                                  .rsc_memory_bound = 1e8,
                                  .rsc_disk_bound = 1e9,
                                  .rsc_bandwidth_bound = 10,
                                  .credit = 11};
    assert_status(STATUS_OK, db_admin_workunits_add(fixture->db, fixture->arena, rows, COUNT, ids));
    assert_status(STATUS_OK, db_commit(fixture->db));
    for (int i = 0; i < COUNT; i += 111) {
        assert_i64(test_sql_integer(fixture->database,
                                    "SELECT id FROM workunit WHERE name = '%.*s'",
                                    TEXT_ARG(rows[i].name)),
                   ids[i]);
        assert_text(test_sql_text(fixture->database, "SELECT xml_doc FROM workunit WHERE id = %lld",
                                  (long long)ids[i]),
                    text_string(fixture->arena, rows[i].xml_doc));
    }
    assert_i64(
        count(fixture,
              "workunit WHERE appid > 0 AND batch = 5 AND rsc_fpops_est = 1e12 AND "
              "rsc_fpops_bound = 1e13 AND rsc_memory_bound = 1e8 AND rsc_disk_bound = 1e9 AND "
              "rsc_bandwidth_bound = 10 AND canonical_credit = 11 AND transition_time = 1800000000 "
              "AND create_time = 1800000000 AND delay_bound = 60 AND hr_class = 7 AND "
              "min_quorum = 2 AND target_nresults = 3 AND max_error_results = 4 AND "
              "max_total_results = 6 AND max_success_results = 5 AND "
              "result_template_file = 'templates/out' AND priority = -1800000000 AND "
              "size_class = 8 AND keywords = '1 2' AND app_version_num = 9 AND error_mask = 0 AND "
              "assimilate_state = 0 AND file_delete_state = 0 AND canonical_resultid = 0 AND "
              "need_validate = 0 AND transitioner_flags = 0"),
        COUNT);
    assert_status(STATUS_DB_REFUSED,
                  db_admin_workunits_add(fixture->db, fixture->arena, rows, 1, ids));
}

/* --- jobs ---------------------------------------------------------------------------------- */

struct job_fixture {
    struct test_fixture *base;
    char dir[64];
    struct app_row app;
    struct jobs_settings settings;
};

static void write_in(struct job_fixture *fixture, const char *name, const char *content)
{
    assert_status(STATUS_OK, file_write(text_string(fixture->base->arena,
                                                    text_print(fixture->base->arena, "%s/%s",
                                                               fixture->dir, name)),
                                        text_from(content), 0644, NULL));
}

static int job_setup(void **state)
{
    void *base;
    if (setup(&base) != 0)
        return -1;
    struct job_fixture *fixture = calloc(1, sizeof *fixture);
    fixture->base = base;
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/qm-admin-XXXXXX");
    if (mkdtemp(fixture->dir) == NULL)
        return -1;
    struct config *config = test_database_config(fixture->base->database);
    config->project_dir_path = text_from(fixture->dir);
    config->download_dir = text_from(fixture->dir);
    config->dont_generate_upload_certificates = true;
    write_in(fixture, "in",
             "<file_info>\n</file_info>\n<workunit>\n<file_ref>\n"
             "<open_name>in</open_name>\n</file_ref>\n</workunit>\n");
    write_in(fixture, "out",
             "<file_info><name><OUTFILE_0/></name></file_info>"
             "<result><file_ref><file_name><OUTFILE_0/></file_name>"
             "<open_name>o</open_name></file_ref></result>");
    write_in(fixture, "data", "data");
    fixture->app = (struct app_row){.id = appid};
    fixture->settings = (struct jobs_settings){.config = config,
                                               .db = fixture->base->db,
                                               .app = &fixture->app,
                                               .in_template = "in",
                                               .out_template = "out",
                                               .name = TEXT("job"),
                                               .numbered = true,
                                               .now = NOW};
    parameters_default(&fixture->settings.parameters);
    *state = fixture;
    return 0;
}

static int job_teardown(void **state)
{
    struct job_fixture *fixture = *state;
    void *base = fixture->base;
    static const char *const names[] = {"in", "out", "data"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(text_string(fixture->base->arena, text_print(fixture->base->arena, "%s/%s",
                                                                  fixture->dir, names[i])));
    (void)rmdir(fixture->dir);
    free(fixture);
    return test_fixture_close(&base);
}

static void make_jobs(struct job_fixture *fixture, int jobs_wanted)
{
    struct failure failure = {.status = STATUS_OK};
    struct job_argument data = {.name = TEXT("data")};
    struct job_line line = {.files = &data, .file_count = 1};
    struct jobs *jobs;
    assert_status(STATUS_OK, jobs_begin(&fixture->settings, &jobs, &failure));
    for (int i = 0; i < jobs_wanted; i++) {
        if (!jobs_have_room(jobs) && jobs_make_room(jobs, &failure) != STATUS_OK)
            fail_msg("%s", failure.text);
        if (jobs_add(jobs, &line, &failure) != STATUS_OK)
            fail_msg("%s", failure.text);
    }
    if (jobs_flush(jobs, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    assert_status(STATUS_OK, db_commit(fixture->base->db));
    assert_int_equal(jobs_count(jobs).jobs, jobs_wanted);
    jobs_end(jobs, true);
}

static void jobs_with_their_results(void **state)
{
    struct job_fixture *fixture = *state;
    fixture->settings.parameters.target_nresults = 3;
    fixture->settings.parameters.priority = 4;
    fixture->settings.parameters.batch = 6;
    make_jobs(fixture, 1500); /* more results than one part holds */
    assert_i64(count(fixture->base, "workunit"), 1500);
    assert_i64(count(fixture->base,
                     "result JOIN workunit ON workunit.id = workunitid WHERE server_state = 2 AND "
                     "outcome = 0 AND hostid = 0 AND result.appid = workunit.appid AND "
                     "result.batch = 6 AND result.priority = 4 AND result.size_class = -1 AND "
                     "random >= 0 AND transition_time ="
                     " 1800000000 + GREATEST(delay_bound * 3 DIV 2, 864000) AND "
                     "result.name REGEXP CONCAT('^', workunit.name, '_[012]$')"),
               4500);
    assert_i64(
        test_sql_integer(fixture->base->database, "SELECT COUNT(DISTINCT xml_doc_in) FROM result"),
        4500); /* names of output files differ */
    assert_i64(
        count(fixture->base,
              "result WHERE name = 'job_7_1' AND xml_doc_in REGEXP "
              "'^<file_info>\\n    <name>job_7_1_r[0-9]+_0</name>\\n</file_info>\\n<result>'"),
        1);
    assert_i64(count(fixture->base, "workunit WHERE result_template_file = 'out' AND "
                                    "xml_doc LIKE '%%<name>data</name>%%'"),
               1500);
}

/* The column of BOINC's tables ends at 2,147,483,647. */
static void jobs_leave_no_numbers_out(void **state)
{
    struct job_fixture *fixture = *state;
    static const int64_t counts[] = {1, 2, 3, 5};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        test_sql(fixture->base->database, "DELETE FROM result; DELETE FROM workunit");
        fixture->settings.name = text_print(fixture->base->arena, "of_%" PRId64, counts[i]);
        fixture->settings.parameters.target_nresults = counts[i];
        make_jobs(fixture, 3000);
        assert_i64(count(fixture->base, "result"), 3000 * counts[i]);
        assert_i64(
            test_sql_integer(fixture->base->database, "SELECT MAX(id) - MIN(id) + 1 FROM result"),
            3000 * counts[i]);
        assert_i64(
            test_sql_integer(fixture->base->database, "SELECT MAX(id) - MIN(id) + 1 FROM workunit"),
            3000);
    }
}

static void size_class_is_held_back(void **state)
{
    struct job_fixture *fixture = *state;
    fixture->settings.parameters.size_class = 2;
    make_jobs(fixture, 1);
    assert_i64(count(fixture->base, "result WHERE server_state = 1 AND size_class = 2"), 1);
}

static void transitioner_makes_the_results(void **state)
{
    struct job_fixture *fixture = *state;
    fixture->settings.by_transitioner = true;
    make_jobs(fixture, 2);
    assert_i64(count(fixture->base, "result"), 0);
    assert_i64(count(fixture->base, "workunit WHERE transition_time = 1800000000"), 2);
}

/* The transitioner must neither give them up nor make results that anybody could get. */
static void jobs_for_given_hosts_are_assigned(void **state)
{
    struct job_fixture *fixture = *state;
    struct job_target target = {.type = ASSIGN_USER, .id = 7};
    bool exists = true;
    assert_status(STATUS_OK, db_admin_target_exists(fixture->base->db, &target, &exists));
    assert_false(exists);
    fixture->settings.target = &target;
    make_jobs(fixture, 600); /* more than one part holds */
    assert_i64(count(fixture->base, "result"), 0);
    assert_i64(count(fixture->base,
                     "assignment JOIN workunit ON workunit.id = workunitid WHERE target_type = 2 "
                     "AND target_id = 7 AND multi = 0 AND transitioner_flags = 2 AND "
                     "assignment.create_time = 1800000000 AND transition_time = 2147483647"),
               600);
    fixture->settings.name = TEXT("news");
    target = (struct job_target){.type = ASSIGN_NONE, .is_multi = true};
    assert_status(STATUS_OK, db_admin_target_exists(fixture->base->db, &target, &exists));
    assert_true(exists);
    make_jobs(fixture, 1);
    assert_i64(count(fixture->base, "assignment JOIN workunit ON workunit.id = workunitid WHERE "
                                    "target_type = 0 AND multi = 1 AND transitioner_flags = 1"),
               1);
}

static void name_that_is_taken_is_refused(void **state)
{
    struct job_fixture *fixture = *state;
    struct failure failure = {.status = STATUS_OK};
    struct job_argument data = {.name = TEXT("data")};
    struct job_line line = {.files = &data, .file_count = 1, .wu_name = TEXT("job_0")};
    struct jobs *jobs;
    make_jobs(fixture, 1);
    assert_status(STATUS_OK, jobs_begin(&fixture->settings, &jobs, &failure));
    assert_status(STATUS_OK, jobs_add(jobs, &line, &failure));
    assert_status(STATUS_DB_REFUSED, jobs_flush(jobs, &failure));
    assert_non_null(strstr(failure.text, "job_0"));
    jobs_end(jobs, false);
}

/* What becomes of the next COMMIT: the link has every call go here. */
enum commit_fate { ANSWER_COMES, ANSWER_LOST, NOTHING_DONE };
static enum commit_fate next_commit;
enum status __real_db_commit(struct db *db);
enum status __wrap_db_commit(struct db *db);
enum status __wrap_db_commit(struct db *db)
{
    enum status status = next_commit == NOTHING_DONE ? db_rollback(db) : __real_db_commit(db);
    bool is_lost = next_commit != ANSWER_COMES && status == STATUS_OK;

    next_commit = ANSWER_COMES;
    return is_lost ? STATUS_DB_UNKNOWN : status;
}

static void a_lost_answer_to_commit_is_found_out(void **state)
{
    static const struct {
        enum commit_fate kind;
        enum status wanted;
    } cases[] = {{ANSWER_LOST, STATUS_OK}, {NOTHING_DONE, STATUS_DB_GONE}};
    struct job_fixture *fixture = *state;
    struct arena *arena = fixture->base->arena;
    struct new_version version = {.appid = appid, .xml_doc = TEXT("<x/>"), .now = NOW};
    int64_t id;
    bool added;

    assert_status(STATUS_OK,
                  db_admin_platform_add(fixture->base->db, TEXT("p"), TEXT("P"), NOW, &added));
    assert_status(STATUS_OK,
                  db_admin_platform_find(fixture->base->db, TEXT("p"), &version.platformid));
    assert_status(STATUS_OK, db_commit(fixture->base->db));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct failure failure = {.status = STATUS_OK};
        const char *name = text_string(arena, text_print(arena, "lost_%zu", i));
        const char *source = text_string(arena, text_print(arena, "%s.%s", fixture->dir, name));
        const char *copy =
            text_string(arena, text_print(arena, "%s/%s", fixture->dir, strrchr(source, '/') + 1));
        struct job_argument data = {.name = text_from(source)};
        struct job_line line = {.files = &data, .file_count = 1, .wu_name = text_from(name)};
        struct jobs *jobs;
        enum status status;

        assert_status(STATUS_OK, file_write(source, TEXT("data"), 0644, NULL));
        assert_status(STATUS_OK, jobs_begin(&fixture->settings, &jobs, &failure));
        assert_status(STATUS_OK, jobs_add(jobs, &line, &failure));
        assert_status(STATUS_OK, jobs_flush(jobs, &failure));
        next_commit = cases[i].kind;
        status = jobs_commit(jobs, &failure);
        jobs_end(jobs, status == STATUS_OK);
        assert_status(cases[i].wanted, status);
        assert_i64(test_sql_integer(fixture->base->database,
                                    "SELECT COUNT(*) FROM workunit WHERE name = '%s'", name),
                   status == STATUS_OK);
        assert_int_equal(access(copy, F_OK) == 0, status == STATUS_OK);
        (void)unlink(copy);
        (void)unlink(source);
        version.version_num = 100 + (int64_t)i;
        assert_status(STATUS_OK, db_admin_version_add(fixture->base->db, &version, &id));
        next_commit = cases[i].kind;
        assert_status(cases[i].wanted, db_admin_version_commit(fixture->base->db, id));
        assert_i64(count(fixture->base, "app_version"), 1);
    }
}

static void a_count_has_a_bound(void **state)
{
    struct job_fixture *fixture = *state;
    struct queue_line *rows;
    size_t found;

    make_jobs(fixture, 5);
    test_sql(fixture->base->database, "UPDATE result SET server_state = 4 WHERE name = 'job_0_0';"
                                      "UPDATE result SET server_state = 5 WHERE name = 'job_1_0';"
                                      "INSERT INTO app SET id = 77, name = 'idle'");
    for (int64_t most = 2; most <= 4; most++) {
        assert_status(STATUS_OK, db_admin_queue_counted(fixture->base->db, fixture->base->arena,
                                                        most, &rows, &found));
        assert_i64((int64_t)found, 1); /* what has no results has no line */
        assert_i64(rows[0].unsent, most < 3 ? most : 3);
        assert_i64(rows[0].in_progress, 1);
        assert_i64(rows[0].over, 1);
    }
}

/* Each host has asked at its number; one of ten of them since 450. */
static void many_hosts_are_sampled(void **state)
{
    struct job_fixture *fixture = *state;
    struct last_contact_row contact;
    bool is_sample;

    test_sql(fixture->base->database,
             "DELETE FROM host; INSERT INTO host (id, rpc_time) SELECT seq, seq FROM seq_1_to_500;"
             "INSERT INTO host (id, rpc_time) VALUES (100000, 5)");
    assert_status(STATUS_OK,
                  db_admin_last_contact(fixture->base->db, 451, 501, &contact, &is_sample));
    assert_false(is_sample);
    assert_i64(contact.hosts, 501);
    assert_i64(contact.last, 500);
    assert_i64(contact.since, 50);
    test_sql(fixture->base->database, "DELETE FROM host WHERE id > 500");
    assert_status(STATUS_OK,
                  db_admin_last_contact(fixture->base->db, 451, 499, &contact, &is_sample));
    assert_true(is_sample);
    assert_i64(contact.hosts, 20 * 24);
    assert_i64(contact.last, 499);
    assert_i64(contact.since, 48);
    assert_status(STATUS_OK,
                  db_admin_last_contact(fixture->base->db, 451, 100, &contact, &is_sample));
    assert_i64(contact.hosts, 100);
    assert_i64(contact.since, 10);
    assert_i64(contact.last, 480);
    /* Each is counted once, however the numbers lie. */
    test_sql(fixture->base->database, "INSERT INTO host (id, rpc_time) VALUES (100000, 5)");
    assert_status(STATUS_OK,
                  db_admin_last_contact(fixture->base->db, 451, 400, &contact, &is_sample));
    assert_i64(contact.hosts, 21);
    test_sql(fixture->base->database, "DELETE FROM host");
    assert_status(STATUS_OK,
                  db_admin_last_contact(fixture->base->db, 451, 1, &contact, &is_sample));
    assert_i64(contact.hosts + contact.last, 0);
}

static void queue_counts_by_state(void **state)
{
    struct job_fixture *fixture = *state;
    struct queue_line *rows;
    size_t found;
    make_jobs(fixture, 5);
    fixture->settings.parameters.batch = 3;
    fixture->settings.name = TEXT("second");
    make_jobs(fixture, 2);
    test_sql(fixture->base->database, "UPDATE result SET server_state = 4 WHERE name = 'job_0_0';"
                                      "UPDATE result SET server_state = 5 WHERE name = 'job_1_0';"
                                      "UPDATE result SET server_state = 1 WHERE name = 'job_2_0';"
                                      "UPDATE result SET create_time = 7 WHERE name = 'job_3_0'");
    assert_status(STATUS_OK,
                  db_admin_queue(fixture->base->db, fixture->base->arena, false, &rows, &found));
    assert_int_equal(found, 1);
    assert_i64(rows[0].inactive, 1);
    assert_i64(rows[0].unsent, 4);
    assert_i64(rows[0].in_progress, 1);
    assert_i64(rows[0].over, 1);
    assert_i64(rows[0].oldest_unsent, 7);
    assert_status(STATUS_OK,
                  db_admin_queue(fixture->base->db, fixture->base->arena, true, &rows, &found));
    assert_int_equal(found, 2);
    assert_i64(rows[0].batch, 0);
    assert_i64(rows[0].unsent, 2);
    assert_i64(rows[1].batch, 3);
    assert_i64(rows[1].unsent, 2);
    assert_i64(rows[1].over, 0);
}

static void short_deadlines_of_the_newest_jobs(void **state)
{
    struct job_fixture *fixture = *state;
    struct short_deadline_row *rows;
    size_t found;
    make_jobs(fixture, 5);
    test_sql(fixture->base->database, "UPDATE workunit SET delay_bound = 100 WHERE name = 'job_0';"
                                      "UPDATE workunit SET delay_bound = 200 WHERE name = 'job_2';"
                                      "UPDATE workunit SET delay_bound = 300 WHERE name = 'job_3';"
                                      "UPDATE workunit SET delay_bound = 0 WHERE name = 'job_4'");
    assert_status(STATUS_OK, db_admin_short_deadlines(fixture->base->db, fixture->base->arena, 4,
                                                      301, &rows, &found));
    assert_int_equal(found, 1);
    assert_i64(rows[0].shortest, 200); /* that of 100 is too long ago */
    assert_status(STATUS_OK, db_admin_short_deadlines(fixture->base->db, fixture->base->arena, 4,
                                                      200, &rows, &found));
    assert_int_equal(found, 0);
}

static void slacks_of_the_newest_jobs(void **state)
{
    struct job_fixture *fixture = *state;
    struct app_slack_row *rows;
    size_t found;

    make_jobs(fixture, 5);
    test_sql(fixture->base->database,
             "UPDATE workunit SET delay_bound = 1000, rsc_fpops_est = 1e3;"
             "UPDATE workunit SET delay_bound = 10 WHERE name = 'job_0';"
             "UPDATE workunit SET rsc_fpops_est = 4e3 WHERE name = 'job_2';"
             "UPDATE workunit SET rsc_fpops_est = 0 WHERE name = 'job_3';"
             "UPDATE workunit SET delay_bound = 0 WHERE name = 'job_4'");
    assert_status(STATUS_OK,
                  db_admin_slacks(fixture->base->db, fixture->base->arena, 4, 4, &rows, &found));
    assert_int_equal(found, 1);
    assert_real(rows[0].least, 0.25, 0);
    assert_real(rows[0].most, 1, 0); /* the tight one is too long ago */
    assert_status(STATUS_OK,
                  db_admin_slacks(fixture->base->db, fixture->base->arena, 4, 4.1, &rows, &found));
    assert_int_equal(found, 0);
    /* Where the tight ones go first there is nothing to tell. */
    test_sql(fixture->base->database, "UPDATE workunit SET priority = 7 WHERE name = 'job_2'");
    assert_status(STATUS_OK,
                  db_admin_slacks(fixture->base->db, fixture->base->arena, 4, 4, &rows, &found));
    assert_int_equal(found, 0);
}

static void hosts_with_their_jobs(void **state)
{
    struct job_fixture *fixture = *state;
    struct host_row row = {.userid = 3, .domain_name = TEXT("pc"), .p_ncpus = 4};
    struct host_entry *hosts;
    struct host_result_row *results;
    int64_t id;
    size_t found;
    make_jobs(fixture, 4);
    assert_status(STATUS_OK, db_host_insert(fixture->base->db, &row, &id));
    assert_status(STATUS_OK, db_commit(fixture->base->db));
    test_sql(
        fixture->base->database,
        "UPDATE result SET hostid = %lld, server_state = 4 WHERE name = 'job_0_0';"
        "UPDATE result SET hostid = %lld, server_state = 5, outcome = 1 WHERE name = 'job_1_0';"
        "UPDATE result SET hostid = %lld, server_state = 5, outcome = 3 WHERE name = 'job_2_0'",
        (long long)id, (long long)id, (long long)id);
    assert_status(STATUS_OK, db_admin_hosts(fixture->base->db, fixture->base->arena, 0, 3, 10,
                                            &hosts, &found));
    assert_int_equal(found, 1);
    assert_text(hosts[0].row.domain_name, "pc");
    assert_i64(hosts[0].in_progress, 1);
    assert_i64(hosts[0].success, 1);
    assert_i64(hosts[0].error, 1);
    assert_status(STATUS_OK, db_admin_host_results(fixture->base->db, fixture->base->arena, id, 2,
                                                   &results, &found));
    assert_int_equal(found, 2);
    assert_text(results[0].result.name, "job_2_0");
    assert_text(results[0].app, "demo");
    assert_status(STATUS_OK, db_admin_hosts(fixture->base->db, fixture->base->arena, id + 1, 0, 1,
                                            &hosts, &found));
    assert_int_equal(found, 0);
}

int main(void)
{
#define CASE(name)     cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)
#define JOB_CASE(name) cmocka_unit_test_setup_teardown(name, job_setup, job_teardown)
    const struct CMUnitTest tests[] = {
        CASE(app_by_name),
        CASE(settings_reach_their_columns),
        CASE(platform_is_added_once),
        CASE(versions),
        CASE(users),
        CASE(workunits_get_their_own_numbers),
        JOB_CASE(jobs_with_their_results),
        JOB_CASE(jobs_leave_no_numbers_out),
        JOB_CASE(size_class_is_held_back),
        JOB_CASE(transitioner_makes_the_results),
        JOB_CASE(jobs_for_given_hosts_are_assigned),
        JOB_CASE(name_that_is_taken_is_refused),
        JOB_CASE(a_lost_answer_to_commit_is_found_out),
        JOB_CASE(a_count_has_a_bound),
        JOB_CASE(many_hosts_are_sampled),
        JOB_CASE(queue_counts_by_state),
        JOB_CASE(short_deadlines_of_the_newest_jobs),
        JOB_CASE(slacks_of_the_newest_jobs),
        JOB_CASE(hosts_with_their_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
