/* SPDX-License-Identifier: Apache-2.0 */
/* The state that all requests of a process share, and hold while they run. The story of the room
 * is at the top of run.h. */
#ifndef SERVER_PROCESS_SERVER_H
#define SERVER_PROCESS_SERVER_H

#include "server/base/status.h"
#include "server/rpc/request.h"
#include "server/web/listen.h"

#include <stdbool.h>
#include <stdint.h>

struct project;
struct buffer;
struct pool;
struct load_meter;
struct join_limits;
struct recording;
struct fates;
struct fates_keeper;
struct project_keeper;
struct files_health;
struct health;
struct status_figures;
struct status_keeper;
struct server;

enum { FINDINGS_BYTES_MAX = 64 << 20 }; /* memory for what is found while config.xml is read */

/* What the command line says. */
struct server_options {
    const char *project_dir;
    const char *version; /* of the program, for the log */
    const char *listen;  /* NULL: the inherited socket */
    struct socket_access socket;
    int threads; /* 0: config.xml says it */
    bool clock_from_request;
    /* with clock_from_request: simulated time of service, in s; 0: no load */
    double service_time;
};

/* Held until snapshot_release, whatever is reloaded meanwhile. The catalog is NULL until the
 * database was reached once. */
struct snapshot {
    struct config *config;
    struct catalog *catalog;
    struct project *project;
    bool stop_sched, stop_work; /* these files are in the project's folder */
};

/* Loads config.xml (findings go to the log) and the project's other files. The caller owns
 * *ret_server. */
MUST_CHECK enum status server_create(const struct server_options *options,
                                     struct server **ret_server, struct failure *failure);
void server_destroy(struct server *server); /* NULL is fine */

const struct server_options *server_options(const struct server *server);
struct load_meter *server_load(struct server *server);
struct recording *server_recording(struct server *server);
/* What became of the results of this process's requests. */
struct fates *server_fates(struct server *server);
/* What became of those of all processes. */
struct fates_keeper *server_fates_keeper(struct server *server);
/* What is known of the whole project's jobs. */
struct project_keeper *server_project_keeper(struct server *server);
struct join_limits *server_join_limits(struct server *server);
struct files_health *server_files(struct server *server);
struct health *server_health(struct server *server);
struct status_keeper *server_status(struct server *server);

/* With a thread that keeps it like the database, before the workers start; stop it after they
 * ended. Without a pool requests ask the database themselves, so a failure stops nothing. */
void server_start_pool(struct server *server);
void server_stop_pool(struct server *server);
/* NULL: none. */
struct pool *server_pool(struct server *server);
/* The clock of a request is the time for the job pool (simulated time). */
void server_follow_time(struct server *server, double now);
/* `catalog` NULL: without the jobs of each app. */
void server_write_pool_figures(struct server *server, const struct catalog *catalog,
                               struct buffer *ret_page);
/* Whether a request found the database there, at a monotonic time. */
void server_note_database(struct server *server, bool is_there, uint64_t now_ns);
/* s since requests have found it away; 0: it was there when it was last asked. */
double server_database_away_for(const struct server *server, uint64_t now_ns);
/* Gauges, in the text format of Prometheus; of the receiver nothing in a CGI program. */
void server_write_waiting(struct server *server, struct buffer *ret_page);
/* The number under which its database knows this server, by which others can tell that it is theirs
 * (qmctl status); nothing where it has none. */
void server_write_number(struct server *server, struct buffer *ret_page);
/* Likewise for the status page: of the process, its line and its pool. */
void server_take_figures(struct server *server, struct status_figures *figures);
/* Its limits follow the configuration from now on; the caller stops it after the workers. */
struct receiver;
void server_set_receiver(struct server *server, struct receiver *receiver);

void server_snapshot(struct server *server, struct snapshot *ret_snapshot);
void snapshot_release(struct snapshot *snapshot);

/* For the watcher: each takes over the caller's reference. */
void server_replace_config(struct server *server, struct config *config);
void server_replace_catalog(struct server *server, struct catalog *catalog);
void server_replace_project(struct server *server, struct project *project);
/* Looks whether the project is stopped, or sends no jobs, by files in its folder. */
void server_look_for_stops(struct server *server);
/* Looks how many servers work on the database. */
void server_look_for_servers(struct server *server);
/* A request has waited this long for a thread, and still does. False, too, where nobody knows of
 * this server (qm_server). */
bool server_hosts_wait(struct server *server, double seconds, int64_t *ret_server_id);

/* One log line per finding. */
struct config_findings;
void log_findings(const struct config_findings *findings);

#endif
