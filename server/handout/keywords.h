/* SPDX-License-Identifier: Apache-2.0 */
/* Which keywords a volunteer wants and refuses in jobs. */
#ifndef SERVER_HANDOUT_KEYWORDS_H
#define SERVER_HANDOUT_KEYWORDS_H

#include "server/policy/dispatch/checks.h"

struct request;

/* What the client says; if it says nothing, the project's file kw_prefs/USERID: two lines of ids,
 * wanted and unwanted. Both lists are empty while keyword_sched is off. */
void keywords_read(const struct request *request, struct host_view *view);

#endif
