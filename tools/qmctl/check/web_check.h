/* SPDX-License-Identifier: Apache-2.0 */
/* Whether clients find the project and can download its files, and scientists can submit:
 * master_url, download_url and the page for submissions are asked, as their programs ask. */
#ifndef TOOLS_QMCTL_CHECK_WEB_CHECK_H
#define TOOLS_QMCTL_CHECK_WEB_CHECK_H

#include "server/base/text.h"

struct session;

/* What was asked for, and what is wrong with the answer; both empty: there was nothing to ask for.
 * Each takes some seconds at most. */
struct web_check {
    struct text asked, problem;
    double seconds;
};

struct web_check master_page_check(struct session *session);
/* The smallest file of the versions that jobs are sent with, of which the database is asked. */
struct web_check download_check(struct session *session);
/* With the option submission. */
struct web_check submission_check(struct session *session);

#endif
