/* SPDX-License-Identifier: Apache-2.0 */
/* What a request in BOINC's XML says: the command, which is the name of the root, and the elements
 * directly below it. What lies deeper, the batch with its jobs, is read apart. */
#ifndef SERVER_SUBMISSION_RPC_REQUEST_H
#define SERVER_SUBMISSION_RPC_REQUEST_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct xml_limits;
struct xml_source;

enum {
    RPC_TEXT_MAX = 4096,    /* bytes of an element's text */
    RPC_LIST_MAX = 100000,  /* names in a request */
    RPC_JOBS_MAX = 1000000, /* jobs of a batch */
    RPC_DEPTH_MAX = 16
};

/* Elements of a name in their order. */
struct rpc_list {
    struct text *items;
    size_t count, room;
};

/*  ELEMENT(name): once, the first counts.  LIST(name, member): in their order. */
#define RPC_ELEMENTS(ELEMENT, LIST) \
    ELEMENT(authenticator)          \
    ELEMENT(app_name)               \
    ELEMENT(batch_id)               \
    ELEMENT(job_id)                 \
    ELEMENT(expire_time)            \
    ELEMENT(delete_time)            \
    ELEMENT(min_mod_time)           \
    ELEMENT(get_cpu_time)           \
    ELEMENT(get_job_details)        \
    LIST(batch_name, batch_names)   \
    LIST(job_name, job_names)       \
    LIST(phys_name, phys_names)

/* A text without bytes is an element that is not there, or is empty. */
struct rpc_request {
    struct text command;
#define RPC_ELEMENT_FIELD(name)      struct text name;
#define RPC_LIST_FIELD(name, member) struct rpc_list member;
    RPC_ELEMENTS(RPC_ELEMENT_FIELD, RPC_LIST_FIELD)
#undef RPC_ELEMENT_FIELD
#undef RPC_LIST_FIELD
};

/* Texts live in the arena. STATUS_INVALID: it cannot be read; then the command may be known. */
MUST_CHECK enum status rpc_request_read(const struct xml_source *source, struct arena *arena,
                                        struct rpc_request *ret_request, struct failure *failure);

/* How deep and how many: of any request. */
struct xml_limits rpc_limits(void);

/* The first of a list; empty: there is none. */
struct text rpc_first(const struct rpc_list *list);

#endif
