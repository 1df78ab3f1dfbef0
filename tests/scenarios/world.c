/* SPDX-License-Identifier: Apache-2.0 */
/* The world that a scenario sets up and looks at: a schema of its own, and rows. (Options and keys:
 * settings.c.) Rows name only the columns that matter to the story; the rest is 0 or empty. */
#include "config/config.h"
#include "db/db.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "tests/scenarios/story.h"
#include "tests/support/database.h"
#include "tests/support/folder.h"

#include <stdio.h>

#include "server/base/banned.h"

static const char workunit_xml[] =
    "<file_info>\n    <name>%_in</name>\n    <url>https://example.org/demo/download/%_in</url>\n"
    "    <md5_cksum>0f1e2d3c4b5a69788796a5b4c3d2e1f0</md5_cksum>\n    <nbytes>1000</nbytes>\n"
    "</file_info>\n"
    "<workunit>\n    <file_ref>\n        <file_name>%_in</file_name>\n"
    "        <open_name>in</open_name>\n    </file_ref>\n    <command_line>\n--fast\n"
    "    </command_line>\n</workunit>\n";

static const char result_xml[] =
    "<file_info>\n    <name>%_0_0</name>\n    <generated_locally/>\n    <upload_when_present/>\n"
    "    <max_nbytes>1000000</max_nbytes>\n"
    "    <url>https://example.org/demo_cgi/file_upload_handler</url>\n</file_info>\n"
    "<result>\n    <file_ref>\n        <file_name>%_0_0</file_name>\n"
    "        <open_name>out</open_name>\n    </file_ref>\n</result>\n";

/* --- SQL ---------------------------------------------------------------------------------- */

static void run_sql(struct story *story, struct text sql)
{
    test_sql(story->database, TEXT_FORMAT, TEXT_ARG(sql));
}

struct text world_ask(struct story *story, struct text sql)
{
    return text_copy(story->arena, test_sql_text(story->database, TEXT_FORMAT, TEXT_ARG(sql)));
}

static void add_quoted(struct buffer *sql, struct text text)
{
    buffer_add_char(sql, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '\'' || text.at[i] == '\\')
            buffer_add_char(sql, '\\');
        buffer_add_char(sql, text.at[i]);
    }
    buffer_add_char(sql, '\'');
}

static const struct {
    const char *name;
    int64_t number;
} states[] = {
#define STATE(group, name, number, word) {#group "_" #name, number},
#include "db/states.def"
#undef STATE
};

/* A value; the name of a state stands for its number. */
static void add_value(struct buffer *sql, struct text value)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (text_is(value, states[i].name)) {
            buffer_print(sql, "%lld", (long long)states[i].number);
            return;
        }
    add_quoted(sql, value);
}

/* COLUMN=VALUE; the operator may be != or ~= as well. */
static struct text split_word(struct story *story, struct text word, struct text *ret_column,
                              const char **ret_operator)
{
    size_t at = text_find(word, TEXT("="));
    struct text column = text_first(word, at);

    if (at == word.length || at == 0)
        story_fail(story, "\"" TEXT_FORMAT "\" is not COLUMN=VALUE", TEXT_ARG(word));
    *ret_operator = "=";
    if (text_ends(column, TEXT("!")))
        *ret_operator = "<>";
    if (text_ends(column, TEXT("~")))
        *ret_operator = "LIKE";
    if (**ret_operator != '=')
        column.length--;
    *ret_column = column;
    return (struct text){.at = word.at + at + 1, .length = word.length - at - 1};
}

struct text world_conditions(struct story *story, const struct text *words, size_t count)
{
    struct buffer sql = buffer_in(story->arena);

    for (size_t i = 0; i < count; i++) {
        struct text column;
        const char *operator;
        struct text value = split_word(story, words[i], &column, &operator);
        buffer_print(&sql, " AND `" TEXT_FORMAT "` %s ", TEXT_ARG(column), operator);
        add_value(&sql, value);
    }
    return buffer_text(&sql);
}

