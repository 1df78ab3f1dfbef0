/* SPDX-License-Identifier: Apache-2.0 */
/* Passes that are run by a program other than qmctl: what they do, what they say to their owner,
 * and that they end when it wants that. */
#include "tests/support/database.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "db/db.h"
#include "db/pass_note.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/purge_pass.h"
#include "server/passes/round.h"
#include "server/project/hierarchy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { NOW = 1800000000, SENTENCES_KEPT = 32 };

struct heard {
    char sentences[SENTENCES_KEPT][200];
    size_t count;
    int64_t progress;
    int questions, ends_after;    /* it is to end when it was asked so often; 0: never */
    struct test_database *beside; /* in which end_a_job() ends one */
};

static void hear(void *context, const char *sentence)
{
    struct heard *heard = context;

    assert_true(heard->count < SENTENCES_KEPT);
    (void)snprintf(heard->sentences[heard->count++], sizeof(heard->sentences[0]), "%s", sentence);
}

static void note_progress(void *context, const char *what, int64_t count)
{
    struct heard *heard = context;

    assert_true(what[0] != '\0');
    heard->progress = count;
}

static bool ends(void *context)
{
    struct heard *heard = context;

    return heard->ends_after > 0 && ++heard->questions >= heard->ends_after;
}

/* One owner, and what its passes did. */
static struct heard heard;
static struct failure failure;
static struct pass_owner owner;
static struct round_memory memory;
static struct pass_counts counts;

static int open_owner(void **state)
{
    int status = test_fixture_open(state);
    struct test_fixture *fixture = *state;

    heard = (struct heard){.count = 0};
    failure = (struct failure){.status = STATUS_OK};
    memory = (struct round_memory){0};
    counts = (struct pass_counts){.jobs = 0};
    if (status != 0)
        return status;
    owner = (struct pass_owner){.db = fixture->db,
                                .config = test_database_config(fixture->database),
                                .arena = fixture->arena,
                                .failure = &failure,
                                .say = hear,
                                .progress = note_progress,
                                .is_to_end = ends,
                                .context = &heard};
    test_database_add_app(fixture->database);
    return 0;
}

static const struct pass_settings settings = {
    .now = NOW, .trusts = true, .assimilate = "none", .command_seconds = 1};

/* Each has one result, which is a success. */
static void add_answered_jobs(struct test_fixture *fixture, int count)
{
    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, transition_time, min_quorum, target_nresults,"
             " max_error_results, max_total_results, max_success_results)"
             " SELECT seq, CONCAT('w', seq), 1, %d, 1, 1, 3, 3, 3 FROM seq_1_to_%d;"
             "INSERT INTO result (id, workunitid, name, appid, server_state, outcome)"
             " SELECT 10 * seq, seq, CONCAT('w', seq, '_0'), 1, 5, 1 FROM seq_1_to_%d",
             NOW - 1, count, count);
}

static void a_round_does_what_is_due(void **state)
{
    struct test_fixture *fixture = *state;

    add_answered_jobs(fixture, 3);
    assert_status(STATUS_OK, pass_round(&owner, &settings, &memory, &counts));
    assert_i64(counts.jobs, 3);
    assert_i64(counts.to_validate, 3);
    assert_i64(counts.valid, 3);
    assert_i64(counts.accepted, 3);
    assert_i64(counts.assimilated, 3);
    assert_i64(counts.put_off, 0);
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(*) FROM workunit WHERE"
                                                   " canonical_resultid = 10 * id AND"
                                                   " assimilate_state = 2"),
               3);
    assert_i64(heard.progress, 3);
    assert_int_equal(heard.count, 0);
    assert_int_equal(failure.status, STATUS_OK);
}

static void a_pass_does_no_more_than_it_was_asked_to(void **state)
{
    struct test_fixture *fixture = *state;
    struct pass_settings two = settings;

    add_answered_jobs(fixture, 3);
    two.jobs_max = 2;
    two.assimilate = NULL;
    owner.say = NULL; /* an owner need not listen */
    owner.progress = NULL;
    owner.is_to_end = NULL;
    assert_status(STATUS_OK, pass_round(&owner, &two, &memory, &counts));
    assert_i64(counts.jobs, 2);
    assert_i64(counts.valid, 2);
    assert_i64(counts.assimilated, 0);
}

