/* SPDX-License-Identifier: Apache-2.0 */
/* Files of download_dir that no row names. They are counted only: other programs put files there
 * that no row has to name, and jobs that are made later may name them. */
#ifndef SERVER_PASSES_DOWNLOAD_LOOK_H
#define SERVER_PASSES_DOWNLOAD_LOOK_H

#include "server/passes/upload_sweep.h"

/* Plain files in the folder of their own name that nobody changed for thirty days; not what lies at
 * the top where there are folders. *ret_named: what a workunit, in whichever state, or an app
 * version names, or its .gz and .md5. */
MUST_CHECK enum status download_look(struct pass_owner *owner, int64_t now,
                                     struct sweep_count *ret_named,
                                     struct sweep_count *ret_unnamed);

#endif
