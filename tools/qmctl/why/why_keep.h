/* SPDX-License-Identifier: Apache-2.0 */
/* What was found of jobs that nobody can have, left in the database for the servers' pages and
 * metrics (server/status/stuck_words.h). */
#ifndef TOOLS_QMCTL_WHY_WHY_KEEP_H
#define TOOLS_QMCTL_WHY_WHY_KEEP_H

#include "tools/qmctl/session/project_session.h"
#include "tools/qmctl/why/why_jobs.h"

/* Writes what why_jobs found and commits, on a connection of its own: the session's only reads by
 * then. */
MUST_CHECK enum status why_jobs_keep(struct session *session, const struct job_chances *chances);

/* Looks and keeps, if nobody has within the hour. The session's connection, which is at the end of
 * a transaction, stays as it is. */
MUST_CHECK enum status why_jobs_hourly(struct session *session);

#endif
