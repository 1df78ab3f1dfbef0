/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/round.h"

#include "server/passes/transition_pass.h"
#include "server/passes/validation_pass.h"

#include "server/base/banned.h"

enum status pass_round(struct pass_owner *owner, const struct pass_settings *settings,
                       struct round_memory *memory, struct pass_counts *counts)
{
    enum status status = transition_pass(owner, settings, counts);

    if (status == STATUS_OK)
        status = validation_pass(owner, settings, counts);
    if (status == STATUS_OK)
        status = assimilation_pass(owner, settings, &memory->failures, counts);
    return status == STATUS_OK ? deletion_pass(owner, settings, &memory->schedule, counts) : status;
}
