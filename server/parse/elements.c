/* SPDX-License-Identifier: Apache-2.0 */
/* elements.def as an array, found by binary search. Each context has one record type, and the
 * compiler checks that a field's type is the one that its row's kind will write. */
#include "server/parse/elements.h"

#include "server/parse/message.h"

#include <stdint.h>
#include <string.h>

#include "server/base/banned.h"

#define RECORD_REQUEST      struct message
#define RECORD_ALT_PLATFORM struct alt_platform
#define RECORD_WORKING      struct message
#define RECORD_TIME_STATS   struct message
#define RECORD_NET_STATS    struct message
#define RECORD_HOST_INFO    struct message
#define RECORD_WSL          struct message
#define RECORD_DISTRO       struct wsl_distro
#define RECORD_WSL_GPU      struct wsl_gpu
#define RECORD_CPU_DEVICE   struct opencl_cpu
#define RECORD_CPU_OPENCL   struct opencl_cpu
#define RECORD_DISK_USAGE   struct message
#define RECORD_COPROC       struct coproc
#define RECORD_OPENCL       struct opencl_properties
#define RECORD_RESULT       struct reported_result
#define RECORD_HOST_FILE    struct host_file
#define RECORD_APP_VERSION  struct client_app_version
#define RECORD_APP_COPROC   struct client_app_version
#define RECORD_OTHER_RESULT struct other_result
#define RECORD_IP_RESULT    struct ip_result
#define RECORD_KEYWORDS     struct message

