/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/why.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/marked.h"
#include "server/base/random.h"
#include "server/project/buda_files.h"
#include "server/project/project.h"
#include "server/reply/answer.h"
#include "tests/support/database.h"
#include "tests/support/serving.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 200, BYTES = 4000 };

struct why_comparison {
    struct serving serving;
    char project[64];
    bool was_told[REASON_COUNT];
    struct arena *arena; /* of what follows; NULL: nothing was read */
    struct plan_classes plan_classes;
    struct buda_apps buda;
};

void why_write_versions(struct test_database *database)
{
    test_sql(database,
             "UPDATE app_version SET xml_doc = CONCAT('<file_info>\\n<name>f_', id, '</name>\\n"
             "<url>http://127.0.0.1/f</url>\\n<executable/>\\n<nbytes>9</nbytes>\\n</file_info>\\n"
             "<app_version>\\n<app_name>app_', appid, '</app_name>\\n<version_num>103"
             "</version_num>\\n<file_ref>\\n<file_name>f_', id, '</file_name>\\n<main_program/>\\n"
             "</file_ref>\\n</app_version>\\n')");
}

size_t why_pick(struct random *random, size_t count)
{
    return (size_t)(random_next(random) % count);
}

bool why_happens(struct random *random, double chance)
{
    return random_unit(random) < chance;
}

/* --- the project ------------------------------------------------------------------------------ */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
    char command[600];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

static void write_config(const struct why_comparison *comparison, const struct config *config,
                         const struct why_option *options, size_t option_count)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/config.xml", comparison->project);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "<boinc><config><db_name>" TEXT_FORMAT "</db_name><db_user>" TEXT_FORMAT
            "</db_user><db_socket>" TEXT_FORMAT "</db_socket><delay_jitter>0</delay_jitter>"
            "<master_url>http://127.0.0.1/test/</master_url>",
            TEXT_ARG(config->db_name), TEXT_ARG(config->db_user), TEXT_ARG(config->db_socket));
    for (size_t i = 0; i < option_count; i++)
        fprintf(file, "<%s>%s</%s>", options[i].name, options[i].value, options[i].name);
    fprintf(file, "</config></boinc>\n");
    assert_int_equal(fclose(file), 0);
}

struct why_comparison *why_open(struct test_database *database, const struct why_option *options,
                                size_t option_count)
{
    struct why_comparison *comparison = calloc(1, sizeof *comparison);
    struct config *config = test_database_config(database);
    struct failure failure;

    assert_non_null(comparison);
    snprintf(comparison->project, sizeof comparison->project, "/tmp/qm-why.XXXXXX");
    assert_non_null(mkdtemp(comparison->project));
    for (size_t i = 0; i < option_count; i++)
        assert_status(STATUS_OK, config_set(config, text_from(options[i].name),
                                            text_from(options[i].value), &failure));
    config->project_dir_path = text_from(comparison->project);
    write_config(comparison, config, options, option_count);
    run("mkdir '%s/keys' && cp '%s/tests/integration/code_sign_public' '%s/keys'",
        comparison->project, getenv("QM_SOURCE_DIR"), comparison->project);
    serving_open(&comparison->serving, database);
    return comparison;
}

void why_write_file(const struct why_comparison *comparison, const char *folder, int number,
                    const char *content)
{
    run("mkdir -p '%s/%s' && printf '%s' > '%s/%s/%d'", comparison->project, folder, content,
        comparison->project, folder, number);
}

void why_read_project(struct why_comparison *comparison)
{
    struct failure failure;
    char folder[128];

    assert_null(comparison->arena);
    comparison->arena = arena_create(1 << 26);
    assert_status(STATUS_OK, project_plan_classes(comparison->serving.config,
                                                  &comparison->plan_classes, &failure));
    snprintf(folder, sizeof folder, "%s/buda_apps", comparison->project);
    assert_true(
        buda_files_read(folder, &comparison->plan_classes, comparison->arena, &comparison->buda));
    comparison->serving.plan_classes = &comparison->plan_classes;
    comparison->serving.buda = &comparison->buda;
}

void why_close(struct why_comparison *comparison)
{
    run("rm -rf '%s'", comparison->project);
    if (comparison->arena != NULL)
        plan_classes_free(&comparison->plan_classes);
    arena_destroy(comparison->arena);
    serving_close(&comparison->serving);
    free(comparison);
}

const char *why_project(const struct why_comparison *comparison)
{
    return comparison->project;
}

