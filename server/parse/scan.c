/* SPDX-License-Identifier: Apache-2.0 */
/* A search for an end tag is a guess about what a client meant, and each kind of element has its
 * own: names and numbers end nearby, preferences cannot hold a result, an application's output
 * can hold anything, the request's own tags included.
 *
 * What keeps the whole linear: the walk itself only moves forward, and a search takes the bytes
 * that it reads from a budget, twice the body's length. An honest request needs about
 * once its length; a request made of a million unclosed tags spends it and then gets no more
 * searches, so that its elements are dropped one by one at the cost of their tags. */
#include "server/parse/scan.h"

#include <string.h>

#include "server/base/banned.h"

enum { TAG_BYTES_MAX = 256, BUDGET_FACTOR = 2, BUDGET_LEAST = 65536 };

struct scan scan_begin(struct text body, size_t end)
{
    return (struct scan){body, end, end * BUDGET_FACTOR + BUDGET_LEAST};
}

struct text scan_slice(const struct scan *scan, size_t from, size_t until)
{
    return (struct text){scan->body.at + from, until - from};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where a search from `from` has to stop, `most` bytes on at the latest. */
static size_t limit_of(const struct scan *scan, size_t from, size_t most)
{
    return from + least(least(scan->end - from, most), scan->budget);
}

static void charge(struct scan *scan, size_t bytes)
{
    scan->budget -= least(bytes, scan->budget);
}

size_t scan_next(const struct scan *scan, size_t from, size_t until)
{
    const char *found;

    if (from >= until)
        return until;
    found = memchr(scan->body.at + from, '<', until - from);
    return found == NULL ? until : (size_t)(found - scan->body.at);
}

static bool is_space(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static bool is_name_start(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           character == '_';
}

bool scan_read_tag(const struct scan *scan, size_t at, struct scan_tag *ret_tag)
{
    const char *body = scan->body.at;
    size_t limit = least(scan->end, at + TAG_BYTES_MAX);
    size_t name = at + 1, close, name_end;
    enum scan_tag_kind kind = TAG_START;

    if (name < limit && body[name] == '/') {
        kind = TAG_END;
        name++;
    }
    if (name >= limit || !is_name_start(body[name]))
        return false;
    for (close = name; close < limit && body[close] != '>'; close++)
        if (body[close] == '<')
            return false;
    if (close == limit)
        return false;
    name_end = close;
    if (kind == TAG_START && body[close - 1] == '/') {
        kind = TAG_EMPTY;
        name_end--;
    }
    for (size_t i = name; i < name_end; i++)
        if (is_space(body[i]))
            name_end = i;
    *ret_tag = (struct scan_tag){scan_slice(scan, name, name_end), at, close + 1, kind};
    return true;
}

static bool starts_at(const struct scan *scan, size_t at, size_t until, struct text what)
{
    return text_starts(scan_slice(scan, at, until), what);
}

/* Offset of `what` in [from, until), or `until`; not charged. */
static size_t find(const struct scan *scan, size_t from, size_t until, struct text what)
{
    const char *found;

    if (from >= until)
        return until;
    found = memmem(scan->body.at + from, until - from, what.at, what.length);
    return found == NULL ? until : (size_t)(found - scan->body.at);
}

size_t scan_past_markup(struct scan *scan, size_t at)
{
    const struct {
        struct text begin, end;
    } markups[] = {
        {TEXT("<![CDATA["), TEXT("]]>")},
        {TEXT("<!--"), TEXT("-->")},
        {TEXT("<?"), TEXT("?>")},
        {TEXT("<!"), TEXT(">")},
    };

    if (at + 1 >= scan->end || (scan->body.at[at + 1] != '!' && scan->body.at[at + 1] != '?'))
        return at;
    for (size_t i = 0; i < sizeof markups / sizeof markups[0]; i++) {
        size_t from = at + markups[i].begin.length, limit, found;

        if (!starts_at(scan, at, scan->end, markups[i].begin))
            continue;
        limit = limit_of(scan, from, scan->end);
        found = find(scan, from, limit, markups[i].end);
        charge(scan, found - from);
        return found == limit ? at : found + markups[i].end.length;
    }
    return at;
}

/* The element around a place that is called so, or `count`. The root is not asked: its end tag is
 * the end of the scan. */
static size_t index_around(const struct scan_around *around, struct text name)
{
    for (size_t i = 1; i < around->count; i++)
        if (text_equal(around->names[i], name))
            return i;
    return around->count;
}

static struct scan_span ends_with(const struct scan_tag *end_tag)
{
    return (struct scan_span){end_tag->start, end_tag->end};
}

bool scan_unknown(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
                  struct scan_span *ret_span)
{
    size_t limit = limit_of(scan, tag->end, scan->end), at = tag->end;
    size_t open = 1, opened[SCAN_AROUND_MAX]; /* inside: of the same name; of names around */
    bool found = false;

    memset(opened, 0, around->count * sizeof(opened[0]));
    while (!found && (at = scan_next(scan, at, limit)) < limit) {
        size_t after = scan_past_markup(scan, at), outer;
        struct scan_tag next;

        if (after > at || !scan_read_tag(scan, at, &next)) {
            at = after > at ? after : at + 1;
            continue;
        }
        at = next.end;
        if (next.kind == TAG_EMPTY)
            continue;
        if (text_equal(next.name, tag->name)) {
            open += next.kind == TAG_START ? 1 : (size_t)-1;
            found = open == 0;
            *ret_span = ends_with(&next);
            continue;
        }
        outer = index_around(around, next.name);
        if (outer == around->count)
            continue;
        if (next.kind == TAG_START)
            opened[outer]++;
        else if (opened[outer]-- == 0)
            break;
    }
    charge(scan, at - tag->end);
    return found;
}

bool scan_text(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
               size_t bytes_max, struct scan_span *ret_span)
{
    /* One byte may be written as &#123; and there may be indentation around. */
    size_t limit = limit_of(scan, tag->end, bytes_max * 6 + TAG_BYTES_MAX);
    size_t at = tag->end, seen = tag->end;
    bool found = false, same_line = true;

    while (!found && (at = scan_next(scan, at, limit)) < limit) {
        struct scan_tag next;
        size_t after = at;

        same_line = same_line && memchr(scan->body.at + seen, '\n', at - seen) == NULL;
        seen = at;
        if (starts_at(scan, at, limit, TEXT("<![CDATA[")))
            after = scan_past_markup(scan, at);
        if (after > at) {
            at = after;
            continue;
        }
        if (!scan_read_tag(scan, at, &next)) {
            if (!same_line)
                break;
            at++;
            continue;
        }
        if (text_equal(next.name, tag->name)) {
            found = next.kind == TAG_END;
            *ret_span = ends_with(&next);
            break;
        }
        if (!same_line || (next.kind == TAG_END && index_around(around, next.name) < around->count))
            break;
        at = next.end;
    }
    charge(scan, at - tag->end);
    return found;
}

bool scan_blob(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
               bool (*stops)(struct text name), struct scan_span *ret_span)
{
    size_t limit = limit_of(scan, tag->end, scan->end), at = tag->end;
    bool found = false;

    while (!found && (at = scan_next(scan, at, limit)) < limit) {
        struct scan_tag next;

        if (!scan_read_tag(scan, at, &next)) {
            at++;
            continue;
        }
        at = next.end;
        if (next.kind == TAG_END && text_equal(next.name, tag->name)) {
            found = true;
            *ret_span = ends_with(&next);
        } else if (next.kind == TAG_START && stops != NULL && stops(next.name)) {
            break;
        } else if (next.kind == TAG_END && stops != NULL &&
                   index_around(around, next.name) < around->count) {
            break;
        }
    }
    charge(scan, at - tag->end);
    return found;
}

bool scan_quoted(struct scan *scan, const struct scan_tag *tag, struct scan_span *ret_span)
{
    size_t at = tag->end;
    bool found = false;

    while (at < scan->end && is_space(scan->body.at[at]))
        at++;
    if (!starts_at(scan, at, scan->end, TEXT("<![CDATA[")))
        return false;
    size_t limit = limit_of(scan, at, scan->end), from = at;
    while (!found && (at = find(scan, at, limit, TEXT("]]>"))) < limit) {
        struct scan_tag next;

        at += 3;
        while (at < limit && is_space(scan->body.at[at]))
            at++;
        found = at < limit && scan->body.at[at] == '<' && scan_read_tag(scan, at, &next) &&
                next.kind == TAG_END && text_equal(next.name, tag->name);
        if (found)
            *ret_span = ends_with(&next);
    }
    charge(scan, at - from);
    return found;
}

/* Where a tag stands. The client itself puts the end tag behind the CDATA section that it writes
 * around the output, or alone on a line; elsewhere a tag is most likely the application's. */
enum tag_place { PLACE_NONE, PLACE_STRAY, PLACE_OWN_LINE, PLACE_BEHIND_CDATA };

static enum tag_place place_of(const struct scan *scan, const struct scan_tag *tag, size_t from)
{
    const char *body = scan->body.at;
    size_t at = tag->start;
    bool line_begun = false;

    while (at > from && is_space(body[at - 1])) {
        at--;
        line_begun = line_begun || body[at] == '\n';
    }
    if (at >= from + 3 && memcmp(body + at - 3, "]]>", 3) == 0)
        return PLACE_BEHIND_CDATA;
    return line_begun || at == from ? PLACE_OWN_LINE : PLACE_STRAY;
}

/* An application may print any tag, so the first end tag is the right one only if it stands
 * where the client puts its own. The output of the next result must not be taken for this one's:
 * there the search ends, and the best place until then has to do. */
bool scan_stderr(struct scan *scan, const struct scan_tag *tag, struct scan_span *ret_span)
{
    size_t limit = limit_of(scan, tag->end, scan->end), at = tag->end;
    enum tag_place best = PLACE_NONE, best_resume = PLACE_NONE, enough = PLACE_OWN_LINE;
    bool result_begun = false;

    *ret_span = (struct scan_span){tag->end, tag->end};
    size_t resume = tag->end;
    while (best < enough && (at = scan_next(scan, at, limit)) < limit) {
        struct scan_tag next;
        enum tag_place place;

        if (!scan_read_tag(scan, at, &next)) {
            if (starts_at(scan, at, limit, TEXT("<![CDATA[")) && best == PLACE_NONE)
                enough = PLACE_BEHIND_CDATA;
            at++;
            continue;
        }
        at = next.end;
        place = place_of(scan, &next, tag->end);
        if (text_equal(next.name, tag->name)) {
            if (next.kind == TAG_START && result_begun)
                break;
            if (next.kind == TAG_END && place > best) {
                best = place;
                *ret_span = ends_with(&next);
            }
        } else if (text_is(next.name, "result")) {
            result_begun = result_begun || next.kind == TAG_START;
            place = place > PLACE_OWN_LINE ? PLACE_OWN_LINE : place;
            if (next.kind != TAG_EMPTY && place > best_resume) {
                best_resume = place;
                resume = next.start;
            }
        }
    }
    charge(scan, at - tag->end);
    if (best == PLACE_NONE)
        ret_span->after = resume;
    return best != PLACE_NONE;
}
