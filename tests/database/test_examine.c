/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a database that can be worked with, and leaves nothing behind; and of one that is
 * not there. (Rights, limits and the others: tests/integration/broken.sh.) */
#include "db/admin.h"
#include "db/db.h"
#include "server/check/database_settings.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <unistd.h>

static void a_sound_database_is_left_as_it_was(void **state)
{
    struct test_fixture *f = *state;
    struct failure failure = {0};

    assert_int_equal(db_examine(test_database_config(f->database), NULL, &failure),
                     DB_TROUBLE_NONE);
    assert_string_equal(failure.text, "");
    assert_int_equal(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 0);
}

static void what_is_wrong_is_told_apart(void **state)
{
    static const struct {
        const char *option, *value;
        enum db_trouble trouble;
    } cases[] = {
        {"db_name", "", DB_TROUBLE_NO_DATABASE},
        {"db_name", "nowhere_at_all", DB_TROUBLE_NO_DATABASE},
        {"db_name", "mysql", DB_TROUBLE_UNFIT},
        {"db_user", "nobody_at_all", DB_TROUBLE_LOGIN},
        {"db_socket", "/nowhere/at/all", DB_TROUBLE_AWAY},
    };
    struct test_fixture *f = *state;
    struct config *config = test_database_config(f->database);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {0};
        struct text name = config->db_name, user = config->db_user, socket = config->db_socket;

        assert_status(STATUS_OK, config_set(config, text_from(cases[i].option),
                                            text_from(cases[i].value), NULL));
        assert_int_equal(db_examine(config, NULL, &failure), cases[i].trouble);
        assert_string_not_equal(failure.text, "");
        failure = (struct failure){0};
        assert_int_equal(db_examine_writing(config, &failure), cases[i].trouble);
        assert_string_not_equal(failure.text, "");
        config->db_name = name;
        config->db_user = user;
        config->db_socket = socket;
    }
}

