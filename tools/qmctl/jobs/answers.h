/* SPDX-License-Identifier: Apache-2.0 */
/* Answers, for the subcommands `jobs list`, `show`, `results`, `export` and `batch list`: which
 * jobs are meant, what a result gave back, and a folder into which it is copied. */
#ifndef TOOLS_QMCTL_JOBS_ANSWERS_H
#define TOOLS_QMCTL_JOBS_ANSWERS_H

#include "db/admin.h"
#include "tools/qmctl/session/output.h"

struct answer_folder;
struct answer_row;
struct arena;
struct output_file;

/* --app, --batch, --name, --most and --before; connects to the database. */
MUST_CHECK enum status answer_filter_read(struct session *session,
                                          struct answer_filter *ret_filter);

/* A list that is read and printed page by page, however long it becomes. `read` adds the rows of
 * the filter to the table, says how many, and the number of the last. */
struct answer_list {
    struct output_table table;
    enum status (*read)(struct session *session, const struct answer_filter *filter,
                        struct output_table *table, size_t *ret_count, int64_t *ret_last);
};
MUST_CHECK enum exit_code answer_list_print(struct session *session, struct answer_list list,
                                            struct answer_filter filter);

/* Words for workunit.error_mask; empty: none. */
struct text job_errors(struct arena *arena, int64_t error_mask);

/* What the program wrote to standard error, out of what the client reported (result.stderr_out),
 * which has it among a message and version numbers. */
struct text stderr_of(struct text stderr_out);

/* Where an output file is. ABSENT: it is optional, and there is none, in a folder that holds
 * others. MISSING: it may come yet. */
enum file_presence { FILE_PRESENT, FILE_ABSENT, FILE_MISSING, FILE_DELETED };
const char *file_presence_word(enum file_presence presence);
/* Looks at it; *ret_path is empty for a name that no file can have. *ret_bytes: -1, not there. */
enum file_presence answer_file_find(struct session *session, const struct answer_row *answer,
                                    const struct output_file *file, struct text *ret_path,
                                    int64_t *ret_bytes);

/* --- the folder of an export ----------------------------------------------------------------- */

/* DIR/JOB/FILE for each output file, by the name that the application gave it, and
 * DIR/JOB/stderr.txt; with `all` DIR/JOB/RESULT/FILE. DIR/manifest.tsv has a line for each file of
 * each result, which is written when the file is on the disk: what it lists is not copied again,
 * and a copy that was interrupted is not listed. One command at a time may write to a folder.
 *
 * Names of jobs and files come from many hands: one that cannot be a file's name here ("a/b") is
 * replaced by "@" and a number, that of the row or of the file. The manifest has the name itself.
 */
struct answer_counts {
    int64_t results, files, missing; /* written to the manifest by this run */
    double bytes;
};
/* Makes the folder where there is none, and reads the manifest. STATUS_IO, STATUS_INVALID (not a
 * manifest of ours, or none beside other files). The caller closes it. */
MUST_CHECK enum status answer_folder_open(const char *path, bool all,
                                          struct answer_folder **ret_folder,
                                          struct failure *failure);
/* NULL is fine. */
void answer_folder_close(struct answer_folder *folder);
/* Copies what is not in the folder yet, then writes it to the manifest. After a failure the folder
 * is as it was or has more, and goes on with the next call. STATUS_INVALID: the folder's answers
 * are those of another project. */
MUST_CHECK enum status answer_folder_add(struct answer_folder *folder, struct session *session,
                                         const struct answer_row *answers, size_t count);
struct answer_counts answer_folder_counts(const struct answer_folder *folder);

#endif
