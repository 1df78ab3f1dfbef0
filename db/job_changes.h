/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that an administrator makes to many jobs at once: which jobs, and which change. They are
 * made part by part. A part looks at some hundred jobs along one index without locks, locks those
 * of them that the change applies to, workunits before results, changes them, and is committed by
 * the caller. Hosts therefore wait for the rows of one part at most. After an interruption, repeat
 * the command: a job that was changed is left alone, or gets the same values. Conventions as in
 * db.h. */
#ifndef DB_JOB_CHANGES_H
#define DB_JOB_CHANGES_H

#include "db/db.h"

/* Which jobs: those for which all holds that is given. What is 0 or empty does not matter. */
struct job_selection {
    const struct text *names; /* one of these; NULL: any */
    size_t name_count;
    struct text name_prefix;
    int64_t batch, appid;
    int64_t first_id, last_id; /* both included */
    bool is_lost; /* nothing will end them, as their application is gone, or all they are for */
};

/*  CHANGE(name, applies): what is done, with the jobs that it applies to; others are left alone. */
#define JOB_CHANGES(CHANGE)                                                                       \
    /* jobs without an answer: error bit CANCELLED, due now; results that were not sent are OVER, \
     * DIDNT_NEED */                                                                              \
    CHANGE(CANCEL, job->canonical_resultid == 0 && (job->error_mask & WU_ERROR_CANCELLED) == 0)   \
    /* jobs without an answer or an error: priority of the workunit and of unsent results */      \
    CHANGE(PRIORITY, job->canonical_resultid == 0 && job->error_mask == 0)                        \
    /* the transition is due now */                                                               \
    CHANGE(TRANSITION, job->transitioner_flags != TRANSITIONER_NO_TRANSITION)                     \
    /* results that were found wrong, or that none agreed with, lose their verdict, and the job   \
     * its error; what was found valid stays so, as credit was granted */                         \
    CHANGE(REVALIDATE, (job->error_mask & WU_ERROR_CANCELLED) == 0 &&                             \
                           (job->error_mask == 0 || has_input_files(job)))                        \
    /* failed jobs: no error any more, and as many results may be made as were made so far */     \
    CHANGE(RETRY, job->canonical_resultid == 0 && job->error_mask != 0 &&                         \
                      (job->error_mask & WU_ERROR_CANCELLED) == 0 && has_input_files(job))
enum job_change_kind {
#define JOB_CHANGE_ENUM(name, applies) JOB_CHANGE_##name,
    JOB_CHANGES(JOB_CHANGE_ENUM)
#undef JOB_CHANGE_ENUM
};
struct job_change {
    enum job_change_kind kind;
    bool is_rehearsed; /* only counted */
    int64_t priority;  /* of PRIORITY */
    int64_t now;
};

/* Where the next part begins: zeroed at first. */
#define JOB_NAME_BYTES 768 /* 191 characters */
struct job_place {
    bool is_done;
    int64_t id;
    size_t name_index; /* in the selection's names */
    char name[JOB_NAME_BYTES];
};

/* What a part did. */
struct jobs_changed {
    uint64_t selected;    /* jobs */
    uint64_t jobs;        /* of these, those that were changed, or would be */
    uint64_t results;     /* that were changed; 0 in a rehearsal */
    uint64_t in_progress; /* results of cancelled jobs that hosts still have */
    uint64_t missing;     /* names of the selection that no job has, and the first of them */
    size_t first_missing; /* where any is missing */
};
enum { JOBS_AT_ONCE = 256 };
/* The next part; *place moves behind it. To be repeated until place->is_done, and committed each
 * time. */
MUST_CHECK enum status db_jobs_change(struct db *db, struct arena *arena,
                                      const struct job_selection *selection,
                                      const struct job_change *change, struct job_place *place,
                                      struct jobs_changed *ret_changed);

#endif
