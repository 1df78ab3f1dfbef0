/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are submitted: what is wanted, as plain structs, and the making of it.
 *
 * The jobs are walked through twice. First each is looked at by itself, and counted. Then the batch
 * is announced, which takes the submitter's limit into account under the lock of his row, so that
 * two requests at once cannot both have the last of it; the jobs are made in parts, each committed,
 * with memory for one part; and one last transaction accepts them all (db/submitting.h). Whatever
 * fails before that leaves neither rows nor files. Conventions as in desk.h. */
#ifndef SERVER_SUBMISSION_SUBMIT_DESK_H
#define SERVER_SUBMISSION_SUBMIT_DESK_H

#include "server/submission/desk.h"

enum {
    SUBMITTED_JOBS_MAX = 1000000,
    SUBMITTED_FILES_MAX = 256,      /* of a job */
    SUBMITTED_LINE_MAX = 4096,      /* bytes of a command line */
    SUBMITTED_CONTENT_MAX = 4 << 20 /* bytes of a job's text, such as an inline file */
};

struct wanted_file {
    struct text mode;   /* inline, sandbox, local_staged, remote */
    struct text source; /* a name, or the content */
    struct text url, nbytes, md5;
};
struct wanted_job {
    struct text name, command_line; /* empty: none */
    double rsc_fpops_est;           /* for the estimate and the share alone; 0: not given */
    bool has_priority;
    int64_t priority;
    bool has_target;                             /* of a team, a user or a host */
    struct text input_template, output_template; /* documents; empty: those of the batch */
    const struct wanted_file *files;
    size_t file_count;
};
struct wanted_batch {
    struct batch_named batch; /* id 0: a new one of that name */
    struct text app_name;
    int64_t app_version_num; /* 0: any */
    bool has_share;          /* priorities by the submitter's share */
    bool has_priority;
    int64_t priority;
    struct text input_template, output_template; /* names below templates/; empty: the app's */
    /* 0: not given; what a template says comes before it */
    double rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, delay_bound;
};

/* The jobs of a batch, as often as they are asked for, in the same order. What a job holds lives
 * until the call returns; a call that fails ends the walk. */
typedef enum status wanted_job_call(void *context, const struct wanted_job *job);
struct wanted_jobs {
    enum status (*walk)(void *source, wanted_job_call *call, void *context);
    void *source;
};

MUST_CHECK enum status desk_submit(struct desk *desk, const struct submitter *submitter,
                                   const struct wanted_batch *wanted,
                                   const struct wanted_jobs *jobs, int64_t *ret_batch);
/* How long after it is submitted now half of such batches would be done, and nine of ten, s. If too
 * little is known for that, how long the project would be at it with all it has, and *ret_most is
 * 0. */
MUST_CHECK enum status desk_estimate(struct desk *desk, const struct submitter *submitter,
                                     const struct wanted_batch *wanted,
                                     const struct wanted_jobs *jobs, double *ret_half,
                                     double *ret_most);

/* What others left behind that were killed: jobs are dropped or released. */
MUST_CHECK enum status desk_recover(struct desk *desk);

#endif
