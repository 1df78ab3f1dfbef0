/* SPDX-License-Identifier: Apache-2.0 */
/* Reading is jansson's. It bounds the depth itself (2048); what it allocates is bounded here: a
 * document of many empty objects takes a hundred times its length. */
#include "server/base/json.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"

#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* --- writing ---------------------------------------------------------------------------------- */

/* The number of a control character: of the second range it is in the second byte. */
static unsigned control_number(struct text character)
{
    return (unsigned char)character.at[character.length - 1];
}

void json_add_string(struct buffer *buffer, struct text text)
{
    bool fit;

    buffer_add_char(buffer, '"');
    while (text.length > 0) {
        struct text character = shown_next(&text, &fit);

        if (character.at[0] == '"' || character.at[0] == '\\')
            buffer_add_char(buffer, '\\');
        if (fit)
            buffer_add(buffer, character);
        else if (text_character(character) == 0)
            buffer_add_string(buffer, "\\ufffd");
        else
            buffer_print(buffer, "\\u%04x", control_number(character));
    }
    buffer_add_char(buffer, '"');
}

bool json_can_hold(struct text text)
{
    while (text.length > 0) {
        size_t length = text_character(text);

        if (length == 0)
            return false;
        text = (struct text){text.at + length, text.length - length};
    }
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Of the document that this thread reads. Only what json_read allocates is counted, and whatever it
 * does not keep it frees itself. */
static _Thread_local size_t memory_left;
static pthread_once_t bound_once = PTHREAD_ONCE_INIT;

static void *allocate(size_t size)
{
    void *memory = size <= memory_left ? malloc(size) : NULL;

    if (memory == NULL) {
        memory_left = 0;
        return NULL;
    }
    size = malloc_usable_size(memory);
    memory_left -= size < memory_left ? size : memory_left;
    return memory;
}

static void release(void *memory)
{
    if (memory_left > 0)
        memory_left += malloc_usable_size(memory);
    free(memory);
}

static void bound_memory(void)
{
    json_set_alloc_funcs(allocate, release);
}

static enum status parse(struct text document, json_t **ret_root, struct failure *failure)
{
    json_error_t error;

    memory_left = JSON_MEMORY_MAX;
    *ret_root = json_loadb(document.at, document.length, JSON_REJECT_DUPLICATES, &error);
    if (*ret_root != NULL && json_is_object(*ret_root))
        return STATUS_OK;
    if (*ret_root == NULL && memory_left == 0)
        return fail(failure, STATUS_TOO_LARGE, "JSON that takes more than %d MB of memory",
                    JSON_MEMORY_MAX >> 20);
    if (*ret_root == NULL)
        return fail(failure, STATUS_INVALID, "line %d is no JSON: %s", error.line, error.text);
    json_decref(*ret_root);
    return fail(failure, STATUS_INVALID, "the JSON is no object");
}

enum status json_read(struct text document, struct json_object *ret_object, struct failure *failure)
{
    json_t *root;
    enum status status;

    if (document.length > JSON_BYTES_MAX)
        return fail(failure, STATUS_TOO_LARGE, "JSON of more than %d bytes", JSON_BYTES_MAX);
    if (document.length == 0)
        return fail(failure, STATUS_INVALID, "line 1 is no JSON: it is empty");
    if (memchr(document.at, '\0', document.length) != NULL) /* jansson passes some over */
        return fail(failure, STATUS_INVALID, "a NUL byte is no JSON");
    pthread_once(&bound_once, bound_memory);
    status = parse(document, &root, failure);
    memory_left = 0;
    if (status == STATUS_OK)
        ret_object->value = root;
    return status;
}

void json_object_free(struct json_object *object)
{
    json_decref(object->value);
    object->value = NULL;
}

struct json_member json_member(const struct json_object *object, const char *name)
{
    const json_t *value = json_object_get(object->value, name);

    if (value == NULL)
        return (struct json_member){.kind = JSON_KIND_ABSENT};
    if (json_is_string(value))
        return (struct json_member){
            .kind = JSON_KIND_TEXT,
            .text = {json_string_value(value), json_string_length(value)},
        };
    if (json_is_integer(value))
        return (struct json_member){.kind = JSON_KIND_WHOLE, .whole = json_integer_value(value)};
    return (struct json_member){.kind = JSON_KIND_OTHER};
}

size_t json_member_count(const struct json_object *object)
{
    return json_object_size(object->value);
}

size_t json_item_count(const struct json_object *object, const char *name)
{
    return json_array_size(json_object_get(object->value, name));
}

bool json_item(const struct json_object *object, const char *name, size_t index,
               struct json_object *ret_item)
{
    json_t *item = json_array_get(json_object_get(object->value, name), index);

    ret_item->value = item;
    return json_is_object(item);
}
