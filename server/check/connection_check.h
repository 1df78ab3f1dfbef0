/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that the rule of the connection period (policy(7) 8.2) leaves without work even when idle,
 * because they store work for longer than jobs have until their deadline. Only counters of reasons
 * show them. */
#ifndef SERVER_CHECK_CONNECTION_CHECK_H
#define SERVER_CHECK_CONNECTION_CHECK_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct config;
struct db;

struct connection_hosts {
    size_t asked; /* hosts that asked of late; of very many the newest */
    double *days; /* ascending: stored at least, by those of them that `always` holds for */
    size_t count; /* of these; only those whose preferences are known */
};

/* From stored preferences, since those that clients keep for themselves are not in the database. */
MUST_CHECK enum status connection_hosts_read(struct db *db, struct arena *arena,
                                             const struct config *config, int64_t now,
                                             struct connection_hosts *ret_hosts);
/* How many of them get no job that is due after `seconds`: "3 of 40 hosts ...", with the days that
 * they store. */
struct text connection_words(struct arena *arena, const struct config *config,
                             const struct connection_hosts *hosts, int64_t seconds);

#endif
