/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of reading share: the reader, and where in the document it is. */
#ifndef SERVER_PARSE_PARSE_PARTS_H
#define SERVER_PARSE_PARSE_PARTS_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/parse/elements.h"
#include "server/parse/message.h"
#include "server/parse/parse.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct arena;
struct repaired;

enum {
    PARSE_LEVELS_MAX = 10,     /* of the table, and one to spare */
    PARSE_TEXT_SIZE = 3 * 8192 /* the longest text of the table, three bytes a byte */
};

struct level {
    const struct element *element; /* NULL: the root */
    enum context context;
    char *record;
    bool seen[ELEMENTS_MAX]; /* elements of this context that were read */
};

/* One entry of any list, for those that go nowhere. */
union spare {
    struct alt_platform alt_platform;
    struct coproc coproc;
    struct reported_result result;
    struct host_file file;
    struct client_app_version app_version;
    struct other_result other_result;
    struct ip_result ip_result;
    struct wsl_distro distro;
    struct opencl_cpu opencl_cpu;
};

struct reader {
    struct message message;
    struct alt_platform *alternates;
    size_t alternate_count;

    struct text body;
    const struct parse_limits *limits;
    const struct repaired *repaired;
    struct arena *arena;
    struct failure *failure;

    struct level levels[PARSE_LEVELS_MAX];
    size_t depth;
    size_t capacities[CONTEXT_COUNT];
    size_t trickle_capacity;
    union spare spare;
    struct text pieces[MESSAGE_RESULT_FILES_MAX]; /* <file_info> of the open result */
    size_t piece_count;
    char text[PARSE_TEXT_SIZE];
    size_t text_length;
};

static inline void *read_pointer(const char *at)
{
    void *pointer;

    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

static inline size_t read_size(const char *at)
{
    size_t size;

    memcpy(&size, at, sizeof size);
    return size;
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

MUST_CHECK enum status parse_full(struct reader *reader); /* the arena, that is */

/* --- parse_items.c ---------------------------------------------------------------------------- */

/* The place of a new entry of the element's list, as it is before anything is said of it. */
MUST_CHECK enum status parse_begin_item(struct reader *reader, const struct element *element,
                                        char **ret_record);
/* Keeps or drops the entry that the level was about. */
void parse_end_item(struct reader *reader, const struct level *level);

/* --- parse_leaves.c --------------------------------------------------------------------------- */

/* The text of an element that is no list and no list's entry, into the level's record. */
MUST_CHECK enum status parse_store_text(struct reader *reader, struct level *level,
                                        const struct element *element, struct text text);

#endif
