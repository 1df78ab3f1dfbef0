/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks look at is told apart by the pool: a column of the workunit either comes out of
 * it as the database has it, though all else is alike, or it is in the table below, which says why
 * it need not and is tested too. So a check that begins to read a column brings it into the pool's
 * classes (class_key and class_describe in server/pool/), or fails here. */
#include "db/columns.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/policy/version/buda.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE = 1, CHANGED = 2 }; /* results, and their workunits */

/* Columns that jobs out of the pool have not: */
static const struct {
    const char *name;
    enum {
        SAME_FOR_ALL,
        NOT_READ
    } why; /* where it is not 0 the pool holds no job; no check does */
} apart[] = {
    {"canonical_resultid", SAME_FOR_ALL}, {"error_mask", SAME_FOR_ALL},
    {"transitioner_flags", SAME_FOR_ALL}, {"name", NOT_READ},
    {"transition_time", NOT_READ},        {"assimilate_state", NOT_READ},
};

/* Files that read workunits of the database, not jobs at hand. */
static const char *const readers_of_rows[] = {"reconcile.c", "assigned.c", "transition_rules.c",
                                              "verdict.c"};

static struct test_database *database;
static struct db *db;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    db = test_database_open(database);
    arena = arena_create(1 << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    db_close(db);
    test_database_destroy(database);
    return 0;
}

static bool anything(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    (void)context;
    (void)group;
    *ret_terms = (struct pool_terms){.limits = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, .jobs = 9};
    return true;
}

/* Two jobs that are alike but for what `change`, of SQL, makes of the second. */
static struct pool_answer through_the_pool(const char *change)
{
    struct pool_question question = {
        .judge = anything, .jobs_max = 9, .classes_max = 9, .times_wanted = 9};
    struct pool *pool = pool_create(100, false);
    struct filler *filler = filler_create(pool, test_database_config(database), 1);
    struct pool_figures figures;
    struct pool_answer answer;
    double clock = 1000, pause;

    test_sql(database, "SET SESSION sql_mode = ''; DELETE FROM result; DELETE FROM workunit;"
                       "INSERT INTO workunit (id, name, appid, rsc_fpops_est, delay_bound,"
                       " transition_time) SELECT seq, CONCAT('wu', seq), 1, 1e11, 86400, 2147483647"
                       " FROM seq_1_to_2;"
                       "INSERT INTO result (id, workunitid, appid, name, server_state)"
                       " SELECT seq, seq, 1, CONCAT('wu', seq, '_0'), 2 FROM seq_1_to_2");
    test_sql(database, "%s", change);
    arena_reset(arena);
    do {
        assert_status(STATUS_OK, filler_step(filler, db, clock, &pause));
        clock += 1;
        pool_figures(pool, &figures);
    } while (!figures.is_filled);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    filler_destroy(filler);
    pool_destroy(pool);
    return answer;
}

static const struct pool_job *job_of(const struct pool_answer *answer, int64_t resultid)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->jobs[i].resultid == resultid)
            return &answer->jobs[i];
    return NULL;
}

static const char *value_for(const struct row_column *column)
{
    return column->type == COLUMN_STRING ? "8 9" : "7";
}

static bool has_value(const struct row_column *column, const struct workunit_row *row)
{
    const void *at = (const char *)row + column->offset;

    switch (column->type) {
    case COLUMN_STRING:
        return text_is(*(const struct text *)at, value_for(column));
    case COLUMN_REAL:
        return *(const double *)at == atof(value_for(column));
    case COLUMN_ID:
    case COLUMN_INTEGER:
        break;
    }
    if (row_column_is_derived(column)) /* the database's number is ours */
        return *(const int64_t *)at == buda_number(TEXT("7"));
    return *(const int64_t *)at == atoll(value_for(column));
}

/* --- what is read ----------------------------------------------------------------------------- */

/* Whether the source says "workunit->NAME" or "workunit.NAME". */
static bool reads(const char *source, const char *name)
{
    static const char *const members[] = {"workunit->", "workunit."};

    for (size_t i = 0; i < 2; i++)
        for (const char *at = strstr(source, members[i]); at != NULL;
             at = strstr(at + 1, members[i])) {
            const char *member = at + strlen(members[i]);
            char behind = strncmp(member, name, strlen(name)) == 0 ? member[strlen(name)] : 'x';

            if (!isalnum((unsigned char)behind) && behind != '_')
                return true;
        }
    return false;
}

