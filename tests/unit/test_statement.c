/* SPDX-License-Identifier: Apache-2.0 */
/* Statements are written out by name: a name that is not declared, a value that nothing uses and a
 * column that is called otherwise are mistakes, in words that name the statement and the culprit.
 */
#include "db/statement.h"

#include "tests/support/test.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct two_values {
    int64_t hostid, now;
    struct db_ids ids;
};
struct two_columns_row {
    int64_t sent_time, report_deadline;
};

static const struct db_member values[] = {
    {"hostid", DB_ID, offsetof(struct two_values, hostid), 0, ROW_COUNT, SUBJECT_ANY},
    {"now", DB_INTEGER, offsetof(struct two_values, now), 0, ROW_COUNT, SUBJECT_ANY},
    {.name = NULL}};
static const struct db_member values_with_list[] = {
    {"hostid", DB_ID, offsetof(struct two_values, hostid), 0, ROW_COUNT, SUBJECT_ANY},
    {"ids", DB_IDS, offsetof(struct two_values, ids), 0, ROW_COUNT, SUBJECT_ANY},
    {.name = NULL}};

static const struct db_row_type *two_columns(void)
{
    static const struct db_member columns[] = {
        {"sent_time", DB_INTEGER, offsetof(struct two_columns_row, sent_time), 0, ROW_COUNT,
         SUBJECT_ANY},
        {"report_deadline", DB_INTEGER, offsetof(struct two_columns_row, report_deadline), 0,
         ROW_COUNT, SUBJECT_ANY},
        {.name = NULL}};
    static const struct db_row_type type = {"two_columns", "", columns,
                                            sizeof(struct two_columns_row)};

    return &type;
}

static void assert_mistake(const char *sql, const char *words)
{
    const struct statement_definition definition = {"tried", sql,       values,
                                                    NULL,    COUNT_ALL, LATEST_NOW};
    struct statement_text text;
    struct failure failure = {0};

    assert_status(STATUS_DB_BUG, statement_write(&definition, 1, NULL, &text, &failure));
    assert_true(text_contains(text_from(failure.text), TEXT("tried")));
    if (!text_contains(text_from(failure.text), text_from(words)))
        fail_msg("\"%s\" does not say \"%s\"", failure.text, words);
}

static void values_go_where_their_names_stand(void **state)
{
    const struct statement_definition definition = {
        "tried",
        "UPDATE result SET sent_time = :now WHERE hostid = :hostid AND received_time < :now",
        values,
        NULL,
        COUNT_ALL,
        LATEST_NOW};
    struct statement_text text;

    (void)state;
    assert_status(STATUS_OK, statement_write(&definition, 1, NULL, &text, NULL));
    assert_string_equal(text.sql, "UPDATE result SET sent_time = ? WHERE hostid = ?"
                                  " AND received_time < ?");
    assert_int_equal(text.parameter_count, 3);
    assert_int_equal(text.parameters[0].offset, offsetof(struct two_values, now));
    assert_int_equal(text.parameters[1].offset, offsetof(struct two_values, hostid));
    assert_int_equal(text.parameters[2].offset, offsetof(struct two_values, now));
    statement_text_free(&text);
}

static void a_list_is_as_long_as_it_is_written_for(void **state)
{
    const struct statement_definition definition = {
        "tried",          "DELETE FROM result WHERE id IN (:ids) AND hostid = :hostid",
        values_with_list, NULL,
        COUNT_ALL,        LATEST_NOW};
    struct statement_text text;

    (void)state;
    assert_status(STATUS_OK, statement_write(&definition, 4, NULL, &text, NULL));
    assert_string_equal(text.sql, "DELETE FROM result WHERE id IN (?, ?, ?, ?) AND hostid = ?");
    assert_int_equal(text.parameters[3].index, 3);
    assert_int_equal(text.parameters[4].offset, offsetof(struct two_values, hostid));
    statement_text_free(&text);
}

static void mistakes_with_values_are_found(void **state)
{
    (void)state;
    assert_mistake("UPDATE host SET rpc_time = :now WHERE id = :hostname", ":hostname");
    assert_mistake("UPDATE host SET rpc_time = :now WHERE id = :host", ":host\"");
    assert_mistake("UPDATE host SET rpc_time = 1 WHERE id = :hostid", "\"now\": the value is not");
    assert_mistake("UPDATE host SET rpc_time = :now WHERE id = ? + :hostid", "values have names");
    assert_mistake("UPDATE host SET {set host}, x = :now WHERE id = :hostid", "no such row");
    assert_mistake("SELECT {no_fragment} WHERE id = :hostid AND x = :now", "no_fragment");
    assert_mistake("SELECT {app}{if host.misc} WHERE id = :hostid AND x = :now", "has no |");
    assert_mistake("SELECT {app WHERE id = :hostid AND x = :now", "not closed");
}

/* What the database lacks is left out, with its values: they are used all the same. */
static void values_of_what_is_left_out_are_used(void **state)
{
    const struct statement_definition definition = {
        "tried",   "UPDATE host SET x = :hostid{if host.misc|, misc = :now}",
        values,    NULL,
        COUNT_ALL, LATEST_NOW};
    const struct actual_columns nothing = {.items = NULL};
    struct statement_text text;

    (void)state;
    assert_status(STATUS_OK, statement_write(&definition, 1, &nothing, &text, NULL));
    assert_string_equal(text.sql, "UPDATE host SET x = ?");
    statement_text_free(&text);
}

