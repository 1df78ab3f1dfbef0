/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets of our own and inherited ones: what is replaced and what is not, and that a
 * stop serves whoever is in the queue and nobody else; and what the service manager is told. */
#include "server/web/listen.h"

#include "server/web/notify.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct place {
    char dir[64], path[96], where[112];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    snprintf(place->dir, sizeof(place->dir), "/tmp/qm-listen.XXXXXX");
    if (mkdtemp(place->dir) == NULL)
        return -1;
    snprintf(place->path, sizeof(place->path), "%s/socket", place->dir);
    snprintf(place->where, sizeof(place->where), "unix:%s", place->path);
    *state = place;
    return 0;
}

static int clear_place(void **state)
{
    struct place *place = *state;

    unlink(place->path);
    rmdir(place->dir);
    free(place);
    return 0;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return address;
}

/* A client's connection, or -1. */
static int visit(const struct place *place)
{
    struct sockaddr_un address = address_of(place->path);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(client, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return client;
    close(client);
    return -1;
}

static void test_makes_a_socket_with_the_mode(void **state)
{
    struct place *place = *state;
    struct listener *listener;
    struct stat info;

    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0620},
                                           &listener, NULL));
    assert_int_equal(stat(place->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0620);
    listener_close(listener);
    assert_int_equal(stat(place->path, &info), -1);
}

static void test_gives_the_socket_to_a_group(void **state)
{
    struct place *place = *state;
    struct listener *listener = NULL;
    /* Who is not root can give it to nobody but a group of his own. */
    const struct group *group = getgrgid(geteuid() == 0 ? 1 : getegid());
    struct socket_access access = {.mode = 0660, .group = "no such group"};
    struct failure failure = {0};
    struct stat info;

    assert_status(STATUS_NOT_FOUND, listener_open(place->where, access, &listener, &failure));
    assert_non_null(strstr(failure.text, "no such group"));
    assert_int_equal(stat(place->path, &info), -1);
    assert_non_null(group);
    access.group = group->gr_name;
    assert_status(STATUS_OK, listener_open(place->where, access, &listener, &failure));
    assert_int_equal(stat(place->path, &info), 0);
    assert_int_equal(info.st_gid, group->gr_gid);
    assert_int_equal(info.st_mode & 0777, 0660);
    listener_close(listener);
}

static void test_accepts_who_comes(void **state)
{
    struct place *place = *state;
    struct listener *listener;
    int connection, client;
    char letter = 0;

    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    client = visit(place);
    assert_status(STATUS_OK, listener_accept(listener, &connection));
    assert_int_equal(write(client, "x", 1), 1);
    assert_int_equal(read(connection, &letter, 1), 1);
    assert_int_equal(letter, 'x');
    close(connection);
    close(client);
    listener_close(listener);
}

static void test_replaces_the_socket_of_a_dead_process(void **state)
{
    struct place *place = *state;
    struct sockaddr_un address = address_of(place->path);
    int left = socket(AF_UNIX, SOCK_STREAM, 0);
    struct listener *listener;

    assert_int_equal(bind(left, (const struct sockaddr *)&address, sizeof(address)), 0);
    close(left);
    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    listener_close(listener);
}

static void test_leaves_the_socket_of_a_living_process(void **state)
{
    struct place *place = *state;
    struct failure failure = {0};
    struct listener *first, *second;
    int client;

    assert_status(STATUS_OK,
                  listener_open(place->where, (struct socket_access){.mode = 0600}, &first, NULL));
    assert_status(STATUS_IO, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &second, &failure));
    assert_non_null(strstr(failure.text, "another process"));
    client = visit(place);
    assert_true(client >= 0);
    close(client);
    listener_close(first);
}

static void test_leaves_a_file_that_is_no_socket(void **state)
{
    struct place *place = *state;
    struct listener *listener;

    close(open(place->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_status(STATUS_IO, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    assert_int_equal(access(place->path, F_OK), 0);
}

static void test_refuses_what_is_no_address(void **state)
{
    static const char *const wrong[] = {"/tmp/x",          "unix:",           "tcp:127.0.0.1",
                                        "tcp:127.0.0.1:0", "tcp:localhost:1", "tcp:127.0.0.1:65536",
                                        "tcp:127.0.0.1:x", "tcp:127.0.0.1:"};
    struct listener *listener;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_status(STATUS_INVALID, listener_open(wrong[i], (struct socket_access){.mode = 0600},
                                                    &listener, NULL));
}

static void test_knows_who_may_reach_it(void **state)
{
    static const struct {
        const char *address;
        bool is_exposed;
    } rows[] = {{"127.0.0.1", false}, {"127.3.0.1", false}, {"0.0.0.0", true}};
    struct place *place = *state;
    struct listener *listener;
    char where[64];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum status status = STATUS_IO;

        for (int port = 20000; port < 32000 && status == STATUS_IO; port++) { /* a free one */
            snprintf(where, sizeof(where), "tcp:%s:%d", rows[i].address, port);
            status = listener_open(where, (struct socket_access){.mode = 0600}, &listener, NULL);
        }
        assert_status(STATUS_OK, status);
        assert_int_equal(listener_is_exposed(listener), rows[i].is_exposed);
        listener_close(listener);
    }
    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    assert_false(listener_is_exposed(listener));
    listener_close(listener);
}

static void test_serves_the_queue_after_a_stop(void **state)
{
    struct place *place = *state;
    struct listener *listener;
    int clients[3], connection;

    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    for (size_t i = 0; i < 3; i++) {
        clients[i] = visit(place);
        assert_true(clients[i] >= 0);
    }
    listener_stop(listener);
    assert_int_equal(visit(place), -1);
    for (size_t i = 0; i < 3; i++) {
        assert_status(STATUS_OK, listener_accept(listener, &connection));
        close(connection);
        close(clients[i]);
    }
    assert_status(STATUS_NOT_FOUND, listener_accept(listener, &connection));
    assert_status(STATUS_NOT_FOUND, listener_accept(listener, &connection));
    listener_close(listener);
}

static void test_nobody_there_is_no_error(void **state)
{
    struct place *place = *state;
    struct pollfd stop = {.events = POLLIN};
    struct listener *listener;
    int connection = 0;

    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &listener, NULL));
    assert_status(STATUS_OK, listener_accept(listener, &connection));
    assert_int_equal(connection, -1);
    stop.fd = listener_stop_event(listener);
    assert_int_equal(poll(&stop, 1, 0), 0);
    listener_stop(listener);
    assert_int_equal(poll(&stop, 1, 0), 1);
    assert_status(STATUS_NOT_FOUND, listener_accept(listener, &connection));
    listener_close(listener);
}

