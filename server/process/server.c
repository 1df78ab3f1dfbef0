/* SPDX-License-Identifier: Apache-2.0 */
/* What all requests of a process share. It hangs from one snapshot under one mutex that is held for
 * a few pointer copies; what is replaced lives on until its last request lets go. */
#include "server/process/server.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/handout/shares.h"
#include "server/pool/fill.h"
#include "server/process/server_parts.h"
#include "server/process/watch.h"
#include "server/project/catalog.h"
#include "server/project/project.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { SERVER_MAGIC = 0x716d7376, FINDINGS_BYTES_MAX = 64 << 20 };

const struct server_options *server_options(const struct server *server)
{
    return &server->options;
}

struct load_meter *server_load(struct server *server)
{
    return &server->load;
}

struct stream_ledger *server_ledger(struct server *server)
{
    return server->ledger;
}

struct pool *server_pool(struct server *server)
{
    return server->pool;
}

void server_write_pool_figures(struct server *server, struct buffer *ret_page)
{
    if (server->pool != NULL) /* set before the threads begin, and the filler with it */
        filler_write_figures(server->filler, server->pool, ret_page);
}

void server_follow_time(struct server *server, double now)
{
    if (server->filler != NULL) /* set before the threads begin */
        filler_follow(server->filler, now);
}

struct files_health *server_files(struct server *server)
{
    return &server->files;
}

void server_snapshot(struct server *server, struct snapshot *ret_snapshot)
{
    must(server->magic == SERVER_MAGIC);
    pthread_mutex_lock(&server->lock);
    *ret_snapshot = server->current;
    config_hold(ret_snapshot->config);
    project_hold(ret_snapshot->project);
    if (ret_snapshot->catalog != NULL)
        catalog_hold(ret_snapshot->catalog);
    pthread_mutex_unlock(&server->lock);
}

void snapshot_release(struct snapshot *snapshot)
{
    catalog_release(snapshot->catalog);
    project_release(snapshot->project);
    config_release(snapshot->config);
    memset(snapshot, 0, sizeof(*snapshot));
}

void server_replace_config(struct server *server, struct config *config)
{
    struct config *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.config;
    server->current.config = config;
    if (server->filler != NULL)
        filler_set_config(server->filler, config);
    pthread_mutex_unlock(&server->lock);
    log_set_level((enum log_level)config->sched_debug_level);
    config_release(old);
}

void server_replace_catalog(struct server *server, struct catalog *catalog)
{
    struct catalog *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.catalog;
    server->current.catalog = catalog;
    pthread_mutex_unlock(&server->lock);
    catalog_release(old);
}

void server_replace_project(struct server *server, struct project *project)
{
    struct project *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.project;
    server->current.project = project;
    pthread_mutex_unlock(&server->lock);
    project_release(old);
}

void server_set_stop_sched(struct server *server, bool stop_sched)
{
    bool changed;

    pthread_mutex_lock(&server->lock);
    changed = server->current.stop_sched != stop_sched;
    server->current.stop_sched = stop_sched;
    pthread_mutex_unlock(&server->lock);
    if (changed)
        log_line(LOG_LEVEL_WARNING, "event=stop_sched present=%d", stop_sched);
}

static enum status load_config(struct server *server, struct failure *failure)
{
    struct arena *arena = arena_create(FINDINGS_BYTES_MAX);
    struct config_findings findings = {0};
    enum status status;

    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = config_load(server->options.project_dir, arena, &server->current.config, &findings,
                         failure);
    log_findings(&findings);
    arena_destroy(arena);
    if (status != STATUS_OK)
        server->current.config = NULL;
    return status;
}

enum status server_create(const struct server_options *options, struct server **ret_server,
                          struct failure *failure)
{
    struct server *server = calloc(1, sizeof(*server));
    enum status status;

    if (server == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    server->magic = SERVER_MAGIC;
    server->options = *options;
    pthread_mutex_init(&server->lock, NULL);
    server->ledger = stream_ledger_create();
    status = server->ledger == NULL ? fail(failure, STATUS_NO_MEMORY, "no memory")
                                    : load_config(server, failure);
    if (status == STATUS_OK)
        status = project_load(server->current.config, &server->current.project, failure);
    if (status != STATUS_OK) {
        server_destroy(server);
        return status;
    }
    log_set_level((enum log_level)server->current.config->sched_debug_level);
    *ret_server = server;
    return STATUS_OK;
}

void server_destroy(struct server *server)
{
    if (server == NULL)
        return;
    snapshot_release(&server->current);
    stream_ledger_destroy(server->ledger);
    pthread_mutex_destroy(&server->lock);
    server->magic = 0;
    free(server);
}
