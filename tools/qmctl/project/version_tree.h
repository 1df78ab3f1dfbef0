/* SPDX-License-Identifier: Apache-2.0 */
/* Versions from folders as BOINC's update_versions reads them, APP/VERSION/PLATFORM or
 * APP/VERSION/PLATFORM__PLANCLASS below one folder. */
#ifndef TOOLS_QMCTL_PROJECT_VERSION_TREE_H
#define TOOLS_QMCTL_PROJECT_VERSION_TREE_H

#include "tools/qmctl/session/project_session.h"

/* `qmctl version add --from`: adds those that are not there yet, each in a transaction of its own,
 * and prints a line for each. One that fails keeps none of the others from being added. */
enum exit_code version_tree_add(struct session *session);

#endif
