/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/round.h"

#include "server/fates/fates.h"
#include "server/passes/transition_pass.h"
#include "server/passes/validation_pass.h"

#include "server/base/banned.h"

/* Figures that could not be written come with the next round. */
static enum status flush_fates(struct pass_owner *owner)
{
    enum status status = owner->fates == NULL ? STATUS_OK : fates_flush(owner->fates, owner->db);

    return pass_failed(owner, status, "what became of results");
}

enum status pass_round(struct pass_owner *owner, const struct pass_settings *settings,
                       struct round_memory *memory, struct pass_counts *counts)
{
    enum status status = transition_pass(owner, settings, counts);

    if (status == STATUS_OK)
        status = validation_pass(owner, settings, counts);
    if (status == STATUS_OK)
        status = assimilation_pass(owner, settings, &memory->failures, counts);
    if (status == STATUS_OK)
        status = batch_pass(owner, settings->now, &memory->batches);
    if (status == STATUS_OK)
        status = output_count_pass(owner, &memory->outputs);
    if (status == STATUS_OK)
        status = deletion_pass(owner, settings, &memory->schedule, counts);
    return status == STATUS_OK ? flush_fates(owner) : status;
}
