/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the pass over validations. The steps for a batch of workunits: they are
 * read (validation_pass.c), their results compared, by a command maybe (validation_compare.c), and
 * the decisions are written, for many workunits in one transaction (validation_write.c).
 *
 * Between reading and writing others may have changed something: a report came, another copy of
 * the command was quicker, records of hosts were merged. Then nothing is written for that
 * workunit, and it is read again and done alone. If the connection is lost during COMMIT and the
 * commit succeeded, the workunits no longer need validation, so trying again grants no credit
 * twice. */
#ifndef SERVER_PASSES_VALIDATION_PARTS_H
#define SERVER_PASSES_VALIDATION_PARTS_H

#include "db/validation.h"
#include "server/passes/comparison.h"
#include "server/passes/complaints.h"
#include "server/passes/pass.h"
#include "server/passes/pass_repeat.h"
#include "server/policy/result/verdict.h"

struct command_answer;
struct command_crew;
struct pass_lease;

/* One workunit under way. */
struct validation {
    struct judged_job job; /* as it was read */
    struct quorum quorum;
    struct compared_files *files; /* of each result that is looked at */
    unsigned char *answers;       /* the quorum's */
    struct quorum_result *results, *verdicts;
    struct quorum_decision decision;
    size_t opened;        /* results that are known to be usable or not */
    size_t first, second; /* what a command is asked about; the same: about one */
    int64_t question;     /* its number, of the crew's */
    bool is_changed;      /* since it was read */
};

enum comparison_kind { BY_NOBODY, BY_BYTES, BY_COMMAND };

enum {
    VALIDATION_PART_MOST = 256, /* taken together */
    VALIDATION_WRITE_MOST = 64  /* written in one transaction */
};

struct validation_pass {
    struct pass_owner *owner;
    const struct pass_settings *settings;
    struct pass_counts *counts;
    struct complaints *complaints;
    const struct app_row *app;
    enum comparison_kind kind;
    struct command_crew *crew; /* NULL: not BY_COMMAND */
    bool crew_reads_lines;
    int64_t questions; /* of the crew, so far */
    struct pass_lease *lease;
    int64_t after;   /* the last workunit that was found */
    int64_t left;    /* workunits that may still be looked at */
    size_t part;     /* as many were taken; 0: none, or all that may be */
    bool has_judged; /* some of the app */
    struct failure_row row;

    struct arena *arena; /* of the workunits that were read */
    struct validation_rows rows;
    struct output_document_row *documents; /* of the results that are looked at, by id */
    size_t document_count;
    struct validation *validations;
    size_t validation_count;

    struct arena *write_arena; /* of one transaction */
    size_t write_most;         /* workunits in one transaction, for now */
};

/* Zeroed but for its job: selects the results. False: no memory. */
bool validation_open(struct validation_pass *pass, struct validation *validation);
/* Compares until all is decided or a command has to be asked, for which the crew has room; `answer`
 * is the crew's to the question before, NULL at first. */
enum validation_step { VALIDATION_READY, VALIDATION_ASKED, VALIDATION_FAILED };
enum validation_step validation_go_on(struct validation_pass *pass, struct validation *validation,
                                      const struct command_answer *answer, struct failure *failure);

/* How many workunits go into the next transaction, when `count` of at most `most` took so long
 * (s). */
size_t validation_write_most(size_t most, size_t count, double seconds);
/* Writes what was decided of these, whose workunits rise, and marks those that have changed. A
 * workunit for which that cannot be done is said and passed over. STATUS_NOT_FOUND: the lease is
 * lost. */
MUST_CHECK enum status validation_write(struct validation_pass *pass,
                                        struct validation *const *validations, size_t count);
/* What fails for one workunit need not fail for the next; it stays to be validated. Answers
 * STATUS_OK where that is so. */
MUST_CHECK enum status validation_pass_over(struct validation_pass *pass, struct text name,
                                            enum status status);

#endif
