/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that authenticate, report and record, walked on a real database without the rest of the
 * server: no parser, no selection, no reply. Each visitor has a connection of its own, so that two
 * of them may come at the same moment. */
#ifndef TESTS_SUPPORT_VISITOR_H
#define TESTS_SUPPORT_VISITOR_H

#include "server/rpc/request.h"

struct test_database;

enum { VISITOR_NOW = 1795000000 };

struct visitor {
    struct request request; /* message, config and now are filled in; change them as you like */
    struct arena *arena;
    struct catalog *catalog; /* as it was when the visitor was made */
};

/* A schema with the platform of visitors and two users: 17 with VISITOR_KEY and 18 with OTHER_KEY.
 */
#define VISITOR_KEY "1234567890abcdef1234567890abcdef"
#define OTHER_KEY   "fedcba0987654321fedcba0987654321"
struct test_database *visitors_create(void);
/* Without hosts, jobs and messages again. */
void visitors_clear(struct test_database *database);
struct visitor *visitor_create(struct test_database *database);
void visitor_destroy(struct visitor *visitor);
/* Steps from authenticate to record but for resend and select, and the commit; what the database
 * asks to be repeated is repeated. Answers how the walk ended. */
enum next visitor_walk(struct visitor *visitor);
/* The acknowledged names in their order, separated by spaces; in the visitor's arena. */
const char *visitor_acks(struct visitor *visitor);

#endif
