/* SPDX-License-Identifier: Apache-2.0 */
/* What the user's preferences say (policy(7) 2.1, 2.2); pure. */
#ifndef SERVER_POLICY_LIMITS_PREFERENCES_H
#define SERVER_POLICY_LIMITS_PREFERENCES_H

#include "config/config.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct message;

struct global_preferences {
    double mod_time;                                              /* epoch; 0: never edited */
    double disk_max_used_gb, disk_max_used_pct, disk_min_free_gb; /* 0: no limit; GB = 2^30 */
    double work_buf_min_days;
    double ram_max_used_busy_fraction, ram_max_used_idle_fraction; /* 0: no limit */
    double max_ncpus_pct, max_cpus; /* 0: no limit; older clients know the number alone */
};

struct project_preferences {
    double resource_share;  /* 100 when absent */
    const int64_t *app_ids; /* selected apps; none: all */
    size_t app_id_count;
    bool allow_non_preferred_apps, allow_beta_work;
    bool no_cpu, no_gpus;
    const struct text *no_resources; /* further types not to be used, by name */
    size_t no_resource_count;
    int64_t max_cpus, max_jobs; /* 0: no limit */
};

/* `text` is the content of a <global_preferences> element, maybe with its own tags around it; the
 * block of `venue`, if there is one, replaces the general part. Unreadable text: defaults. */
void preferences_parse_global(struct text text, struct text venue, struct arena *arena,
                              struct global_preferences *ret_preferences);
void preferences_parse_project(struct text text, struct text venue, struct arena *arena,
                               struct project_preferences *ret_preferences);

/* `edf_min_queue` for a client of this version (policy(7) 8.2): by_client is always or
 * when_not_idle.
 */
enum config_edf_min_queue preferences_connection_rule(const struct config *config,
                                                      int64_t client_version);

/* The value of one element of project preferences, from the venue's block if there is one; a slice
 * of `text`, empty if absent. */
struct text preferences_value(struct text text, struct text venue, struct text name);

/* policy(7) 2.1: which preferences are in force, whether the client's are to be stored for the
 * user, and whether the user's stored ones are to be sent. */
struct preferences_decision {
    struct global_preferences in_force;
    bool store; /* message->global_preferences, verbatim */
    bool send;  /* the stored text, verbatim */
};
struct preferences_decision preferences_decide(const struct message *message, struct text stored,
                                               struct text venue, bool may_store,
                                               const char *email_md5, double now,
                                               struct arena *arena);

#endif