/* The offset of a field, if it is of that type; else a negative array size. */
#define FIELD(context, field, type)                                                         \
    ((int)(offsetof(RECORD_##context, field) +                                              \
           0 * sizeof(char[_Generic(&((RECORD_##context *)NULL)->field, type * : 1, default \
                                    : -1)])))
#define NOWHERE ELEMENT_NOWHERE

#define ROW(context_, name_, kind_, child_, offset_, flag_, bytes_, marks_, note_) \
    {.context = CONTEXT_##context_,                                                \
     .name = name_,                                                                \
     .name_length = sizeof(name_) - 1,                                             \
     .kind = ELEMENT_##kind_,                                                      \
     .child = CONTEXT_##child_,                                                    \
     .offset = offset_,                                                            \
     .flag_offset = flag_,                                                         \
     .bytes_max = bytes_,                                                          \
     .marks = marks_,                                                              \
     .note = note_},
#define LEAF(context, name, kind, type, field, flag, bytes, marks) \
    ROW(context, name, kind, NONE, FIELD(context, field, type), flag, bytes, marks, "")

#define STRICT ELEMENT_STRICT
#define NESTS  ELEMENT_NESTS
#define QUOTED ELEMENT_QUOTED
#define STDERR ELEMENT_STDERR

enum { NUMBER_BYTES_MAX = 255 };

#define INSIDE(context, name, child) \
    ROW(context, name, INSIDE, child, PART_##child, NOWHERE, 0, 0, "")
#define INSIDE_WITH(context, name, child, flag) \
    ROW(context, name, INSIDE, child, PART_##child, FIELD(context, flag, bool), 0, 0, "")
#define ITEM(context, name, child, note) \
    ROW(context, name, ITEM, child, NOWHERE, NOWHERE, 0, 0, note)
#define STRING(context, name, field, bytes) \
    LEAF(context, name, STRING, struct text, field, NOWHERE, bytes, 0)
#define STRING_WITH(context, name, field, flag, bytes) \
    LEAF(context, name, STRING, struct text, field, FIELD(context, flag, bool), bytes, 0)
#define INTEGER(context, name, field) \
    LEAF(context, name, INTEGER, int64_t, field, NOWHERE, NUMBER_BYTES_MAX, 0)
#define INTEGER_WITH(context, name, field, flag) \
    LEAF(context, name, INTEGER, int64_t, field, FIELD(context, flag, bool), NUMBER_BYTES_MAX, 0)
#define REAL(context, name, field) \
    LEAF(context, name, REAL, double, field, NOWHERE, NUMBER_BYTES_MAX, 0)
#define REAL_WITH(context, name, field, flag) \
    LEAF(context, name, REAL, double, field, FIELD(context, flag, bool), NUMBER_BYTES_MAX, 0)
#define REAL_OTHER(context, name, field) \
    LEAF(context, name, REAL, double, field, NOWHERE, NUMBER_BYTES_MAX, ELEMENT_OTHER)
#define DEMAND(context, name, field) \
    LEAF(context, name, REAL, double, field, NOWHERE, NUMBER_BYTES_MAX, ELEMENT_DEMAND)
#define DEMAND_WITH(context, name, field, flag)                                            \
    LEAF(context, name, REAL, double, field, FIELD(context, flag, bool), NUMBER_BYTES_MAX, \
         ELEMENT_DEMAND)
#define DEMAND_OTHER(context, name, field)                              \
    LEAF(context, name, REAL, double, field, NOWHERE, NUMBER_BYTES_MAX, \
         ELEMENT_DEMAND | ELEMENT_OTHER)
#define DEMAND_OTHER_WITH(context, name, field, flag)                                      \
    LEAF(context, name, REAL, double, field, FIELD(context, flag, bool), NUMBER_BYTES_MAX, \
         ELEMENT_DEMAND | ELEMENT_OTHER)
#define FLAG(context, name, field) \
    LEAF(context, name, FLAG, bool, field, NOWHERE, NUMBER_BYTES_MAX, 0)
#define LASTING_STRING(context, name, field, bytes) \
    LEAF(context, name, STRING, struct text, field, NOWHERE, bytes, ELEMENT_LASTING)
#define LASTING_INTEGER(context, name, field) \
    LEAF(context, name, INTEGER, int64_t, field, NOWHERE, NUMBER_BYTES_MAX, ELEMENT_LASTING)
#define LASTING_FLAG(context, name, field) \
    LEAF(context, name, FLAG, bool, field, NOWHERE, NUMBER_BYTES_MAX, ELEMENT_LASTING)
#define PASSING_REAL_WITH(context, name, field, flag)                                      \
    LEAF(context, name, REAL, double, field, FIELD(context, flag, bool), NUMBER_BYTES_MAX, \
         ELEMENT_PASSING)
#define BLOB(context, name, field, bytes, marks) \
    LEAF(context, name, BLOB, struct text, field, NOWHERE, bytes, marks)
#define BLOB_WITH(context, name, field, flag, bytes, marks) \
    LEAF(context, name, BLOB, struct text, field, FIELD(context, flag, bool), bytes, marks)
#define WHOLE(context, name, bytes) \
    ROW(context, name, WHOLE, NONE, NOWHERE, NOWHERE, bytes, ELEMENT_STRICT, "")
#define TRICKLE(context, name, bytes) \
    ROW(context, name, TRICKLE, NONE, NOWHERE, NOWHERE, bytes, 0, "")
#define KEYWORD(context, name, list, count)                                                        \
    LEAF(context, name, KEYWORD, int64_t *, list, FIELD(context, count, size_t), NUMBER_BYTES_MAX, \
         0)

/* Where the record of an inner context begins in that of the outer one. */
#define PART_WORKING       0
#define PART_TIME_STATS    0
#define PART_NET_STATS     0
#define PART_HOST_INFO     0
#define PART_WSL           0
#define PART_CPU_OPENCL    0
#define PART_DISK_USAGE    0
#define PART_COPROCS       0
#define PART_FILE_LIST     0
#define PART_OPENCL        FIELD(COPROC, opencl, struct opencl_properties)
#define PART_APP_VERSIONS  0
#define PART_APP_COPROC    0
#define PART_OTHER_RESULTS 0
#define PART_IP_RESULTS    0
#define PART_KEYWORDS      0

const struct element elements[] = {
#include "server/parse/elements.def"
};
const size_t element_count = sizeof elements / sizeof elements[0];
_Static_assert(sizeof elements / sizeof elements[0] <= ELEMENTS_MAX, "raise ELEMENTS_MAX");

/* Most names differ in their first letters. */
static int compare(struct text name, const struct element *element)
{
    if (name.length > 0 && name.at[0] != element->name[0])
        return (unsigned char)name.at[0] < (unsigned char)element->name[0] ? -1 : 1;
    return text_compare(name, element_name(element));
}

/* Each element of a request is asked about, so this is no bsearch. */
const struct element *element_find(enum context context, struct text name)
{
    size_t low = 0, high = element_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct element *element = &elements[middle];
        int order = context == element->context  ? compare(name, element)
                    : context < element->context ? -1
                                                 : 1;

        if (order == 0)
            return element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Contexts of which everything lasts, and one of which some does. */
static const bool lasting_contexts[CONTEXT_COUNT] = {
    [CONTEXT_ALT_PLATFORM] = true, [CONTEXT_WSL] = true,         [CONTEXT_DISTRO] = true,
    [CONTEXT_WSL_GPU] = true,      [CONTEXT_CPU_DEVICE] = true,  [CONTEXT_CPU_OPENCL] = true,
    [CONTEXT_COPROCS] = true,      [CONTEXT_COPROC] = true,      [CONTEXT_OPENCL] = true,
    [CONTEXT_APP_VERSIONS] = true, [CONTEXT_APP_VERSION] = true, [CONTEXT_APP_COPROC] = true,
};

bool element_is_lasting(const struct element *element)
{
    if ((element->marks & (ELEMENT_DEMAND | ELEMENT_PASSING)) != 0)
        return false;
    return (element->marks & ELEMENT_LASTING) != 0 || lasting_contexts[element->context] ||
           lasting_contexts[element->child] || element->child == CONTEXT_HOST_INFO;
}

struct text element_name(const struct element *element)
{
    return (struct text){element->name, element->name_length};
}
