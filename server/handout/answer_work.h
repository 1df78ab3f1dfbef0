/* SPDX-License-Identifier: Apache-2.0 */
/* What the client is told about its request for work, beside the jobs themselves. */
#ifndef SERVER_HANDOUT_ANSWER_WORK_H
#define SERVER_HANDOUT_ANSWER_WORK_H

#include "server/policy/dispatch/choose.h"

#include <stdbool.h>

struct answer_job;
struct request;

/* Appends jobs to the answer. False: no memory. */
bool answer_add_jobs(struct request *request, const struct answer_job *jobs, size_t count);

/* The state of every resource of the host: sent, none, deadline or unsupported. */
bool answer_resources(struct request *request, const struct host_view *view,
                      const struct choice_notes *notes);

/* Nothing was sent although work was asked for: why, and when to come again. */
void answer_nothing(struct request *request, const struct host_view *view,
                    struct choice_notes *notes);

#endif
