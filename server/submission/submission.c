/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/submission.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/join/join_limits.h"
#include "server/submission/clerk.h"
#include "server/submission/count_pauses.h"
#include "server/submission/peer.h"
#include "server/submission/rpc_reply.h"
#include "server/web/listen.h"
#include "server/web/notify.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { THREADS_MAX = 64, DRAIN_S = 60, RECOVER_EVERY_S = 60, RECOVER_ONE_IN = 50 };
#define CONFIG_BYTES ((size_t)64 << 20)

/* What a thread serves. */
struct served_line {
    const struct peer *peer;
    int connection; /* -1: none */
};

struct submission {
    const struct submission_options *options;
    struct listener *listener;
    struct join_limits *limits;
    struct count_pauses pauses;
    struct config *begun; /* what it was started with */
    pthread_t threads[THREADS_MAX];
    int thread_count;
    _Atomic int at_work; /* threads */
    _Atomic bool stops;
    sigset_t signals;
    pthread_mutex_t turn; /* who has it waits for the next connection */
    pthread_mutex_t lock; /* of what follows */
    struct config *config;
    struct served_line places[THREADS_MAX];
    int place_count;
};

static bool is_to_end(void *context)
{
    struct submission *submission = context;

    return atomic_load(&submission->stops);
}

/* --- the configuration -------------------------------------------------------------------------
 */

/* The database's user is one of its own where there is one. */
static enum status take_user(struct config *config, struct failure *failure)
{
    enum status status = STATUS_OK;

    if (config->submission_db_user.length == 0)
        return STATUS_OK;
    status = config_set(config, TEXT("db_user"), config->submission_db_user, failure);
    return status == STATUS_OK
               ? config_set(config, TEXT("db_passwd"), config->submission_db_passwd, failure)
               : status;
}

static enum status load_config(const char *project_dir, struct config **ret_config,
                               struct failure *failure)
{
    struct arena *arena = arena_create(CONFIG_BYTES);
    struct config_findings findings = {.count = 0};
    enum status status;

    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = config_load(project_dir, arena, ret_config, &findings, failure);
    for (size_t i = 0; i < findings.count; i++)
        log_line_with(findings.items[i].is_error ? LOG_LEVEL_CRITICAL : LOG_LEVEL_WARNING, "what",
                      findings.items[i].text, "event=config file=" TEXT_FORMAT " line=%d",
                      TEXT_ARG(findings.items[i].file), findings.items[i].line);
    arena_destroy(arena);
    if (status == STATUS_OK) {
        status = take_user(*ret_config, failure);
        if (status != STATUS_OK)
            config_release(*ret_config);
    }
    if (status == STATUS_OK)
        log_set_level((enum log_level)(*ret_config)->sched_debug_level);
    return status;
}

static struct config *current_config(struct submission *submission)
{
    struct config *config;

    pthread_mutex_lock(&submission->lock);
    config = config_hold(submission->config);
    pthread_mutex_unlock(&submission->lock);
    return config;
}

