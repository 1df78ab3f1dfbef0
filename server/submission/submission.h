/* SPDX-License-Identifier: Apache-2.0 */
/* The process that takes jobs over the web (desk.h tells the room's story). As a FastCGI server it
 * has a few threads, each with a connection to the database, which serve one request after the
 * other; as a CGI program it serves one.
 *
 * The main thread waits for signals: SIGHUP has the log opened and the configuration read again,
 * SIGTERM and SIGINT stop. What is under way then ends at its next part, and its submitter hears
 * that it is to be asked for again. */
#ifndef SERVER_SUBMISSION_SUBMISSION_H
#define SERVER_SUBMISSION_SUBMISSION_H

#include "server/base/status.h"
#include "server/web/listen.h"

struct submission_options {
    const char *project_dir;
    const char *version; /* of the program, for the log */
    const char *listen;  /* as listener_open has it */
    struct socket_access socket;
};

/* Returns after SIGTERM or SIGINT. STATUS_IO: threads are still at work. */
MUST_CHECK enum status submission_run_fastcgi(const struct submission_options *options,
                                              struct failure *failure);
/* One request from the environment and standard input, which is answered in every case. */
MUST_CHECK enum status submission_run_cgi(const struct submission_options *options,
                                          struct failure *failure);

#endif
