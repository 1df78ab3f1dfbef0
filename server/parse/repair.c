/* SPDX-License-Identifier: Apache-2.0 */
/* Requests are not reliably XML: their bytes are in whatever encoding the volunteer's machine
 * uses, names and command lines are not escaped, and a task's output may contain anything. So one
 * walk over the bytes, guided by the element table, writes a small document that an XML parser
 * accepts whole. It is well-formed by construction: every start tag written is on the stack, and
 * only the stack writes end tags.
 *
 * What cannot be read costs only itself. An unknown element is skipped to its end, if it has one;
 * a known one whose end is missing is closed where its parent, its next sibling or an element
 * further out shows that it must be over; a leaf that does not end where it should is
 * left out and counted. What becomes of the bytes of a text is the matter of values.c.
 *
 * A body of a few megabytes can be written so that its document is a multiple of it. So the
 * document is made in pieces: the first walk counts, and keeps what it writes as long as that is
 * one piece, which is enough for nearly every request. Of a longer document it keeps nothing, and a
 * second walk, which takes the same way since it begins with the same budget, writes each piece
 * when the XML parser asks for it. */
#include "server/parse/repair.h"

#include "server/parse/values.h"

#include <string.h>

#include "server/base/banned.h"

enum { DECODED_MAX = 8191 /* the longest text of the table */ };
_Static_assert(DECODED_MAX * 3 < REPAIR_ELEMENT_BYTES, "each byte may be written as three");

static void write_tag(struct repaired *repair, const char *before, struct text name)
{
    buffer_add_string(&repair->piece, before);
    buffer_add(&repair->piece, name);
    buffer_add_char(&repair->piece, '>');
}

static size_t row_of(const struct element *element)
{
    return (size_t)(element - elements);
}

static void count(struct repaired *repair, const struct element *element)
{
    if (!repair->is_counted)
        repair->counts[row_of(element)]++;
}

static void count_dropped(struct repaired *repair, size_t elements_dropped)
{
    if (!repair->is_counted)
        repair->dropped += elements_dropped;
}

static void open_element(struct repaired *repair, const struct element *element, struct text name,
                         enum context context)
{
    must(repair->depth < REPAIR_DEPTH_MAX);
    repair->contexts[repair->depth] = context;
    repair->elements[repair->depth] = element;
    repair->has_name[repair->depth] = false;
    repair->around.names[repair->depth] = name;
    repair->around.count = ++repair->depth;
    if (element != NULL)
        count(repair, element);
    write_tag(repair, "<", name);
}

static void close_down_to(struct repaired *repair, size_t depth)
{
    while (repair->depth > depth) {
        repair->around.count = --repair->depth;
        if (repair->has_name[repair->depth] && !repair->is_counted)
            repair->named[row_of(repair->elements[repair->depth])]++;
        write_tag(repair, "</", repair->around.names[repair->depth]);
    }
}

static void write_leaf(struct repaired *repair, const struct element *element, struct text text)
{
    struct text name = element_name(element);

    count(repair, element);
    if (element->kind == ELEMENT_STRING && element->offset == 0 && text.length > 0 &&
        repair->depth > 1)
        repair->has_name[repair->depth - 1] = true;
    write_tag(repair, "<", name);
    bytes_write(&repair->piece, text);
    write_tag(repair, "</", name);
}

/* Each reader of one element answers where the walk goes on. */

static size_t drop(struct repaired *repair, size_t at)
{
    count_dropped(repair, 1);
    return at;
}

static size_t read_text(struct repaired *repair, const struct element *element,
                        const struct scan_tag *tag)
{
    char decoded[DECODED_MAX];
    struct scan_span span;
    struct text text = NO_TEXT;

    must(element->bytes_max <= sizeof decoded);
    if (tag->kind == TAG_START) {
        if (!scan_text(&repair->scan, tag, &repair->around, element->bytes_max, &span))
            return drop(repair, tag->end);
        if (!bytes_read_text(scan_slice(&repair->scan, tag->end, span.content_end),
                             element->bytes_max, decoded, &text))
            return drop(repair, span.after);
    }
    write_leaf(repair, element, text);
    return tag->kind == TAG_START ? span.after : tag->end;
}

