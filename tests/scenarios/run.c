/* SPDX-License-Identifier: Apache-2.0 */
/* Tells one scenario: reads its text line by line and drives the request room in this process, on a
 * schema of its own in the private database, in virtual time. README.md has the language. Each
 * command is a row of a table; this file holds what they have in common: lines, loops, and the one
 * way to fail. What stands in a line is the matter of words.c. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/xml.h"
#include "tests/scenarios/story.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum { LINES_FIRST = 256, INCLUDES_MAX = 4, CAPTURES_MAX = 1000 };

_Noreturn void story_fail(struct story *story, const char *format, ...)
{
    const struct line *line = &story->lines[story->at];
    va_list arguments;

    fprintf(stderr, "%s:%d: ", line->file, line->number);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n    " TEXT_FORMAT "\n", TEXT_ARG(line->text));
    for (const struct variable *variable = story->variables; variable != NULL;
         variable = variable->next)
        fprintf(stderr, "    $" TEXT_FORMAT " = " TEXT_FORMAT "\n", TEXT_ARG(variable->name),
                TEXT_ARG(variable->value));
    if (story->reply.length > 0)
        fprintf(stderr, "the last reply (to request %lld):\n" TEXT_FORMAT "\n",
                (long long)story->sends, TEXT_ARG(story->reply));
    world_close(story);
    exit(EXIT_FAILURE);
}

double story_number(struct story *story, struct text word)
{
    double number;

    if (!text_to_real(word, &number))
        story_fail(story, "\"" TEXT_FORMAT "\" is no number", TEXT_ARG(word));
    return number;
}

int64_t story_integer(struct story *story, struct text word)
{
    int64_t number;

    if (!text_to_i64(word, &number))
        story_fail(story, "\"" TEXT_FORMAT "\" is no integer", TEXT_ARG(word));
    return number;
}

/* --- lines -------------------------------------------------------------------------------- */

static void add_line(struct story *story, const char *file, int number, struct text text)
{
    if (story->line_count == story->line_capacity) {
        story->line_capacity = story->line_capacity == 0 ? LINES_FIRST : 2 * story->line_capacity;
        story->lines = realloc(story->lines, story->line_capacity * sizeof *story->lines);
    }
    story->lines[story->line_count++] = (struct line){.file = file, .number = number, .text = text};
}

/* Reads a file; a line "include NAME" takes in another one of the same folder. */
static void read_lines(struct story *story, const char *path, int depth)
{
    struct text text, folder = text_from(path);
    struct failure failure = {0};
    int number = 0;

    while (folder.length > 0 && folder.at[folder.length - 1] != '/')
        folder.length--;
    if (depth > INCLUDES_MAX ||
        file_read(story->arena, path, (size_t)1 << 20, &text, &failure) != STATUS_OK) {
        fprintf(stderr, "%s: %s\n", path,
                depth > INCLUDES_MAX ? "included too deep" : failure.text);
        exit(EXIT_FAILURE);
    }
    while (text.length > 0) {
        struct text line = text_split(&text, '\n');
        number++;
        if (text_starts(line, TEXT("include "))) {
            struct text name =
                text_trim((struct text){.at = line.at + 8, .length = line.length - 8});
            read_lines(story,
                       text_string(story->arena, text_print(story->arena, TEXT_FORMAT TEXT_FORMAT,
                                                            TEXT_ARG(folder), TEXT_ARG(name))),
                       depth + 1);
        } else {
            add_line(story, path, number, line);
        }
    }
}

/* --- commands about the story itself -------------------------------------------------------- */

static void tell_now(struct story *story, const struct words *words)
{
    struct tm time = {0};
    const char *string = words->count > 0 ? text_string(story->arena, words->items[0]) : "";
    const char *end = strptime(string, "%Y-%m-%dT%H:%M:%SZ", &time);

    if (end == NULL || *end != '\0')
        story_fail(story, "a time is written 2026-01-05T00:00:00Z");
    story->now = (double)timegm(&time);
    story_set(story, TEXT("now"), text_print(story->arena, "%.0f", story->now));
}

/* 90, 90s, 5m, 2h, 3d in seconds. */
static double read_span(struct story *story, struct text word)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word.length > 1 && word.at[word.length - 1] == units[i].unit)
            return story_number(story, text_first(word, word.length - 1)) * units[i].seconds;
    return story_number(story, word);
}

static void tell_pass(struct story *story, const struct words *words)
{
    if (words->count != 1)
        story_fail(story, "pass SPAN");
    story->now += read_span(story, words->items[0]);
    story_set(story, TEXT("now"), text_print(story->arena, "%.0f", story->now));
}

/* let NAME = element PATH | sql SELECT ... | now SPAN | text VALUE */
static void tell_let(struct story *story, const struct words *words)
{
    if (words->count < 4 || !text_is(words->items[1], "="))
        story_fail(story, "let NAME = element PATH | sql SELECT ... | now SPAN | text VALUE");
    struct text name = words->items[0], how = words->items[2], what = words->items[3];
    if (text_is(how, "element")) {
        const struct reply_element *element = reply_at(story, what);
        if (element == NULL)
            story_fail(story, "the reply has no such element");
        story_set(story, name, element->text);
    } else if (text_is(how, "sql")) {
        size_t at = text_find(words->rest, TEXT("sql"));
        story_set(story, name,
                  world_ask(story, (struct text){.at = words->rest.at + at + 3,
                                                 .length = words->rest.length - at - 3}));
    } else if (text_is(how, "now")) {
        story_set(story, name,
                  text_print(story->arena, "%.0f", story->now + read_span(story, what)));
    } else if (text_is(how, "text")) {
        story_set(story, name, what);
    } else {
        story_fail(story, "let knows element, sql, now and text");
    }
}

