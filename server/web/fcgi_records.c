/* SPDX-License-Identifier: Apache-2.0 */
/* A record is a head of 8 bytes (version, type, request id, length of content, length of padding,
 * reserved), content and padding. The content of all PARAMS records together is a list of names and
 * values: the length of each (1 byte, or 4 if the first bit is set), then both. */
#include "server/web/fcgi_records.h"

#include "server/base/buffer.h"
#include "server/web/fcgi_parts.h"

#include <string.h>

#include "server/base/banned.h"

/* Of a response: a multiple of 8, so that nothing is padded but the last. */
enum { RECORD_MOST = 65528 };

/* One byte of a length. False: longer than any variable may be. */
static bool take_length_byte(struct fcgi_check *check, unsigned char byte)
{
    if (check->length_bytes_left == 0) {
        check->length = byte & 0x7fu;
        check->length_bytes_left = byte >= 0x80 ? 3 : 0;
    } else {
        check->length = check->length << 8 | byte;
        check->length_bytes_left--;
    }
    if (check->length_bytes_left > 0)
        return true;
    if (check->length > FCGI_VARIABLES_MAX)
        return false;
    check->content_left += check->length;
    check->lengths_read = (check->lengths_read + 1) % 2;
    return true;
}

/* Whether the next byte belongs to a length, and not to a name or value. */
static bool is_at_length(const struct fcgi_check *check)
{
    return check->length_bytes_left > 0 || check->lengths_read == 1 || check->content_left == 0;
}

static bool take_variables(struct fcgi_check *check, const unsigned char *at, size_t length)
{
    check->variable_bytes += length;
    if (check->variable_bytes > FCGI_VARIABLES_MAX)
        return false;
    while (length > 0) {
        size_t step = 1;

        if (is_at_length(check)) {
            if (!take_length_byte(check, *at))
                return false;
        } else {
            step = check->content_left < length ? (size_t)check->content_left : length;
            check->content_left -= step;
        }
        at += step;
        length -= step;
    }
    return true;
}

static bool take_record(struct fcgi_check *check, const unsigned char *head, size_t at)
{
    const unsigned char *content = head + FCGI_HEAD_BYTES;
    size_t length = fcgi_number(head + 4);
    unsigned type = head[1], id = fcgi_number(head + 2);

    if (check->stage == FCGI_STAGE_BEGIN) {
        if (type != RECORD_BEGIN || id == 0 || length != FCGI_BEGIN_BYTES ||
            fcgi_number(content) != FCGI_RESPONDER)
            return false;
        check->request_id = id;
        check->stage = FCGI_STAGE_PARAMS;
        return true;
    }
    if (id != check->request_id)
        return false;
    if (check->stage == FCGI_STAGE_PARAMS) {
        if (type != RECORD_PARAMS)
            return false;
        if (length > 0)
            return take_variables(check, content, length);
        check->stage = FCGI_STAGE_STDIN;
        return check->content_left == 0 && check->length_bytes_left == 0 &&
               check->lengths_read == 0;
    }
    if (type != RECORD_STDIN)
        return false;
    if (check->body_bytes == 0)
        check->body_at = at;
    check->body_bytes += length;
    if (length == 0)
        check->stage = FCGI_STAGE_DONE;
    return true;
}

enum fcgi_progress fcgi_check(struct fcgi_check *check, struct text bytes)
{
    while (check->stage != FCGI_STAGE_DONE && check->at < bytes.length) {
        const unsigned char *head = (const unsigned char *)bytes.at + check->at;
        size_t left = bytes.length - check->at, whole;

        if (head[0] != FCGI_VERSION)
            return FCGI_UNSOUND;
        if (left < FCGI_HEAD_BYTES)
            return FCGI_INCOMPLETE;
        whole = FCGI_HEAD_BYTES + fcgi_number(head + 4) + head[6];
        if (left < whole && check->stage != FCGI_STAGE_STDIN)
            return FCGI_INCOMPLETE;
        if (!take_record(check, head, check->at))
            return FCGI_UNSOUND;
        check->at += whole;
    }
    return check->stage == FCGI_STAGE_DONE && check->at <= bytes.length ? FCGI_COMPLETE
                                                                        : FCGI_INCOMPLETE;
}

