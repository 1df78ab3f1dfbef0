/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI by libfcgi, with two departures from how the library is mostly used.
 *
 * The library would accept and read connections itself, blocking, and trusts what it reads. So a
 * request is received and checked before (receive.c), its records are put into a file in memory,
 * and the library reads that. When the request is read, the descriptor in the FCGX_Request becomes
 * the connection's, to which the library writes. Its listening socket is -1: where the library
 * would accept again, it fails and we go on.
 *
 * Connections are never kept open between requests, whatever the web server proposes: a kept
 * connection would have to be read again by the receiver. */
#include "server/process/fcgi.h"

#include "server/base/buffer.h"

#include <fcgiapp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/banned.h"

struct fcgi {
    FCGX_Request request;
    int records;    /* the file in memory; -1: not made yet */
    size_t length;  /* of the file */
    int connection; /* of the request that is being read; -1: the library has it, or there is none
                     */
};

enum {
    READ_SIZE = 16384,
    KEPT_BYTES = 65536 /* of the file, from one request to the next */
};

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
    fcgi->records = fcgi->connection = -1;
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
    if (fcgi->records >= 0)
        close(fcgi->records);
    free(fcgi);
}

/* The file in memory holds these records and nothing else, and is read from its beginning. */
static enum status fill(struct fcgi *fcgi, struct text records)
{
    if (fcgi->records < 0) {
        fcgi->records = memfd_create("request", MFD_CLOEXEC);
        fcgi->length = 0;
    }
    if (fcgi->records < 0 ||
        pwrite(fcgi->records, records.at, records.length, 0) != (ssize_t)records.length ||
        (fcgi->length > records.length && ftruncate(fcgi->records, (off_t)records.length) != 0) ||
        lseek(fcgi->records, 0, SEEK_SET) != 0) {
        fcgi->length = SIZE_MAX; /* nobody knows: the next one cuts it */
        return STATUS_IO;
    }
    fcgi->length = records.length;
    return STATUS_OK;
}

enum status fcgi_begin(struct fcgi *fcgi, struct text records, int connection)
{
    FCGX_Request *request = &fcgi->request;
    enum status status = fill(fcgi, records);

    if (status == STATUS_OK) {
        request->ipcFd = fcgi->records;
        request->keepConnection = 1; /* or FCGX_Accept_r would begin by closing it */
        if (FCGX_Accept_r(request) < 0) {
            fcgi->records = -1; /* closed by the library, which then had nothing to accept */
            status = STATUS_IO;
        }
        request->keepConnection = 0;
    }
    if (status != STATUS_OK) {
        close(connection);
        return status;
    }
    fcgi->connection = connection;
    return STATUS_OK;
}

/* From reading the records to writing to the connection. */
static void turn_to_connection(struct fcgi *fcgi)
{
    if (fcgi->connection < 0)
        return;
    fcgi->request.ipcFd = fcgi->connection;
    fcgi->connection = -1;
}

const char *fcgi_variable(const struct fcgi *fcgi, const char *name)
{
    return FCGX_GetParam(name, fcgi->request.envp);
}

enum status fcgi_read_body(struct fcgi *fcgi, struct buffer *ret_body)
{
    char piece[READ_SIZE];
    int got;

    while ((got = FCGX_GetStr(piece, sizeof(piece), fcgi->request.in)) > 0)
        buffer_add(ret_body, (struct text){.at = piece, .length = (size_t)got});
    if (FCGX_GetError(fcgi->request.in) != 0)
        return STATUS_IO;
    return ret_body->overflowed ? STATUS_TOO_LARGE : STATUS_OK;
}

void fcgi_write(struct fcgi *fcgi, struct text text)
{
    turn_to_connection(fcgi);
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

    turn_to_connection(fcgi);
    if (request->out != NULL && FCGX_FFlush(request->out) != 0)
        status = STATUS_IO;
    /* The library reads on until the peer closes, for seconds; the request was read whole. */
    if (request->ipcFd >= 0)
        (void)shutdown(request->ipcFd, SHUT_RD);
    FCGX_Finish_r(request);
    /* Pages that the next request fills again are not given back to be asked for anew. */
    if (fcgi->records >= 0 && fcgi->length > KEPT_BYTES && ftruncate(fcgi->records, 0) == 0)
        fcgi->length = 0;
    return status;
}
