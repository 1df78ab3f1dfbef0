/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket. It is non-blocking because other processes may share it and be faster.
 *
 * A stop loses nobody: first our own socket refuses newcomers, so that the web server turns to
 * another process at once, then the connections that are in the queue already are served. */
#include "server/web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/base/banned.h"

struct listener {
    int socket;
    int stop;                    /* eventfd, readable for ever once stopped */
    struct sockaddr_un own_path; /* sun_path empty: no socket file of ours */
    int last_accepts;            /* how many more are taken from the queue after the stop */
};

enum {
    SYSTEMD_FIRST_FD = 3,
    BACKLOG = 4096,   /* the kernel allows as many, where nobody changed net.core.somaxconn */
    IO_TIMEOUT_S = 60 /* one write; the server bounds the whole exchange */
};

static bool is_listening(int fd)
{
    int listening = 0;
    socklen_t size = sizeof(listening);

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

bool listener_is_exposed(const struct listener *listener)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);

    if (getsockname(listener->socket, (struct sockaddr *)&address, &size) != 0)
        return false;
    if (address.ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)&address)->sin_addr.s_addr) >> 24 !=
               IN_LOOPBACKNET;
    if (address.ss_family == AF_INET6)
        return !IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address)->sin6_addr);
    return false;
}

bool listener_is_inherited(void)
{
    return is_listening(STDIN_FILENO);
}

/* systemd's protocol: LISTEN_PID says who is meant, LISTEN_FDS how many there are. */
static bool is_passed_by_systemd(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");

    return pid != NULL && count != NULL && strtol(pid, NULL, 10) == (long)getpid() &&
           strtol(count, NULL, 10) >= 1 && is_listening(SYSTEMD_FIRST_FD);
}

static enum status inherit(int *ret_socket, struct failure *failure)
{
    if (is_passed_by_systemd())
        *ret_socket = SYSTEMD_FIRST_FD;
    else if (is_listening(STDIN_FILENO))
        *ret_socket = STDIN_FILENO;
    else
        return fail(failure, STATUS_NOT_FOUND,
                    "no listening socket on standard input: start from a web server, spawn-fcgi or "
                    "systemd, or give --listen");
    return STATUS_OK;
}

/* A socket file is in the way only while somebody listens on it. */
static bool somebody_listens(const struct sockaddr_un *address)
{
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool connected =
        probe >= 0 && (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
                       errno == EAGAIN);

    if (probe >= 0)
        close(probe);
    return connected;
}

static enum status remove_stale(const struct sockaddr_un *address, struct failure *failure)
{
    struct stat found;

    if (lstat(address->sun_path, &found) != 0)
        return STATUS_OK;
    if (!S_ISSOCK(found.st_mode))
        return fail(failure, STATUS_IO, "%s exists and is no socket", address->sun_path);
    if (somebody_listens(address))
        return fail(failure, STATUS_IO, "%s: another process listens there", address->sun_path);
    unlink(address->sun_path);
    return STATUS_OK;
}

/* The web server's, which may well not be that of the project's programs. */
static enum status give_to_group(const char *path, const char *name, struct failure *failure)
{
    const struct group *group;

    if (name == NULL)
        return STATUS_OK;
    errno = 0;
    group = getgrnam(name);
    if (group == NULL)
        return fail(failure, errno == 0 ? STATUS_NOT_FOUND : STATUS_IO,
                    "group %s of the socket: %s", name,
                    errno == 0 ? "there is no such group" : strerror(errno));
    if (chown(path, (uid_t)-1, group->gr_gid) != 0)
        return fail(failure, STATUS_IO, "%s: giving it to the group %s: %s", path, name,
                    strerror(errno));
    return STATUS_OK;
}

