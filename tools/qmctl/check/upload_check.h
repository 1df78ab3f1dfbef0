/* SPDX-License-Identifier: Apache-2.0 */
/* Whether clients can give their files back: upload_url is asked, as a client asks. Where nothing
 * right answers a client computes, uploads again and again for three months, and reports nothing.
 */
#ifndef TOOLS_QMCTL_CHECK_UPLOAD_CHECK_H
#define TOOLS_QMCTL_CHECK_UPLOAD_CHECK_H

#include "server/base/text.h"

struct session;

/* What is wrong with what answers at upload_url, in a sentence, or empty. Takes some seconds at
 * most. */
struct text upload_url_problem(struct session *session);
/* The same if one of the project's result templates has files for it, and whether the web server
 * takes as large ones as they allow. */
struct text upload_templates_problem(struct session *session);

#endif
