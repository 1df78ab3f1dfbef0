/* SPDX-License-Identifier: Apache-2.0 */
/* How copies of a command share a pass over many jobs: each reserves the ids of some due jobs as a
 * lease (db/lease.h), does these jobs, and reserves the next. Meanwhile a thread with its own
 * connection renews the lease, so a job may take any time. A process that was stopped until its
 * lease ran out has lost these jobs, and writes nothing about them. */
#ifndef SERVER_PASSES_PASS_LEASE_H
#define SERVER_PASSES_PASS_LEASE_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pass_lease;
struct pass_owner;

/* Finds at most `most` due ids that nobody has a lease of, and changes nothing: it may be called
 * again. What a lease keeps from others is everything between the smallest and the greatest. */
typedef enum status pass_find(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count);

/* Holds nothing yet. `pass` is a text that lasts; the queries of db/admin.def know it. appid 0: the
 * pass goes by no app. The caller owns it. NULL: no memory. */
struct pass_lease *pass_lease_create(struct pass_owner *owner, const char *pass, int64_t appid);
/* Gives back what it holds, if the database answers. NULL is fine. */
void pass_lease_destroy(struct pass_lease *lease);

/* Gives back what it held and takes what is found, in transactions of its own. Nothing found: count
 * 0, nothing is held. */
MUST_CHECK enum status pass_lease_take(struct pass_lease *lease, pass_find *find, void *subject,
                                       int64_t *ret_ids, size_t most, size_t *ret_count);
/* In a transaction that writes something of these ids, first of all: the rows of leases are locked
 * before all others. STATUS_NOT_FOUND: they are not ours any more. */
MUST_CHECK enum status pass_lease_check(struct pass_lease *lease);
/* Asked without the database, before something is begun that cannot be taken back. False also when
 * the owner is to end; then nothing is found any more, either. */
bool pass_lease_is_held(struct pass_lease *lease);

#endif