static bool is_reader_of_rows(const char *file)
{
    for (size_t i = 0; i < sizeof(readers_of_rows) / sizeof(readers_of_rows[0]); i++)
        if (strcmp(file, readers_of_rows[i]) == 0)
            return true;
    return false;
}

static size_t assert_nobody_reads(const char *folder, const char *name)
{
    char path[1024];
    struct dirent *entry;
    size_t files = 0;
    DIR *directory;

    snprintf(path, sizeof(path), "%s/%s", getenv("QM_SOURCE_DIR"), folder);
    directory = opendir(path);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        struct text source;

        if (entry->d_name[0] == '.')
            continue;
        if (entry->d_type == DT_DIR) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            files += assert_nobody_reads(path, name);
            continue;
        }
        if (strstr(entry->d_name, ".c") == NULL || is_reader_of_rows(entry->d_name))
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", getenv("QM_SOURCE_DIR"), folder, entry->d_name);
        assert_status(STATUS_OK, file_read(arena, path, 1 << 20, &source, NULL));
        if (reads(text_string(arena, source), name))
            fail_msg("%s reads workunit.%s, which jobs out of the pool have not", path, name);
        files++;
    }
    closedir(directory);
    return files;
}

/* --- cases ------------------------------------------------------------------------------------ */

static void every_column_that_checks_read_is_told_apart(void **state)
{
    const struct row_table *table = &row_tables[ROW_workunit];
    size_t met = 0;

    (void)state;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        const struct pool_job *changed;
        struct pool_answer answer;
        char change[200];
        size_t row = 0;

        while (row < sizeof(apart) / sizeof(apart[0]) && strcmp(apart[row].name, column->name) != 0)
            row++;
        if (strcmp(column->name, "id") == 0)
            snprintf(change, sizeof(change),
                     "UPDATE workunit SET id = 7 WHERE id = 2;"
                     "UPDATE result SET workunitid = 7 WHERE id = 2");
        else if (row_column_is_derived(column))
            snprintf(change, sizeof(change),
                     "UPDATE workunit SET xml_doc = 'a<buda_app_name>7</buda_app_name>"
                     "<buda_app_name>8</buda_app_name>' WHERE id = %d",
                     CHANGED);
        else
            snprintf(change, sizeof(change), "UPDATE workunit SET %s = '%s' WHERE id = %d",
                     column->name, value_for(column), CHANGED);
        answer = through_the_pool(change);
        changed = job_of(&answer, CHANGED);
        assert_non_null(job_of(&answer, ALIKE));
        assert_false(has_value(column, &job_of(&answer, ALIKE)->workunit));
        if (row == sizeof(apart) / sizeof(apart[0])) {
            assert_non_null(changed);
            if (!has_value(column, &changed->workunit))
                fail_msg("the pool does not tell workunit.%s apart", column->name);
            continue;
        }
        met++;
        if (apart[row].why == SAME_FOR_ALL) {
            assert_null(changed);
            continue;
        }
        assert_non_null(changed);
        assert_in_range(assert_nobody_reads("server/policy", column->name), 10, 1000);
        assert_in_range(assert_nobody_reads("server/handout", column->name), 10, 1000);
    }
    assert_int_equal(met, sizeof(apart) / sizeof(apart[0]));
}

/* All that a job has of its result. */
static void so_is_the_priority_of_the_result(void **state)
{
    struct pool_answer answer = through_the_pool("UPDATE result SET priority = 7 WHERE id = 2");

    (void)state;
    assert_int_equal(answer.count, 2);
    assert_i64(job_of(&answer, ALIKE)->priority, 0);
    assert_i64(job_of(&answer, CHANGED)->priority, 7);
}

/* The scan above sees what it looks for. */
static void readers_are_found(void **state)
{
    (void)state;
    assert_true(reads("x = job->workunit->name;", "name"));
    assert_true(reads("x = row->workunit.name)", "name"));
    assert_false(reads("workunit->name_of", "name"));
    assert_false(reads("workunit->id", "idle"));
    assert_false(reads("app->name", "name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_that_checks_read_is_told_apart),
        cmocka_unit_test(so_is_the_priority_of_the_result),
        cmocka_unit_test(readers_are_found),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