/* Their results cannot be made: each wants another template, and none is there. */
static void what_fails_is_said_up_to_a_number(void **state)
{
    struct test_fixture *fixture = *state;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, transition_time, min_quorum, target_nresults,"
             " max_error_results, max_total_results, max_success_results, result_template_file)"
             " SELECT seq, CONCAT('w', seq), 1, %d, 1, 1, 3, 3, 3, CONCAT('templates/none', seq)"
             " FROM seq_1_to_25",
             NOW - 1);
    assert_status(STATUS_OK, pass_round(&owner, &settings, &memory, &counts));
    assert_i64(counts.put_off, 25);
    assert_int_equal(heard.count, 21);
    assert_non_null(strstr(heard.sentences[0], "result template templates/none1: "));
    assert_non_null(strstr(heard.sentences[0], "; tried again in 10 minutes"));
    assert_string_equal(heard.sentences[20], "further failures are counted only");
    assert_int_equal(failure.status, STATUS_OK);
}

static struct pass_note_row note_of(struct test_fixture *fixture, const char *pass)
{
    struct pass_note_row *rows = NULL, found = {.failures = -1};
    size_t count = 0;

    assert_status(STATUS_OK, db_pass_notes(fixture->db, fixture->arena, &rows, &count));
    for (size_t i = 0; i < count; i++)
        if (text_is(rows[i].pass, pass))
            found = rows[i];
    assert_status(STATUS_OK, db_rollback(fixture->db));
    return found;
}

static void what_a_pass_comes_to_is_kept(void **state)
{
    struct test_fixture *fixture = *state;
    struct pass_settings failing = settings;
    struct pass_note_row note;

    add_answered_jobs(fixture, 2);
    failing.trusts = false;
    failing.validate = "exit 7 #";
    assert_status(STATUS_OK, pass_round(&owner, &failing, &memory, &counts));
    note = note_of(fixture, "validation");
    assert_i64(note.failures, 2);
    assert_i64(note.since, NOW);
    assert_i64(note.failed_at, NOW);
    assert_i64(note.done_at, 0);
    assert_true(text_equal(note.words, TEXT("the command ended with status 7")));
    assert_true(note.app.length > 0);
    assert_i64(note_of(fixture, "transition").failures, 0);
    assert_i64(note_of(fixture, "transition").done_at, NOW);
    assert_i64(note_of(fixture, "assimilation").failures, -1);

    /* They add up for an hour. */
    failing.now = NOW + 3600;
    test_sql(fixture->database, "UPDATE workunit SET need_validate = 1");
    assert_status(STATUS_OK, pass_round(&owner, &failing, &memory, &counts));
    note = note_of(fixture, "validation");
    assert_i64(note.failures, 4);
    assert_i64(note.since, NOW);
    assert_i64(note.failed_at, NOW + 3600);
    failing.now = NOW + 3601;
    test_sql(fixture->database, "UPDATE workunit SET need_validate = 1");
    assert_status(STATUS_OK, pass_round(&owner, &failing, &memory, &counts));
    note = note_of(fixture, "validation");
    assert_i64(note.failures, 2);
    assert_i64(note.since, NOW + 3601);

    /* A success changes nothing of them. */
    failing.now = NOW + 3700;
    failing.validate = NULL;
    failing.trusts = true;
    test_sql(fixture->database, "UPDATE workunit SET need_validate = 1");
    assert_status(STATUS_OK, pass_round(&owner, &failing, &memory, &counts));
    note = note_of(fixture, "validation");
    assert_i64(note.failures, 2);
    assert_i64(note.failed_at, NOW + 3601);
    assert_i64(note.done_at, NOW + 3700);
    assert_true(text_equal(note.words, TEXT("the command ended with status 7")));
    assert_i64(note_of(fixture, "assimilation").done_at, NOW + 3700);
}

static void an_owner_that_is_to_end_is_obeyed(void **state)
{
    struct test_fixture *fixture = *state;

    heard.ends_after = 1;
    add_answered_jobs(fixture, 3);
    assert_status(STATUS_OK, pass_round(&owner, &settings, &memory, &counts));
    assert_i64(counts.jobs, 0);
    assert_true(heard.questions > 0);

    /* In the midst of it: what is done stays, and nothing is held from others. */
    heard = (struct heard){.ends_after = 3};
    assert_status(STATUS_OK, pass_round(&owner, &settings, &memory, &counts));
    assert_i64(counts.jobs, 3);
    assert_i64(counts.assimilated, 0);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT COUNT(*) FROM qm_lease WHERE token <> 0"), 0);
    heard = (struct heard){.ends_after = 0};
    assert_status(STATUS_OK, pass_round(&owner, &settings, &memory, &counts));
    assert_i64(counts.assimilated, 3);
}