/* request, then the lines of the body, then a line "end". */
static void tell_request(struct story *story, const struct words *words)
{
    struct buffer body = buffer_in(story->arena);

    (void)words;
    for (story->at++; story->at < story->line_count; story->at++) {
        struct text line = story->lines[story->at].text;
        if (text_is(text_trim(line), "end")) {
            story->body = buffer_text(&body);
            return;
        }
        buffer_add(&body, story_fill_in(story, line));
        buffer_add_char(&body, '\n');
    }
    story->at--;
    story_fail(story, "request without end");
}

static void tell_stop(struct story *story, const struct words *words)
{
    story->stop_sched = words->count == 1 && text_is(words->items[0], "on");
}

static void tell_database(struct story *story, const struct words *words)
{
    story->database_is_away = words->count == 1 && text_is(words->items[0], "away");
    if (!story->database_is_away && (words->count != 1 || !text_is(words->items[0], "back")))
        story_fail(story, "database away, or back");
    story->database_away_since = story->now;
}

static void tell_each(struct story *story, const struct words *words);

static const struct {
    const char *name;
    story_command *run;
} commands[] = {
    {"now", tell_now},
    {"pass", tell_pass},
    {"let", tell_let},
    {"each", tell_each},
    {"request", tell_request},
    {"stop_sched", tell_stop},
    {"database", tell_database},
    {"file_database", world_file_database},
    {"config", world_config},
    {"rows", world_rows},
    {"jobs", world_jobs},
    {"limit", world_limit},
    {"plan_class", world_plan_class},
    {"buda_file", world_buda_file},
    {"sql", world_sql},
    {"meanwhile", world_meanwhile},
    {"key", world_key},
    {"old_key", world_old_key},
    {"capture", send_capture},
    {"element", send_element},
    {"without", send_without},
    {"add", send_add},
    {"replace", send_replace},
    {"client", send_client},
    {"send", send_now},
    {"expect", expect_anything},
};

static void tell_line(struct story *story)
{
    struct text line = text_trim(story->lines[story->at].text);
    struct words words = {0};

    if (line.length == 0 || line.at[0] == '#')
        return;
    story_split(story, story_fill_in(story, line), &words);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (words.count > 0 && text_is(words.items[0], commands[i].name)) {
            words.items++;
            words.count--;
            commands[i].run(story, &words);
            return;
        }
    story_fail(story, "no such command");
}

/* Tells the lines from the present one up to (not including) `end`. */
static void tell_lines(struct story *story, size_t end)
{
    for (; story->at < end; story->at++)
        tell_line(story);
}

static int by_name(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* The names of all captures, without .xml. */
static void list_captures(struct story *story, struct words *ret_words)
{
    struct text *names = ARENA_ARRAY(story->arena, CAPTURES_MAX, struct text);
    DIR *folder = opendir("tests/captures");
    struct dirent *entry;
    size_t count = 0;

    if (folder == NULL)
        story_fail(story, "tests/captures is not here");
    while ((entry = readdir(folder)) != NULL && count < CAPTURES_MAX) {
        struct text name = text_from(entry->d_name);
        if (text_ends(name, TEXT(".xml")))
            names[count++] = text_copy(story->arena, text_first(name, name.length - 4));
    }
    closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    *ret_words = (struct words){.items = names, .count = count};
}

/* each NAME in WORD ... (or: in captures), then lines, then a line "done". */
static void tell_each(struct story *story, const struct words *words)
{
    size_t begin = story->at + 1, end = begin;
    struct words items = {.items = words->items + 2, .count = words->count - 2};

    if (words->count < 3 || !text_is(words->items[1], "in"))
        story_fail(story, "each NAME in WORD ...");
    while (end < story->line_count && !text_is(text_trim(story->lines[end].text), "done"))
        end++;
    if (end == story->line_count)
        story_fail(story, "each without done");
    if (items.count == 1 && text_is(items.items[0], "captures"))
        list_captures(story, &items);
    for (size_t i = 0; i < items.count; i++) {
        story_set(story, words->items[0], items.items[i]);
        story->at = begin;
        tell_lines(story, end);
    }
    story->at = end;
}

int main(int argc, char **argv)
{
    struct story story = {.arena = arena_create((size_t)1 << 30), .sequence = 1};

    if (argc != 2) {
        fprintf(stderr, "Usage: scenario FILE\n");
        return EXIT_FAILURE;
    }
    xml_startup();
    log_set_level(LOG_LEVEL_CRITICAL);
    read_lines(&story, argv[1], 0);
    world_open(&story);
    tell_lines(&story, story.line_count);
    if (story.sends == 0) {
        story.at = story.line_count - 1;
        story_fail(&story, "the scenario sends nothing");
    }
    world_close(&story);
    arena_destroy(story.arena);
    free(story.lines);
    xml_shutdown();
    return EXIT_SUCCESS;
}
