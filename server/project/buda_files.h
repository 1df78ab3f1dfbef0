/* SPDX-License-Identifier: Apache-2.0 */
/* The science apps of a project as its folder buda_apps has them: APP/desc.json and
 * APP/VARIANT/variant.json, as BOINC's web pages write them. */
#ifndef SERVER_PROJECT_BUDA_FILES_H
#define SERVER_PROJECT_BUDA_FILES_H

#include "server/policy/plan_class/plan_class.h"
#include "server/policy/version/buda.h"

#include <stdint.h>

struct arena;

/* Each file that cannot be used costs only itself, and is a fault. No folder: no apps. False: no
 * memory. */
bool buda_files_read(const char *folder, const struct plan_classes *classes, struct arena *arena,
                     struct buda_apps *ret_apps);

/* Another for other files, by their names, times and sizes; 0: there is no folder. `ret_count`: how
 * many were looked at. */
uint64_t buda_files_stamp(const char *folder, size_t *ret_count);

#endif
