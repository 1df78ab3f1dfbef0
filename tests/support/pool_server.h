/* SPDX-License-Identifier: Apache-2.0 */
/* A server in the test's own process with a job pool, whose thread works when the test lets it. */
#ifndef TESTS_SUPPORT_POOL_SERVER_H
#define TESTS_SUPPORT_POOL_SERVER_H

#include "tests/support/serving.h"

#include <stddef.h>
#include <stdint.h>

struct filler;

struct pool_server {
    struct serving serving;
    struct filler *filler;
    double clock; /* of the pool's thread, s */
};

/* `id`: of the server among those of the database; the pool holds jobs_max jobs. */
void pool_server_open(struct pool_server *server, struct test_database *database, int64_t id,
                      size_t jobs_max);
void pool_server_close(struct pool_server *server);
/* Lets the pool's thread do what is due in so many seconds. */
void pool_server_pass(struct pool_server *server, double seconds);

#endif
