/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `qmctl why` share: the question, and how classes of jobs fare. */
#ifndef TOOLS_QMCTL_WHY_WHY_PARTS_H
#define TOOLS_QMCTL_WHY_WHY_PARTS_H

#include "db/admin.h"
#include "server/policy/dispatch/checks.h"
#include "server/rpc/request.h"
#include "tools/qmctl/session/project_session.h"
#include "tools/qmctl/why/why_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How one class of jobs fares on one resource, or several classes that fare alike. */
struct verdict {
    const struct app_row *app;
    struct text app_name;
    size_t resource;
    int64_t jobs;
    bool may_be_sent;
    struct refusal refusal; /* the nearest to being none */
    const struct version_option *option;
    double wall_time;
};

struct question {
    struct session *session;
    struct project *project;
    struct catalog *catalog;
    bool is_idle; /* the host is asked about as it would be on an idle day */
    struct request request;
    struct host_view view;
    struct tally tally;
    struct assumptions assumptions;
    struct job_class *classes;
    size_t class_count;
    struct verdict *verdicts;
    size_t verdict_count;
    int64_t assigned; /* jobs that are for the host, its user or team alone */
    bool each;        /* classes are not put together */
};

/* --- why_host.c ------------------------------------------------------------------------------- */

/* Opens what is read, once for however many hosts; the connection refuses to write from then on.
 * why_end, whatever this answers. */
MUST_CHECK enum status why_begin(struct question *question);
void why_end(struct question *question);
/* Fills in request, view and tally for the host. */
MUST_CHECK enum status why_host(struct question *question, const struct host_row *host,
                                const struct user_row *user);

/* --- why_judge.c ------------------------------------------------------------------------------ */

/* Reads the classes of unsent jobs, and judges each for each resource that the request wants. */
MUST_CHECK enum status why_judge(struct question *question);
/* One class for one resource. */
void why_judge_class(const struct question *question, const struct job_class *class,
                     size_t resource, struct verdict *ret_verdict);

/* --- why_print.c ------------------------------------------------------------------------------ */

enum exit_code why_print(const struct question *question);

/* --- why_jobs_print.c ------------------------------------------------------------------------- */

/* qmctl why --jobs, and --job. */
enum exit_code why_jobs_print(struct session *session);

#endif
