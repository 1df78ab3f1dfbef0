/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/exchange.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/process/fcgi.h"
#include "server/process/receive.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/banned.h"

/* Sending a reply may take this long. */
static const uint64_t sending_longest_ns = UINT64_C(300000000000);

enum status exchange_init(struct exchange *exchange, bool has_fcgi)
{
    *exchange = (struct exchange){.record = NOTHING_RECORDED, .connection = -1};
    pthread_mutex_init(&exchange->lock, NULL);
    if (!has_fcgi)
        return STATUS_OK;
    exchange->fcgi = fcgi_create();
    return exchange->fcgi != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void exchange_clear(struct exchange *exchange)
{
    buffer_free(&exchange->record.text);
    arena_destroy(exchange->arena);
    fcgi_destroy(exchange->fcgi);
    pthread_mutex_destroy(&exchange->lock);
}

struct arena *exchange_arena(struct exchange *exchange, const struct config *config)
{
    size_t bytes_max = (size_t)config->request_memory_max;

    if (exchange->arena == NULL || exchange->arena_bytes_max != bytes_max) {
        arena_destroy(exchange->arena);
        exchange->arena = arena_create(bytes_max);
        exchange->arena_bytes_max = bytes_max;
    }
    return exchange->arena;
}

/* --- the connection --------------------------------------------------------------------------- */

/* `ns` from now on, 0: no limit. */
static void set_deadline(struct exchange *exchange, uint64_t ns)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->deadline_ns = ns == 0 ? UINT64_MAX : clock_ns() + ns;
    pthread_mutex_unlock(&exchange->lock);
}

void exchange_works(struct exchange *exchange)
{
    set_deadline(exchange, 0);
}

/* Puts the connection, or none (-1), where exchange_cut_overdue finds it: a descriptor of its own,
 * since libfcgi closes the other one when it likes. */
static void show_connection(struct exchange *exchange, int connection)
{
    pthread_mutex_lock(&exchange->lock);
    if (exchange->connection >= 0)
        close(exchange->connection);
    exchange->connection = connection < 0 ? -1 : fcntl(connection, F_DUPFD_CLOEXEC, 0);
    exchange->deadline_ns = clock_ns() + sending_longest_ns;
    pthread_mutex_unlock(&exchange->lock);
}

void exchange_cut_overdue(struct exchange *exchange, uint64_t now_ns)
{
    pthread_mutex_lock(&exchange->lock);
    if (exchange->connection >= 0 && (now_ns >= exchange->deadline_ns || now_ns == UINT64_MAX))
        shutdown(exchange->connection, SHUT_RDWR);
    pthread_mutex_unlock(&exchange->lock);
}

bool exchange_begin(struct exchange *exchange, struct received *received)
{
    const struct text records = {.at = received->bytes, .length = received->length};

    exchange->received = received;
    show_connection(exchange, received->connection);
    if (fcgi_begin(exchange->fcgi, records, received->connection) == STATUS_OK)
        return true;
    show_connection(exchange, -1);
    return false;
}

void exchange_finish(struct exchange *exchange)
{
    fcgi_finish(exchange->fcgi);
    show_connection(exchange, -1);
}

/* --- the thread's time ------------------------------------------------------------------------ */

void exchange_leave(struct exchange *exchange)
{
    exchange->left_ns = clock_ns();
    exchange->left_cpu_ns = clock_thread_ns();
}

void exchange_resume(struct exchange *exchange)
{
    exchange->received->others_ns += clock_ns() - exchange->left_ns;
    exchange->received->others_cpu_ns += clock_thread_ns() - exchange->left_cpu_ns;
}

uint64_t exchange_held_ns(const struct exchange *exchange, uint64_t now_ns)
{
    return now_ns - exchange->received->taken_ns - exchange->received->others_ns;
}

/* --- what is sent ----------------------------------------------------------------------------- */

const char *exchange_variable(void *context, const char *name)
{
    const struct exchange *exchange = context;

    return fcgi_variable(exchange->fcgi, name);
}

void exchange_send(struct exchange *exchange, struct text head, struct text content)
{
    set_deadline(exchange, sending_longest_ns);
    fcgi_write(exchange->fcgi, head);
    fcgi_write(exchange->fcgi, content);
}

void exchange_reply(struct exchange *exchange, const char *content_type,
                    const struct web_request *web, struct text reply)
{
    struct buffer head = buffer_on_heap(4096);

    web_reply_head(&head, content_type, web, reply.length);
    exchange_send(exchange, buffer_text(&head), reply);
    buffer_free(&head);
}
