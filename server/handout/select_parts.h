/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the step share: the selection. */
#ifndef SERVER_HANDOUT_SELECT_PARTS_H
#define SERVER_HANDOUT_SELECT_PARTS_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/dispatch/choose.h"

#include <stdbool.h>
#include <stddef.h>

struct claimed;
struct request;

enum { SELECT_ROUNDS_MAX = 8 /* of choosing and claiming, and of making room */ };

struct selection {
    struct request *request;
    struct host_view view;
    struct choice_notes notes;
    struct tally tally;
    size_t kept_jobs;       /* in the answer before: resent ones */
    bool wants_work;        /* else only always-on apps are served */
    bool has_begun;         /* there is a point to go back to */
    struct id_list has_job; /* always-on apps that have theirs */
    bool serves_always_on;
    bool serves_assigned;
    bool some_lost;
    bool unseen; /* there may be jobs that no pass has looked at */
};

/* --- select_pass.c ---------------------------------------------------------------------------- */

/* Everything that selects, with what view.disk says. */
MUST_CHECK enum status select_in_pass(struct selection *selection);

/* --- always_on.c ------------------------------------------------------------------------------ */

/* Whether there is such an app that `has_job` does not name. */
bool always_on_is_lacking(const struct request *request, struct id_list has_job);
/* Which of them have a job on this host. */
MUST_CHECK enum status always_on_find(struct selection *selection);
/* And those that were just claimed. False: no memory. */
bool always_on_note(struct selection *selection, const struct claimed *claimed);

#endif