static void what_the_database_refuses_is_in_the_failure(void **state)
{
    struct test_fixture *fixture = *state;

    add_answered_jobs(fixture, 1);
    db_fail_nth(fixture->db, 1, STATUS_DB_BUG);
    assert_status(STATUS_DB_BUG, pass_round(&owner, &settings, &memory, &counts));
    db_fail_nth(fixture->db, 0, STATUS_OK);
    assert_int_equal(failure.status, STATUS_DB_BUG);
    assert_memory_equal(failure.text, "transition: ", strlen("transition: "));
    assert_i64(counts.jobs, 0);
}

static void old_jobs_are_purged_as_many_as_may(void **state)
{
    struct test_fixture *fixture = *state;
    struct purge_settings purging = {.filter = {.before = INT32_MAX}, .jobs_max = 2};
    struct purge_counts purged = {.jobs = 0};

    test_sql(fixture->database,
             "INSERT INTO workunit (id, appid, name, file_delete_state, assimilate_state,"
             " canonical_resultid) SELECT seq, 1, CONCAT('w', seq), 2, 2, seq FROM seq_1_to_5;"
             "INSERT INTO result (id, workunitid, name, server_state, file_delete_state)"
             " SELECT 10 * seq, seq, CONCAT('r', seq), 5, 2 FROM seq_1_to_5");
    assert_status(STATUS_OK, purge_pass(&owner, &purging, &purged));
    assert_i64(purged.jobs, 2);
    assert_i64(purged.results, 2);
    purging.jobs_max = 0;
    assert_status(STATUS_OK, purge_pass(&owner, &purging, &purged));
    assert_i64(purged.jobs, 5);
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(*) FROM workunit"), 0);
    assert_i64(heard.progress, 5);
}

static size_t part_behind(size_t part, double seconds, size_t least)
{
    return pass_part_jobs(&part, seconds, least, 256, 1000);
}

static void parts_follow_the_time_that_commands_take(void **state)
{
    size_t part = 32;

    (void)state;
    assert_int_equal(part_behind(0, 99, 8), 8);
    assert_int_equal(part_behind(0, 99, 512), 256);
    assert_int_equal(part_behind(8, 0.9, 8), 16);
    assert_int_equal(part_behind(200, 0.9, 8), 256);
    assert_int_equal(part_behind(32, 3, 8), 32);
    assert_int_equal(part_behind(32, 5.5, 8), 16);
    assert_int_equal(part_behind(9, 5.5, 8), 8);
    /* The last ones make no part smaller. */
    assert_int_equal(pass_part_jobs(&part, 3, 8, 256, 5), 5);
    assert_int_equal(part, 32);
}

static void writing_takes_a_twentieth_of_the_time(void **state)
{
    (void)state;
    assert_real(pass_next_write(100, 100.001), 100.051, 1e-9);
    assert_real(pass_next_write(100, 100.01), 100.21, 1e-9);
    assert_real(pass_next_write(100, 102), 103, 1e-9);
}

static void old_jobs_go_by_the_memory_that_they_take(void **state)
{
    (void)state;
    assert_int_equal(purge_part_after(64, 1000), 128);
    assert_int_equal(purge_part_after(256, 1000), 256);
    assert_int_equal(purge_part_after(64, 8 << 20), 64);
    assert_int_equal(purge_part_after(64, 17 << 20), 32);
    assert_int_equal(purge_part_after(8, 17 << 20), 8);
}

static void rounds_begin_at_their_pace_or_one_behind_the_other(void **state)
{
    (void)state;
    assert_real(pass_pause(10, 3, false), 7, 1e-9);
    assert_real(pass_pause(10, 10, false), 0, 1e-9);
    assert_real(pass_pause(10, 25, false), 0, 1e-9);
    assert_real(pass_pause(10, 25, true), 10, 1e-9);
    assert_real(pass_pause(10, 3, true), 10, 1e-9);
}

static void what_nobody_waits_for_takes_a_quarter_of_the_time(void **state)
{
    (void)state;
    assert_real(pass_rest(0.5), 1.5, 1e-9);
    assert_real(pass_rest(100), 5, 1e-9);
}

/* Whoever rests asks whether it is to end. */
static void waiting_hosts_are_given_way(void **state)
{
    struct test_fixture *fixture = *state;

    heard.ends_after = 1;
    test_sql(fixture->database, "INSERT INTO qm_server (id, name, started, beat, hosts_waited)"
                                " VALUES (1, 'a', 0, 0, 0), (2, 'b', 0, 0, UNIX_TIMESTAMP() - 60)");
    assert_status(STATUS_OK, pass_give_way(&owner, 1));
    assert_int_equal(heard.questions, 0);
    assert_status(STATUS_OK, db_server_hosts_wait(fixture->db, 2));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_status(STATUS_OK, pass_give_way(&owner, 1));
    assert_int_equal(heard.questions, 1);
    heard = (struct heard){.count = 0};
}

