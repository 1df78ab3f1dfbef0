/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks every rule of rules.def on purpose, in a history and an extract that keep them all, and
 * asks whether the auditor finds it. Each is broken in a process of its own, so the others see
 * nothing of it. */
#ifndef TOOLS_LAB_CAMPAIGN_VIOLATIONS_H
#define TOOLS_LAB_CAMPAIGN_VIOLATIONS_H

#include "tools/lab/campaign/audit.h"

#include <stdbool.h>
#include <stdio.h>

/* Tells of each rule on `stream`. False: one was not found, or could not be broken, as there was
 * nothing in the run to break it with. */
bool violations_find_all(struct history *history, struct extract *extract,
                         const struct audit_limits *limits, FILE *stream);

#endif
