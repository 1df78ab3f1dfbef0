/* SPDX-License-Identifier: Apache-2.0 */
/* One change of what an administrator may set of a row of the catalog, for `qmctl app set` and its
 * like: the row is locked, changed, checked, written and read again, in one transaction. */
#ifndef TOOLS_QMCTL_PROJECT_SETTING_CHANGE_H
#define TOOLS_QMCTL_PROJECT_SETTING_CHANGE_H

#include "server/submit/catalog_settings.h"
#include "tools/qmctl/session/output.h"

enum { SETTINGS_MAX = 16 };
/* What was typed, by place in the settings; NULL: nothing. */
struct setting_values {
    const char *typed[SETTINGS_MAX];
};

/* A kind of rows. The functions as those of db/admin.h and catalog_settings.h. */
struct setting_rows {
    const struct catalog_settings *settings;
    enum status (*lock)(struct db *db, struct arena *arena, int64_t id, void *ret_row);
    enum status (*save)(struct db *db, const void *row);
    enum status (*check)(const void *row, struct failure *failure);
};

/* From the options that are called as the settings; answers how many there are. */
size_t setting_values_given(const struct session *session, const struct catalog_settings *settings,
                            struct setting_values *ret_values);
/* The same where there has to be one. STATUS_INVALID: there is none. */
MUST_CHECK enum status setting_values_need(struct session *session,
                                           const struct catalog_settings *settings,
                                           struct setting_values *ret_values);
/* The value of one setting, which there is. */
void setting_values_add(struct setting_values *values, const struct catalog_settings *settings,
                        const char *name, const char *typed);

/* In the caller's transaction, of a row that was just made. The failure is said. */
MUST_CHECK enum status setting_apply(struct session *session, const struct setting_rows *rows,
                                     int64_t id, const struct setting_values *values);
/* Commits, and has the servers read it. *ret_before, *ret_after: rows of the kind. The failure is
 * said. */
MUST_CHECK enum status setting_change(struct session *session, const struct setting_rows *rows,
                                      int64_t id, const struct setting_values *values,
                                      void *ret_before, void *ret_after);
/* A line for each setting that was given: what it was and what it is; `what` is "app" or so. */
void setting_change_print(struct session *session, const struct setting_rows *rows,
                          const struct setting_values *values, const char *what, struct text name,
                          const void *before, const void *after);

/* "beta yes, weight 2": what is not as usual. */
struct text setting_change_unusual(struct arena *arena, const struct catalog_settings *settings,
                                   const void *row);

#endif
