/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread waits for that accepts connections and reads all of them as their bytes come: the
 * listening socket and its stop, the connections, and a word from other threads. */
#ifndef SERVER_WEB_EVENT_LOOP_H
#define SERVER_WEB_EVENT_LOOP_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct listener;

struct event_loop {
    struct listener *listener;
    int epoll, wake_event;
    bool hears_listener;
};

enum { EVENT_LOOP_MARKS_MAX = 256 };

/* The listener stays the caller's. To be closed even if it fails. */
MUST_CHECK enum status event_loop_open(struct event_loop *loop, struct listener *listener,
                                       struct failure *failure);
void event_loop_close(struct event_loop *loop);

/* Whether newcomers end the wait. The listener's stop does in any case, once. */
void event_loop_hear_listener(struct event_loop *loop, bool hears);
/* Has a descriptor polled for `events` (EPOLLIN, EPOLLOUT; 0: not at all) that was polled for
 * `before`; `mark` says whose event it is. */
MUST_CHECK bool event_loop_poll(const struct event_loop *loop, int descriptor, uint32_t before,
                                uint32_t events, void *mark);
/* Waits so long at most. Returns how many marks there are; newcomers and other threads have none.
 */
int event_loop_wait(struct event_loop *loop, int milliseconds,
                    void *ret_marks[EVENT_LOOP_MARKS_MAX]);
/* Ends the wait. Any thread. */
void event_loop_wake(const struct event_loop *loop);

#endif
