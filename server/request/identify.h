/* SPDX-License-Identifier: Apache-2.0 */
/* From a request's account key and host id to the rows of its user and host. */
#ifndef SERVER_REQUEST_IDENTIFY_H
#define SERVER_REQUEST_IDENTIFY_H

#include "server/rpc/request.h"

/* The bodies of which the key is looked up before they are parsed, unless it is known; bytes. To
 * parse a smaller one takes little more than to ask. */
enum { LARGE_BODY = 64 * 1024 };

/* Fills attempt: user, team_name, is_weak, host (locked, as stored), host_is_new (then the host has
 * no row yet, only userid), detaches, and answer.hostid when the client must change its id.
 * NEXT_REPLY: the key belongs to nobody, and the answer says so. */
enum next identify(struct request *request);

#endif
