/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts as an administrator looks for them, and what he does with one. Conventions as in db.h. */
#ifndef DB_HOST_LISTS_H
#define DB_HOST_LISTS_H

#include "db/db.h"

/*  ORDER(name, word): what stands first. The newest are read along the key, until there are
 * enough; for every other order one query goes through all hosts, without locks. */
#define HOST_ORDERS(ORDER)                                                                 \
    ORDER(NEWEST, "newest")                                                                \
    ORDER(CONTACT, "contact")   /* asked last */                                           \
    ORDER(FAILURES, "failures") /* failed / (ended + 1) of late: what became of results */ \
    ORDER(JOBS, "jobs")         /* in progress */                                          \
    ORDER(SPEED, "speed")       /* FLOPS of one CPU */
enum host_order {
#define HOST_ORDER_ENUM(name, word) HOST_ORDER_##name,
    HOST_ORDERS(HOST_ORDER_ENUM)
#undef HOST_ORDER_ENUM
};

/* What is 0 or false does not matter. Records that were merged into other hosts are left out. */
struct host_filter {
    enum host_order order;
    int64_t userid;
    int64_t platformid; /* it has had jobs of a version for it */
    int64_t since;      /* it asked then or later (epoch) */
    int64_t before;     /* it asked earlier */
    bool is_banned, is_ownerless;
    int64_t now;
    size_t most;
};
MUST_CHECK enum status db_host_list(struct db *db, struct arena *arena,
                                    const struct host_filter *filter,
                                    struct host_line_row **ret_rows, size_t *ret_count);

/* host.max_results_day of a host that gets no jobs. */
#define HOST_BANNED (-1)
/* *ret_was: whether it was so before. STATUS_NOT_FOUND: there is no such host. */
MUST_CHECK enum status db_host_ban(struct db *db, int64_t id, bool is_banned, bool *ret_was);
/* Forgets what failures have done to the host: quotas and what was given today of all versions, and
 * what became of its results. *ret_versions: of these. STATUS_NOT_FOUND likewise. */
MUST_CHECK enum status db_host_clear(struct db *db, int64_t id, uint64_t *ret_versions);

#endif