/* Preparing all statements for everybody who asks would be an attack's lever. */
static void what_anybody_may_ask_prepares_no_statements(void **state)
{
    struct test_fixture *f = *state;
    struct config *config = test_database_config(f->database);
    struct text schema = config->db_name, administrator = config->db_user;
    struct text user = text_print(f->arena, "qm_reader_%d", (int)getpid());
    struct failure failure = {0};

    test_sql(f->database, "CREATE USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
    test_sql(f->database, "GRANT SELECT ON " TEXT_FORMAT ".* TO '" TEXT_FORMAT "'@'localhost'",
             TEXT_ARG(schema), TEXT_ARG(user));
    config->db_user = user;
    assert_int_equal(db_examine_writing(config, &failure), DB_TROUBLE_RIGHTS);
    test_sql(f->database,
             "GRANT INSERT, DELETE ON " TEXT_FORMAT ".qm_connection TO '" TEXT_FORMAT
             "'@'localhost'",
             TEXT_ARG(schema), TEXT_ARG(user));
    assert_int_equal(db_examine(config, NULL, &failure), DB_TROUBLE_RIGHTS);
    assert_int_equal(db_examine_writing(config, &failure), DB_TROUBLE_NONE);
    config->db_user = administrator;
    test_sql(f->database, "DROP USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
    assert_int_equal(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 0);
}

static void limits_and_backlog_are_read(void **state)
{
    struct test_fixture *f = *state;
    struct connection_limits_row limits;
    struct backlog backlog;
    struct oldest_waiting_row oldest;
    int64_t deletions = -1;

    assert_status(STATUS_OK, db_admin_oldest_waiting(f->db, &oldest));
    assert_int_equal(oldest.validation, 0);
    assert_int_equal(oldest.assimilation, 0);
    assert_int_equal(oldest.deletion, 0);
    assert_status(STATUS_OK, db_admin_deletions_waiting(f->db, 2, &deletions));
    assert_int_equal(deletions, 0);
    assert_status(STATUS_OK, db_admin_connection_limits(f->db, &limits));
    assert_true(limits.connections >= 10 && limits.statements >= 1000);
    assert_in_range(db_statements_of_connection(), 100, 400);
    test_sql(
        f->database,
        "INSERT INTO app SET id = 7, name = 'a'; INSERT INTO workunit SET id = 1, appid = 7, name"
        " = 'a', transition_time = 100, need_validate = 1;"
        "INSERT INTO workunit SET id = 2, appid = 7, name = 'b', transition_time = 50;"
        "INSERT INTO workunit SET id = 3, appid = 7, name = 'c', transition_time = 300,"
        " assimilate_state = 1");
    assert_status(STATUS_OK, db_backlog(f->db, 200, 2, &backlog));
    assert_int_equal(backlog.transitions, 2);
    assert_int_equal(backlog.oldest_transition, 50);
    assert_int_equal(backlog.validations, 1);
    /* Those that an administrator set to 0 are due, and hide nothing of the others. */
    test_sql(f->database, "UPDATE workunit SET transition_time = 0 WHERE id = 1");
    assert_status(STATUS_OK, db_backlog(f->db, 200, 1, &backlog));
    assert_int_equal(backlog.transitions, 1);
    assert_int_equal(backlog.oldest_transition, 50);
    assert_status(STATUS_OK, db_backlog(f->db, 20, 2, &backlog));
    assert_int_equal(backlog.transitions, 1);
    assert_int_equal(backlog.oldest_transition, 0);
    assert_int_equal(backlog.assimilations, 1);
    test_sql(f->database, "UPDATE workunit SET mod_time = FROM_UNIXTIME(1000000000 + id)");
    assert_status(STATUS_OK, db_admin_oldest_waiting(f->db, &oldest));
    assert_int_equal(oldest.validation, 1000000001);
    assert_int_equal(oldest.assimilation, 1000000003);
    assert_int_equal(oldest.deletion, 0);
    test_sql(f->database, "UPDATE workunit SET file_delete_state = 1 + (id = 1),"
                          " mod_time = FROM_UNIXTIME(1000000000 + id)");
    assert_status(STATUS_OK, db_admin_oldest_waiting(f->db, &oldest));
    assert_int_equal(oldest.deletion, 1000000002);
    assert_status(STATUS_OK, db_admin_deletions_waiting(f->db, 9, &deletions));
    assert_int_equal(deletions, 2);
    assert_status(STATUS_OK, db_admin_deletions_waiting(f->db, 1, &deletions));
    assert_int_equal(deletions, 1);
    test_sql(f->database, "UPDATE workunit SET transition_time = id, need_validate = 1,"
                          " assimilate_state = 1");
    assert_status(STATUS_OK, db_backlog(f->db, 200, 2, &backlog)); /* there are three */
    assert_int_equal(backlog.transitions, 2);
    assert_int_equal(backlog.oldest_transition, 1);
    assert_int_equal(backlog.validations, 2);
    assert_int_equal(backlog.assimilations, 2);
    test_sql(f->database, "UPDATE workunit SET transition_time = 50");
    assert_status(STATUS_OK, db_backlog(f->db, 10, 2, &backlog));
    assert_int_equal(backlog.transitions, 0);
    assert_int_equal(backlog.oldest_transition, 0);
}

/* Each variable of the table is one that the server has, and nothing is said of one that is set up
 * as MariaDB is at first. */
static void settings_are_read(void **state)
{
    struct test_fixture *f = *state;
    struct database_reading reading;

    test_database_wait(f->database, "(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                                    " WHERE VARIABLE_NAME = 'UPTIME') > 0"); /* in whole s */
    assert_status(STATUS_OK, database_settings_read(f->db, f->arena, &reading));
    assert_true(reading.load.table_bytes > 100000);
    assert_true(reading.load.uptime > 0 && reading.load.redo_bytes > 0);
    assert_true(reading.load.page_requests > reading.load.page_reads);
    for (size_t i = 0; i < DATABASE_SETTING_COUNT; i++) {
        const struct database_setting *setting = &database_settings[i];
        size_t found = 0;

        for (size_t j = 0; j < reading.count; j++)
            found += text_equal_nocase(reading.variables[j].name, text_from(setting->name)) ||
                     text_equal_nocase(reading.variables[j].name, text_from(setting->if_name));
        assert_int_equal(found, setting->if_name[0] == '\0' ? 1 : 2);
        assert_text(database_setting_complaint(setting, &reading, f->arena), "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_database_is_left_as_it_was, test_fixture_open,
                                        test_fixture_close),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_told_apart, test_fixture_open,
                                        test_fixture_close),
        cmocka_unit_test_setup_teardown(what_anybody_may_ask_prepares_no_statements,
                                        test_fixture_open, test_fixture_close),
        cmocka_unit_test_setup_teardown(limits_and_backlog_are_read, test_fixture_open,
                                        test_fixture_close),
        cmocka_unit_test_setup_teardown(settings_are_read, test_fixture_open, test_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
