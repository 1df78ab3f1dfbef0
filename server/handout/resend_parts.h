/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of the step share: the list of jobs that the host says it has. */
#ifndef SERVER_HANDOUT_RESEND_PARTS_H
#define SERVER_HANDOUT_RESEND_PARTS_H

#include "server/base/text.h"
#include "server/rpc/request.h"

enum { RESEND_NAMED_MAX = 20 /* more tasks than this are not named one by one */ };

/* The listed names, sorted. NULL: no memory. */
struct text *resend_listed_names(const struct request *request);

/* --- resend_lost.c ---------------------------------------------------------------------------- */

/* Jobs that are in progress here, and not listed there. */
enum next resend_lost(struct request *request);

/* --- resend_aborts.c -------------------------------------------------------------------------- */

/* Listed jobs that nobody needs any more. */
enum next resend_abort_unneeded(struct request *request);

#endif
