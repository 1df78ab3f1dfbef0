/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI by libfcgi, with two departures from how the library is mostly used.
 *
 * The library would accept connections itself, blocking; a stop could not reach it, and a peer that
 * connects to a Unix socket and says nothing would hold up everybody for two seconds. So the
 * caller accepts (server/process/listen.c) and the descriptor is put into the FCGX_Request by hand.
 * Its listening socket is -1: where the library would accept again, it fails and we go on.
 *
 * Connections are never kept open between requests, whatever the web server proposes: a kept
 * connection would tie a thread to an idle peer. */
#include "server/process/fcgi.h"

#include "server/base/buffer.h"

#include <fcgiapp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

struct fcgi {
    FCGX_Request request;
};

enum { READ_SIZE = 16384 };

enum status fcgi_startup(struct failure *failure)
{
    /* The library leaves SIGPIPE alone when it does not find the default. */
    signal(SIGPIPE, SIG_IGN);
    if (FCGX_Init() != 0)
        return fail(failure, STATUS_IO, "libfcgi does not start");
    return STATUS_OK;
}

struct fcgi *fcgi_create(void)
{
    struct fcgi *fcgi = calloc(1, sizeof(*fcgi));

    if (fcgi == NULL)
        return NULL;
    if (FCGX_InitRequest(&fcgi->request, -1, FCGI_FAIL_ACCEPT_ON_INTR) != 0) {
        free(fcgi);
        return NULL;
    }
    return fcgi;
}

void fcgi_destroy(struct fcgi *fcgi)
{
    if (fcgi == NULL)
        return;
    fcgi_finish(fcgi);
    free(fcgi);
}

enum status fcgi_begin(struct fcgi *fcgi, int connection)
{
    FCGX_Request *request = &fcgi->request;

    request->ipcFd = connection;
    request->keepConnection = 1; /* or FCGX_Accept_r would begin by closing it */
    if (FCGX_Accept_r(request) < 0) {
        request->keepConnection = 0;
        return STATUS_INVALID; /* closed by the library, which then had nothing to accept */
    }
    request->keepConnection = 0;
    return STATUS_OK;
}

const char *fcgi_variable(const struct fcgi *fcgi, const char *name)
{
    return FCGX_GetParam(name, fcgi->request.envp);
}

enum status fcgi_read_body(struct fcgi *fcgi, struct buffer *ret_body)
{
    size_t bytes_max = ret_body->length_max;
    size_t total = 0;
    char piece[READ_SIZE];
    int got;

    do {
        got = FCGX_GetStr(piece, sizeof(piece), fcgi->request.in);
        if (got < 0)
            return STATUS_IO;
        total += (size_t)got;
        buffer_add(ret_body, (struct text){.at = piece, .length = (size_t)got});
    } while (got == (int)sizeof(piece) && total / 2 <= bytes_max);
    if (FCGX_GetError(fcgi->request.in) != 0)
        return STATUS_IO;
    return ret_body->overflowed || total > bytes_max ? STATUS_TOO_LARGE : STATUS_OK;
}

void fcgi_write(struct fcgi *fcgi, struct text text)
{
    while (text.length > 0) {
        size_t piece = text.length < (1u << 30) ? text.length : (1u << 30);

        if (FCGX_PutStr(text.at, (int)piece, fcgi->request.out) < 0)
            return;
        text.at += piece;
        text.length -= piece;
    }
}

enum status fcgi_finish(struct fcgi *fcgi)
{
    FCGX_Request *request = &fcgi->request;
    enum status status = STATUS_OK;

    if (request->out != NULL && FCGX_FFlush(request->out) != 0)
        status = STATUS_IO;
    FCGX_Finish_r(request);
    return status;
}
