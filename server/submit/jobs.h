/* SPDX-License-Identifier: Apache-2.0 */
/* Makes jobs: a workunit and its first results, thousands of them in one transaction. */
#ifndef SERVER_SUBMIT_JOBS_H
#define SERVER_SUBMIT_JOBS_H

#include "server/submit/job_line.h"
#include "server/submit/parameters.h"

#include "db/rows.h"

struct config;
struct db;
struct job_target;
struct jobs;

struct jobs_settings {
    const struct config *config;
    struct db *db;
    const struct app_row *app;
    /* Paths from the project folder or from here; a result template from elsewhere is copied into
     * the project's templates/. */
    const char *in_template, *out_template;
    struct text command_line, keywords, sub_appname;
    struct text name; /* of the only job, or what names begin with */
    bool numbered;    /* names are NAME_0, NAME_1, ... where a line gives none */
    struct job_parameters parameters;
    const struct job_target
        *target;          /* NULL: for whoever asks. Else results are made when asked for */
    bool by_transitioner; /* no results: BOINC's transitioner makes them */
    int64_t now;
};

/* The caller owns *ret_jobs and commits or rolls back the transaction. */
MUST_CHECK enum status jobs_begin(const struct jobs_settings *settings, struct jobs **ret_jobs,
                                  struct failure *failure);
MUST_CHECK enum status jobs_add(struct jobs *jobs, const struct job_line *line,
                                struct failure *failure);
/* Writes what is not written yet. */
MUST_CHECK enum status jobs_flush(struct jobs *jobs, struct failure *failure);
/* `keep` after a commit; otherwise files copied for these jobs are removed again. NULL is fine. */
void jobs_end(struct jobs *jobs, bool keep);
struct jobs_count {
    uint64_t jobs, results;
};
struct jobs_count jobs_count(const struct jobs *jobs);
/* The name of the last job added. */
struct text jobs_last_name(const struct jobs *jobs);

#endif
