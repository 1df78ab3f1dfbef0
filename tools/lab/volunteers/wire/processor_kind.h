/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of processors that a host may have, and what the protocol calls them. Their
 * order is that of client/client.h. */
#ifndef TOOLS_LAB_VOLUNTEERS_WIRE_PROCESSOR_KIND_H
#define TOOLS_LAB_VOLUNTEERS_WIRE_PROCESSOR_KIND_H

#include "server/base/text.h"
#include "tools/lab/volunteers/client/client.h"

struct processor_kind {
    const char *type;      /* in app versions, and in what replies say of resources */
    const char *element;   /* of its description in a request */
    const char *instances; /* in the list of jobs in progress */
    const char *details;   /* how a typical device of the kind describes itself */
    const char *wsl_gpu;   /* and how a WSL distribution does whose containers see it */
};
extern const struct processor_kind processor_kinds[CLIENT_RESOURCES];

/* CLIENT_RESOURCES: none of them. */
size_t processor_kind_find(struct text type);

#endif
