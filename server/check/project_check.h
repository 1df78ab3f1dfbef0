/* SPDX-License-Identifier: Apache-2.0 */
/* Checks everything that a server and the administrator's command will need of a project, tells all
 * that is wrong and not only the first, and changes nothing: the one function behind
 * `quartermaster --check-config` and `qmctl check-config`. */
#ifndef SERVER_CHECK_PROJECT_CHECK_H
#define SERVER_CHECK_PROJECT_CHECK_H

#include <stdbool.h>

struct arena;

enum check_severity {
    CHECK_WARNING,
    CHECK_ERROR, /* the project does not work as it should */
    CHECK_STOPS  /* no server starts with it */
};
typedef void check_found(void *context, enum check_severity severity, const char *text);

/* Calls `report` for each finding, in words that last as long as the call. Without the database
 * (reads_database false) what is in it is not checked. */
void project_check(struct arena *arena, const char *project_dir, bool reads_database,
                   check_found *report, void *context);

#endif
