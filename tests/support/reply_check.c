/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of replies. It knows nothing of how they are written: it has the rules of the oldest
 * and the newest readers, line by line and tag by tag. */
#include "tests/support/reply_check.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/parse/client_age.h"

#include <string.h>

#include "server/base/banned.h"

enum {
    LINE_MAX_OLD = 255,       /* with the newline */
    LINE_MAX_WORKUNIT = 4095, /* of a workunit's own lines */
    LINE_MAX_NAME = 4095      /* of a name or command line, for readers that do not read lines */
};

/* Blocks whose content is not ours: tags may stand in it as they like. */
static const char *const raw_blocks[] = {"global_preferences",
                                         "project_preferences",
                                         "gui_urls",
                                         "code_sign_key",
                                         "code_sign_key_signature",
                                         "project_files",
                                         "rss_feeds",
                                         "trickle_down",
                                         "file_info"};

struct reading {
    struct arena *arena;
    struct reply_element *root, *current;
};

static enum status on_start(void *context, struct text name, int line)
{
    struct reading *reading = context;
    struct reply_element *element = ARENA_NEW(reading->arena, struct reply_element);

    (void)line;
    if (element == NULL)
        return STATUS_TOO_LARGE;
    element->name = text_copy(reading->arena, name);
    element->parent = reading->current;
    if (reading->current == NULL)
        reading->root = element;
    else if (reading->current->last == NULL)
        reading->current->first = element;
    else
        reading->current->last->next = element;
    if (reading->current != NULL)
        reading->current->last = element;
    reading->current = element;
    return STATUS_OK;
}

/* &#N; of the wire is one byte; an XML parser makes a character of it. */
static struct text bytes_of(struct arena *arena, struct text text)
{
    char *bytes = arena_alloc(arena, text.length);
    size_t length = 0;

    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if ((c == 0xC2 || c == 0xC3) && i + 1 < text.length) {
            unsigned char next = (unsigned char)text.at[++i];
            c = (unsigned char)((c & 3) << 6 | (next & 0x3F));
        }
        bytes[length++] = (char)c;
    }
    return (struct text){.at = bytes, .length = length};
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct reading *reading = context;
    struct reply_element *element = reading->current;

    (void)line;
    if (element == NULL)
        return STATUS_OK;
    struct buffer joined = buffer_in(reading->arena);
    buffer_add(&joined, element->text);
    buffer_add(&joined, piece);
    element->text = buffer_text(&joined);
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct reading *reading = context;

    (void)name;
    (void)line;
    reading->current->text = text_trim(bytes_of(reading->arena, reading->current->text));
    reading->current = reading->current->parent;
    return STATUS_OK;
}

/* Whether an & begins a reference that clients decode: &lt; &gt; &amp; or &#N; below 256. */
static bool is_reference(struct text rest)
{
    int64_t number;

    if (text_starts(rest, TEXT("&lt;")) || text_starts(rest, TEXT("&gt;")) ||
        text_starts(rest, TEXT("&amp;")))
        return true;
    if (!text_starts(rest, TEXT("&#")))
        return false;
    rest = (struct text){.at = rest.at + 2, .length = rest.length - 2};
    rest = text_first(rest, text_find(rest, TEXT(";")));
    return text_to_i64(rest, &number) &&
           (number >= ' ' || number == 9 || number == 10 || number == 13) && number < 256;
}

/* A strict parser wants more than clients do: bare & and bytes that are no UTF-8 are let pass. */
static struct text as_strict(struct arena *arena, struct text reply)
{
    char *copy = arena_alloc(arena, reply.length);

    memcpy(copy, reply.at, reply.length);
    for (size_t i = 0; i < reply.length; i++) {
        struct text rest = {.at = reply.at + i, .length = reply.length - i};
        if ((unsigned char)copy[i] > 127)
            copy[i] = '?';
        if (copy[i] == '&' && !is_reference(rest))
            copy[i] = '+';
    }
    return (struct text){.at = copy, .length = reply.length};
}

static bool begins_block(struct text line, const char *name, bool at_end)
{
    struct text rest = text_trim(line);

    if (!text_starts(rest, at_end ? TEXT("</") : TEXT("<")))
        return false;
    rest =
        (struct text){.at = rest.at + (at_end ? 2 : 1), .length = rest.length - (at_end ? 2 : 1)};
    return rest.length == strlen(name) + 1 && text_starts(rest, text_from(name)) &&
           rest.at[rest.length - 1] == '>';
}

/* One of <x/>, <x>, </x>, <x>text</x>; the message may have its priority. */
static bool is_one_element(struct text line)
{
    size_t tags = 0;

    line = text_trim(line);
    if (text_starts(line, TEXT("<message priority=\"")))
        return text_ends(line, TEXT("</message>"));
    if (line.length < 3 || line.at[0] != '<' || line.at[line.length - 1] != '>')
        return false;
    for (size_t i = 0; i < line.length; i++)
        tags += line.at[i] == '<';
    if (memchr(line.at, '=', text_find(line, TEXT(">"))) != NULL)
        return false; /* an attribute */
    if (tags == 1)
        return true;
    size_t name_end = text_find(line, TEXT(">"));
    struct text end = {.at = line.at + text_find(line, TEXT("</")),
                       .length = line.length - text_find(line, TEXT("</"))};
    return tags == 2 && end.length == name_end + 2 &&
           memcmp(end.at + 2, line.at + 1, name_end) == 0;
}

