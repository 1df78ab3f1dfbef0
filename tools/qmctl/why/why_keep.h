/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the jobs found that no host can run, for the servers' pages and metrics
 * (server/status/stuck_words.h). */
#ifndef TOOLS_QMCTL_WHY_WHY_KEEP_H
#define TOOLS_QMCTL_WHY_WHY_KEEP_H

#include "tools/qmctl/session/project_session.h"
#include "tools/qmctl/why/why_jobs.h"

/* Writes what why_jobs found and commits, on a connection of its own: the session's only reads by
 * then. */
MUST_CHECK enum status why_jobs_keep(struct session *session, const struct job_chances *chances);

/* Looks and keeps. */
MUST_CHECK enum status why_jobs_look(struct session *session);

#endif
