/* SPDX-License-Identifier: Apache-2.0 */
/* A few threads that finish uploads, which takes as long as the disk does, while the thread of the
 * connections goes on with the others. */
#ifndef SERVER_UPLOAD_UPLOAD_FINISHER_H
#define SERVER_UPLOAD_UPLOAD_FINISHER_H

#include "server/base/status.h"

#include <stdbool.h>

struct upload_finisher;
struct upload_intake;

/* Part of whatever waits for it; nobody else touches the intake meanwhile. */
struct finisher_job {
    struct upload_intake *intake;
    struct finisher_job *next;
};

MUST_CHECK enum status upload_finisher_start(int threads, struct upload_finisher **ret_finisher,
                                             struct failure *failure);
/* All jobs must have been taken back; NULL is fine. */
void upload_finisher_stop(struct upload_finisher *finisher);

void upload_finisher_give(struct upload_finisher *finisher, struct finisher_job *job);
/* A job that is done; NULL: none at the moment. */
struct finisher_job *upload_finisher_take_back(struct upload_finisher *finisher);
/* Readable when jobs are done. Taking back the last one makes it unreadable. */
int upload_finisher_event(const struct upload_finisher *finisher);

#endif
