/* SPDX-License-Identifier: Apache-2.0 */
/* Whether clients find the project, can download and upload, and scientists can submit: all that is
 * asked of its web server, as their programs ask. Only qmctl does: a server speaks to nobody, and
 * shows what was found (topic "web" of its checks). */
#ifndef TOOLS_QMCTL_CHECK_WEB_LOOK_H
#define TOOLS_QMCTL_CHECK_WEB_LOOK_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "tools/qmctl/check/web_check.h"

struct session;

enum web_page {
    WEB_MASTER_PAGE,
    WEB_DOWNLOADS, /* not without the database */
    WEB_SUBMISSION,
    WEB_PAGES
};
struct web_look {
    struct web_check pages[WEB_PAGES];
    struct text uploads; /* what is wrong; empty: nothing, or no job has files */
};
/* For people. */
const char *web_page_name(enum web_page page);

/* Takes some seconds at most for each. */
void web_look(struct session *session, bool has_database, struct web_look *ret_look);

/* Leaves for servers what was found just now, on a connection of its own. */
MUST_CHECK enum status web_look_keep(struct session *session, const struct web_look *look);
/* The same for what project_check found. */
struct check_counts;
MUST_CHECK enum status checks_keep(struct session *session, const struct check_counts *counts);

#endif