void world_sql(struct story *story, const struct words *words)
{
    run_sql(story, words->rest);
}

void world_meanwhile(struct story *story, const struct words *words)
{
    story->meanwhile = text_copy(story->arena, words->rest);
}

void world_let_meanwhile_happen(struct story *story)
{
    if (story->meanwhile.length > 0)
        run_sql(story, story->meanwhile);
    story->meanwhile = NO_TEXT;
}

/* --- rows --------------------------------------------------------------------------------- */

enum { COLUMNS_MAX = 80 };

/* A row to be inserted; what is set later wins. */
struct new_row {
    const char *table;
    size_t count;
    struct {
        struct text column, value;
        bool is_sql; /* an expression, not a value */
    } columns[COLUMNS_MAX];
};

static void set(struct story *story, struct new_row *row, struct text column, struct text value,
                bool is_sql)
{
    size_t i = 0;

    while (i < row->count && !text_equal(row->columns[i].column, column))
        i++;
    if (i == COLUMNS_MAX)
        story_fail(story, "too many columns");
    row->columns[i].column = column;
    row->columns[i].value = value;
    row->columns[i].is_sql = is_sql;
    row->count += i == row->count;
}

static void set_text(struct story *story, struct new_row *row, const char *column,
                     struct text value)
{
    set(story, row, text_from(column), value, false);
}

static void set_number(struct story *story, struct new_row *row, const char *column, double value)
{
    set_text(story, row, column, text_print(story->arena, "%.0f", value));
}

static void insert(struct story *story, const struct new_row *row)
{
    struct buffer sql = buffer_in(story->arena);

    buffer_print(&sql, "INSERT INTO `%s` SET ", row->table);
    for (size_t i = 0; i < row->count; i++) {
        buffer_print(&sql, "%s`" TEXT_FORMAT "` = ", i == 0 ? "" : ", ",
                     TEXT_ARG(row->columns[i].column));
        if (row->columns[i].is_sql)
            buffer_add(&sql, row->columns[i].value);
        else
            add_value(&sql, row->columns[i].value);
    }
    run_sql(story, buffer_text(&sql));
}

static struct text set_word(struct story *story, struct text word, struct text *ret_value)
{
    struct text column;
    const char *operator;

    *ret_value = split_word(story, word, &column, &operator);
    if (*operator!= '=')
        story_fail(story, "COLUMN=VALUE");
    return column;
}

void world_rows(struct story *story, const struct words *words)
{
    struct new_row row = {0};

    if (words->count < 2)
        story_fail(story, "rows TABLE COLUMN=VALUE ...");
    row.table = text_string(story->arena, words->items[0]);
    for (size_t i = 1; i < words->count; i++) {
        struct text value, column = set_word(story, words->items[i], &value);
        set(story, &row, column, value, false);
    }
    insert(story, &row);
}

/* The document with each % replaced by the name of the job. */
static struct text document(struct story *story, const char *pattern, struct text name)
{
    struct buffer out = buffer_in(story->arena);

    for (; *pattern != '\0'; pattern++)
        if (*pattern == '%')
            buffer_add(&out, name);
        else
            buffer_add_char(&out, *pattern);
    return buffer_text(&out);
}

static void set_workunit(struct story *story, struct text name, struct new_row *row)
{
    row->table = "workunit";
    set_text(story, row, "name", name);
    set_number(story, row, "create_time", story->now);
    set_number(story, row, "appid", 1);
    set_number(story, row, "rsc_fpops_est", 1e12);
    set_number(story, row, "rsc_fpops_bound", 1e15);
    set_number(story, row, "rsc_memory_bound", 1e8);
    set_number(story, row, "rsc_disk_bound", 1e8);
    set_number(story, row, "delay_bound", 7 * 86400);
    set_number(story, row, "min_quorum", 1);
    set_number(story, row, "target_nresults", 1);
    set_number(story, row, "max_error_results", 3);
    set_number(story, row, "max_total_results", 10);
    set_number(story, row, "max_success_results", 3);
    set_number(story, row, "transition_time", TRANSITION_NEVER);
    set_text(story, row, "xml_doc", document(story, workunit_xml, name));
}