/* Numbers hold no '<', so the next one has to be their end. An empty element is no number, and
 * <x></x> no flag. */
static size_t read_number(struct repaired *repair, const struct element *element,
                          const struct scan_tag *tag)
{
    size_t limit = tag->end + element->bytes_max + 64, close;
    char decoded[DECODED_MAX];
    struct scan_tag end_tag;
    struct text text;

    if (tag->kind == TAG_EMPTY) {
        if (element->kind != ELEMENT_FLAG)
            return drop(repair, tag->end);
        write_leaf(repair, element, TEXT("1"));
        return tag->end;
    }
    limit = limit < repair->scan.end ? limit : repair->scan.end;
    close = scan_next(&repair->scan, tag->end, limit);
    if (close == limit || !scan_read_tag(&repair->scan, close, &end_tag) ||
        end_tag.kind != TAG_END || !text_equal(end_tag.name, tag->name))
        return drop(repair, close);
    if (!bytes_read_text(scan_slice(&repair->scan, tag->end, close), element->bytes_max, decoded,
                         &text))
        return drop(repair, end_tag.end);
    write_leaf(repair, element, text);
    return end_tag.end;
}

static bool has_children(const struct element *element)
{
    return element->kind == ELEMENT_INSIDE || element->kind == ELEMENT_ITEM;
}

static bool stops_strict(struct text name)
{
    const struct element *element = element_find(CONTEXT_REQUEST, name);

    return element != NULL && has_children(element);
}

static bool stops_at_trickle(struct text name)
{
    return text_is(name, "msg_from_host");
}

static bool find_blob_end(struct repaired *repair, const struct element *element,
                          const struct scan_tag *tag, struct scan_span *ret_span)
{
    bool (*stops)(struct text) = (element->marks & ELEMENT_STRICT) != 0 ? stops_strict : NULL;

    if (element->kind == ELEMENT_TRICKLE)
        stops = stops_at_trickle;
    if ((element->marks & ELEMENT_STDERR) != 0)
        return scan_stderr(&repair->scan, tag, ret_span);
    if ((element->marks & ELEMENT_QUOTED) != 0 && scan_quoted(&repair->scan, tag, ret_span))
        return true;
    return scan_blob(&repair->scan, tag, &repair->around, stops, ret_span);
}

static size_t read_blob(struct repaired *repair, const struct element *element,
                        const struct scan_tag *tag)
{
    struct scan_span span = {tag->end, tag->end};
    size_t from = element->kind == ELEMENT_WHOLE ? tag->start : tag->end, until;
    struct text name = element_name(element);

    if (tag->kind == TAG_START && !find_blob_end(repair, element, tag, &span))
        return drop(repair, span.after);
    until = element->kind == ELEMENT_WHOLE ? span.after : span.content_end;
    if (element->bytes_max > 0 && until - from > element->bytes_max)
        return drop(repair, span.after);
    count(repair, element);
    write_tag(repair, "<", name);
    buffer_print(&repair->piece, "%zu %zu", from, until - from);
    write_tag(repair, "</", name);
    return span.after;
}

/* Items that are nothing without a name, whose place in their list says nothing either. The reader
 * would drop them just as well, at ten times the cost. */
static bool is_nothing_empty(const struct element *element)
{
    return element->kind == ELEMENT_ITEM &&
           (element->child == CONTEXT_RESULT || element->child == CONTEXT_HOST_FILE ||
            element->child == CONTEXT_OTHER_RESULT);
}

