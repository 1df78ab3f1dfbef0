/* SPDX-License-Identifier: Apache-2.0 */
/* The handout room: jobs for the host of a request.
 *
 * First, lost jobs are sent again. Jobs that are in progress by the database and not
 * listed by the client were lost on the way: they are sent again or given up (resend.c); listed
 * jobs that nobody needs any more are aborted (aborts.c), and those that will be late but are under
 * way get more time (extend.c). Then new jobs are selected (select.c). A
 * view collects all that the checks ask about the host (view.h). A source offers candidates, from
 * the job pool or by a query of the database (source.h); those of workunits that the user or the
 * host already had are not among them (already_had.c). The policies choose among them, and the
 * claim (claim.h) makes the chosen ones this host's, under the locks of their workunits: before it
 * all candidates are hints. Assigned jobs (assigned.c) go before candidates and through the same
 * claim. What each job stream was given is kept for the requests to come (shares.h). If
 * nothing was sent, the answer says why (answer_work.c). After the transaction source_finish gives
 * back what was taken and not sent.
 *
 * What the files of the room share stands here; other rooms use view.h, source.h, claim.h and
 * shares.h. */
#ifndef SERVER_HANDOUT_HANDOUT_H
#define SERVER_HANDOUT_HANDOUT_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/policy/dispatch/choose.h"
#include "server/rpc/request.h"

#include <stdbool.h>
#include <stddef.h>

enum { NAMED_MAX = 20 /* more tasks than this are not named one by one to the volunteer */ };

/* --- handout.c -------------------------------------------------------------------------------- */

/* After a failure of the database. What the transaction cannot survive fails the request
 * (NEXT_FAILED); else everything since the savepoint, if there is one, is taken back, the volunteer
 * is told, and the walk goes on without jobs (NEXT_STEP). */
enum next handout_failed(struct request *request, enum status status, const char *what,
                         bool has_savepoint);

/* Appends jobs to the answer. False: no memory. */
bool handout_add_jobs(struct request *request, const struct answer_job *jobs, size_t count);

/* --- aborts.c --------------------------------------------------------------------------------- */

/* Has the client abort listed jobs that nobody needs any more. `names`: of all jobs that it lists,
 * sorted. */
enum next abort_unneeded(struct request *request, const struct text *names);

/* --- extend.c --------------------------------------------------------------------------------- */

/* Of an answer whose delays are known: when the host should come again for the sake of the jobs
 * that it has. */
void extend_next_contact(struct request *request);

/* --- assigned.c ------------------------------------------------------------------------------- */

/* Locks the workunits of the assigned jobs that this host may have and makes the results that lack;
 * the jobs are then claimed as any others. Adds what they use to the tally. */
MUST_CHECK enum status assigned_choose(struct request *request, const struct host_view *view,
                                       bool wants_work, struct tally *tally,
                                       struct choice_notes *notes, struct job ***ret_jobs,
                                       size_t *ret_count);

/* --- answer_work.c ---------------------------------------------------------------------------- */

/* The state of every resource of the host: sent, none, deadline or unsupported. `notes` NULL:
 * nothing was looked for. */
bool answer_resources(struct request *request, const struct host_view *view,
                      const struct choice_notes *notes);

/* Nothing was sent although work was asked for: why, and when to come again. */
void answer_nothing(struct request *request, const struct host_view *view,
                    const struct choice_notes *notes);

#endif