static enum status check(const struct given_column *given, size_t count, struct failure *failure)
{
    static const struct db_member none[] = {{.name = NULL}};
    const struct statement_definition definition = {"tried",     "SELECT 1, 2", none,
                                                    two_columns, COUNT_SINGLY,  LATEST_NOW};
    struct statement_text text;
    enum status status = statement_write(&definition, 1, NULL, &text, failure);

    assert_status(STATUS_OK, status);
    assert_int_equal(text.column_count, 2);
    assert_int_equal(text.row_size, sizeof(struct two_columns_row));
    assert_int_equal(text.columns[1].offset, offsetof(struct two_columns_row, report_deadline));
    status = statement_check_columns(&definition, &text, given, count, failure);
    statement_text_free(&text);
    return status;
}

static void columns_are_called_as_declared(void **state)
{
    const struct given_column right[] = {{"sent_time", true}, {"report_deadline", true}};
    const struct given_column exchanged[] = {{"report_deadline", true}, {"sent_time", true}};
    const struct given_column other[] = {{"sent_time", true}, {"deadline", true}};
    const struct given_column text[] = {{"sent_time", true}, {"report_deadline", false}};
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_OK, check(right, 2, &failure));
    assert_status(STATUS_DB_BUG, check(exchanged, 2, &failure));
    assert_string_equal(failure.text, "statement tried: column 1 is report_deadline, sent_time is"
                                      " declared");
    assert_status(STATUS_DB_BUG, check(other, 2, NULL));
    assert_status(STATUS_DB_BUG, check(text, 2, NULL));
    assert_status(STATUS_DB_BUG, check(right, 1, NULL));
    assert_status(STATUS_DB_BUG, check(right, 0, NULL));
}

/* A list of our own: a locking read that were taken for a plain one would begin nothing. */
static void what_only_reads_is_told_from_what_locks(void **state)
{
    static const char locking[] =
        " account_settings_lock admin_app_settings_lock admin_class_lock"
        " admin_version_settings_lock admin_version_there admin_workunit_there"
        " assigned_lock batch_lock host_ban_lock host_lock host_lock_with_user host_token"
        " hosts_lock_with_user"
        " jobs_choose_lock jobs_lock jobs_lock_counting"
        " person_hosts_lock person_workunits_lock purge_lock_results purge_lock_workunits"
        " submission_abandoned_lock submitter_lock"
        " transition_lock_results transition_lock_workunits user_lock validation_lock_host_versions"
        " validation_lock_hosts validation_lock_results validation_lock_teams"
        " validation_lock_users validation_lock_versions validation_lock_workunits ";

    (void)state;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        struct statement_text text;
        char name[80];
        bool locks;

        (void)snprintf(name, sizeof(name), " %s ", definition->name);
        locks = definition->rows == NULL || strstr(locking, name) != NULL;
        assert_status(STATUS_OK, statement_write(definition, 1, NULL, &text, NULL));
        if (statement_only_reads(text.sql) == locks)
            fail_msg("%s", definition->name);
        statement_text_free(&text);
    }
}

/* What two servers write in the same second, or one of them twice when its clock is stepped, nobody
 * can tell apart by that second: no statement looks for a row by a time that is equal to something.
 * One does, where it goes on in a list that is in order of time and id: both are those of a row
 * that it has read. */
static void no_row_is_known_by_its_second(void **state)
{
#define TIME                                                                                    \
    "([a-z_]*_(time|deadline|seen|used)|made|beat|due|started|changed|created|ended|delivered|" \
    "expiry)"
    static const char equal[] = "[^a-z_]" TIME "\\)* *(=|<=>|IN \\() *[^ 0-9]|"
                                "[^<>!] *= *\\(*([a-z_]+[.])?" TIME "([^a-z_]|$)";
#undef TIME
    size_t found = 0;
    regex_t pattern;

    (void)state;
    assert_int_equal(regcomp(&pattern, equal, REG_EXTENDED | REG_NOSUB), 0);
    for (enum statement i = 0; i < STATEMENT_COUNT; i++) {
        struct statement_text text;
        const char *where;

        assert_status(STATUS_OK, statement_write(statement_definition(i), 1, NULL, &text, NULL));
        where = strstr(text.sql, " WHERE ");
        if (where != NULL && regexec(&pattern, where, 0, NULL, 0) == 0) {
            found++;
            if (strcmp(statement_name(i), "transition_due") != 0)
                fail_msg("%s compares a time:%s", statement_name(i), where);
        }
        statement_text_free(&text);
    }
    regfree(&pattern);
    assert_int_equal(found, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_where_their_names_stand),
        cmocka_unit_test(a_list_is_as_long_as_it_is_written_for),
        cmocka_unit_test(mistakes_with_values_are_found),
        cmocka_unit_test(values_of_what_is_left_out_are_used),
        cmocka_unit_test(columns_are_called_as_declared),
        cmocka_unit_test(what_only_reads_is_told_from_what_locks),
        cmocka_unit_test(no_row_is_known_by_its_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
