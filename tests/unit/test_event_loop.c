/* SPDX-License-Identifier: Apache-2.0 */
/* What ends the wait of a thread that hears many connections, and what does not. */
#include "server/web/event_loop.h"

#include "server/web/listen.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/base/banned.h"

static char folder[64], socket_path[96], listened[112];
static struct listener *listener;
static struct event_loop loop;
static int ends[2]; /* of a connection: the peer's, ours */
static char our_mark;

static int setup(void **state)
{
    struct failure failure = {0};

    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/event_loop.XXXXXX");
    if (mkdtemp(folder) == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    (void)snprintf(socket_path, sizeof(socket_path), "%s/socket", folder);
    (void)snprintf(listened, sizeof(listened), "unix:%s", socket_path);
    if (listener_open(listened, (struct socket_access){.mode = 0600}, &listener, &failure) !=
            STATUS_OK ||
        event_loop_open(&loop, listener, &failure) != STATUS_OK)
        return 1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_loop_close(&loop);
    listener_close(listener);
    close(ends[0]);
    close(ends[1]);
    return rmdir(folder);
}

/* Whether our connection was one of the events. */
static bool is_heard(void)
{
    void *marks[EVENT_LOOP_MARKS_MAX];
    int count = event_loop_wait(&loop, 0, marks);

    assert_in_range(count, 0, 1);
    assert_true(count == 0 || marks[0] == &our_mark);
    return count == 1;
}

static void a_connection_is_heard_as_long_as_it_is_polled(void **state)
{
    (void)state;
    assert_true(event_loop_poll(&loop, ends[1], 0, EPOLLIN, &our_mark));
    assert_false(is_heard());
    assert_int_equal(write(ends[0], "x", 1), 1);
    assert_true(is_heard());
    assert_true(is_heard());
    assert_true(event_loop_poll(&loop, ends[1], EPOLLIN, EPOLLIN, &our_mark));
    assert_true(event_loop_poll(&loop, ends[1], EPOLLIN, 0, &our_mark));
    shutdown(ends[0], SHUT_RDWR); /* which the kernel reports whatever is asked for */
    assert_false(is_heard());
    assert_true(event_loop_poll(&loop, ends[1], 0, EPOLLIN, &our_mark));
    assert_true(event_loop_poll(&loop, ends[1], EPOLLIN, EPOLLIN | EPOLLOUT, &our_mark));
    assert_true(is_heard());
    assert_false(event_loop_poll(&loop, -1, 0, EPOLLIN, &our_mark));
}

/* Milliseconds that nobody has to wait for. */
enum { LONG_MS = 60000 };

static void others_can_wake_it(void **state)
{
    void *marks[EVENT_LOOP_MARKS_MAX];

    (void)state;
    event_loop_wake(&loop);
    event_loop_wake(&loop);
    assert_int_equal(event_loop_wait(&loop, LONG_MS, marks), 0);
    assert_int_equal(epoll_wait(loop.epoll, &(struct epoll_event){0}, 1, 0), 0);
}

static void newcomers_end_the_wait_where_they_are_wanted(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    void *marks[EVENT_LOOP_MARKS_MAX];

    (void)state;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
    assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    event_loop_hear_listener(&loop, true);
    event_loop_hear_listener(&loop, true);
    assert_int_equal(event_loop_wait(&loop, LONG_MS, marks), 0);
    event_loop_hear_listener(&loop, false);
    listener_stop(listener); /* ends it in any case */
    assert_int_equal(event_loop_wait(&loop, LONG_MS, marks), 0);
    close(client);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_connection_is_heard_as_long_as_it_is_polled),
        CASE(others_can_wake_it),
        CASE(newcomers_end_the_wait_where_they_are_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
