/* SPDX-License-Identifier: Apache-2.0 */
/* Files that waiting jobs need: input files, which must still be in the download folder as they
 * were when the jobs were made, and result templates, for retries. */
#ifndef SERVER_CHECK_JOB_FILES_H
#define SERVER_CHECK_JOB_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/check/version_files.h"

#include <stddef.h>

struct app_row;
struct waiting_document_row;
struct job_template_row;

/* Each adds a line for an application some of whose jobs lack something, with the first of them. */
void job_inputs_judge(const struct version_files *files, const struct app_row *app,
                      const struct waiting_document_row *jobs, size_t count, struct arena *arena,
                      struct buffer *faults);
void job_templates_judge(const struct config *config, const struct app_row *app,
                         const struct job_template_row *templates, size_t count,
                         struct arena *arena, struct buffer *faults);

#endif
