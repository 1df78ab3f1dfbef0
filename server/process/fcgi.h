/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of libfcgi: one FastCGI request at a time per struct fcgi, which belongs to one
 * thread. Requests are received elsewhere (receive.h) and given in whole. */
#ifndef SERVER_PROCESS_FCGI_H
#define SERVER_PROCESS_FCGI_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct fcgi;

/* Once per process, before the first thread. */
MUST_CHECK enum status fcgi_startup(struct failure *failure);

struct fcgi *fcgi_create(void);       /* NULL: no memory */
void fcgi_destroy(struct fcgi *fcgi); /* NULL is fine */

/* Reads the head of a request from its records, which are whole and sound (fcgi_records.h). The
 * answer goes to `connection`, which is taken over and closed by fcgi_finish, or here when
 * something fails (STATUS_IO). */
MUST_CHECK enum status fcgi_begin(struct fcgi *fcgi, struct text records, int connection);
/* The value of a variable of this request, NULL when it is not there. */
const char *fcgi_variable(const struct fcgi *fcgi, const char *name);
/* Reads the body to its end into `ret_body`. STATUS_TOO_LARGE: it is longer than the buffer may be;
 * STATUS_IO: the records cannot be read. */
MUST_CHECK enum status fcgi_read_body(struct fcgi *fcgi, struct buffer *ret_body);
void fcgi_write(struct fcgi *fcgi, struct text text);
/* Ends the request and closes the connection. STATUS_IO: not everything was taken. */
enum status fcgi_finish(struct fcgi *fcgi);

#endif
