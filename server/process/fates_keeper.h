/* SPDX-License-Identifier: Apache-2.0 */
/* What the database knew last of what became of results, by all processes together: read by the
 * watcher once a minute, shown by metrics and pages without asking again. */
#ifndef SERVER_PROCESS_FATES_KEEPER_H
#define SERVER_PROCESS_FATES_KEEPER_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/fates/fates.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct catalog;
struct db;
struct fates_keeper;

struct fates_keeper *fates_keeper_create(void);         /* NULL: no memory */
void fates_keeper_destroy(struct fates_keeper *keeper); /* NULL is fine */

/* Reads the last day; what was read before stays where that fails. The transaction is the
 * caller's. */
MUST_CHECK enum status fates_keeper_read(struct fates_keeper *keeper, struct db *db,
                                         const struct catalog *catalog, int64_t now);

/* Any thread. Gauges, in the text format of Prometheus; nothing before the first reading. */
void fates_keeper_write(struct fates_keeper *keeper, struct buffer *ret_page);

/* A host of which results failed of late. */
struct host_fates_read {
    int64_t id, ended, failed, at; /* at: of the last result, epoch */
    bool fails;                    /* see fates_alarm */
};
/* Results of an hour of the week before the last reading, by enum result_fate. */
struct hour_fates {
    bool is_known;
    int64_t by_fate[FATE_NUMBERS];
};
enum { FATES_WEEK_HOURS = 7 * 24 };

/* Results of a version, in the last day. */
struct version_fates {
    struct text version; /* "demo 1.03 windows_x86_64 (cuda)" */
    int64_t sent, ended, failed;
    int64_t worst_exit, worst_exits; /* the exit status of most errors, and how many; 0: none */
    bool fails;                      /* see fates_alarm */
};
struct fates_figures {
    const struct version_fates *versions; /* those that failed most first */
    size_t version_count, versions_failing, hosts_failing;
    const struct host_fates_read *hosts; /* likewise */
    size_t host_count;
    struct hour_fates week[FATES_WEEK_HOURS]; /* oldest first; the last one is that of `now` */
    int64_t read_at;                          /* epoch; 0: not yet */
};
/* False: no memory. Texts are copied into the arena. */
bool fates_keeper_figures(struct fates_keeper *keeper, struct arena *arena, int64_t now,
                          struct fates_figures *ret_figures);

#endif
