/* SPDX-License-Identifier: Apache-2.0 */
/* The lines are those that BOINC's create_work reads from its standard input, so that existing
 * scripts go on working; what is not understood is an error and not a file name. */
#include "server/submit/job_line.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/project/hierarchy.h"

#include <string.h>

#include "server/base/banned.h"

#define SHOWN_MAX 60

struct line_words {
    struct text *items;
    size_t count;
    size_t next;
};

/* A word ends at a blank outside of quotes; the quotes themselves are not part of it. */
static enum status read_word(struct arena *arena, struct text *rest, struct text *ret_word,
                             struct failure *failure)
{
    char *word = arena_alloc(arena, rest->length + 1);
    size_t length = 0, i = 0;
    char quote = '\0';
    if (word == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    for (; i < rest->length; i++) {
        char c = rest->at[i];
        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\r'))
            break;
        if (quote == '\0' && (c == '"' || c == '\''))
            quote = c;
        else if (c == quote)
            quote = '\0';
        else
            word[length++] = c;
    }
    if (quote != '\0')
        return fail(failure, STATUS_INVALID, "a %c is not closed", quote);
    *ret_word = (struct text){word, length};
    *rest = (struct text){rest->at + i, rest->length - i};
    return STATUS_OK;
}

static enum status split_words(struct arena *arena, struct text line, struct line_words *ret_words,
                               struct failure *failure)
{
    struct text items[JOB_LINE_MAX / 2 + 1];
    size_t count = 0;
    for (line = text_trim(line); line.length > 0; line = text_trim(line)) {
        enum status status = read_word(arena, &line, &items[count], failure);
        if (status != STATUS_OK)
            return status;
        count++;
    }
    *ret_words =
        (struct line_words){.items = ARENA_ARRAY(arena, count + 1, struct text), .count = count};
    if (ret_words->items == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    memcpy(ret_words->items, items, count * sizeof items[0]);
    return STATUS_OK;
}

static enum status next_value(struct line_words *words, struct text option, struct text *ret_value,
                              struct failure *failure)
{
    if (words->next == words->count)
        return fail(failure, STATUS_INVALID, "%.*s needs a value",
                    TEXT_ARG(text_first(option, SHOWN_MAX)));
    *ret_value = words->items[words->next++];
    return STATUS_OK;
}

enum status job_remote_file_read(struct text url, struct text bytes, struct text md5,
                                 struct job_argument *ret_file, struct failure *failure)
{
    int64_t number;
    if (!text_to_whole(bytes, &number) || number <= 0)
        return fail(failure, STATUS_INVALID, "remote_file: the size is not a whole number above 0");
    if (!text_is_lower_hex(md5, MD5_HEX_SIZE - 1))
        return fail(failure, STATUS_INVALID,
                    "remote_file: the MD5 is not 32 lower-case hex digits");
    if (url_fault(url) != NULL)
        return fail(failure, STATUS_INVALID, "remote_file: the URL %s", url_fault(url));
    *ret_file = (struct job_argument){.remote_url = url, .md5 = md5, .bytes = number};
    return STATUS_OK;
}

static enum status read_remote_file(struct line_words *words, struct text option,
                                    struct job_argument *ret_file, struct failure *failure)
{
    struct text parts[3];
    for (int i = 0; i < 3; i++) {
        enum status status = next_value(words, option, &parts[i], failure);
        if (status != STATUS_OK)
            return status;
    }
    return job_remote_file_read(parts[0], parts[1], parts[2], ret_file, failure);
}

static enum status add_file(struct job_line *line, struct job_argument file,
                            struct failure *failure)
{
    if (line->file_count == JOB_FILES_MAX)
        return fail(failure, STATUS_TOO_LARGE, "more than %d files", JOB_FILES_MAX);
    line->files[line->file_count++] = file;
    return STATUS_OK;
}

static enum status read_option(struct line_words *words, struct text word, struct job_line *line,
                               struct failure *failure)
{
    struct text name = {word.at + 1, word.length - 1};
    struct text value;
    if (text_starts(name, TEXT("-")))
        name = (struct text){name.at + 1, name.length - 1};
    if (text_is(name, "remote_file")) {
        struct job_argument file;
        enum status status = read_remote_file(words, word, &file, failure);
        return status == STATUS_OK ? add_file(line, file, failure) : status;
    }
    const struct {
        const char *name;
        struct text *value;
    } options[] = {{"wu_name", &line->wu_name},
                   {"wu_template", &line->wu_template},
                   {"result_template", &line->result_template},
                   {"command_line", &line->command_line}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (text_is(name, options[i].name))
            return next_value(words, word, options[i].value, failure);
    if (!text_is(name, "priority"))
        return fail(failure, STATUS_INVALID, "%.*s is not an option of a job's line",
                    TEXT_ARG(text_first(word, SHOWN_MAX)));
    enum status status = next_value(words, word, &value, failure);
    if (status != STATUS_OK)
        return status;
    if (!text_to_whole(value, &line->priority) || line->priority > INT32_MAX ||
        line->priority < INT32_MIN)
        return fail(failure, STATUS_INVALID, "priority: not a whole number of 32 bits");
    line->has_priority = true;
    return STATUS_OK;
}

enum status job_line_read(struct arena *arena, struct text text, struct job_line *ret_line,
                          struct failure *failure)
{
    struct line_words words;
    struct job_line line = {.has_priority = false};
    if (text.length > JOB_LINE_MAX)
        return fail(failure, STATUS_TOO_LARGE, "more than %d bytes", JOB_LINE_MAX);
    enum status status = split_words(arena, text, &words, failure);
    if (status != STATUS_OK)
        return status;
    line.files = ARENA_ARRAY(arena, words.count < JOB_FILES_MAX ? words.count : JOB_FILES_MAX,
                             struct job_argument);
    if (line.files == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    while (words.next < words.count && status == STATUS_OK) {
        struct text word = words.items[words.next++];
        if (text_starts(word, TEXT("-")))
            status = read_option(&words, word, &line, failure);
        else
            status = add_file(&line, (struct job_argument){.name = word}, failure);
    }
    if (status == STATUS_OK)
        *ret_line = line;
    return status;
}
