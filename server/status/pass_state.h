/* SPDX-License-Identifier: Apache-2.0 */
/* Does a pass over jobs (validation, assimilation, ...) fail? From its row of qm_pass; pure.
 * Failed work is tried again every ten minutes or so; older failures no longer count. */
#ifndef SERVER_STATUS_PASS_STATE_H
#define SERVER_STATUS_PASS_STATE_H

#include "db/rows.h"
#include "server/base/text.h"

#include <stdint.h>

struct arena;

enum pass_state {
    PASS_WELL,
    PASS_FAILS_PARTLY, /* and succeeds with some jobs */
    PASS_FAILS         /* and succeeds with none */
};
enum pass_state pass_state_of(const struct pass_note_row *note, int64_t now);

/* "validation of demo"; texts live in the arena. */
struct text pass_state_name(struct arena *arena, const struct pass_note_row *note);
/* "3 failures, the first 5 minutes ago, and no success: WHY" */
struct text pass_state_words(struct arena *arena, const struct pass_note_row *note, int64_t now);

#endif
