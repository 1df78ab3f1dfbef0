/* SPDX-License-Identifier: Apache-2.0 */
/* The process: what all its requests share, and its threads. */
#ifndef SERVER_PROCESS_SERVER_PARTS_H
#define SERVER_PROCESS_SERVER_PARTS_H

#include "server/files/host_files.h"
#include "server/process/load_meter.h"
#include "server/process/server.h"
#include "server/process/worker.h"

#include <pthread.h>
#include <stdatomic.h>

struct filler;
struct watcher;

struct thread {
    struct worker worker;
    struct server *server;
    pthread_t id;
};

struct server {
    unsigned magic;
    struct server_options options;
    pthread_mutex_t lock; /* of `current` */
    struct snapshot current;
    struct load_meter load;
    struct stream_ledger *ledger;
    struct files_health files;

    struct pool *pool;     /* NULL: none */
    struct filler *filler; /* likewise; under `lock` */

    struct listener *listener;
    struct watcher *watcher;
    struct thread *threads;
    int thread_count;
    atomic_int threads_running;
};

#endif
