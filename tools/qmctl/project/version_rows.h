/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of applications as rows: how they are called, added, and what is set of them. */
#ifndef TOOLS_QMCTL_PROJECT_VERSION_ROWS_H
#define TOOLS_QMCTL_PROJECT_VERSION_ROWS_H

#include "server/submit/version_document.h"
#include "tools/qmctl/project/setting_change.h"

struct version_entry_row;

extern const struct setting_rows version_rows;

struct text version_number_words(struct arena *arena, int64_t version_num); /* "1.03" */
/* "demo 1.03 x86_64-pc-linux-gnu (mt)" */
struct text version_title(struct arena *arena, const struct version_entry_row *entry);

/* By name. STATUS_NOT_FOUND is said with the names that there are. */
MUST_CHECK enum status version_find_platform(struct session *session, const char *name,
                                             int64_t *ret_id);

struct version_place {
    int64_t appid, platformid;
    struct text platform, plan_class;
};
/* Inserts the row, sets what else was given (setting_change.h), and commits. The failure is said.
 */
MUST_CHECK enum status version_insert(struct session *session,
                                      const struct version_document *version,
                                      const struct version_place *place,
                                      const struct setting_values *values, int64_t *ret_id);

#endif
