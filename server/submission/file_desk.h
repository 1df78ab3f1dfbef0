/* SPDX-License-Identifier: Apache-2.0 */
/* Files that submitters bring for their jobs. A name stands for one content for ever, as clients
 * keep files by name, and belongs to whose batches the file was brought for; one that is made of
 * the content's MD5 belongs to all who have the content. The bytes of an upload go to the disk as
 * they come, into files next to their places; when all have come they are put there, and noted.
 * What is refused leaves no file and no row. Conventions as in desk.h. */
#ifndef SERVER_SUBMISSION_FILE_DESK_H
#define SERVER_SUBMISSION_FILE_DESK_H

#include "server/submission/desk.h"

enum { JOB_FILES_AT_ONCE_MAX = 10000, JOB_FILE_NAME_MAX = 191 /* bytes, of the column */ };

/* What a call says of its files. */
struct files_named {
    const struct text *names;
    size_t count;
    int64_t batch;      /* they are for; 0: none in particular */
    double delete_time; /* until which they stay at least, epoch; 0: as long as they are needed */
};
/* Whether each may be the name of a file, and the batch is the submitter's. */
MUST_CHECK enum status desk_check_files(struct desk *desk, const struct submitter *submitter,
                                        const struct files_named *named);

typedef void absent_file_call(void *context, size_t index);
/* Calls it for each name that is not there, or is another submitter's; the others are noted. */
MUST_CHECK enum status desk_query_files(struct desk *desk, const struct submitter *submitter,
                                        const struct files_named *named, absent_file_call *call,
                                        void *context);

struct placed_list;

struct files_upload {
    struct desk *desk;
    const struct files_named *named;
    struct job_file_coming *files; /* one for each name */
    size_t begun;                  /* files */
    int descriptor;                /* of the one under way; -1: none */
    struct placed_list *placed;
    bool is_unknown; /* whether their rows are committed */
};
/* After desk_check_files. To be dropped in the end, whatever came of it. A name of another
 * submitter's file is refused. */
MUST_CHECK enum status files_upload_begin(struct files_upload *upload, struct desk *desk,
                                          const struct submitter *submitter,
                                          const struct files_named *named);
/* The next file, its bytes, its end. */
MUST_CHECK enum status files_upload_open(struct files_upload *upload);
MUST_CHECK enum status files_upload_add(struct files_upload *upload, struct text bytes);
MUST_CHECK enum status files_upload_close(struct files_upload *upload);
/* All have come. */
MUST_CHECK enum status files_upload_finish(struct files_upload *upload);
void files_upload_drop(struct files_upload *upload);

#endif
