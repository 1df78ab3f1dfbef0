/* SPDX-License-Identifier: Apache-2.0 */
/* The reader walks the text once, keeping a stack of open elements. Invariant: an element has
 * either children or content, never both; comments count as nothing. Everything is bounded by the
 * size of the file and DEPTH_MAX. */
#include "server/project/template.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/markup.h"
#include "server/project/hierarchy.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define DEPTH_MAX       8
#define SHOWN_MAX       40 /* bytes of a text that a message quotes */
#define INDENT          "    "
#define PRIORITY_LOW    1
#define PRIORITY_HIGH   5
#define EXP_DAYS_MAX    36500 /* a hundred years */
#define SECONDS_PER_DAY 86400

struct template_reader {
    struct arena *arena;
    struct template_file *file;
    struct failure *failure;
    struct text document;
    size_t offset;
    int line;
    struct template_element *open[DEPTH_MAX];
    size_t content_start[DEPTH_MAX]; /* offset behind the start tag */
    int depth;
    struct template_element *last;
};

enum template_tag_kind { TAG_OPEN, TAG_CLOSE, TAG_EMPTY };

struct template_tag {
    enum template_tag_kind kind;
    struct text name;
    size_t start, end; /* offsets of '<' and behind '>' */
};

static enum status reader_fail(struct template_reader *reader, const char *what, struct text shown)
{
    shown = text_first(shown, SHOWN_MAX);
    return fail(reader->failure, STATUS_INVALID, "%s:%d: " TEXT_FORMAT "%s%s", reader->file->name,
                reader->line, TEXT_ARG(shown), shown.length > 0 ? ": " : "", what);
}

enum status template_fail(const struct template_file *file, const struct template_element *element,
                          struct failure *failure, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct text name = text_first(element->name, SHOWN_MAX);
    return fail(failure, STATUS_INVALID, "%s:%d: <" TEXT_FORMAT ">: %s", file->name, element->line,
                TEXT_ARG(name), text);
}

static struct text rest_of(const struct template_reader *reader)
{
    return (struct text){reader->document.at + reader->offset,
                         reader->document.length - reader->offset};
}