static size_t read_known(struct repaired *repair, const struct element *element,
                         const struct scan_tag *tag)
{
    switch (element->kind) {
    case ELEMENT_INSIDE:
    case ELEMENT_ITEM:
        if (tag->kind == TAG_EMPTY && is_nothing_empty(element))
            return drop(repair, tag->end);
        open_element(repair, element, element_name(element), element->child);
        if (tag->kind == TAG_EMPTY)
            close_down_to(repair, repair->depth - 1);
        return tag->end;
    case ELEMENT_STRING:
        return read_text(repair, element, tag);
    case ELEMENT_INTEGER:
    case ELEMENT_REAL:
    case ELEMENT_FLAG:
    case ELEMENT_KEYWORD:
        return read_number(repair, element, tag);
    case ELEMENT_BLOB:
    case ELEMENT_WHOLE:
    case ELEMENT_TRICKLE:
        return read_blob(repair, element, tag);
    }
    return tag->end;
}

static size_t read_start(struct repaired *repair, const struct scan_tag *tag)
{
    const struct element *element = element_find(repair->contexts[repair->depth - 1], tag->name);
    struct scan_span span;

    if (element != NULL)
        return read_known(repair, element, tag);
    /* Known one or more levels out: the elements in between have lost their ends. */
    for (size_t level = repair->depth - 1; level-- > 0;) {
        element = element_find(repair->contexts[level], tag->name);
        if (element == NULL || (!has_children(element) && element->kind < ELEMENT_BLOB))
            continue;
        count_dropped(repair, repair->depth - level - 1);
        close_down_to(repair, level + 1);
        return read_known(repair, element, tag);
    }
    if (tag->kind == TAG_START && scan_unknown(&repair->scan, tag, &repair->around, &span))
        return span.after;
    return tag->end;
}

/* An end tag of an item that was never begun stands for an item whose start could not be read: an
 * empty one takes its place, because in some lists the position is a number to refer to. */
static size_t read_end(struct repaired *repair, const struct scan_tag *tag)
{
    const struct element *element;

    for (size_t level = repair->depth; level-- > 1;) {
        if (!text_equal(repair->around.names[level], tag->name))
            continue;
        count_dropped(repair, repair->depth - level - 1);
        close_down_to(repair, level);
        return tag->end;
    }
    element = element_find(repair->contexts[repair->depth - 1], tag->name);
    if (element != NULL && element->kind == ELEMENT_ITEM) {
        open_element(repair, element, element_name(element), element->child);
        close_down_to(repair, repair->depth - 1);
    }
    return tag->end;
}

/* One step of the walk. False: it is over. */
static bool step(struct repaired *repair)
{
    size_t at = scan_next(&repair->scan, repair->at, repair->scan.end), after;
    struct scan_tag tag;

    repair->at = at;
    if (at >= repair->scan.end)
        return false;
    after = scan_past_markup(&repair->scan, at);
    if (after > at)
        repair->at = after;
    else if (!scan_read_tag(&repair->scan, at, &tag))
        repair->at = at + 1;
    else if (tag.kind == TAG_END)
        repair->at = read_end(repair, &tag);
    else
        repair->at = read_start(repair, &tag);
    return true;
}

static const char root[] = "scheduler_request";

enum { FORM_HEAD = 256 }; /* bytes in which a form's first field begins */

static size_t past_space(struct text body, size_t at)
{
    struct text rest = text_trim((struct text){body.at + at, body.length - at});

    return rest.length == 0 ? body.length : (size_t)(rest.at - body.at);
}

/* The offset behind the root's start tag; 0: the body does not begin with it. */
static size_t find_root(struct text body)
{
    struct scan scan = scan_begin(body, body.length);
    size_t at = past_space(body, body.length - text_without_mark(body).length);
    struct scan_tag tag;

    if (text_starts(scan_slice(&scan, at, body.length), TEXT("<?xml")))
        at = past_space(body, scan_past_markup(&scan, at));
    if (at == body.length || body.at[at] != '<' || !scan_read_tag(&scan, at, &tag) ||
        tag.kind != TAG_START || !text_is(tag.name, root))
        return 0;
    return tag.end;
}

/* What the body is when it is no request. Other programs than BOINC's client send requests too;
 * their authors learn from these words what to change. */
