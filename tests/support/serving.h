/* SPDX-License-Identifier: Apache-2.0 */
/* A server in the test's own process: whole requests on a real database, from the bytes of a
 * request to those of the reply, without web server and threads. Several of them are several
 * servers. */
#ifndef TESTS_SUPPORT_SERVING_H
#define TESTS_SUPPORT_SERVING_H

#include "server/base/buffer.h"
#include "server/project/project.h"
#include "server/rpc/request.h"

#include <stddef.h>

struct test_database;

enum { SERVING_NOW = 1795000000 };

struct serving {
    struct db *db;
    struct arena *arena; /* of the last request */
    struct catalog *catalog;
    struct config *config; /* the database's */
    struct project_keys keys;
    struct request request; /* the last one */
    struct buffer reply;    /* to it */
    /* As you like: what each request is given. */
    struct pool *pool;
    struct files *files;
    const struct plan_classes *plan_classes;
    const struct buda_apps *buda;
    struct fates *fates;
};

void serving_open(struct serving *serving, struct test_database *database);
void serving_close(struct serving *serving); /* not what was given as you like */

/* A host of 1 GFLOPS with four CPUs and 4 GB that runs client 8.0.2, but for what is set. */
struct asking {
    int host;
    const char *key;      /* of the account; NULL: "key" */
    double work_seconds;  /* wanted of the CPU */
    int cpus;             /* 0: 4 */
    double memory;        /* bytes; 0: 4e9 */
    double disk_free;     /* bytes; 0: 1e12 */
    const char *os;       /* NULL: Linux */
    const char *platform; /* NULL: x86_64-pc-linux-gnu */
    const char *elements; /* more of the request; NULL: an empty list of jobs */
};
/* Empties the arena first. `now` is the time of the request; chance begins at `seed`. */
const struct answer *serving_ask(struct serving *serving, const struct asking *asking, double now,
                                 uint64_t seed);

/* The same with the bytes of a request, which may lie in the arena: it is not emptied. */
const struct answer *serving_send(struct serving *serving, struct text body, double now,
                                  uint64_t seed);

/* The request alone, not run; what is not said is as with serving_ask. Its memory is the arena. */
void serving_prepare(const struct serving *serving, struct arena *arena,
                     const struct asking *asking, double now, uint64_t seed,
                     struct request *ret_request);

/* Workunits of a day's delay bound that anybody may have, one result each: the numbers of both are
 * first, first + 1 ..., the results' names r_NUMBER. */
struct new_jobs {
    int first, count;
    int appid;          /* 0: 1 */
    int priority;       /* of the results */
    double fpops;       /* 0: 1e11 */
    const char *memory; /* bytes, SQL in terms of `seq`; NULL: 1e6 */
    double disk;        /* bytes; 0: 1e6 */
    int host;           /* not 0: they are in progress there, for user 1, since 1000 s */
};
void serving_add_jobs(struct test_database *database, const struct new_jobs *jobs);
/* User 1 ("key") and hosts 1 to `count`, with the app of test_database_add_app. */
void serving_add_hosts(struct test_database *database, int count);

#endif
