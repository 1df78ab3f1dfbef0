/* SPDX-License-Identifier: Apache-2.0 */
/* The join room: how volunteers get an account from their client.
 *
 * A client asks for three pages with GET, by names that BOINC's web pages have: get_project_config
 * (what to know before joining), create_account and lookup_account, whose answer is the account's
 * key (join_page.h). Where a project has no web pages, the server answers them itself. These are
 * few compared with scheduler requests, but each hashes a password, which takes longer than a
 * whole scheduler request, and each may be a guess. The steps are: read the query (join_query.h),
 * take a token of the address and of the account (join_limits.h), read the account, close the
 * transaction, hash while no other thread does, write in a transaction of its own, answer.
 *
 * A client never sends a password, but H = MD5(password, then address). The database holds bcrypt
 * of H; in accounts older than 2018 it is H itself, which is replaced at the next log-in. Nothing
 * else is ever rewritten, since weak keys (protocol(7) 2.1) are hashes of what is stored. The
 * account's key may be typed for the password. */
#ifndef SERVER_JOIN_JOIN_H
#define SERVER_JOIN_JOIN_H

#include "server/base/text.h"
#include "server/join/join_page.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct db;
struct join_limits;

struct join_request {
    enum join_page page; /* not JOIN_NONE */
    struct text query;   /* as the web server gives it, escaped */
    struct text address; /* of the client */
    struct join_project project;
    struct db *db; /* NULL: away. No transaction is open, before and after */
    struct join_limits *limits;
    struct arena *arena;
    int64_t now; /* epoch */

    /* What became of it. */
    enum join_error error;
    int64_t userid;         /* whose key was told; 0: nobody's */
    bool is_new;            /* the account was made */
    bool database_was_away; /* it was lost on the way */
};

/* Writes the page, always a whole one. */
void join_answer(struct join_request *request, struct buffer *ret_page);
void join_log(const struct join_request *request);
/* Whether the refusal tells something to somebody who guesses. */
bool join_refuses_guess(const struct join_request *request);

#endif