/* What cannot be read leaves everything as it was. */
static void reload(struct submission *submission)
{
    struct config *config = NULL, *former;
    struct failure failure = {.status = STATUS_OK};

    if (log_reopen() != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=log_not_reopened");
    if (load_config(submission->options->project_dir, &config, &failure) != STATUS_OK) {
        log_event(LOG_LEVEL_CRITICAL, "not_reloaded", text_from(failure.text));
        return;
    }
    log_line(LOG_LEVEL_NORMAL, "event=reloaded changes=%zu",
             config_log_changes(submission->config, config, NULL));
    (void)config_restarts_wanted(submission->begun, config, PROGRAM_SUBMIT);
    pthread_mutex_lock(&submission->lock);
    former = submission->config;
    submission->config = config;
    pthread_mutex_unlock(&submission->lock);
    config_release(former);
}

/* --- the next one ------------------------------------------------------------------------------
 */

/* The next connection; false: there will be none. */
static bool next_connection(struct submission *submission, int *ret_connection)
{
    struct pollfd wait[2] = {{.fd = listener_socket(submission->listener), .events = POLLIN},
                             {.fd = listener_stop_event(submission->listener), .events = POLLIN}};
    static const struct timespec moment = {.tv_nsec = 100000000};
    enum status status = STATUS_OK;

    *ret_connection = -1;
    pthread_mutex_lock(&submission->turn);
    while (status != STATUS_NOT_FOUND && *ret_connection < 0) {
        (void)poll(wait, 2, -1);
        status = listener_accept(submission->listener, ret_connection);
        if (status == STATUS_IO)
            nanosleep(&moment, NULL);
    }
    pthread_mutex_unlock(&submission->turn);
    return *ret_connection >= 0;
}

/* --- who is slow gives way ---------------------------------------------------------------------
 */

static struct served_line *take_place(struct submission *submission, const struct peer *peer)
{
    struct served_line *place;

    pthread_mutex_lock(&submission->lock);
    place = &submission->places[submission->place_count++];
    *place = (struct served_line){.peer = peer, .connection = -1};
    pthread_mutex_unlock(&submission->lock);
    return place;
}

/* From here on it is this one; -1: it is over. */
static void set_connection(struct submission *submission, struct served_line *place, int connection)
{
    pthread_mutex_lock(&submission->lock);
    place->connection = connection;
    pthread_mutex_unlock(&submission->lock);
}

/* The slowest, unless a place is free. */
static const struct served_line *slowest(const struct submission *submission)
{
    const struct served_line *found = NULL;
    uint64_t most = 0;

    for (int i = 0; i < submission->place_count; i++) {
        const struct served_line *place = &submission->places[i];
        uint64_t slowness = place->connection >= 0 ? peer_slowness(place->peer) : 0;

        if (place->connection < 0)
            return NULL;
        if (slowness > most) {
            most = slowness;
            found = place;
        }
    }
    return found;
}

/* Where others wait. Its thread finds the line cut, and answers that, if anybody hears it. */
static void give_way(struct submission *submission)
{
    struct pollfd queue = {.fd = listener_socket(submission->listener), .events = POLLIN};
    const struct served_line *place;

    if (poll(&queue, 1, 0) <= 0)
        return;
    pthread_mutex_lock(&submission->lock);
    place = slowest(submission);
    if (place != NULL) {
        (void)shutdown(place->connection, SHUT_RDWR);
        log_line(LOG_LEVEL_WARNING, "event=slow_line_cut");
    }
    pthread_mutex_unlock(&submission->lock);
}

/* --- the threads -------------------------------------------------------------------------------
 */

static void *run_thread(void *argument)
{
    struct submission *submission = argument;
    struct served_line *place;
    struct clerk clerk;
    int connection;

    if (clerk_open(&clerk) != STATUS_OK) {
        log_line(LOG_LEVEL_CRITICAL, "event=thread_not_started why=\"no memory\"");
        atomic_fetch_sub(&submission->at_work, 1);
        return NULL;
    }
    clerk.limits = submission->limits;
    clerk.pauses = &submission->pauses;
    clerk.is_to_end = is_to_end;
    clerk.context = submission;
    place = take_place(submission, clerk.peer);
    while (next_connection(submission, &connection)) {
        struct config *config = current_config(submission);

        set_connection(submission, place, connection);
        if (peer_begin(clerk.peer, connection) == STATUS_OK)
            clerk_serve(&clerk, config);
        set_connection(submission, place, -1);
        (void)close(connection);
        config_release(config);
    }
    clerk_close(&clerk);
    atomic_fetch_sub(&submission->at_work, 1);
    return NULL;
}

static enum status start_threads(struct submission *submission, struct failure *failure)
{
    int wanted = (int)submission->config->submit_threads;

    for (; submission->thread_count < wanted; submission->thread_count++) {
        atomic_fetch_add(&submission->at_work, 1);
        if (pthread_create(&submission->threads[submission->thread_count], NULL, run_thread,
                           submission) != 0) {
            atomic_fetch_sub(&submission->at_work, 1);
            return fail(failure, STATUS_NO_MEMORY, "no more threads");
        }
    }
    return STATUS_OK;
}

/* --- the process -------------------------------------------------------------------------------
 */

/* 0: none came in that time. */
static int wait_for_signal(const struct submission *submission, long milliseconds)
{
    struct timespec most = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};
    int signal_number = sigtimedwait(&submission->signals, NULL, &most);

    return signal_number < 0 ? 0 : signal_number;
}

static void run_until_stopped(struct submission *submission, struct clerk *clerk)
{
    double recovered = -RECOVER_EVERY_S;

    for (;;) {
        int signal_number = wait_for_signal(submission, 1000);

        if (signal_number == SIGTERM || signal_number == SIGINT)
            return;
        if (signal_number == SIGHUP)
            reload(submission);
        give_way(submission);
        if (clock_seconds() - recovered < RECOVER_EVERY_S)
            continue;
        recovered = clock_seconds();
        clerk_recover(clerk, submission->config);
    }
}

