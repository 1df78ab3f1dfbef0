/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a view, each on what the ones before it have filled in. */
#ifndef SERVER_HANDOUT_VIEW_PARTS_H
#define SERVER_HANDOUT_VIEW_PARTS_H

#include "server/base/status.h"
#include "server/policy/dispatch/host_view.h"

#include <stdbool.h>

struct plan_host;
struct request;

/* --- view_versions.c -------------------------------------------------------------------------- */

/* False: no memory. */
bool view_make_options(struct request *request, struct host_view *view);

/* --- view_variants.c -------------------------------------------------------------------------- */

/* What the host's jobs of variants took, if there may be any. */
MUST_CHECK enum status view_read_variants(struct request *request);
/* Wrappers with variants of science apps, behind the other options, which are final. False: no
 * memory. */
bool view_add_variants(struct request *request, struct host_view *view,
                       const struct plan_host *host);
/* No more than this many. */
size_t view_variants_most(const struct request *request);

/* --- view_jobs.c ------------------------------------------------------------------------------ */

/* Jobs in progress as the client lists them, unless that costs too much. */
void view_count_listed(struct request *request, struct host_view *view);
/* Raises these counts to what the database knows, where a limit hangs on them, and finds out which
 * always-on apps have their job. */
MUST_CHECK enum status view_count_rows(struct request *request, struct host_view *view);

#endif
