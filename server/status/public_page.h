/* SPDX-License-Identifier: Apache-2.0 */
/* The public figures of the project, in the form of BOINC's server_status.php, for statistics
 * sites and programs that submit jobs; pure. Numbers and names of applications: no users, hosts,
 * batches or jobs. */
#ifndef SERVER_STATUS_PUBLIC_PAGE_H
#define SERVER_STATUS_PUBLIC_PAGE_H

#include "db/rows.h"
#include "server/base/text.h"
#include "server/status/project_totals.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

struct public_figures {
    const struct project_totals *totals; /* they are known */
    const struct app_row *apps;          /* of the catalog, for names */
    size_t app_count;
    struct text host;      /* of the project's address */
    bool scheduler_serves; /* and is not stopped */
    bool has_uploads;      /* an upload handler of ours is known */
    bool uploads_are_taken;
};

enum public_page {
    PUBLIC_NONE,
    PUBLIC_STATUS, /* ?xml=1 */
    PUBLIC_COUNTS  /* ?counts=1: jobs by state alone, for programs that submit more when few wait */
};

/* XML in UTF-8. Applications that are in no use any more are left out, as there. */
void public_page_write(const struct public_figures *figures, struct buffer *ret_page);
void public_counts_write(const struct project_totals *totals, struct buffer *ret_page);

#endif