static enum status open_unix(struct listener *listener, const char *path,
                             struct socket_access access, struct failure *failure)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    enum status status;

    if (length == 0 || length >= sizeof(address.sun_path))
        return fail(failure, STATUS_INVALID, "socket path: 1 to %zu characters",
                    sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, length + 1);
    status = remove_stale(&address, failure);
    if (status != STATUS_OK)
        return status;
    listener->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener->socket < 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    /* The mode is set before bind makes the file, so that nobody slips in between. */
    if (fchmod(listener->socket, (mode_t)access.mode) != 0 ||
        bind(listener->socket, (const struct sockaddr *)&address, sizeof(address)) != 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    listener->own_path = address;
    status = give_to_group(path, access.group, failure);
    if (status != STATUS_OK)
        return status;
    if (chmod(path, (mode_t)access.mode) != 0 || listen(listener->socket, BACKLOG) != 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status open_tcp(struct listener *listener, const char *where, struct failure *failure)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *colon = strrchr(where, ':');
    char host[INET_ADDRSTRLEN];
    char *end = NULL;
    long port = colon == NULL ? 0 : strtol(colon + 1, &end, 10);
    size_t length = colon == NULL ? 0 : (size_t)(colon - where);
    int yes = 1;

    if (colon == NULL || colon[1] == '\0' || *end != '\0' || port < 1 || port > UINT16_MAX ||
        length >= sizeof(host))
        return fail(failure, STATUS_INVALID, "%s: wanted tcp:ADDRESS:PORT", where);
    memcpy(host, where, length);
    host[length] = '\0';
    address.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return fail(failure, STATUS_INVALID, "%s: no IPv4 address", host);
    listener->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener->socket < 0 ||
        setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(listener->socket, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener->socket, BACKLOG) != 0)
        return fail(failure, STATUS_IO, "%s: %s", where, strerror(errno));
    return STATUS_OK;
}

static enum status open_socket(struct listener *listener, const char *where,
                               struct socket_access access, struct failure *failure)
{
    static const char unix_prefix[] = "unix:", tcp_prefix[] = "tcp:";

    if (where == NULL)
        return inherit(&listener->socket, failure);
    if (strncmp(where, unix_prefix, sizeof(unix_prefix) - 1) == 0)
        return open_unix(listener, where + sizeof(unix_prefix) - 1, access, failure);
    if (strncmp(where, tcp_prefix, sizeof(tcp_prefix) - 1) == 0)
        return open_tcp(listener, where + sizeof(tcp_prefix) - 1, failure);
    return fail(failure, STATUS_INVALID, "--listen %s: wanted unix:PATH or tcp:ADDRESS:PORT",
                where);
}

enum status listener_open(const char *where, struct socket_access access,
                          struct listener **ret_listener, struct failure *failure)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    enum status status;

    if (listener == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    listener->socket = -1;
    listener->last_accepts = BACKLOG;
    listener->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener->stop < 0)
        status = fail(failure, STATUS_IO, "eventfd: %s", strerror(errno));
    else
        status = open_socket(listener, where, access, failure);
    if (status == STATUS_OK &&
        fcntl(listener->socket, F_SETFL, fcntl(listener->socket, F_GETFL) | O_NONBLOCK) != 0)
        status = fail(failure, STATUS_IO, "listening socket: %s", strerror(errno));
    if (status != STATUS_OK) {
        listener_close(listener);
        return status;
    }
    *ret_listener = listener;
    return STATUS_OK;
}

void listener_close(struct listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->own_path.sun_path[0] != '\0')
        unlink(listener->own_path.sun_path);
    if (listener->socket >= 0)
        close(listener->socket);
    if (listener->stop >= 0)
        close(listener->stop);
    free(listener);
}

void listener_stop(struct listener *listener)
{
    uint64_t one = 1;
    ssize_t written;

    if (listener->own_path.sun_path[0] != '\0') {
        unlink(listener->own_path.sun_path);
        listener->own_path.sun_path[0] = '\0';
        shutdown(listener->socket, SHUT_RD); /* of a Unix socket: the queue stays */
    }
    written = write(listener->stop, &one, sizeof(one));
    (void)written; /* it can only fail when it is readable already */
}

int listener_socket(const struct listener *listener)
{
    return listener->socket;
}

int listener_stop_event(const struct listener *listener)
{
    return listener->stop;
}

bool listener_is_stopped(const struct listener *listener)
{
    struct pollfd stop = {.fd = listener->stop, .events = POLLIN};

    return poll(&stop, 1, 0) > 0;
}

static void limit_time(int connection)
{
    struct timeval limit = {.tv_sec = IO_TIMEOUT_S};

    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

enum status listener_accept(struct listener *listener, int *ret_connection)
{
    bool stopped = listener_is_stopped(listener);

    *ret_connection = -1;
    if (stopped && listener->last_accepts-- <= 0)
        return STATUS_NOT_FOUND;
    *ret_connection = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC);
    if (*ret_connection >= 0) {
        limit_time(*ret_connection);
        return STATUS_OK;
    }
    if (stopped)
        return STATUS_NOT_FOUND;
    switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EBADF:
    case EINVAL:
        return STATUS_IO;
    default: /* nobody is there, or gone again, or taken by another process */
        return STATUS_OK;
    }
}
