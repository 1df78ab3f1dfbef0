/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/rpc_request.h"

#include "server/base/arena.h"
#include "server/base/xml.h"

#include <string.h>

#include "server/base/banned.h"

enum { ROOT = 1, BELOW_ROOT = 2, BELOW_BATCH = 3, ELEMENTS_OF_JOB = 60 };

static const struct {
    const char *name;
    size_t offset; /* in struct rpc_request */
    bool is_list;
} elements[] = {
#define RPC_ELEMENT_ROW(name)      {#name, offsetof(struct rpc_request, name), false},
#define RPC_LIST_ROW(name, member) {#name, offsetof(struct rpc_request, member), true},
    RPC_ELEMENTS(RPC_ELEMENT_ROW, RPC_LIST_ROW)
#undef RPC_ELEMENT_ROW
#undef RPC_LIST_ROW
};
enum { ELEMENT_COUNT = sizeof(elements) / sizeof(elements[0]) };

struct rpc_reading {
    struct arena *arena;
    struct rpc_request *request;
    struct failure *failure;
    size_t depth;
    size_t level;   /* at which elements stand */
    size_t element; /* that is open; ELEMENT_COUNT: none that we know */
    char text[RPC_TEXT_MAX];
    size_t length;
};

static enum status on_start(void *context, struct text name, int line)
{
    struct rpc_reading *reading = context;

    reading->depth++;
    if (reading->depth == ROOT)
        reading->request->command = text_copy(reading->arena, name);
    /* BOINC's C++ clients of before April 2018 create a batch with an element more. */
    if (reading->depth == BELOW_ROOT && text_is(name, "batch") &&
        text_is(reading->request->command, "create_batch"))
        reading->level = BELOW_BATCH;
    if (reading->depth > reading->level && reading->element < ELEMENT_COUNT)
        return fail(reading->failure, STATUS_INVALID,
                    "line %d: %s has elements in it: write &lt; for <", line,
                    elements[reading->element].name);
    if (reading->depth != reading->level)
        return STATUS_OK;
    reading->length = 0;
    for (reading->element = 0; reading->element < ELEMENT_COUNT; reading->element++)
        if (text_is(name, elements[reading->element].name))
            break;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct rpc_reading *reading = context;

    if (reading->depth != reading->level || reading->element == ELEMENT_COUNT)
        return STATUS_OK;
    if (piece.length > RPC_TEXT_MAX - reading->length)
        return fail(reading->failure, STATUS_TOO_LARGE, "line %d: %s has more than %d bytes", line,
                    elements[reading->element].name, RPC_TEXT_MAX);
    memcpy(reading->text + reading->length, piece.at, piece.length);
    reading->length += piece.length;
    return STATUS_OK;
}

/* Twice the room is taken when it is used up. */
static enum status add_to_list(struct rpc_reading *reading, struct rpc_list *list, struct text text)
{
    if (list->count == RPC_LIST_MAX)
        return fail(reading->failure, STATUS_TOO_LARGE, "more than %d names", RPC_LIST_MAX);
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 16 : 2 * list->room;
        struct text *items = ARENA_ARRAY(reading->arena, room, struct text);

        if (items == NULL)
            return STATUS_OK; /* the arena says so */
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = text;
    return STATUS_OK;
}

static enum status keep(struct rpc_reading *reading)
{
    void *member = (char *)reading->request + elements[reading->element].offset;
    struct text text = text_copy(reading->arena, (struct text){reading->text, reading->length});

    if (elements[reading->element].is_list)
        return add_to_list(reading, member, text);
    if (((struct text *)member)->at == NULL)
        *(struct text *)member = text;
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct rpc_reading *reading = context;
    bool is_kept = reading->depth == reading->level && reading->element < ELEMENT_COUNT;

    (void)name;
    (void)line;
    reading->depth--;
    if (reading->depth < BELOW_ROOT)
        reading->level = BELOW_ROOT;
    return is_kept ? keep(reading) : STATUS_OK;
}

struct xml_limits rpc_limits(void)
{
    return (struct xml_limits){.depth_max = RPC_DEPTH_MAX,
                               .elements_max = (size_t)RPC_JOBS_MAX * ELEMENTS_OF_JOB};
}

enum status rpc_request_read(const struct xml_source *source, struct arena *arena,
                             struct rpc_request *ret_request, struct failure *failure)
{
    struct rpc_reading reading = {.arena = arena,
                                  .request = ret_request,
                                  .failure = failure,
                                  .level = BELOW_ROOT,
                                  .element = ELEMENT_COUNT};
    const struct xml_handler handler = {
        .context = &reading, .start = on_start, .text = on_text, .end = on_end};
    const struct xml_limits limits = rpc_limits();
    enum status status;

    *ret_request = (struct rpc_request){.command = NO_TEXT};
    status = xml_walk_pieces(source, &limits, &handler, failure);
    if (status == STATUS_OK && arena_overflowed(arena))
        return fail(failure, STATUS_TOO_LARGE, "the request is too large");
    return status;
}

struct text rpc_first(const struct rpc_list *list)
{
    return list->count > 0 ? list->items[0] : NO_TEXT;
}
