/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_head.h"

#include "server/base/entity.h"

#include <string.h>

#include "server/base/banned.h"

/* The elements with a value, in the order of `values`. */
enum head_value {
    VALUE_GET_FILE_SIZE,
    VALUE_NAME,
    VALUE_XML_SIGNATURE,
    VALUE_MAX_NBYTES,
    VALUE_NBYTES,
    VALUE_MD5_CKSUM,
    VALUE_OFFSET,
    VALUE_COUNT
};
#define TAG(tag)             \
    {                        \
        tag, sizeof(tag) - 1 \
    }
#define FIRST_OF(name)                           \
    {                                            \
        TAG(name ">"), TAG("</" name ">"), false \
    }
#define LAST_OF(name)                           \
    {                                           \
        TAG(name ">"), TAG("</" name ">"), true \
    }
static const struct {
    struct text open; /* behind its '<' */
    struct text close;
    bool last_counts; /* where there are several */
} value_tags[VALUE_COUNT] = {
    [VALUE_GET_FILE_SIZE] = FIRST_OF("get_file_size"),
    [VALUE_NAME] = FIRST_OF("name"),
    [VALUE_XML_SIGNATURE] = FIRST_OF("xml_signature"),
    [VALUE_MAX_NBYTES] = FIRST_OF("max_nbytes"),
    [VALUE_NBYTES] = LAST_OF("nbytes"),
    [VALUE_MD5_CKSUM] = LAST_OF("md5_cksum"),
    [VALUE_OFFSET] = LAST_OF("offset"),
};

/* One walk over a head. */
struct head_walk {
    struct text rest; /* not looked at yet */
    struct text values[VALUE_COUNT];
    bool has[VALUE_COUNT];
    bool announces_file, has_data;
};

static void skip(struct text *text, size_t bytes)
{
    if (bytes > 0) /* of nothing the pointer may be null */
        text->at += bytes;
    text->length -= bytes;
}

/* An element with a value, at whose opening tag `rest` stands. False: its end has not come. */
static bool take_value(struct head_walk *walk, enum head_value value)
{
    struct text close = value_tags[value].close, content = walk->rest;
    size_t length;

    skip(&content, value_tags[value].open.length);
    length = text_find(content, close);
    if (length == content.length)
        return false;
    if (!walk->has[value] || value_tags[value].last_counts) {
        walk->has[value] = true;
        walk->values[value] = text_trim(text_first(content, length));
    }
    skip(&content, length + close.length);
    walk->rest = content;
    return true;
}

/* The rest of the line of <data> belongs to the head. False: it has not come. */
static bool take_data(struct head_walk *walk)
{
    size_t line = text_find(walk->rest, TEXT("\n"));

    if (line == walk->rest.length)
        return false;
    walk->has_data = true;
    skip(&walk->rest, line + 1);
    return true;
}

/* What `rest` stands at, behind a '<'. False: its end has not come. */
static bool take_element(struct head_walk *walk)
{
    for (int i = 0; i < VALUE_COUNT; i++)
        if (text_starts(walk->rest, value_tags[i].open))
            return take_value(walk, (enum head_value)i);
    if (text_starts(walk->rest, TEXT("data>")))
        return take_data(walk);
    if (text_starts(walk->rest, TEXT("file_upload>")))
        walk->announces_file = true;
    return true;
}

/* Whether the head ended: by its question, or by the line of <data>. */
static bool walk_head(struct head_walk *walk)
{
    while (!walk->has_data && !walk->has[VALUE_GET_FILE_SIZE]) {
        size_t tag = text_find(walk->rest, TEXT("<"));

        if (tag == walk->rest.length)
            return false;
        skip(&walk->rest, tag + 1);
        if (!take_element(walk))
            return false;
    }
    return true;
}

/* --- values ----------------------------------------------------------------------------------- */

bool upload_name_usable(struct text name)
{
    if (name.length == 0 || name.length > UPLOAD_NAME_BYTES_MAX || name.at[0] == '.' ||
        text_contains(name, TEXT("..")))
        return false;
    for (size_t i = 0; i < name.length; i++) {
        unsigned char byte = (unsigned char)name.at[i];

        if (byte < ' ' || byte == 127 || byte == '/')
            return false;
    }
    return true;
}

static bool read_name(struct text value, struct upload_head *head)
{
    size_t length = 0;

    while (value.length > 0 && length < UPLOAD_NAME_BYTES_MAX)
        head->name[length++] = entity_take(&value);
    if (value.length == 0 && upload_name_usable((struct text){head->name, length}))
        return true;
    memset(head->name, 0, sizeof(head->name));
    return false;
}

/* Anything but 32 digits is as good as none: very old clients write an empty element. */
static void read_md5(struct text value, struct upload_head *head)
{
    if (!text_is_hex(value, MD5_HEX_SIZE - 1))
        return;
    for (size_t i = 0; i < value.length; i++) {
        char digit = value.at[i];

        head->md5[i] = digit >= 'A' && digit <= 'F' ? (char)(digit - 'A' + 'a') : digit;
    }
}

/* Numbers of bytes are whole numbers: a loop that counted down from 3.9 would not find 0. */
static const char *read_numbers(const struct head_walk *walk, struct upload_head *head)
{
    if (!walk->has[VALUE_NBYTES] || !text_to_i64(walk->values[VALUE_NBYTES], &head->nbytes) ||
        head->nbytes < 0)
        return "nbytes is not a number of bytes";
    if (walk->has[VALUE_OFFSET] && (!text_to_i64(walk->values[VALUE_OFFSET], &head->offset) ||
                                    head->offset < 0 || head->offset > head->nbytes))
        return "offset is not a number of bytes of this file";
    if (walk->has[VALUE_MAX_NBYTES]) {
        if (!text_to_real(walk->values[VALUE_MAX_NBYTES], &head->max_nbytes) ||
            head->max_nbytes < 0)
            return "max_nbytes is not a number of bytes";
        head->has_max_nbytes = true;
    }
    return NULL;
}

static const char *read_file(const struct head_walk *walk, struct upload_head *head)
{
    const char *fault = NULL;

    if (!read_name(walk->values[VALUE_NAME], head))
        fault = "the name cannot be that of an uploaded file";
    else if (!walk->has_data)
        fault = "no line with <data>";
    else
        fault = read_numbers(walk, head);
    read_md5(walk->values[VALUE_MD5_CKSUM], head);
    head->signature = walk->values[VALUE_XML_SIGNATURE];
    return fault;
}

bool upload_head_read(struct text body, bool is_end, struct upload_head *ret_head,
                      size_t *ret_length)
{
    struct head_walk walk = {.rest = text_first(body, UPLOAD_HEAD_BYTES_MAX)};
    size_t length = walk.rest.length;

    *ret_head = (struct upload_head){0};
    if (!walk_head(&walk) && !is_end && length < UPLOAD_HEAD_BYTES_MAX)
        return false;
    *ret_length = length - walk.rest.length;
    if (walk.has[VALUE_GET_FILE_SIZE]) {
        ret_head->kind = UPLOAD_QUERY;
        if (!read_name(walk.values[VALUE_GET_FILE_SIZE], ret_head))
            ret_head->fault = "the name cannot be that of an uploaded file";
    } else if (walk.has_data || (walk.announces_file && length == UPLOAD_HEAD_BYTES_MAX)) {
        ret_head->kind = UPLOAD_FILE;
        ret_head->fault = read_file(&walk, ret_head);
    }
    return true;
}
