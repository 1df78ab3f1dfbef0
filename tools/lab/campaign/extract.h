/* SPDX-License-Identifier: Apache-2.0 */
/* What the database says: one line for each result, as `mariadb --batch --skip-column-names` writes
 * it, in rising order of workunit and id. The auditor has no database connection of its own, and
 * nothing of the server's: extract_query is what somebody else runs. */
#ifndef TOOLS_LAB_CAMPAIGN_EXTRACT_H
#define TOOLS_LAB_CAMPAIGN_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results by their stored numbers: server_state, outcome. */
enum {
    STATE_IN_PROGRESS = 4,
    STATE_OVER = 5,
    OUTCOME_OF_SUCCESS = 1,
    OUTCOME_OF_ERROR = 3,
    OUTCOME_OF_DETACHED = 7
};

struct extract_row {
    char *name;
    int64_t id, workunitid, server_state, outcome, hostid, userid, app_version_id;
    int64_t sent_time, received_time;
    int64_t is_alike_hosts, is_one_version; /* of the app: 1 or 0 */
    int64_t target_user;                    /* 0: for anybody */
};

/* A job of which all failed is no longer bound to a class of hosts, or a version: perhaps these
 * were the reason (policy(7) 13.1). */
bool extract_binds(const struct extract_row *row);

struct extract {
    struct extract_row *rows;
    size_t count;
};

extern const char extract_query[];

/* False: the file is missing or has a line that is no row; `ret_line` is its number then, or 0. */
bool extract_read(struct extract *extract, const char *path, size_t *ret_line);
void extract_clear(struct extract *extract);

#endif