static void test_takes_the_socket_on_standard_input(void **state)
{
    struct place *place = *state;
    struct sockaddr_un address = address_of(place->path);
    int keep = dup(STDIN_FILENO), given = socket(AF_UNIX, SOCK_STREAM, 0), client, connection;
    struct listener *listener;

    assert_status(STATUS_NOT_FOUND,
                  listener_open(NULL, (struct socket_access){.mode = 0600}, &listener, NULL));
    assert_int_equal(bind(given, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(given, 5), 0);
    dup2(given, STDIN_FILENO);
    assert_true(listener_is_inherited());
    assert_status(STATUS_OK,
                  listener_open(NULL, (struct socket_access){.mode = 0600}, &listener, NULL));
    client = visit(place);
    assert_status(STATUS_OK, listener_accept(listener, &connection));
    close(connection);
    close(client);
    listener_stop(listener);
    client = visit(place); /* of another process: this socket is not ours to close for all */
    assert_true(client >= 0);
    close(client);
    listener_close(listener);
    assert_int_equal(access(place->path, F_OK), 0);
    dup2(keep, STDIN_FILENO);
    close(keep);
    close(given);
}

static void test_takes_the_socket_of_systemd(void **state)
{
    struct place *place = *state;
    struct sockaddr_un address = address_of(place->path);
    int keep = dup(3), given = socket(AF_UNIX, SOCK_STREAM, 0), client, connection;
    struct listener *listener;
    char pid[32];

    assert_int_equal(bind(given, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(given, 5), 0);
    dup2(given, 3);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", "1", 1); /* meant for another process */
    assert_status(STATUS_NOT_FOUND,
                  listener_open(NULL, (struct socket_access){.mode = 0600}, &listener, NULL));
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    setenv("LISTEN_PID", pid, 1);
    assert_status(STATUS_OK,
                  listener_open(NULL, (struct socket_access){.mode = 0600}, &listener, NULL));
    client = visit(place);
    assert_status(STATUS_OK, listener_accept(listener, &connection));
    close(connection);
    close(client);
    listener_close(listener);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    if (given != 3)
        close(given);
    if (keep >= 0) {
        dup2(keep, 3);
        close(keep);
    }
}

/* What the service manager hears on a socket of this path, or of this abstract name. */
static void assert_told(const char *path)
{
    struct sockaddr_un address = address_of(path);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char state[16] = "";

    if (path[0] == '@')
        address.sun_path[0] = '\0';
    assert_int_equal(bind(manager, (const struct sockaddr *)&address, size), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    notify_manager("READY=1");
    assert_int_equal(recv(manager, state, sizeof(state) - 1, 0), 7);
    assert_string_equal(state, "READY=1");
    unsetenv("NOTIFY_SOCKET");
    notify_manager("STOPPING=1");
    setenv("NOTIFY_SOCKET", "x", 1); /* no path */
    notify_manager("STOPPING=1");
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(recv(manager, state, sizeof(state) - 1, 0), -1);
    close(manager);
}

static void test_tells_the_service_manager(void **state)
{
    struct place *place = *state;
    char name[64];

    assert_told(place->path);
    snprintf(name, sizeof(name), "@qm-listen-%ld", (long)getpid());
    assert_told(name);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, make_place, clear_place)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(makes_a_socket_with_the_mode),
        CASE(gives_the_socket_to_a_group),
        CASE(accepts_who_comes),
        CASE(replaces_the_socket_of_a_dead_process),
        CASE(leaves_the_socket_of_a_living_process),
        CASE(leaves_a_file_that_is_no_socket),
        CASE(refuses_what_is_no_address),
        CASE(knows_who_may_reach_it),
        CASE(serves_the_queue_after_a_stop),
        CASE(nobody_there_is_no_error),
        CASE(takes_the_socket_on_standard_input),
        CASE(takes_the_socket_of_systemd),
        CASE(tells_the_service_manager),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
