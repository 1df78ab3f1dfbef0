/* SPDX-License-Identifier: Apache-2.0 */
/* The reply room: from what the steps decided to the bytes of a scheduler_reply.
 *
 * The steps of a request fill a struct answer (answer.h): messages, acknowledgements, jobs, delay.
 * Once it is committed, reply_write walks reply_elements.def, which says what is written, in which
 * order and for which versions of the client. Most rows are lines (reply_lines.c); blocks are
 * written by reply_blocks.c, jobs with their documents by reply_jobs.c, and blocks that the project
 * keeps in files by reply_project.c. The room knows nothing of requests: struct reply_sources is
 * all that it reads. The form of a reply: protocol(7) 1.5, 3.1 to 3.8. */
#ifndef SERVER_REPLY_REPLY_H
#define SERVER_REPLY_REPLY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct answer;
struct answer_job;
struct arena;
struct buffer;
struct client_app_version;
struct config;
struct host_row;
struct project_blocks;
struct user_row;

/* Who gets the reply, and what stands in it beside the answer. */
struct reply_sources {
    const struct answer *answer;
    const struct config *config;
    const struct project_blocks *blocks; /* NULL: none */
    const struct user_row *user;
    const struct host_row *host; /* as it is stored now */
    struct text team_name;
    bool has_weak_key;      /* authenticated by the weak key: never send the strong one */
    int64_t client_version; /* 10000*major + 100*minor + release; 0: unknown, as the oldest */
    struct arena *arena;    /* for texts that are put together */
};

/* Appends the document, first line <scheduler_reply>, in lines that every client reads. Should the
 * buffer be too small for it all, the jobs are left out; if even that does not fit, it overflows.
 */
void reply_write(const struct reply_sources *sources, struct buffer *ret_reply);

/* Why a job cannot be written for a client of this version, for the log; NULL: it can. To be asked
 * before a job is taken: what the reply leaves out would wait for its deadline. */
const char *reply_job_fault(const struct answer_job *job, int64_t client_version);
/* Whether that is one of its faults: it is a science app's, and nobody chose a variant, as the
 * project had no science apps when the job was read. */
bool reply_lacks_variant(const struct answer_job *job);
/* Whether jobs of a client's own version can be written: its words go back to it. */
bool reply_takes_own_version(const struct client_app_version *own);

#endif