static void skip(struct template_reader *reader, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (reader->document.at[reader->offset++] == '\n')
            reader->line++;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_placeholder(const struct template_tag *tag)
{
    return tag->kind == TAG_EMPTY &&
           (text_starts(tag->name, TEXT("OUTFILE_")) || text_is(tag->name, "UPLOAD_URL"));
}

/* At a '<' that begins no comment. */
static enum status read_tag(struct template_reader *reader, struct template_tag *ret_tag)
{
    struct text rest = rest_of(reader);
    size_t length = text_find(rest, TEXT(">"));
    if (length == rest.length)
        return reader_fail(reader, "tag without '>'", text_first(rest, 20));
    struct text inside = {rest.at + 1, length - 1};
    *ret_tag = (struct template_tag){
        .kind = TAG_OPEN, .start = reader->offset, .end = reader->offset + length + 1};
    if (text_starts(inside, TEXT("/"))) {
        ret_tag->kind = TAG_CLOSE;
        inside = (struct text){inside.at + 1, inside.length - 1};
    } else if (text_ends(inside, TEXT("/"))) {
        ret_tag->kind = TAG_EMPTY;
        inside.length--;
    }
    inside = text_trim(inside);
    for (size_t i = 0; i < inside.length; i++)
        if (!is_name_character(inside.at[i]))
            return reader_fail(reader,
                               "not a tag that a template may have (plain names only, no "
                               "attributes; write &lt; for <)",
                               (struct text){rest.at, length + 1});
    if (inside.length == 0)
        return reader_fail(reader, "tag without a name", (struct text){rest.at, length + 1});
    ret_tag->name = inside;
    return STATUS_OK;
}

static enum status add_element(struct template_reader *reader, const struct template_tag *tag)
{
    struct template_element *element = ARENA_NEW(reader->arena, struct template_element);
    if (element == NULL)
        return fail(reader->failure, STATUS_NO_MEMORY, "%s: no memory", reader->file->name);
    element->name = tag->name;
    element->line = reader->line;
    if (reader->depth > 0) {
        struct template_element *parent = reader->open[reader->depth - 1];
        if (parent->last_child == NULL)
            parent->first_child = element;
        else
            parent->last_child->next = element;
        parent->last_child = element;
    } else if (reader->last == NULL) {
        reader->file->first = reader->last = element;
    } else {
        reader->last = reader->last->next = element;
    }
    if (tag->kind == TAG_EMPTY)
        return STATUS_OK;
    if (reader->depth == DEPTH_MAX)
        return reader_fail(reader, "nested too deeply", tag->name);
    reader->content_start[reader->depth] = tag->end;
    reader->open[reader->depth++] = element;
    return STATUS_OK;
}

/* The text between the tags of an element without children, without comments. */
static struct text content_of(struct template_reader *reader, struct text raw)
{
    struct buffer kept = buffer_in(reader->arena);
    if (!text_contains(raw, TEXT("<!--")))
        return text_trim(raw);
    while (raw.length > 0) {
        size_t comment = markup_at(raw).length, length = comment > 0 ? comment : 1;
        if (comment == 0)
            buffer_add_char(&kept, raw.at[0]);
        raw = (struct text){raw.at + length, raw.length - length};
    }
    return text_trim(buffer_text(&kept));
}

static enum status close_element(struct template_reader *reader, const struct template_tag *tag)
{
    if (reader->depth == 0)
        return reader_fail(reader, "closes what was not opened", tag->name);
    struct template_element *element = reader->open[--reader->depth];
    if (!text_equal(element->name, tag->name))
        return template_fail(reader->file, element, reader->failure,
                             "not closed before </" TEXT_FORMAT "> in line %d",
                             TEXT_ARG(text_first(tag->name, SHOWN_MAX)), reader->line);
    size_t start = reader->content_start[reader->depth];
    struct text raw = {reader->document.at + start, tag->start - start};
    if (element->first_child == NULL)
        element->content = content_of(reader, raw);
    return STATUS_OK;
}

/* BOINC's page of 2004 on disk space has examples without the slash of the end tag; whoever copies
 * one learns what is wrong, and where. */
static enum status check_not_reopened(struct template_reader *reader,
                                      const struct template_tag *tag)
{
    if (tag->kind != TAG_OPEN || reader->depth == 0)
        return STATUS_OK;
    struct template_element *parent = reader->open[reader->depth - 1];
    if (!text_equal(parent->name, tag->name))
        return STATUS_OK;
    return template_fail(reader->file, parent, reader->failure,
                         "opened again in line %d before it was closed; the end tag needs a slash",
                         reader->line);
}

static enum status check_text(struct template_reader *reader, struct text text)
{
    if (text.length == 0)
        return STATUS_OK;
    if (reader->depth == 0)
        return reader_fail(reader, "text outside of all elements", text);
    struct template_element *parent = reader->open[reader->depth - 1];
    if (parent->first_child != NULL)
        return reader_fail(reader, "text between elements", text);
    return STATUS_OK;
}

static enum status read_markup(struct template_reader *reader)
{
    struct text rest = rest_of(reader);
    const struct markup markup = markup_at(rest);
    if (markup.kind == MARKUP_COMMENT ||
        (markup.kind == MARKUP_INSTRUCTION && reader->depth == 0)) { /* of an XML document */
        if (markup.length == 0)
            return reader_fail(reader,
                               markup.kind == MARKUP_COMMENT ? "comment without end"
                                                             : "declaration without end",
                               text_first(rest, 20));
        skip(reader, markup.length);
        return STATUS_OK;
    }
    struct template_tag tag = {0};
    enum status status = read_tag(reader, &tag);
    if (status == STATUS_OK && !is_placeholder(&tag)) {
        status = check_not_reopened(reader, &tag);
        if (status == STATUS_OK)
            status =
                tag.kind == TAG_CLOSE ? close_element(reader, &tag) : add_element(reader, &tag);
    }
    if (status == STATUS_OK)
        skip(reader, tag.end - tag.start);
    return status;
}

static enum status read_document(struct template_reader *reader)
{
    while (reader->offset < reader->document.length) {
        struct text rest = rest_of(reader);
        size_t length = text_find(rest, TEXT("<"));
        struct text text = text_trim(text_first(rest, length));
        if (text.length > 0) { /* its own line, not that of the tag before it */
            size_t blanks = (size_t)(text.at - rest.at);
            skip(reader, blanks);
            length -= blanks;
        }
        enum status status = check_text(reader, text);
        if (status != STATUS_OK)
            return status;
        skip(reader, length);
        if (reader->offset == reader->document.length)
            break;
        status = read_markup(reader);
        if (status != STATUS_OK)
            return status;
    }
    if (reader->depth > 0)
        return template_fail(reader->file, reader->open[reader->depth - 1], reader->failure,
                             "not closed");
    return STATUS_OK;
}

enum status template_read(struct arena *arena, const char *name, struct text document,
                          const char *wrapper, struct template_file *ret_template,
                          struct failure *failure)
{
    *ret_template = (struct template_file){.name = name};
    if (document.length > TEMPLATE_BYTES_MAX)
        return fail(failure, STATUS_TOO_LARGE, "%s: a template has at most %d bytes", name,
                    TEMPLATE_BYTES_MAX);
    if (document.length > 0 && memchr(document.at, '\0', document.length) != NULL)
        return fail(failure, STATUS_INVALID, "%s: contains a NUL byte", name);
    struct template_reader reader = {
        .arena = arena, .file = ret_template, .failure = failure, .line = 1};
    reader.document = document;
    enum status status = read_document(&reader);
    if (status != STATUS_OK)
        return status;
    struct template_element *first = ret_template->first;
    if (first == NULL)
        return fail(failure, STATUS_INVALID, "%s: no element in it", name);
    if (text_is(first->name, wrapper)) {
        if (first->next != NULL)
            return template_fail(ret_template, first->next, failure, "stands behind </%s>",
                                 wrapper);
        ret_template->first = first->first_child;
    }
    return STATUS_OK;
}

enum status template_number(const struct template_file *file,
                            const struct template_element *element, double minimum, double maximum,
                            double *ret_number, struct failure *failure)
{
    double number;
    if (element->first_child != NULL || !text_to_real(element->content, &number))
        return template_fail(file, element, failure, "not a number");
    if (!(number >= minimum && number <= maximum))
        return template_fail(file, element, failure, "%g is not between %g and %g", number, minimum,
                             maximum);
    *ret_number = number;
    return STATUS_OK;
}

enum status template_integer(const struct template_file *file,
                             const struct template_element *element, int64_t minimum,
                             int64_t maximum, int64_t *ret_number, struct failure *failure)
{
    int64_t number;
    if (element->first_child != NULL || !text_to_whole(element->content, &number))
        return template_fail(file, element, failure, "not a whole number");
    if (number < minimum || number > maximum)
        return template_fail(file, element, failure,
                             "%" PRId64 " is not between %" PRId64 " and %" PRId64, number, minimum,
                             maximum);
    *ret_number = number;
    return STATUS_OK;
}

enum status template_flag(const struct template_file *file, const struct template_element *element,
                          bool *ret_flag, struct failure *failure)
{
    int64_t number = 1;
    if (element->content.length > 0) {
        enum status status = template_integer(file, element, 0, 1, &number, failure);
        if (status != STATUS_OK)
            return status;
    }
    *ret_flag = number != 0;
    return STATUS_OK;
}

const struct template_element *template_child(const struct template_element *element,
                                              const char *name)
{
    for (const struct template_element *child = element->first_child; child; child = child->next)
        if (text_is(child->name, name))
            return child;
    return NULL;
}

static void write_indent(struct buffer *buffer, int depth)
{
    for (int i = 0; i < depth; i++)
        buffer_add_string(buffer, INDENT);
}

void template_write(struct buffer *buffer, const struct template_element *element, int depth)
{
    write_indent(buffer, depth);
    if (element->first_child == NULL && element->content.length == 0) {
        buffer_print(buffer, "<" TEXT_FORMAT "/>\n", TEXT_ARG(element->name));
        return;
    }
    buffer_print(buffer, "<" TEXT_FORMAT ">", TEXT_ARG(element->name));
    if (element->first_child != NULL) {
        buffer_add_char(buffer, '\n');
        for (const struct template_element *child = element->first_child; child;
             child = child->next)
            template_write(buffer, child, depth + 1);
        write_indent(buffer, depth);
    } else {
        buffer_add(buffer, element->content);
    }
    buffer_print(buffer, "</" TEXT_FORMAT ">\n", TEXT_ARG(element->name));
}

/* A placeholder becomes one that is right. */
static enum status check_url(const struct template_file *file,
                             const struct template_element *element, struct failure *failure)
{
    bool is_url = text_is(element->name, "url") || text_is(element->name, "gzipped_url");
    const char *fault =
        is_url && !text_contains(element->content, TEXT("<")) ? url_fault(element->content) : NULL;
    return fault == NULL ? STATUS_OK : template_fail(file, element, failure, "the URL %s", fault);
}

enum status template_check_open_name(const struct template_file *file,
                                     const struct template_element *open_name,
                                     struct failure *failure)
{
    const char *fault = open_name_fault(open_name->content);
    return fault == NULL ? STATUS_OK
                         : template_fail(file, open_name, failure, "the name %s", fault);
}

enum status template_check_file(const struct template_file *file,
                                const struct template_element *file_info, double *ret_exp_days,
                                struct failure *failure)
{
    const struct template_element *element = template_child(file_info, "priority");
    int64_t priority;
    *ret_exp_days = -1;
    if (element != NULL) {
        enum status status =
            template_integer(file, element, PRIORITY_LOW, PRIORITY_HIGH, &priority, failure);
        if (status != STATUS_OK)
            return status;
    }
    for (element = file_info->first_child; element; element = element->next) {
        enum status status = check_url(file, element, failure);
        if (status != STATUS_OK)
            return status;
    }
    element = template_child(file_info, "exp_days");
    if (element != NULL)
        return template_number(file, element, 0, EXP_DAYS_MAX, ret_exp_days, failure);
    return STATUS_OK;
}

void template_write_lifetime(struct buffer *buffer, double exp_days)
{
    buffer_print(buffer, "    <sticky_lifetime>%.0f</sticky_lifetime>\n",
                 fmax(exp_days * SECONDS_PER_DAY, 1));
}
