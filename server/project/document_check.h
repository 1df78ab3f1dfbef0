/* SPDX-License-Identifier: Apache-2.0 */
/* Whether stored documents can go into a reply. */
#ifndef SERVER_PROJECT_DOCUMENT_CHECK_H
#define SERVER_PROJECT_DOCUMENT_CHECK_H

#include "db/db.h"
#include "server/base/text.h"

#include <stdbool.h>

/* NULL: they can. Else what is wrong, for the log. The places where the reply puts in what the
 * server knows must be there (policy(7) 14.3). */
const char *documents_fault(const struct job_documents *documents);
/* The same of an app version's document. */
bool document_of_version_fits(struct text xml);

#endif
