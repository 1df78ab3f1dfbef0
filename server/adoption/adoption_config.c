/* SPDX-License-Identifier: Apache-2.0 */
/* config.xml as BOINC's start script and web pages read it: daemons, tasks and options of others.
 * Options of ours are config_load's affair. */
#include "config/config.h"
#include "server/adoption/adoption_parts.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/xml.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { CONFIG_BYTES_MAX = 4 * 1024 * 1024, CONFIG_DEPTH_MAX = 64, CONFIG_ELEMENTS_MAX = 100000 };

/* --- reading --------------------------------------------------------------------------------- */

/* Depths of <boinc>, its children, and theirs. */
enum { DEPTH_BOINC = 1, DEPTH_PART, DEPTH_ITEM, DEPTH_DETAIL };
enum part { PART_NONE, PART_CONFIG, PART_DAEMONS, PART_TASKS };

struct set_reading {
    struct arena *arena;
    struct adoption_set *set;
    struct buffer value;
    enum part part;
    int depth, line; /* line: on which the value began */
};

static enum status begin_item(struct set_reading *reading, int line)
{
    struct adoption_set *set = reading->set;

    reading->line = line;
    if (reading->part == PART_CONFIG) {
        if (set->element_count == ADOPTION_ELEMENTS_MAX)
            return STATUS_TOO_LARGE;
        set->elements[set->element_count].line = line;
    } else if (reading->part != PART_NONE) {
        if (set->program_count == ADOPTION_PROGRAMS_MAX)
            return STATUS_TOO_LARGE;
        set->programs[set->program_count] =
            (struct adoption_program){.is_task = reading->part == PART_TASKS, .line = line};
    }
    return STATUS_OK;
}

static enum status on_start(void *context, struct text name, int line)
{
    struct set_reading *reading = context;

    reading->depth++;
    if (reading->depth == DEPTH_PART)
        reading->part = text_is(name, "config")    ? PART_CONFIG
                        : text_is(name, "daemons") ? PART_DAEMONS
                        : text_is(name, "tasks")   ? PART_TASKS
                                                   : PART_NONE;
    if (reading->depth == DEPTH_ITEM || reading->depth == DEPTH_DETAIL)
        reading->value = buffer_in(reading->arena);
    return reading->depth == DEPTH_ITEM ? begin_item(reading, line) : STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct set_reading *reading = context;

    (void)line;
    if (reading->depth == DEPTH_ITEM || reading->depth == DEPTH_DETAIL)
        buffer_add(&reading->value, piece);
    return STATUS_OK;
}

/* An empty element is a flag that is set. */
static bool is_set(struct text value)
{
    int64_t number = 1;

    return value.length == 0 || !text_to_whole(value, &number) || number != 0;
}

static void end_detail(struct set_reading *reading, struct text name, struct text value)
{
    struct adoption_program *program = &reading->set->programs[reading->set->program_count];

    if (text_is(name, "cmd")) {
        program->command = value;
        program->name = adoption_program_name(value);
    } else if (text_is(name, "disabled")) {
        program->is_disabled = is_set(value);
    }
}

static enum status on_end(void *context, struct text name, int line)
{
    struct set_reading *reading = context;
    struct adoption_set *set = reading->set;
    int depth = reading->depth--;

    (void)line;
    if (depth == DEPTH_ITEM || depth == DEPTH_DETAIL)
        reading->value.length = config_unrepair(reading->value.at, reading->value.length);
    if (depth == DEPTH_DETAIL && (reading->part == PART_DAEMONS || reading->part == PART_TASKS))
        end_detail(reading, name,
                   text_copy(reading->arena, text_trim(buffer_text(&reading->value))));
    if (depth != DEPTH_ITEM)
        return STATUS_OK;
    if (reading->part == PART_CONFIG) {
        struct adoption_element *element = &set->elements[set->element_count++];

        element->name = text_copy(reading->arena, name);
        element->value = text_copy(reading->arena, text_trim(buffer_text(&reading->value)));
    } else if (reading->part != PART_NONE && set->programs[set->program_count].name.length > 0) {
        set->program_count++;
    }
    return STATUS_OK;
}

