/* SPDX-License-Identifier: Apache-2.0 */
/* The table of elements.def, as the repair and the reader of requests use it. */
#ifndef SERVER_PARSE_ELEMENTS_H
#define SERVER_PARSE_ELEMENTS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Where an element stands: what its parent is. Siblings of one record may have contexts of their
 * own (host_info is read into the same struct as the request). */
enum context {
    CONTEXT_NONE, /* outside scheduler_request; the context of elements without children */
    CONTEXT_REQUEST,
    CONTEXT_ALT_PLATFORM,
    CONTEXT_WORKING,
    CONTEXT_TIME_STATS,
    CONTEXT_NET_STATS,
    CONTEXT_HOST_INFO,
    CONTEXT_WSL,
    CONTEXT_DISTRO,
    CONTEXT_WSL_GPU,
    CONTEXT_CPU_DEVICE,
    CONTEXT_CPU_OPENCL,
    CONTEXT_DISK_USAGE,
    CONTEXT_COPROCS,
    CONTEXT_COPROC,
    CONTEXT_OPENCL,
    CONTEXT_RESULT,
    CONTEXT_HOST_FILE,
    CONTEXT_FILE_LIST,
    CONTEXT_APP_VERSIONS,
    CONTEXT_APP_VERSION,
    CONTEXT_APP_COPROC,
    CONTEXT_OTHER_RESULTS,
    CONTEXT_OTHER_RESULT,
    CONTEXT_IP_RESULTS,
    CONTEXT_IP_RESULT,
    CONTEXT_KEYWORDS,
    CONTEXT_COUNT
};

enum element_kind {
    ELEMENT_INSIDE,
    ELEMENT_ITEM,
    ELEMENT_STRING,
    ELEMENT_INTEGER,
    ELEMENT_REAL,
    ELEMENT_FLAG,
    ELEMENT_KEYWORD,
    /* From here on raw: only the tags are read, and the content is a place in the body. */
    ELEMENT_BLOB,
    ELEMENT_WHOLE,
    ELEMENT_TRICKLE
};

enum element_mark {
    ELEMENT_STRICT = 1,   /* blob: no element with children of ours can stand in it */
    ELEMENT_NESTS = 2,    /* blob: its own start tag may come again inside */
    ELEMENT_QUOTED = 4,   /* blob: usually one CDATA section, in which its end tag does not count */
    ELEMENT_STDERR = 8,   /* blob: see scan_stderr */
    ELEMENT_OTHER = 16,   /* another spelling: gives way to the usual one, whatever the order */
    ELEMENT_DEMAND = 32,  /* asks for work for one resource */
    ELEMENT_LASTING = 64, /* says what the host is and can do */
    ELEMENT_PASSING = 128 /* does not, though what is beside it does */
};

enum { ELEMENT_NOWHERE = -1 }; /* as an offset */

struct element {
    enum context context;
    const char *name;
    size_t name_length;
    enum element_kind kind;
    enum context child;
    int offset;      /* of the field in the context's record */
    int flag_offset; /* of the bool that says it was there; of a keyword list's count */
    size_t bytes_max;
    unsigned marks;
    const char *note; /* item: coprocessor type */
};

enum { ELEMENTS_MAX = 256 }; /* for arrays by element; the table is shorter */

extern const struct element elements[];
extern const size_t element_count;

/* The alternative platforms are collected in a list of these. */
struct alt_platform {
    struct text name;
};

struct text element_name(const struct element *element);
/* Whether it says what the host is and can do, or what is in it does. */
bool element_is_lasting(const struct element *element);
/* NULL: unknown there. */
const struct element *element_find(enum context context, struct text name);

#endif
