/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of jobs that clients get: the documents of workunits, results and app versions, the
 * files that they name, and the keys that sign them. For `qmctl`, which makes them, and for the
 * server, which makes the results of assigned jobs when a host asks.
 *
 * A job comes in as an input template, a result template, numbers (parameters.def) and files.
 * Templates are read once per batch (job_templates.c over template.c, which reads the text, and
 * template_input.c and template_output.c, which know what may be in it). stage.c puts the files
 * where clients download them. Workunits get their documents here; results get theirs for many
 * jobs at once, by as many threads as there are processors, as each is signed (documents.c);
 * meanwhile jobs.c writes the rows of some hundred jobs before them into the database. The result
 * is rows: a client sees the documents only when the server sends the job.
 *
 * An app version comes in as a folder's version.xml and files (version_document.c), a new project
 * as names and URLs (new_project.c), keys are made and read by keys.c. transition_rules.c decides
 * what happens to a workunit when results are reported or late. Which files a result gives back is
 * read from its document again (output_files.c).
 *
 * All this runs in the caller's thread, in the caller's arena and transaction; the writers of
 * documents.c have arenas of their own and end with the call. Nothing is kept between calls but
 * what a struct here holds, and files copied into the download folder are removed again unless the
 * caller says that its transaction was committed. */
#ifndef SERVER_SUBMIT_JOBS_H
#define SERVER_SUBMIT_JOBS_H

#include "server/submit/job_line.h"
#include "server/submit/parameters.h"

#include "db/rows.h"
#include "server/base/file.h"

struct arena;
struct config;
struct db;
struct job_target;
struct jobs;
struct placed_list;

/* A parameter that was given with the jobs, as it was typed. */
struct job_given {
    const char *parameter;
    struct text value;
};
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
    const struct job_given *given; /* those of them that do not just have their default */
    size_t given_count;
    const struct job_target
        *target;                /* NULL: for whoever asks. Else results are made when asked for */
    bool by_transitioner;       /* no results: BOINC's transitioner makes them */
    bool is_held;               /* nor is any job seen by a transition, until somebody sets its
                                   transition_time; files that were copied stay only by jobs_end */
    bool counts_jobs;           /* job_line.number is that of a job, not of a line */
    bool names_inputs;          /* input files are names in the download folder, never paths */
    bool skips_known;           /* a job whose name is there already is not made again */
    struct placed_list *placed; /* of files that are copied; NULL: none */
    struct file_watch watch;    /* of input files, which may be large */
    uint64_t commit_every; /* jobs, about, after which what was written is committed; 0: never */
    int64_t now;
};

/* The caller owns *ret_jobs, and rolls back what is not committed. */
MUST_CHECK enum status jobs_begin(const struct jobs_settings *settings, struct jobs **ret_jobs,
                                  struct failure *failure);
/* There has to be room. A failure is of this job alone. */
MUST_CHECK enum status jobs_add(struct jobs *jobs, const struct job_line *line,
                                struct failure *failure);
bool jobs_have_room(const struct jobs *jobs);
/* Writes jobs that were added before. A failure ends the making of jobs; that there is a job of
 * that name already is said with the line. */
MUST_CHECK enum status jobs_make_room(struct jobs *jobs, struct failure *failure);
/* Writes all that is not written yet. */
MUST_CHECK enum status jobs_flush(struct jobs *jobs, struct failure *failure);
/* Commits what was written. Where the answer to COMMIT is lost, it finds out whether the jobs are
 * there; STATUS_DB_UNKNOWN only where it cannot. */
MUST_CHECK enum status jobs_commit(struct jobs *jobs, struct failure *failure);
/* `keep` after a commit; otherwise files copied for jobs that were not committed are removed again.
 * NULL is fine. */
void jobs_end(struct jobs *jobs, bool keep);
struct jobs_count {
    uint64_t jobs, results; /* written */
    uint64_t committed;     /* of the jobs */
    uint64_t known;         /* that were there already */
};
struct jobs_count jobs_count(const struct jobs *jobs);
/* Whether results of some job made give files back to the project's upload_url. */
bool jobs_use_upload_url(const struct jobs *jobs);
/* Whether for some job the first result that comes back is the answer, whoever it is from. */
bool jobs_have_single_quorum(const struct jobs *jobs);
/* What is odd in the templates that were read, and what they say otherwise than what was given
 * (template_advice.h), a line each; in the caller's arena. */
struct text jobs_advice(const struct jobs *jobs, struct arena *arena);
/* The name of the last job written. */
struct text jobs_last_name(const struct jobs *jobs);

#endif
