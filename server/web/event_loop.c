/* SPDX-License-Identifier: Apache-2.0 */
#include "server/web/event_loop.h"

#include "server/web/listen.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/base/banned.h"

/* Whose word an event is, where it is not the caller's. */
static char listener_mark, wake_mark;

enum status event_loop_open(struct event_loop *loop, struct listener *listener,
                            struct failure *failure)
{
    *loop = (struct event_loop){.listener = listener,
                                .epoll = epoll_create1(EPOLL_CLOEXEC),
                                .wake_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (loop->epoll < 0 || loop->wake_event < 0 ||
        !event_loop_poll(loop, loop->wake_event, 0, EPOLLIN, &wake_mark) ||
        !event_loop_poll(loop, listener_stop_event(listener), 0, EPOLLIN | EPOLLET, &listener_mark))
        return fail(failure, STATUS_IO, "epoll: %s", strerror(errno));
    return STATUS_OK;
}

void event_loop_close(struct event_loop *loop)
{
    if (loop->epoll >= 0)
        close(loop->epoll);
    if (loop->wake_event >= 0)
        close(loop->wake_event);
}

bool event_loop_poll(const struct event_loop *loop, int descriptor, uint32_t before,
                     uint32_t events, void *mark)
{
    struct epoll_event event = {.events = events, .data.ptr = mark};
    int change = before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (before == events)
        return true;
    if (events == 0) /* a peer that hangs up would be reported for ever */
        change = EPOLL_CTL_DEL;
    return epoll_ctl(loop->epoll, change, descriptor, &event) == 0;
}

void event_loop_hear_listener(struct event_loop *loop, bool hears)
{
    if (event_loop_poll(loop, listener_socket(loop->listener), loop->hears_listener ? EPOLLIN : 0,
                        hears ? EPOLLIN : 0, &listener_mark))
        loop->hears_listener = hears;
}

int event_loop_wait(struct event_loop *loop, int milliseconds,
                    void *ret_marks[EVENT_LOOP_MARKS_MAX])
{
    struct epoll_event events[EVENT_LOOP_MARKS_MAX];
    int count = epoll_wait(loop->epoll, events, EVENT_LOOP_MARKS_MAX, milliseconds), marks = 0;
    uint64_t times;

    for (int i = 0; i < count; i++) {
        void *mark = events[i].data.ptr;

        if (mark == &wake_mark)
            (void)!read(loop->wake_event, &times, sizeof(times));
        else if (mark != &listener_mark)
            ret_marks[marks++] = mark;
    }
    return marks;
}

void event_loop_wake(const struct event_loop *loop)
{
    uint64_t one = 1;

    (void)!write(loop->wake_event, &one, sizeof(one));
}
