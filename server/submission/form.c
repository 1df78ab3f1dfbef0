/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/form.h"

#include <string.h>

#include "server/base/banned.h"

enum { BOUNDARY_MAX = 70, PIECE = 4096 };

static enum status begin_field(struct form *form)
{
    if (++form->fields > FORM_FIELDS_MAX)
        return fail(form->failure, STATUS_TOO_LARGE, "more than %d fields", FORM_FIELDS_MAX);
    return form->taker.begin(form->taker.context, (struct text){form->name, form->name_length},
                             form->is_file);
}

static enum status add_bytes(struct form *form, struct text bytes)
{
    return bytes.length > 0 ? form->taker.add(form->taker.context, bytes) : STATUS_OK;
}

static enum status end_field(struct form *form)
{
    form->name_length = 0;
    form->is_file = false;
    return form->taker.end(form->taker.context);
}

static void add_to_name(struct form *form, char c)
{
    if (form->name_length < FORM_NAME_MAX)
        form->name[form->name_length++] = c;
}

/* --- application/x-www-form-urlencoded -------------------------------------------------------- */

/* Takes one byte; false: it is part of an escape that is not whole, or another byte. What is no
 * escape stays as it came. */
static bool unescape(struct form *form, char c, char *ret_c)
{
    if (form->escape_length == 0) {
        if (c == '%')
            form->escape_length = 1;
        *ret_c = c == '+' ? ' ' : c;
        return c != '%';
    }
    if (form->escape_length == 1) {
        form->escape[0] = c;
        form->escape_length = 2;
        return false;
    }
    form->escape_length = 0;
    *ret_c = (char)(text_hex_digit(form->escape[0]) * 16 + text_hex_digit(c));
    return true;
}

/* Whether a byte may stand in the escape that is under way. */
static bool fits_escape(const struct form *form, char c)
{
    return form->escape_length == 0 || text_hex_digit(c) >= 0;
}

static enum status end_pair(struct form *form)
{
    enum status status = form->stage == FORM_NAME ? begin_field(form) : STATUS_OK;

    form->stage = FORM_NAME;
    return status == STATUS_OK ? end_field(form) : status;
}

/* Up to the end of the bytes, of a value, or of a piece. */
static enum status take_value(struct form *form, struct text *bytes)
{
    char piece[PIECE];
    size_t length = 0, at = 0;

    while (at < bytes->length && length < PIECE && fits_escape(form, bytes->at[at]) &&
           (bytes->at[at] != '&' || form->escape_length > 0))
        length += unescape(form, bytes->at[at++], &piece[length]);
    bytes->at += at;
    bytes->length -= at;
    return add_bytes(form, (struct text){piece, length});
}

static enum status take_name(struct form *form, struct text *bytes)
{
    char c = *bytes->at, plain;

    bytes->at++;
    bytes->length--;
    if (form->escape_length == 0 && c == '=') {
        form->stage = FORM_VALUE;
        return begin_field(form);
    }
    if (unescape(form, c, &plain))
        add_to_name(form, plain);
    return STATUS_OK;
}

static enum status add_urlencoded(struct form *form, struct text bytes)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && bytes.length > 0) {
        if (!fits_escape(form, *bytes.at))
            return fail(form->failure, STATUS_INVALID, "a %% without two hex digits");
        if (form->escape_length == 0 && *bytes.at == '&') {
            bytes.at++;
            bytes.length--;
            status =
                form->stage == FORM_VALUE || form->name_length > 0 ? end_pair(form) : STATUS_OK;
        } else {
            status = form->stage == FORM_NAME ? take_name(form, &bytes) : take_value(form, &bytes);
        }
    }
    return status;
}

static enum status end_urlencoded(struct form *form)
{
    if (form->escape_length > 0)
        return fail(form->failure, STATUS_INVALID, "a %% without two hex digits");
    return form->stage == FORM_VALUE || form->name_length > 0 ? end_pair(form) : STATUS_OK;
}

/* --- multipart/form-data ---------------------------------------------------------------------- */

/* The value of NAME=VALUE or NAME="VALUE" behind a semicolon. In quotes a backslash stands before
 * what is meant as it is. */
static size_t parameter(struct text head, struct text name, char *to, size_t most)
{
    size_t length = 0;

    (void)text_split(&head, ';');
    while (head.length > 0) {
        struct text rest = head, word;
        bool in_quotes = false, is_it;
        size_t at = 0;

        word = text_trim(text_split(&rest, '='));
        if (rest.at == NULL)
            return 0;
        is_it = text_equal_nocase(word, name);
        for (; at < rest.length && (in_quotes || rest.at[at] != ';'); at++) {
            char c = rest.at[at];

            if (c == '"') {
                in_quotes = !in_quotes;
                continue;
            }
            if (in_quotes && c == '\\' && at + 1 < rest.length)
                c = rest.at[++at];
            if (is_it && length < most)
                to[length++] = c;
        }
        if (is_it)
            return length;
        head = (struct text){rest.at + at, rest.length - at};
        (void)text_split(&head, ';');
    }
    return 0;
}

static bool has_parameter(struct text head, struct text name)
{
    char unused[1];

    return parameter(head, name, unused, sizeof(unused)) > 0;
}