enum status adoption_set_read(struct arena *arena, struct text document,
                              struct adoption_set *ret_set, struct failure *failure)
{
    static const struct xml_limits limits = {.bytes_max = 6 * CONFIG_BYTES_MAX,
                                             .depth_max = CONFIG_DEPTH_MAX,
                                             .elements_max = CONFIG_ELEMENTS_MAX};
    struct set_reading reading = {.arena = arena, .set = ret_set};
    const struct xml_handler handler = {&reading, on_start, on_text, on_end};
    struct buffer repaired = buffer_on_heap(6 * CONFIG_BYTES_MAX);
    enum status status;

    *ret_set = (struct adoption_set){
        .programs = ARENA_ARRAY(arena, ADOPTION_PROGRAMS_MAX + 1, struct adoption_program),
        .elements = ARENA_ARRAY(arena, ADOPTION_ELEMENTS_MAX + 1, struct adoption_element)};
    config_repair(document, &repaired);
    if (ret_set->programs == NULL || ret_set->elements == NULL || repaired.overflowed)
        status = fail(failure, STATUS_NO_MEMORY, "config.xml: no memory");
    else
        status = xml_walk(buffer_text(&repaired), &limits, &handler, failure);
    if (status == STATUS_TOO_LARGE)
        (void)fail(failure, status, "config.xml: too many elements");
    buffer_free(&repaired);
    return status;
}

/* --- programs ----------------------------------------------------------------------------------
 */

/* "python" of "python2.7". */
static struct text without_version(struct text word)
{
    while (word.length > 0 &&
           (isdigit((unsigned char)word.at[word.length - 1]) || word.at[word.length - 1] == '.'))
        word.length--;
    return word;
}

/* What starts another program. */
static bool is_starter(struct text word)
{
    static const char *const starters[] = {"bash",   "chrt", "env",        "exec",   "ionice",
                                           "java",   "nice", "nohup",      "perl",   "php",
                                           "python", "ruby", "run_in_ops", "setsid", "sh",
                                           "stdbuf", "sudo", "taskset",    "timeout"};

    word = without_version(word);
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
        if (text_is(word, starters[i]))
            return true;
    return false;
}

static struct text without_folders(struct text word)
{
    for (size_t i = word.length; i > 0; i--)
        if (word.at[i - 1] == '/')
            return (struct text){word.at + i, word.length - i};
    return word;
}

struct text adoption_program_name(struct text command)
{
    struct text rest = command, last = NO_TEXT;
    int64_t number;

    while (rest.length > 0) {
        struct text word = without_folders(text_trim(text_split(&rest, ' ')));

        if (word.length == 0 || word.at[0] == '-' || text_contains(word, TEXT("=")) ||
            text_to_i64(word, &number))
            continue;
        last = word;
        if (!is_starter(word))
            break;
    }
    return last;
}

enum adoption_fate adoption_fate_of(struct text name, const char **ret_why)
{
    static const struct {
        const char *pattern;
        enum adoption_fate fate;
        const char *why;
    } rows[] = {
#define PROGRAM(pattern, fate, why) {pattern, FATE_##fate, why},
#include "server/adoption/adoption_programs.def"
#undef PROGRAM
    };
    char string[256];

    *ret_why = "";
    if (name.length >= sizeof(string))
        return FATE_COUNT;
    if (name.length > 0)
        memcpy(string, name.at, name.length);
    string[name.length] = '\0';
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (fnmatch(rows[i].pattern, string, 0) == 0) {
            *ret_why = rows[i].why;
            return rows[i].fate;
        }
    }
    return FATE_COUNT;
}

static const char *line_of(struct adoption_view *view, int line)
{
    return text_string(view->arena, text_print(view->arena, "config.xml:%d", line));
}

/* Options of the feeder that decided which jobs went out, or in which order. It takes them with one
 * dash or two. */
static const struct {
    const char *name, *becomes;
} feeder_options[] = {
    {"allapps", "gives each app slots by its weight; use <stream>app NAME WEIGHT</stream> instead"},
    {"appids", "leaves jobs out; every server here hands out all"},
    {"by_batch", "takes batches in turns; use <stream>batch ID WEIGHT</stream> instead"},
    {"mod", "leaves jobs out; every server here hands out all"},
    {"priority_asc", "takes the lowest priority first; here the highest goes first"},
    {"purge_stale", "forgets jobs that nobody took; here an unsent job is always on offer"},
    {"random_order", "shuffles the jobs; here the priority and then the number decide"},
    {"random_order_db", "shuffles the jobs; here the priority and then the number decide"},
    {"wmod", "leaves jobs out; every server here hands out all"},
};