static bool is_name_line(struct text line)
{
    static const char *const names[] = {"<name>", "<wu_name>", "<app_name>", "<cmdline>",
                                        "<delete_file_info>"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_starts(line, text_from(names[i])))
            return true;
    return false;
}

/* A Manager that finds the end of a mark before its begin, or none, reads it for ever; clients that
 * know no marks show them. */
static bool marks_are_balanced(struct text line, int64_t version)
{
    bool is_open = false;

    for (size_t i = 0; i < line.length; i++) {
        struct text rest = {.at = line.at + i, .length = line.length - i};
        bool begins = text_starts(rest, TEXT("_(\""));

        if (!begins && !text_starts(rest, TEXT("\")")))
            continue;
        if (begins == is_open || version < CLIENT_READS_MARKS)
            return false;
        is_open = begins;
    }
    return !is_open;
}

static const char *find_layout_fault(struct arena *arena, struct text reply, int64_t version)
{
    const char *block = NULL;
    bool in_job = false, in_workunit = false;
    size_t messages = 0;
    struct text rest = reply;

    if (memchr(reply.at, '\0', reply.length) != NULL)
        return "a NUL byte";
    if (!text_starts(reply, TEXT("<scheduler_reply>\n")))
        return "the first line is not <scheduler_reply>";
    if (!text_ends(reply, TEXT("</scheduler_reply>\n")))
        return "the last line is not </scheduler_reply>";
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');
        size_t most = in_workunit ? LINE_MAX_WORKUNIT : LINE_MAX_OLD;

        if (version >= CLIENT_READS_XML && is_name_line(line))
            most = LINE_MAX_NAME;
        if (line.length + 1 > most)
            return text_string(arena, text_print(arena, "a line of %zu bytes: " TEXT_FORMAT,
                                                 line.length + 1, TEXT_ARG(line)));
        in_workunit = (in_workunit || begins_block(line, "workunit", false)) &&
                      !begins_block(line, "workunit", true);
        in_job =
            (in_job || begins_block(line, "workunit", false) ||
             begins_block(line, "result", false) || begins_block(line, "app_version", false)) &&
            !begins_block(line, "workunit", true) && !begins_block(line, "result", true) &&
            !begins_block(line, "app_version", true);
        if (block != NULL) {
            if (begins_block(line, block, true))
                block = NULL;
            continue;
        }
        for (size_t i = 0; i < sizeof raw_blocks / sizeof *raw_blocks; i++)
            if (begins_block(line, raw_blocks[i], false))
                block = raw_blocks[i];
        if (text_starts(line, TEXT("<message ")) && !marks_are_balanced(line, version))
            return text_string(arena, text_print(arena, "marks without begin or end: " TEXT_FORMAT,
                                                 TEXT_ARG(line)));
        if (begins_block(line, "sporadic", false) || begins_block(line, "sporadic/", false))
            return "sporadic: clients would forget what an app is"; /* at each reply without it */
        messages += text_starts(line, TEXT("<message "));
        if (!in_job && line.length > 0 && !is_one_element(line))
            return text_string(arena, text_print(arena, "not one element on a line: " TEXT_FORMAT,
                                                 TEXT_ARG(line)));
    }
    if (version < CLIENT_READS_MESSAGES && messages > 1)
        return "more than one message for a client that keeps the last one";
    return NULL;
}

const struct reply_element *reply_read(struct arena *arena, struct text reply, int64_t version,
                                       const char **ret_fault)
{
    const struct xml_limits limits = {
        .bytes_max = (size_t)1 << 28, .depth_max = 100, .elements_max = 10000000};
    struct reading reading = {.arena = arena};
    const struct xml_handler handler = {
        .context = &reading, .start = on_start, .text = on_text, .end = on_end};
    struct failure *failure = ARENA_NEW(arena, struct failure);

    *ret_fault = reply.length == 0 ? "empty" : find_layout_fault(arena, reply, version);
    if (*ret_fault != NULL)
        return NULL;
    if (xml_walk(as_strict(arena, reply), &limits, &handler, failure) != STATUS_OK) {
        *ret_fault = failure->text;
        return NULL;
    }
    for (const struct reply_element *status = reply_child(reading.root, "rsc_status");
         status != NULL; status = reply_again(status))
        if (!text_contains(status->text, TEXT(" "))) {
            *ret_fault = "rsc_status of one word";
            return NULL;
        }
    return reading.root;
}

const struct reply_element *reply_child(const struct reply_element *parent, const char *name)
{
    for (const struct reply_element *child = parent->first; child != NULL; child = child->next)
        if (text_is(child->name, name))
            return child;
    return NULL;
}

const struct reply_element *reply_again(const struct reply_element *element)
{
    for (const struct reply_element *next = element->next; next != NULL; next = next->next)
        if (text_equal(next->name, element->name))
            return next;
    return NULL;
}

size_t reply_children(const struct reply_element *parent, const char *name)
{
    size_t count = 0;

    for (const struct reply_element *child = reply_child(parent, name); child != NULL;
         child = reply_again(child))
        count++;
    return count;
}

struct text reply_child_text(const struct reply_element *parent, const char *name)
{
    const struct reply_element *child = reply_child(parent, name);

    return child == NULL ? NO_TEXT : child->text;
}

bool reply_names(const struct reply_element *parent, const char *block, struct text name)
{
    for (const struct reply_element *child = reply_child(parent, block); child != NULL;
         child = reply_again(child))
        if (text_equal(child->first == NULL ? child->text : reply_child_text(child, "name"), name))
            return true;
    return false;
}