static void set_result(struct story *story, struct text name, struct new_row *row)
{
    row->table = "result";
    set(story, row, TEXT("workunitid"), TEXT("LAST_INSERT_ID()"), true);
    set(story, row, TEXT("appid"), TEXT("(SELECT appid FROM workunit WHERE id = LAST_INSERT_ID())"),
        true);
    set_text(story, row, "name", text_print(story->arena, TEXT_FORMAT "_0", TEXT_ARG(name)));
    set_number(story, row, "create_time", story->now);
    set_number(story, row, "server_state", RESULT_UNSENT);
    set_text(story, row, "xml_doc_in", document(story, result_xml, name));
}

static void set_sent_to(struct story *story, struct text host, struct new_row *row)
{
    set_number(story, row, "server_state", RESULT_IN_PROGRESS);
    set_text(story, row, "hostid", host);
    set(story, row, TEXT("userid"),
        text_print(story->arena, "(SELECT userid FROM host WHERE id = " TEXT_FORMAT ")",
                   TEXT_ARG(host)),
        true);
    set_number(story, row, "sent_time", story->now - 3600);
    set_number(story, row, "report_deadline", story->now + 6 * 86400);
    set_number(story, row, "app_version_id", 1);
}

static void insert_job(struct story *story, struct text name, const struct words *words)
{
    struct new_row workunit = {0}, result = {0};

    set_workunit(story, name, &workunit);
    set_result(story, name, &result);
    for (size_t i = 1; i < words->count; i++) {
        struct text value, column = set_word(story, words->items[i], &value);
        if (text_is(column, "sent_to"))
            set_sent_to(story, value, &result);
        else if (text_starts(column, TEXT("result.")))
            set(story, &result, (struct text){.at = column.at + 7, .length = column.length - 7},
                value, false);
        else
            set(story, &workunit, column, value, false);
    }
    insert(story, &workunit);
    insert(story, &result);
}

void world_jobs(struct story *story, const struct words *words)
{
    struct text rest = words->count > 0 ? words->items[0] : NO_TEXT;
    struct text name = text_split(&rest, '*');

    if (name.length == 0)
        story_fail(story, "jobs NAME[*COUNT] COLUMN=VALUE ...");
    if (rest.length == 0) {
        insert_job(story, name, words);
        return;
    }
    int64_t count = story_integer(story, rest);
    for (int64_t i = 0; i < count; i++)
        insert_job(story,
                   text_print(story->arena, TEXT_FORMAT "_%lld", TEXT_ARG(name), (long long)i),
                   words);
}

/* --- the schema ----------------------------------------------------------------------------- */

void world_open(struct story *story)
{
    story->plan_classes = plan_classes_builtin();
    story->database = test_database_create(true, NULL);
    story->config = test_database_config(story->database);
    story->config->project_dir_path = TEXT("."); /* the templates are found there */
    story->db = test_database_open(story->database);
    story->files = files_create(&story->files_health);
    story->request_arena = arena_create((size_t)story->config->request_memory_max);
    /* Rows of a scenario leave columns out, and bytes are bytes. */
    test_sql(story->database, "SET sql_mode = ''; SET NAMES binary");
}

void world_close(struct story *story)
{
    catalog_release(story->catalog);
    plan_classes_free(&story->plan_classes);
    if (story->buda_folder != NULL)
        (void)test_folder_remove(story->buda_folder);
    db_close(story->db);
    files_destroy(story->files);
    test_sql(story->database, "DROP DATABASE IF EXISTS " TEXT_FORMAT,
             TEXT_ARG(world_files_name(story)));
    test_database_destroy(story->database);
    arena_destroy(story->request_arena);
}