const char *adoption_feeder_option(struct text word)
{
    while (text_starts(word, TEXT("-")))
        word = (struct text){word.at + 1, word.length - 1};
    for (size_t i = 0; i < sizeof(feeder_options) / sizeof(feeder_options[0]); i++)
        if (text_is(word, feeder_options[i].name))
            return feeder_options[i].becomes;
    return NULL;
}

static void judge_feeder(struct adoption_view *view, const struct adoption_program *program)
{
    struct text rest = program->command;

    while (rest.length > 0) {
        struct text word = text_trim(text_split(&rest, ' '));
        const char *becomes = text_starts(word, TEXT("-")) ? adoption_feeder_option(word) : NULL;

        if (becomes != NULL)
            adoption_found(view, ADOPTION_NOTE, "programs", line_of(view, program->line),
                           "feeder " TEXT_FORMAT " %s", TEXT_ARG(word), becomes);
    }
}

static void judge_program(struct adoption_view *view, const struct adoption_program *program)
{
    const char *where = line_of(view, program->line);
    const char *kind = program->is_task ? "task" : "daemon";
    const char *why;
    enum adoption_fate fate = adoption_fate_of(program->name, &why);

    if (fate == FATE_STOPS && program->is_disabled)
        adoption_found(view, ADOPTION_OK, "programs", where,
                       TEXT_FORMAT " is disabled, and must stay disabled", TEXT_ARG(program->name));
    else if (fate == FATE_STOPS)
        adoption_found(view, ADOPTION_WARNING, "programs", where,
                       TEXT_FORMAT " must be stopped at the switch, by <disabled>1</disabled>: %s",
                       TEXT_ARG(program->name), why);
    else if (program->is_disabled)
        adoption_found(view, ADOPTION_OK, "programs", where, "%s " TEXT_FORMAT " is disabled", kind,
                       TEXT_ARG(program->name));
    else if (fate == FATE_STAYS)
        adoption_found(view, ADOPTION_OK, "programs", where, "%s " TEXT_FORMAT " keeps running: %s",
                       kind, TEXT_ARG(program->name), why);
    else if (fate == FATE_IDLE)
        adoption_found(view, ADOPTION_NOTE, "programs", where,
                       "%s " TEXT_FORMAT " no longer serves a purpose: %s", kind,
                       TEXT_ARG(program->name), why);
    else
        adoption_found(view, ADOPTION_NOTE, "programs", where,
                       "%s " TEXT_FORMAT
                       " is unknown: it may keep running if it uses the database and files, "
                       "but not if it reads the feeder's shared memory",
                       kind, TEXT_ARG(program->name));
    if (text_is(program->name, "feeder"))
        judge_feeder(view, program);
}

void adoption_look_at_programs(struct adoption_view *view)
{
    bool has_transitioner = false;

    for (size_t i = 0; i < view->set->program_count; i++) {
        const struct adoption_program *program = &view->set->programs[i];

        judge_program(view, program);
        has_transitioner =
            has_transitioner || (!program->is_disabled && text_is(program->name, "transitioner"));
        view->has_trickles = view->has_trickles || text_contains(program->name, TEXT("trickle")) ||
                             text_is(program->name, "message_handler");
    }
    if (!has_transitioner)
        adoption_found(
            view, ADOPTION_WARNING, "programs", "config.xml",
            "no daemon is BOINC's transitioner: unless it runs elsewhere, jobs that time out get "
            "no new results without qmctl transition --loop 10");
}

/* --- options that nobody reads any more ------------------------------------------------------ */