/* Whether all threads ended in time. */
static bool stop_threads(struct submission *submission)
{
    listener_stop(submission->listener);
    atomic_store(&submission->stops, true);
    for (int tenths = 0; atomic_load(&submission->at_work) > 0; tenths++) {
        if (tenths == 10 * DRAIN_S)
            return false;
        (void)wait_for_signal(submission, 100);
    }
    for (int i = 0; i < submission->thread_count; i++)
        (void)pthread_join(submission->threads[i], NULL);
    return true;
}

static enum status start(struct submission *submission, struct failure *failure)
{
    const struct submission_options *options = submission->options;
    enum status status = load_config(options->project_dir, &submission->config, failure);

    if (status == STATUS_OK)
        status = listener_open(options->listen, options->socket, &submission->listener, failure);
    if (status == STATUS_OK && listener_is_exposed(submission->listener))
        log_event(LOG_LEVEL_WARNING, "socket_exposed",
                  TEXT("other machines may reach the socket: let only web servers do so"));
    if (status != STATUS_OK)
        return status;
    submission->begun = config_hold(submission->config);
    submission->limits = join_limits_create(1);
    return submission->limits != NULL ? start_threads(submission, failure)
                                      : fail(failure, STATUS_NO_MEMORY, "no memory");
}

static void block_signals(struct submission *submission)
{
    sigemptyset(&submission->signals);
    sigaddset(&submission->signals, SIGTERM);
    sigaddset(&submission->signals, SIGINT);
    sigaddset(&submission->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &submission->signals, NULL); /* in all threads to come */
}

enum status submission_run_fastcgi(const struct submission_options *options,
                                   struct failure *failure)
{
    struct submission submission = {.options = options,
                                    .pauses.lock = PTHREAD_MUTEX_INITIALIZER,
                                    .turn = PTHREAD_MUTEX_INITIALIZER,
                                    .lock = PTHREAD_MUTEX_INITIALIZER};
    struct clerk clerk;
    enum status status;

    block_signals(&submission);
    status = clerk_open(&clerk);
    if (status == STATUS_OK)
        status = start(&submission, failure);
    if (status == STATUS_OK) {
        log_line(LOG_LEVEL_NORMAL, "event=started what=submit version=\"%s\" threads=%d",
                 options->version, submission.thread_count);
        notify_manager("READY=1");
        run_until_stopped(&submission, &clerk);
        notify_manager("STOPPING=1");
    }
    if (submission.listener != NULL && !stop_threads(&submission))
        return fail(failure, STATUS_IO, "a request did not end in time");
    clerk_close(&clerk);
    listener_close(submission.listener);
    join_limits_destroy(submission.limits);
    config_release(submission.begun);
    config_release(submission.config);
    if (status == STATUS_OK)
        log_line(LOG_LEVEL_NORMAL, "event=stopped");
    return status;
}

/* --- CGI ---------------------------------------------------------------------------------------
 */

/* The project is not set up correctly, but a client waits. */
static void answer_stopped(struct peer *peer)
{
    struct rpc_reply reply;

    peer_send(peer, TEXT("Content-Type: text/xml; charset=utf-8\r\n\r\n"));
    rpc_reply_begin(&reply, NO_TEXT, peer_send, peer);
    rpc_reply_end(&reply, -183, TEXT("the project is not set up correctly"));
    peer_end(peer);
}

enum status submission_run_cgi(const struct submission_options *options, struct failure *failure)
{
    struct config *config = NULL;
    struct clerk clerk;
    enum status status = clerk_open(&clerk);

    if (status != STATUS_OK)
        return fail(failure, status, "no memory");
    peer_begin_cgi(clerk.peer);
    if (load_config(options->project_dir, &config, failure) == STATUS_OK) {
        clerk_serve(&clerk, config);
        if (random_u64() % RECOVER_ONE_IN == 0) /* nobody else is there to do it */
            clerk_recover(&clerk, config);
    } else {
        log_event(LOG_LEVEL_CRITICAL, "submission_not_possible", text_from(failure->text));
        answer_stopped(clerk.peer);
    }
    clerk_close(&clerk);
    config_release(config);
    return STATUS_OK;
}