struct arena *why_arena(const struct why_comparison *comparison)
{
    return comparison->serving.arena;
}

bool why_was_told(const struct why_comparison *comparison, enum reason reason)
{
    return comparison->was_told[reason];
}

/* --- what qmctl says -------------------------------------------------------------------------- */

struct line {
    bool may_be_sent;
    char reason[40], words[BYTES];
};

struct said {
    struct line lines[LINES];
    size_t count;
    bool some;
};

static void ask_why(const struct why_comparison *comparison, int host, struct said *ret_said)
{
    char command[300], row[BYTES];
    FILE *from;

    *ret_said = (struct said){.count = 0};
    snprintf(command, sizeof command, "'%s/qmctl' why --project '%s' --tsv %d",
             getenv("QM_BINARY_DIR"), comparison->project, host);
    from = popen(command, "r");
    assert_non_null(from);
    while (fgets(row, sizeof row, from) != NULL) {
        struct text rest = text_trim(text_from(row)), cells[7];
        struct line *line = &ret_said->lines[ret_said->count];

        for (size_t i = 0; i < 7; i++)
            cells[i] = text_split(&rest, '\t');
        if (!text_is(cells[3], "no") && !text_is(cells[3], "may be"))
            continue;
        assert_true(ret_said->count < LINES);
        line->may_be_sent = text_is(cells[3], "may be");
        snprintf(line->reason, sizeof line->reason, TEXT_FORMAT, TEXT_ARG(cells[4]));
        snprintf(line->words, sizeof line->words, TEXT_FORMAT, TEXT_ARG(cells[6]));
        ret_said->some = ret_said->some || line->may_be_sent;
        ret_said->count++;
    }
    (void)pclose(from); /* 3: no job */
}

static bool says(const struct said *said, const char *reason, struct text words)
{
    for (size_t i = 0; i < said->count; i++)
        if (!said->lines[i].may_be_sent && strcmp(said->lines[i].reason, reason) == 0 &&
            (words.length == 0 || text_is(words, said->lines[i].words)))
            return true;
    return false;
}

/* The most useful reasons among the lines, as refusals_pick has them. Administrators see the jobs
 * of an application that is not in use any more beside others, volunteers only where there are no
 * others (source.c). */
static size_t reasons_of(const struct said *said, enum reason ret_reasons[REASONS_SAID_MAX])
{
    size_t count = 0;

    for (int i = 0; i < REASON_COUNT && count < REASONS_SAID_MAX; i++)
        if (!reason_is_silent((enum reason)i) && says(said, reason_word((enum reason)i), NO_TEXT) &&
            (i != REASON_APP_GONE || count == 0))
            ret_reasons[count++] = (enum reason)i;
    return count;
}

/* --- the comparison --------------------------------------------------------------------------- */

static bool is_told(struct why_comparison *comparison, const struct answer *answer,
                    const struct said *said)
{
    enum reason reasons[REASONS_SAID_MAX];
    size_t count = reasons_of(said, reasons), first = answer->message_count - answer->reason_count;

    if (answer->reason_count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        comparison->was_told[reasons[i]] = true;
    for (size_t i = 0; i < count; i++)
        if (answer->reasons[i] != reasons[i] ||
            !says(said, reason_word(reasons[i]),
                  marked_plain(comparison->serving.arena, answer->messages[first + i].text)))
            return false;
    return true;
}

static void show(int host, const struct answer *answer, const struct said *said, struct text body)
{
    print_error("host %d: %zu jobs\n", host, answer->job_count);
    for (size_t i = 0; i < answer->message_count; i++)
        print_error("  reply: " TEXT_FORMAT "\n", TEXT_ARG(answer->messages[i].text));
    for (size_t i = 0; i < said->count; i++)
        print_error("  why: %s %s\n", said->lines[i].reason, said->lines[i].words);
    print_error(TEXT_FORMAT "\n", TEXT_ARG(body));
}

void why_come(struct why_comparison *comparison, struct text request, double now)
{
    (void)serving_send(&comparison->serving, request, now, 1);
}

bool why_compare(struct why_comparison *comparison, int host, struct text request, double now)
{
    struct said said;
    const struct answer *answer;

    ask_why(comparison, host, &said);
    answer = serving_send(&comparison->serving, request, now, 1);
    if (said.some == (answer->job_count > 0) && (said.some || is_told(comparison, answer, &said)))
        return !said.some;
    show(host, answer, &said, request);
    assert_true(false);
    return false;
}
