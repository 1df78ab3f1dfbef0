/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that validations are about: workunits, and all that the verdicts on them change. */
#ifndef DB_VALIDATION_ROWS_H
#define DB_VALIDATION_ROWS_H

#include "db/rows.h"

struct validation_rows {
    struct judged_workunit_row *workunits; /* by id */
    size_t workunit_count;
    struct judged_result_row *results; /* all of the workunits, by workunit and id */
    size_t result_count;
    /* Only when they are locked; each list by id. A host or user that is gone is missing. */
    struct credited_user_row *users;
    size_t user_count;
    struct credited_team_row *teams;
    size_t team_count;
    struct credited_host_row *hosts;
    size_t host_count;
    struct judged_version_row *host_versions; /* by host and version; more than are needed */
    size_t host_version_count;
    struct sampled_version_row *versions;
    size_t version_count;
};

#endif