/* A batch is ended, the rest is for the next turn. */
static void delete_in_turns(const struct test_fixture *fixture, const char *table)
{
    struct pass_settings turn = {
        .now = NOW, .deletes_files = true, .deletion_seconds = 1e-9 /* over at once */};

    for (int left = 3000; left > 0; left = left > 1024 ? left - 1024 : 0) {
        assert_i64(test_sql_integer(fixture->database,
                                    "SELECT COUNT(*) FROM %s WHERE id > 5000"
                                    " AND file_delete_state = 1",
                                    table),
                   left);
        memory.schedule.inputs_at = 0;
        assert_status(STATUS_OK, deletion_pass(&owner, &turn, &memory.schedule, &counts));
    }
}

/* And a pass that has no end takes all. */
static void deletion_leaves_the_rest_for_its_next_turn(void **state)
{
    struct test_fixture *fixture = *state;
    struct pass_settings endless = {.now = NOW, .deletes_files = true};

    test_sql(fixture->database, "INSERT INTO result (id, name, workunitid, server_state,"
                                " file_delete_state) SELECT 5000 + seq, CONCAT('old_', seq), 5000 +"
                                " seq, 5, 1 FROM seq_1_to_3000");
    delete_in_turns(fixture, "result");
    test_sql(fixture->database, "UPDATE result SET file_delete_state = 1 WHERE id > 5000");
    assert_status(STATUS_OK, deletion_pass(&owner, &endless, &memory.schedule, &counts));
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result WHERE file_delete_state = 1"),
               0);
}

static void so_it_does_with_inputs(void **state)
{
    struct test_fixture *fixture = *state;

    test_sql(fixture->database, "INSERT INTO workunit (id, name, appid, assimilate_state,"
                                " file_delete_state) SELECT 5000 + seq, CONCAT('old_', seq), 1, 2,"
                                " 1 FROM seq_1_to_3000");
    delete_in_turns(fixture, "workunit");
}

/* Another loop, once this one has deleted the first inputs. */
static void end_a_job(void *context, const char *what, int64_t count)
{
    (void)context;
    (void)what;
    (void)count;
    if (test_sql_integer(heard.beside, "SELECT COUNT(*) FROM workunit WHERE id > 5000"
                                       " AND file_delete_state = 2") > 0)
        test_sql(
            heard.beside,
            "UPDATE workunit SET file_delete_state = 1 WHERE id = 9000 AND file_delete_state = 0");
}

/* Nobody knows whether another job that ended meanwhile named its file too. */
static void a_job_that_ends_meanwhile_keeps_its_files_for_the_next_pass(void **state)
{
    struct test_fixture *fixture = *state;
    struct pass_settings endless = {.now = NOW, .deletes_files = true};
    struct pass_owner beside = owner;

    beside.progress = end_a_job;
    heard.beside = fixture->database;
    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, file_delete_state) SELECT 5000 + seq,"
             " CONCAT('over_', seq), 1 FROM seq_1_to_1500;"
             "INSERT INTO workunit (id, name, xml_doc) VALUES (9000, 'late', '<file_info>"
             "<name>late_in</name></file_info><workunit/>')");
    memory.schedule.inputs_at = 0;
    assert_status(STATUS_OK, deletion_pass(&beside, &endless, &memory.schedule, &counts));
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(*) FROM workunit WHERE id > 5000"
                                                   " AND file_delete_state = 2"),
               1500);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT file_delete_state FROM workunit WHERE id = 9000"),
               1);
}

enum { FILES = 600, AS_FOLDER = 7, NOT_THERE = 13 };

static const char *output_path(const struct test_fixture *fixture, struct text folder,
                               int64_t number)
{
    struct text name = text_print(fixture->arena, "old_%" PRId64 "_0", number);

    return text_string(fixture->arena,
                       hierarchy_path(fixture->arena, folder, name, owner.config->uldl_dir_fanout));
}

