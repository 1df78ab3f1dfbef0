/* SPDX-License-Identifier: Apache-2.0 */
/* The upload handler: a process of its own that takes the files which clients send back.
 *
 * It uses no database, only config.xml, the public upload key and upload_dir, and writes nowhere
 * else. As a FastCGI server (here) it has one thread that hears all connections (upload_lines.h)
 * and never waits for one of them, and a few that finish files (upload_finisher.h), since that
 * takes as long as the disk does. As a CGI program (upload_cgi.c) it serves one request.
 *
 * Both hand the bytes of a body, as they come, to an intake (upload_intake.h). It reads the head
 * (upload_head.h), asks what is on the disk (upload_store.h), decides (upload_decision.h), and
 * writes the file's bytes where they belong. The dialogue is in protocol(7) 6.
 *
 * The main thread waits for signals: SIGHUP has the log opened and the configuration read again,
 * SIGTERM and SIGINT stop. A stop cuts what does not end soon: its client comes again and goes on
 * where it was. Now and then this thread removes what nobody continues. */
#ifndef SERVER_UPLOAD_UPLOAD_H
#define SERVER_UPLOAD_UPLOAD_H

#include "server/base/status.h"
#include "server/web/listen.h"

struct upload_options {
    const char *project_dir;
    const char *version; /* of the program, for the log */
    const char *listen;  /* as listener_open has it */
    struct socket_access socket;
};

/* FastCGI: returns after SIGTERM or SIGINT. STATUS_IO: the disk did not let go of a file in time,
 * threads are still at work. */
MUST_CHECK enum status upload_run_fastcgi(const struct upload_options *options,
                                          struct failure *failure);
/* CGI: one request from the environment and standard input, which is answered in every case. */
MUST_CHECK enum status upload_run_cgi(const struct upload_options *options,
                                      struct failure *failure);

/* In upload_dir: what the handler that runs has done, for the scheduler's pages. Lines "at EPOCH",
 * "began EPOCH", "stopped 0" or 1, and those of counters_write_words. */
#define UPLOAD_FIGURES_FILE ".partial/.figures"
enum { UPLOAD_FIGURES_S = 10 /* how often it is written */ };

#endif