static const char *why_foreign(const char *name)
{
    static const struct {
        const char *pattern, *why;
    } rows[] = {
#define FOREIGN(pattern, why) {pattern, why},
#include "server/adoption/adoption_options.def"
#undef FOREIGN
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (fnmatch(rows[i].pattern, name, 0) == 0)
            return rows[i].why;
    return NULL;
}

/* Hosts that are known keep what they have. */
static void look_at_quota(struct adoption_view *view)
{
    const struct config *config = view->config;

    if (config->untried_quota > 0 && config->daily_result_quota > config->untried_quota)
        adoption_found(view, ADOPTION_NOTE, "options",
                       config_place(config, "daily_result_quota", view->arena),
                       "a host begins with " COUNT_FORMAT
                       " a day and processor, which successes double up to this: with "
                       "<untried_quota>0</untried_quota> it begins with this number, as in "
                       "BOINC",
                       COUNT_ARG(config->untried_quota, "job"));
}

void adoption_look_at_options(struct adoption_view *view)
{
    look_at_quota(view);
    for (size_t i = 0; i < view->set->element_count; i++) {
        const struct adoption_element *element = &view->set->elements[i];
        const char *why = why_foreign(text_string(view->arena, element->name));

        if (why != NULL && is_set(element->value))
            adoption_found(view, ADOPTION_NOTE, "options", line_of(view, element->line),
                           TEXT_FORMAT " is not read: %s", TEXT_ARG(element->name), why);
    }
}

/* --- adding one ---------------------------------------------------------------------------- */

/* Where </config> begins outside of comments; the length: nowhere. */
static size_t end_of_config(struct text document)
{
    size_t at = 0;

    while (at < document.length) {
        struct text rest = {document.at + at, document.length - at};

        if (text_starts(rest, TEXT("<!--")))
            at += text_find(rest, TEXT("-->"));
        else if (text_starts(rest, TEXT("</config>")))
            return at;
        else
            at++;
    }
    return document.length;
}

struct text adoption_document_with(struct arena *arena, struct text document, const char *option,
                                   const char *value)
{
    struct buffer buffer = buffer_in(arena);
    size_t end = end_of_config(document), begin = end;
    bool has_line; /* of its own */

    if (end == document.length)
        return NO_TEXT;
    while (begin > 0 && (document.at[begin - 1] == ' ' || document.at[begin - 1] == '\t'))
        begin--;
    has_line = begin > 0 && document.at[begin - 1] == '\n';
    if (!has_line)
        begin = end;
    buffer_add(&buffer, text_first(document, begin));
    if (!has_line)
        buffer_add_char(&buffer, '\n');
    buffer_add_element(&buffer, 8, option, text_from(value));
    buffer_add(&buffer, (struct text){document.at + begin, document.length - begin});
    return buffer_text(&buffer);
}

/* Somebody else may have added it since it was looked for. */
static bool has_option(struct arena *arena, struct text document, const char *option,
                       const char *value)
{
    struct adoption_set set;

    if (adoption_set_read(arena, document, &set, NULL) != STATUS_OK)
        return false;
    for (size_t i = 0; i < set.element_count; i++)
        if (text_is(set.elements[i].name, option) && text_is(set.elements[i].value, value))
            return true;
    return false;
}

enum status adoption_add_option(const char *dir, struct arena *arena, const char *option,
                                const char *value, struct failure *failure)
{
    const char *path = text_string(arena, text_print(arena, "%s/config.xml", dir));
    char *real = realpath(path, NULL); /* a link stays one */
    struct text document, changed;
    struct stat before, after;
    enum status status;

    if (real == NULL || stat(real, &before) != 0) {
        free(real);
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    }
    status = file_read(arena, real, CONFIG_BYTES_MAX, &document, failure);
    if (status == STATUS_OK && has_option(arena, document, option, value)) {
        free(real);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        changed = adoption_document_with(arena, document, option, value);
        if (changed.length == 0)
            status = fail(failure, STATUS_INVALID, "%s: there is no </config>", path);
    }
    if (status == STATUS_OK)
        status = file_write(real, changed, before.st_mode & 07777, failure);
    /* Of root the file would be unreadable for whoever it belonged to. */
    if (status == STATUS_OK && stat(real, &after) == 0 &&
        (after.st_uid != before.st_uid || after.st_gid != before.st_gid) &&
        chown(real, before.st_uid, before.st_gid) != 0)
        status = fail(failure, STATUS_IO,
                      "%s: it belonged to another user, and its owner cannot be restored: %s", path,
                      strerror(errno));
    free(real);
    return status;
}