size_t fcgi_copy_body(const struct fcgi_check *check, struct text bytes, char *to, size_t size)
{
    size_t at = check->body_at, copied = 0;

    while (check->body_bytes > 0 && copied < size && at < check->at) {
        const unsigned char *head = (const unsigned char *)bytes.at + at;
        size_t length = fcgi_number(head + 4);
        size_t part = length < size - copied ? length : size - copied;

        if (part > bytes.length - at - FCGI_HEAD_BYTES)
            break;
        memcpy(to + copied, head + FCGI_HEAD_BYTES, part);
        copied += part;
        at += FCGI_HEAD_BYTES + length + head[6];
    }
    return copied;
}

/* They lie in the records behind the first one, up to the first that has no content. */
size_t fcgi_copy_variables(struct text bytes, char *to, size_t size)
{
    size_t at = FCGI_HEAD_BYTES + FCGI_BEGIN_BYTES, copied = 0;

    if (bytes.length > FCGI_HEAD_BYTES)
        at += (unsigned char)bytes.at[6];
    while (bytes.length >= FCGI_HEAD_BYTES && at <= bytes.length - FCGI_HEAD_BYTES &&
           copied < size) {
        const unsigned char *head = (const unsigned char *)bytes.at + at;
        size_t length = fcgi_number(head + 4), left = bytes.length - at - FCGI_HEAD_BYTES;
        size_t part = length < size - copied ? length : size - copied;

        if (head[1] != RECORD_PARAMS || length == 0 || part > left)
            break;
        memcpy(to + copied, head + FCGI_HEAD_BYTES, part);
        copied += part;
        at += FCGI_HEAD_BYTES + length + head[6];
    }
    return copied;
}

/* False: there is none whole. */
static bool take_length(struct text *rest, size_t *ret_length)
{
    const unsigned char *at = (const unsigned char *)rest->at;
    size_t size = rest->length > 0 && at[0] >= 0x80 ? 4 : 1;

    if (rest->length < size)
        return false;
    *ret_length =
        size == 1 ? at[0]
                  : (size_t)(at[0] & 0x7f) << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    rest->at += size;
    rest->length -= size;
    return true;
}

struct text fcgi_variable_in(struct text variables, const char *name)
{
    size_t name_length, value_length;

    while (take_length(&variables, &name_length) && take_length(&variables, &value_length)) {
        struct text value;

        if (name_length > variables.length || value_length > variables.length - name_length)
            break;
        value = (struct text){.at = variables.at + name_length, .length = value_length};
        if (text_is(text_first(variables, name_length), name))
            return value;
        variables.at += name_length + value_length;
        variables.length -= name_length + value_length;
    }
    return NO_TEXT;
}

static void add_head(struct buffer *out, enum record_type type, unsigned id, size_t length,
                     size_t padding)
{
    const char head[FCGI_HEAD_BYTES] = {FCGI_VERSION,           (char)type,
                                        (char)(id >> 8 & 0xff), (char)(id & 0xff),
                                        (char)(length >> 8),    (char)(length & 0xff),
                                        (char)padding,          0};

    buffer_add(out, (struct text){.at = head, .length = sizeof(head)});
}

static const char zeros[FCGI_HEAD_BYTES];

void fcgi_add_output(struct buffer *out, unsigned request_id, struct text text)
{
    while (text.length > 0) {
        size_t length = text.length < RECORD_MOST ? text.length : RECORD_MOST;
        size_t padding = (FCGI_HEAD_BYTES - length % FCGI_HEAD_BYTES) % FCGI_HEAD_BYTES;

        add_head(out, RECORD_STDOUT, request_id, length, padding);
        buffer_add(out, text_first(text, length));
        buffer_add(out, (struct text){.at = zeros, .length = padding});
        text.at += length;
        text.length -= length;
    }
}

void fcgi_add_end(struct buffer *out, unsigned request_id)
{
    add_head(out, RECORD_STDOUT, request_id, 0, 0);
    add_head(out, RECORD_END, request_id, sizeof(zeros), 0); /* status 0, request complete */
    buffer_add(out, (struct text){.at = zeros, .length = sizeof(zeros)});
}

void fcgi_add_response(struct buffer *out, unsigned request_id, struct text text)
{
    fcgi_add_output(out, request_id, text);
    fcgi_add_end(out, request_id);
}
