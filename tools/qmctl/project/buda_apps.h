/* SPDX-License-Identifier: Apache-2.0 */
/* Science apps for commands: what the folder buda_apps has. */
#ifndef TOOLS_QMCTL_PROJECT_BUDA_APPS_H
#define TOOLS_QMCTL_PROJECT_BUDA_APPS_H

#include "server/policy/version/buda.h"

struct arena;
struct session;

/* With the words of the server's log for what cannot be used. */
MUST_CHECK enum status buda_apps_read(struct session *session, struct buda_apps *ret_apps);
/* APP/VARIANT, as the folders are called. */
struct text buda_variant_title(struct arena *arena, const struct buda_apps *apps, int64_t number);

#endif
