/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of a request with the rows that they are about; for report.c. */
#ifndef SERVER_REQUEST_REPORT_ENTRIES_H
#define SERVER_REQUEST_REPORT_ENTRIES_H

#include "db/db.h"
#include "server/base/status.h"
#include "server/parse/message.h"
#include "server/policy/result/report_verdict.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* One name of the request. */
struct entry {
    const struct reported_result *reported;
    const struct result_row *row; /* NULL: not in the database */
    enum report_case found;
    bool is_first;     /* later reports of the same name are passed over */
    bool is_looked_up; /* no row can have a name as long as others */
    bool is_done;      /* may be acknowledged */
};

struct booking {
    struct request *request;
    struct entry *entries; /* in the order of the request */
    struct entry **by_name;
    size_t count;
    struct text *names; /* to be looked up */
    size_t name_count;
};

/* False: no memory. */
bool report_prepare_entries(struct booking *booking);
/* Finds row and case of every entry that is to be looked up; `again`: as they are now. */
MUST_CHECK enum status report_look_up(struct booking *booking, bool again);
/* The first entry of this row's name; NULL: none. */
struct entry *report_find_entry(const struct booking *booking, const struct result_row *row);

#endif
