/* SPDX-License-Identifier: Apache-2.0 */
/* The query string of a page for joining, and what an account may be called. Pure. */
#ifndef SERVER_JOIN_JOIN_QUERY_H
#define SERVER_JOIN_JOIN_QUERY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

enum {
    JOIN_QUERY_MAX = 8192
}; /* bytes; what clients send is shorter, and of a longer one nothing
      is read */

/* Empty: not given, or given empty. */
struct join_query {
    struct text email_addr;  /* in lower case */
    struct text passwd_hash; /* 32 hex digits of MD5(password, then address), or whatever came */
    struct text user_name;   /* UTF-8 */
    struct text team_name;
    struct text source; /* of the consent: the program in which it was given */
    struct text consent_flag;
};

/* Clients since 5.4 write every byte but letters and digits as %XX; 5.2 escapes nothing, so that an
 * address may hold a plain + (elsewhere that is a blank). Bytes that are no UTF-8 are read as
 * ISO-8859-1, which the Manager sends on Windows. Of a repeated name the last value counts. Texts
 * live in the arena. */
void join_query_read(struct arena *arena, struct text query, struct join_query *ret_query);

/* The rules of BOINC's own page: not empty, no number, no white space at its ends, no control
 * character and none of < > & ' "; and it fits into its column. */
bool join_name_is_good(struct text name);
/* A good name, cut where need be, and behind it the number: "Bob 42", which is as good. Lives in
 * the arena. */
struct text join_name_with_number(struct arena *arena, struct text name, uint64_t number);
/* LOCAL@DOMAIN in ASCII, the domain with a dot. */
bool join_email_is_good(struct text email_addr);
/* 32 hex digits. */
bool join_hash_is_good(struct text passwd_hash);

#endif
