/* SPDX-License-Identifier: Apache-2.0 */
/* Which host record belongs to a request, and whether its machine is the same (policy(7) 1.2, 1.3);
 * pure.
 *
 * This room decides who is asking, step by step as server/request/ finds the rows. First the
 * account is known by its key (client_keys.h). Then the row of the host: the one that the request
 * names, if it belongs to the account and was not copied; else one with the same CPID or likeness;
 * else a new one. The row is then filled with what the client says of its
 * machine (host_record.h), cut to the columns (bounds.h). Which kind of computer it is, where all
 * instances of a workunit must go to one kind, is said by hr_class.h when jobs are chosen. */
#ifndef SERVER_POLICY_HOST_IDENTITY_H
#define SERVER_POLICY_HOST_IDENTITY_H

#include "db/rows.h"
#include "server/base/crypto.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message;

enum { CROSS_PROJECT_ID_LENGTH = 32 };
/* Whether a text may be kept as a user's cross-project id, which other projects and pages show:
 * CROSS_PROJECT_ID_LENGTH hexadecimal digits (policy(7) 1.3). */
bool identity_is_cross_project_id(struct text id);

/* How host_cpid is stored: hashed with the user's e-mail address. */
void identity_hash_cpid(struct text host_cpid, struct text email_addr, char ret_hex[MD5_HEX_SIZE]);

/* What is to be done about the record that the request names. */
enum host_decision {
    HOST_USE,
    HOST_SEARCH_BY_CPID, /* then alike, then a new one */
    HOST_SEARCH_ALIKE    /* then a new one */
};
/* `host` is NULL when the request names none or there is none. A record that was reached by
 * forwarding has counted another client's requests, so its number is not compared. */
enum host_decision identity_decide_host(const struct host_row *host, bool forwarded, int64_t userid,
                                        int64_t rpc_seqno);

/* Whether the hardware or system differ so much that a record with the same host CPID was made by
 * another machine. */
bool identity_host_differs(const struct message *message, const struct host_row *host);

/* Whether a record may be searched by name, address, system and processor; if so, what it must be
 * like is in *ret_like. */
bool identity_may_search_alike(const struct message *message, const struct text *exempt_userids,
                               size_t exempt_count, int64_t userid, struct host_row *ret_like);

/* How a record was found that the request did not name. */
enum host_found { HOST_FOUND_BY_CPID, HOST_FOUND_ALIKE };
/* Whether the jobs in progress on a record found so are lost for good. Not within some minutes of
 * the host's last request: then a lost or repeated first contact is the likelier story, and its
 * jobs are to be sent again. */
bool identity_jobs_are_lost(const struct message *message, enum host_found found,
                            int64_t stored_rpc_time, double now);

/* The walk from a record that was merged into another one to the one that remains. */
enum { ZOMBIE_HOPS_MAX = 16 };
struct zombie_walk { /* zero it before use */
    int64_t seen[ZOMBIE_HOPS_MAX];
    size_t count;
};
bool identity_is_zombie(const struct host_row *host);
/* The id of the next record; 0 when the chain ends, comes back to itself or is too long. */
int64_t identity_next_host(struct zombie_walk *walk, const struct host_row *zombie);

#endif
