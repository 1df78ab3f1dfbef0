/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a campaign: what was handed out and acknowledged, the faults meanwhile, and what
 * the auditor found, with examples. */
#ifndef TOOLS_LAB_CAMPAIGN_CAMPAIGN_REPORT_H
#define TOOLS_LAB_CAMPAIGN_CAMPAIGN_REPORT_H

#include "tools/lab/campaign/audit.h"

#include <stdbool.h>
#include <stdio.h>

/* The faults by kind, as the figures of a history that holds nothing else. The file has the name of
 * a fault in each line; it may be missing. False: it cannot be read. */
bool campaign_report_faults(struct history *faults, const char *path);
void campaign_report_print(const struct audit *audit, const struct history *history,
                           const struct history *faults, bool is_json, FILE *stream);

#endif
