/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler_request as a host would send it, as far as the database knows the host. */
#ifndef TOOLS_QMCTL_WHY_WHY_REQUEST_H
#define TOOLS_QMCTL_WHY_WHY_REQUEST_H

#include "db/admin.h"
#include "tools/qmctl/session/project_session.h"

struct message;

/* What had to be assumed, in words, one line each. */
enum { ASSUMPTIONS_MAX = 8 };
struct assumptions {
    struct text lines[ASSUMPTIONS_MAX];
    size_t count;
};
void assume(struct session *session, struct assumptions *assumptions, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* It lists the jobs that the host has, or none for an idle one. */
MUST_CHECK enum status why_request_make(struct session *session, const struct host_row *host,
                                        bool is_idle, struct assumptions *assumptions,
                                        struct text *ret_request);

/* Once it was read: it asks for a day of work for every processor, on the platforms of --platform
 * where they are given. */
void why_request_complete(struct session *session, struct message *message);

#endif
