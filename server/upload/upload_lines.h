/* SPDX-License-Identifier: Apache-2.0 */
/* All connections of an upload handler, in one thread that never waits for one of them.
 *
 * A line brings FastCGI records as the volunteer's bytes come. They are taken apart as they come
 * (server/web/fcgi_stream.h) and go to the intake (upload_intake.h), so a line holds a socket, a
 * file and less than a kilobyte. A file whose last byte came is given to the finisher.
 *
 * Many answers are known before the body has come: they are sent at once, and what still comes is
 * read and dropped for a while, since web servers and clients may fail to read an answer while they
 * write to a closed connection. */
#ifndef SERVER_UPLOAD_UPLOAD_LINES_H
#define SERVER_UPLOAD_UPLOAD_LINES_H

#include "server/base/status.h"

#include <stddef.h>

struct listener;
struct upload_lines;
struct upload_project;

/* Starts the thread. The listener and the project are the caller's; of the project one reference is
 * held. */
MUST_CHECK enum status upload_lines_start(struct listener *listener, struct upload_project *project,
                                          struct upload_lines **ret_lines, struct failure *failure);
/* New requests go by it. */
void upload_lines_set_project(struct upload_lines *lines, struct upload_project *project);
/* Connections at the moment; -1: the listener was stopped and all have ended. */
int upload_lines_count(struct upload_lines *lines);
/* Ends all lines but those whose file is being finished. Any thread. */
void upload_lines_cut(struct upload_lines *lines);
/* When the count is -1. NULL is fine. */
void upload_lines_join(struct upload_lines *lines);

#endif
