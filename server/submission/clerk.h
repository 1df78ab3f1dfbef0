/* SPDX-License-Identifier: Apache-2.0 */
/* One request at a time, from the web server to its answer: a thread's connection to the database
 * and its memory, and which page was asked for. */
#ifndef SERVER_SUBMISSION_CLERK_H
#define SERVER_SUBMISSION_CLERK_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct config;
struct count_pauses;
struct db;
struct join_limits;
struct peer;
struct spool;

struct clerk {
    struct arena *arena;
    struct peer *peer;
    struct spool *spool;
    struct db *db; /* NULL: not opened yet, or away */
    struct config *db_config;
    int64_t db_failures; /* in a row */
    uint64_t db_not_before_ns;
    struct join_limits *limits;  /* shared; NULL: none */
    struct count_pauses *pauses; /* likewise */
    bool (*is_to_end)(void *context);
    void *context;
};

/* Members that are shared are set by the caller afterwards. */
MUST_CHECK enum status clerk_open(struct clerk *clerk);
void clerk_close(struct clerk *clerk);
/* The request that has begun on clerk->peer. Answers it in every case; the peer is ended. */
void clerk_serve(struct clerk *clerk, struct config *config);
/* Ends what others left behind that were killed (desk_recover). */
void clerk_recover(struct clerk *clerk, struct config *config);

#endif
