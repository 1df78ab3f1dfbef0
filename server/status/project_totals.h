/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the project's jobs, volunteers and batches, counted by one server for all
 * (server/process/project_count.h): as figures, and as the words of a row of qm_figures, by which
 * the other servers know them. Pure. */
#ifndef SERVER_STATUS_PROJECT_TOTALS_H
#define SERVER_STATUS_PROJECT_TOTALS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

/* TOTAL(name, words): names are those of BOINC's server_status.php, in its order, as far as it has
 * them. The last ones are ours. */
#define PROJECT_TOTALS(TOTAL)                                                \
    TOTAL(results_ready_to_send, "unsent")                                   \
    TOTAL(results_in_progress, "in progress")                                \
    TOTAL(workunits_waiting_for_validation, "waiting for validation")        \
    TOTAL(workunits_waiting_for_assimilation, "waiting for assimilation")    \
    TOTAL(workunits_waiting_for_deletion, "jobs waiting for file deletion")  \
    TOTAL(results_waiting_for_deletion, "results waiting for file deletion") \
    TOTAL(transitioner_backlog_hours, "transitions late by, hours")          \
    TOTAL(users_with_recent_credit, "with recent credit")                    \
    TOTAL(users_with_credit, "with credit")                                  \
    TOTAL(users_registered_in_past_24_hours, "new in the last 24 hours")     \
    TOTAL(hosts_with_recent_credit, "with recent credit")                    \
    TOTAL(hosts_with_credit, "with credit")                                  \
    TOTAL(hosts_registered_in_past_24_hours, "new in the last 24 hours")     \
    TOTAL(current_floating_point_speed, "GFLOPS")                            \
    TOTAL(workunits_waiting_for_purge, "waiting for purge")                  \
    TOTAL(batch_outputs_bytes, "bytes in outputs of batches that are not retired")
enum project_total {
#define PROJECT_TOTAL_ENUM(name, words) TOTAL_##name,
    PROJECT_TOTALS(PROJECT_TOTAL_ENUM)
#undef PROJECT_TOTAL_ENUM
        TOTAL_COUNT,
    TOTAL_PUBLIC_COUNT = TOTAL_workunits_waiting_for_purge /* these are in server_status.php */
};
const char *project_total_name(enum project_total total);
const char *project_total_words(enum project_total total);

/* Of an application that is in use. */
struct project_app {
    int64_t id, unsent, in_progress;
    /* Results that were validated and came in the last 24 hours; runtimes in hours, rounded up to
     * 0.01; all 0: there were none. */
    double avg_runtime, min_runtime, max_runtime;
    int64_t users;
};
struct project_batch {
    int64_t id, appid, jobs;
    int64_t looked_at;               /* jobs; all of them, or as many at even distances */
    int64_t done, failed, cancelled; /* of these */
    int64_t created;                 /* epoch */
    struct text name;                /* empty: it has none */
    int64_t half, most; /* epoch, when it will be done (policy(7) 13.10); 0: not known */
    bool hurry;         /* it is in a hurry (policy(7) 13.9); then: */
    int64_t copies;     /* results, unsent or with hosts, beyond what jobs lack */
    int64_t within;     /* s: what is left is for hosts that return so soon; 0: for all */
};
struct project_totals {
    int64_t at;     /* epoch; 0: nothing is known */
    double seconds; /* that counting took */
    double values[TOTAL_COUNT];
    struct project_app *apps; /* by id */
    size_t app_count;
    struct project_batch *batches; /* newest first */
    size_t batch_count;
};
enum { PROJECT_APPS_MOST = 1000, PROJECT_BATCHES_MOST = 20 };

/* With `has_lists`, else the values alone. Of apps and batches no more than may be. */
void project_totals_write(const struct project_totals *totals, bool has_lists,
                          struct buffer *ret_words);
/* Lines that are not understood are passed over. False: no memory. */
bool project_totals_read(struct arena *arena, struct text words, struct project_totals *ret_totals);

#endif