static void make_file(const char *path)
{
    char folder[200];
    FILE *file;

    (void)snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    (void)mkdir(folder, 0700);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* Results with an output file each; but one is a folder, and one is missing. */
static void add_old_results(const struct test_fixture *fixture, struct text folder)
{
    test_sql(
        fixture->database,
        "INSERT INTO result (id, name, workunitid, server_state, file_delete_state, xml_doc_in)"
        " SELECT 5000 + seq, CONCAT('old_', seq), 5000 + seq, 5, 1, CONCAT('<file_info><name>"
        "old_', seq, '_0</name></file_info><result><file_ref><file_name>old_', seq, '_0"
        "</file_name></file_ref></result>') FROM seq_1_to_%d",
        FILES);
    for (int64_t i = 1; i <= FILES; i++)
        if (i != NOT_THERE)
            make_file(output_path(fixture, folder, i));
    assert_int_equal(unlink(output_path(fixture, folder, AS_FOLDER)), 0);
    assert_int_equal(mkdir(output_path(fixture, folder, AS_FOLDER), 0700), 0);
}

/* What is marked is gone, and nothing else is marked. */
static int64_t deleted_results(const struct test_fixture *fixture, struct text folder)
{
    int64_t deleted = 0;

    for (int64_t i = 1; i <= FILES; i++) {
        int64_t state = test_sql_integer(
            fixture->database,
            "SELECT file_delete_state FROM result WHERE name = 'old_%" PRId64 "'", i);

        if (state != FILE_DELETE_READY)
            assert_i64(state, i == AS_FOLDER ? FILE_DELETE_ERROR : FILE_DELETE_DONE);
        if (state == FILE_DELETE_DONE)
            assert_int_equal(access(output_path(fixture, folder, i), F_OK), -1);
        deleted += state == FILE_DELETE_DONE;
    }
    return deleted;
}

static void each_of_many_files_is_accounted_for(void **state)
{
    struct test_fixture *fixture = *state;
    struct pass_settings endless = {.now = NOW, .deletes_files = true};
    char path[] = "/tmp/qm-passes-XXXXXX";
    struct config config = *owner.config;

    assert_non_null(mkdtemp(path));
    config.upload_dir = text_from(path);
    config.uldl_dir_fanout = 32;
    owner.config = &config;
    add_old_results(fixture, config.upload_dir);

    /* It is to end when the first files of a batch are gone: the others stay for the next pass. */
    heard.ends_after = 8;
    assert_status(STATUS_OK, deletion_pass(&owner, &endless, &memory.schedule, &counts));
    assert_in_range(counts.files_deleted, 1, FILES - 3);
    assert_true(deleted_results(fixture, config.upload_dir) >= counts.files_deleted);

    heard = (struct heard){.count = 0};
    assert_status(STATUS_OK, deletion_pass(&owner, &endless, &memory.schedule, &counts));
    assert_i64(deleted_results(fixture, config.upload_dir), FILES - 1);
    assert_i64(counts.files_deleted, FILES - 2);
    assert_non_null(strstr(heard.sentences[0], "old_7_0"));
    assert_non_null(strstr(heard.sentences[0], "directory"));
    assert_int_equal(test_folder_remove(path), 0);
}

/* Reading takes a twentieth of the time, deleting what it takes. */
static void inputs_rest_by_what_reading_takes(void **state)
{
    (void)state;
    assert_real(deletion_inputs_rest(0.5, 60, false), 10, 1e-9);
    assert_real(deletion_inputs_rest(0.5, 5.5, true), 5.5, 1e-9);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_owner, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(a_round_does_what_is_due),
        CASE(deletion_leaves_the_rest_for_its_next_turn),
        CASE(so_it_does_with_inputs),
        CASE(a_job_that_ends_meanwhile_keeps_its_files_for_the_next_pass),
        CASE(each_of_many_files_is_accounted_for),
        cmocka_unit_test(inputs_rest_by_what_reading_takes),
        CASE(a_pass_does_no_more_than_it_was_asked_to),
        CASE(what_fails_is_said_up_to_a_number),
        CASE(what_a_pass_comes_to_is_kept),
        CASE(an_owner_that_is_to_end_is_obeyed),
        CASE(what_the_database_refuses_is_in_the_failure),
        CASE(old_jobs_are_purged_as_many_as_may),
        CASE(waiting_hosts_are_given_way),
        cmocka_unit_test(old_jobs_go_by_the_memory_that_they_take),
        cmocka_unit_test(rounds_begin_at_their_pace_or_one_behind_the_other),
        cmocka_unit_test(what_nobody_waits_for_takes_a_quarter_of_the_time),
        cmocka_unit_test(parts_follow_the_time_that_commands_take),
        cmocka_unit_test(writing_takes_a_twentieth_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
