/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs gave back, for whom they belong to. Which files a result has is read from its own
 * document, never from what a host reported. Conventions as in desk.h. */
#ifndef SERVER_SUBMISSION_OUTPUT_DESK_H
#define SERVER_SUBMISSION_OUTPUT_DESK_H

#include "server/submission/desk.h"

enum output_kind { OUTPUT_OF_RESULT, OUTPUT_OF_JOB, OUTPUTS_OF_JOB, OUTPUTS_OF_BATCH };
struct wanted_output {
    enum output_kind kind;
    struct text name; /* of the result or the job */
    int64_t id;       /* of the job or the batch */
    int64_t number;   /* of the file, from 0 */
};

/* Whose it is. NOT_FOUND: there is nothing of the kind. */
MUST_CHECK enum status desk_output_owner(struct desk *desk, const struct wanted_output *wanted,
                                         int64_t *ret_userid);

/* A file that lies there; the descriptor is closed behind the call. */
typedef enum status output_call(void *context, struct text name, int descriptor);
/* Calls it for each; files that are not there are passed over. Who may have them was asked before.
 */
MUST_CHECK enum status desk_each_output(struct desk *desk, const struct wanted_output *wanted,
                                        output_call *call, void *context);

#endif