/* A line of a part's head. Only Content-Disposition matters. */
static void take_head_line(struct form *form)
{
    struct text line = {form->line, form->line_length}, value = line;
    struct text word = text_split(&value, ':');

    if (!text_equal_nocase(text_trim(word), TEXT("content-disposition")))
        return;
    form->name_length = parameter(value, TEXT("name"), form->name, FORM_NAME_MAX);
    form->is_file = has_parameter(value, TEXT("filename"));
}

/* A line of a head or behind a boundary ends. */
static enum status end_line(struct form *form)
{
    enum status status = STATUS_OK;

    if (form->line_length > 0 && form->line[form->line_length - 1] == '\r')
        form->line_length--;
    if (form->stage == FORM_BOUNDARY) {
        bool is_last = text_starts((struct text){form->line, form->line_length}, TEXT("--"));

        form->stage = is_last ? FORM_BEHIND : FORM_HEAD;
    } else if (form->line_length > 0) {
        take_head_line(form);
    } else {
        form->stage = FORM_CONTENT;
        form->matched = 0;
        status = begin_field(form);
    }
    form->line_length = 0;
    return status;
}

static enum status take_line(struct form *form, struct text *bytes)
{
    char c = *bytes->at;

    bytes->at++;
    bytes->length--;
    if (c == '\n')
        return end_line(form);
    if (form->line_length == FORM_LINE_MAX)
        return fail(form->failure, STATUS_TOO_LARGE, "a part's head has a line above %d bytes",
                    FORM_LINE_MAX);
    form->line[form->line_length++] = c;
    return STATUS_OK;
}

/* What looked like a delimiter is content after all. Before the first part nothing is. */
static enum status give_up_match(struct form *form)
{
    size_t matched = form->matched;

    form->matched = 0;
    return form->stage == FORM_CONTENT ? add_bytes(form, (struct text){form->delimiter, matched})
                                       : STATUS_OK;
}

static enum status end_content(struct form *form)
{
    bool was_content = form->stage == FORM_CONTENT;

    form->stage = FORM_BOUNDARY;
    form->matched = form->line_length = 0;
    return was_content ? end_field(form) : STATUS_OK;
}

/* Bytes of which none begins a delimiter; at least one. */
static enum status take_plain(struct form *form, struct text *bytes)
{
    const char *stop = memchr(bytes->at, '\r', bytes->length);
    size_t length = stop == NULL ? bytes->length : (size_t)(stop - bytes->at);
    struct text plain = text_first(*bytes, length);

    bytes->at += length;
    bytes->length -= length;
    return form->stage == FORM_CONTENT ? add_bytes(form, plain) : STATUS_OK;
}

/* A carriage return stands nowhere in a delimiter but at its beginning, so whatever does not go on
 * with it may begin the next one, but nothing before does. */
static enum status take_content(struct form *form, struct text *bytes)
{
    if (form->matched == 0 && *bytes->at != '\r')
        return take_plain(form, bytes);
    if (*bytes->at != form->delimiter[form->matched])
        return give_up_match(form);
    bytes->at++;
    bytes->length--;
    return ++form->matched == form->delimiter_length ? end_content(form) : STATUS_OK;
}

static enum status add_multipart(struct form *form, struct text bytes)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && bytes.length > 0 && form->stage != FORM_BEHIND)
        status = form->stage == FORM_BOUNDARY || form->stage == FORM_HEAD
                     ? take_line(form, &bytes)
                     : take_content(form, &bytes);
    return status;
}

static enum status end_multipart(struct form *form)
{
    /* The last line may lack its end. */
    if (form->stage == FORM_BOUNDARY)
        (void)end_line(form);
    return form->stage == FORM_BEHIND
               ? STATUS_OK
               : fail(form->failure, STATUS_INVALID, "the form ends in its middle");
}

/* --- either ----------------------------------------------------------------------------------- */

static bool is_multipart(const struct form *form)
{
    return form->delimiter_length > 0;
}

enum status form_begin(struct form *form, struct text content_type, const struct form_taker *taker,
                       struct failure *failure)
{
    struct text rest = content_type, type = text_trim(text_split(&rest, ';'));
    size_t length;

    *form = (struct form){.taker = *taker, .failure = failure, .stage = FORM_NAME};
    if (text_equal_nocase(type, TEXT("application/x-www-form-urlencoded")))
        return STATUS_OK;
    if (!text_equal_nocase(type, TEXT("multipart/form-data")))
        return fail(failure, STATUS_INVALID, "the request is no form");
    memcpy(form->delimiter, "\r\n--", 4);
    length = parameter(content_type, TEXT("boundary"), form->delimiter + 4, BOUNDARY_MAX + 1);
    if (length == 0 || length > BOUNDARY_MAX || memchr(form->delimiter + 4, '\r', length) != NULL)
        return fail(failure, STATUS_INVALID, "the form's boundary cannot be read");
    form->delimiter_length = 4 + length;
    form->stage = FORM_BEFORE;
    form->matched = 2; /* the first one may stand at the beginning */
    return STATUS_OK;
}

enum status form_add(struct form *form, struct text bytes)
{
    return is_multipart(form) ? add_multipart(form, bytes) : add_urlencoded(form, bytes);
}

enum status form_end(struct form *form)
{
    return is_multipart(form) ? end_multipart(form) : end_urlencoded(form);
}
