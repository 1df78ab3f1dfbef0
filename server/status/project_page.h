/* SPDX-License-Identifier: Apache-2.0 */
/* From figures to the bytes of the page "Project", and of what anybody may know of it; pure. The
 * page shows names of applications, batches and jobs, and numbers of hosts: it is for the
 * administrator alone. */
#ifndef SERVER_STATUS_PROJECT_PAGE_H
#define SERVER_STATUS_PROJECT_PAGE_H

#include "db/rows.h"
#include "server/base/text.h"
#include "server/fates/fates.h"
#include "server/status/pass_state.h"
#include "server/status/picture.h"
#include "server/status/project_totals.h"
#include "server/status/stuck_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Results of a version in the last day, as `qmctl failures` has them. */
struct project_version {
    struct text version; /* "demo 1.03 windows_x86_64 (cuda)" */
    int64_t sent, ended, failed;
    struct text worst; /* what the exit status of most errors means; empty: there is none */
    bool fails;        /* see fates_alarm */
};
/* Likewise of a host, of late. */
struct project_host {
    int64_t id, ended, failed, at; /* at: the last result, epoch */
    bool fails;
};
struct project_stream {
    struct text words; /* "app demo" */
    double share, had; /* 0 to 1; had NAN: nothing was handed out */
};
/* A file system. */
struct project_disk {
    char words[80]; /* what is on it */
    bool is_known;
    uint64_t bytes, free;
};
enum { PROJECT_DISKS_MOST = 3 };
/* Hours of the last week, oldest first. */
struct project_hour {
    bool has_totals, has_fates; /* false: not known */
    double totals[TOTAL_COUNT];
    int64_t fates[FATE_NUMBERS]; /* results */
};

struct project_figures {
    struct text project;
    int64_t now;
    const struct project_totals *totals;
    const struct project_hour *week; /* WEEK_SLOTS of them */
    int64_t week_begin;              /* epoch */

    int64_t fates_read; /* epoch; 0: not yet */
    const struct project_version *versions;
    size_t version_count, versions_failing;
    const struct project_host *hosts;
    size_t host_count, hosts_failing;

    const struct app_row *apps; /* of the catalog, for names */
    size_t app_count;
    const struct project_stream *streams;
    size_t stream_count;
    const struct project_disk *disks;
    size_t disk_count;
    const struct stuck_jobs *stuck;
    const struct pass_note_row *passes; /* what failed of passes, by pass and application */
    size_t pass_count;
    unsigned job_errors, version_errors; /* that check-config found */
};

void project_page_write(const struct project_figures *figures, struct buffer *ret_page);

#endif