static struct text form_of(struct text body)
{
    const struct {
        struct text start, words;
    } forms[] = {
        {TEXT("\x1f\x8b"), TEXT("the request is compressed; it has to be sent as plain text")},
        {TEXT("\xff\xfe"), TEXT("the request is in UTF-16; it has to be in UTF-8")},
        {TEXT("\xfe\xff"), TEXT("the request is in UTF-16; it has to be in UTF-8")},
        {TEXT("<\0"), TEXT("the request is in UTF-16; it has to be in UTF-8")},
        {TEXT("--"), TEXT("the request is part of a form; it has to be the whole body")},
    };

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (text_starts(body, forms[i].start))
            return forms[i].words;
    if (text_contains(text_first(body, FORM_HEAD), TEXT("=%3C")))
        return TEXT("the request is a field of a form; it has to be the whole body");
    return TEXT("the request does not begin with <scheduler_request>");
}

/* The offset of the root's end tag, which has to be the last thing in the body; 0: it is not. */
static size_t find_root_end(struct text body)
{
    struct text rest = text_trim(body), end_tag = TEXT("</scheduler_request>");

    if (!text_ends(rest, end_tag))
        return 0;
    return (size_t)(rest.at - body.at) + rest.length - end_tag.length;
}

static void begin_walk(struct repaired *repair, size_t end)
{
    repair->scan = scan_begin(repair->body, end);
    repair->at = repair->begin;
    repair->piece.length = 0;
    open_element(repair, NULL, text_from(root), CONTEXT_REQUEST);
}

static void end_walk(struct repaired *repair)
{
    size_t budget = scan_begin(repair->body, repair->scan.end).budget;

    close_down_to(repair, 0);
    repair->work += repair->scan.end + budget - repair->scan.budget;
}

static void count_elements(struct repaired *repair, size_t end)
{
    repair->is_whole = true;
    begin_walk(repair, end);
    while (step(repair)) {
        if (repair->piece.length < REPAIR_PIECE_BYTES)
            continue;
        repair->work += repair->piece.length;
        repair->piece.length = 0;
        repair->is_whole = false;
    }
    end_walk(repair);
    repair->work += repair->piece.length;
    repair->is_counted = true;
    if (!repair->is_whole)
        begin_walk(repair, end);
}

struct text repair_next(struct repaired *repair)
{
    if (repair->is_whole) {
        repair->is_whole = false;
        return buffer_text(&repair->piece);
    }
    if (repair->depth == 0)
        return NO_TEXT;
    if (repair->at > repair->begin)
        repair->piece.length = 0;
    while (repair->piece.length < REPAIR_PIECE_BYTES) {
        if (step(repair))
            continue;
        end_walk(repair);
        break;
    }
    repair->work += repair->piece.length;
    return repair->piece.overflowed ? NO_TEXT : buffer_text(&repair->piece);
}

enum status repair_request(struct text body, struct repaired *ret_repaired, struct failure *failure)
{
    const char *nul = body.length == 0 ? NULL : memchr(body.at, '\0', body.length);
    struct text whole = body;
    size_t end;

    *ret_repaired =
        (struct repaired){.piece = buffer_on_heap(REPAIR_PIECE_BYTES + REPAIR_ELEMENT_BYTES)};
    if (nul != NULL)
        body.length = (size_t)(nul - body.at);
    if (text_trim(body).length == 0)
        return fail(failure, STATUS_INVALID, "the request is empty");
    ret_repaired->body = body;
    ret_repaired->begin = find_root(body);
    if (ret_repaired->begin == 0)
        return fail(failure, STATUS_INVALID, TEXT_FORMAT, TEXT_ARG(form_of(whole)));
    end = find_root_end(body);
    if (end < ret_repaired->begin)
        return fail(failure, STATUS_INVALID, "the request is incomplete: </%s> is missing", root);

    count_elements(ret_repaired, end);
    if (ret_repaired->piece.overflowed)
        return fail(failure, STATUS_NO_MEMORY, "no memory to read a request of %zu bytes",
                    body.length);
    return STATUS_OK;
}

void repair_free(struct repaired *repaired)
{
    buffer_free(&repaired->piece);
}
