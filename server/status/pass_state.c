/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/pass_state.h"

#include "server/base/arena.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum { FAILURES_TOLD_S = 1800 }; /* three times as long as a job is put off */

enum pass_state pass_state_of(const struct pass_note_row *note, int64_t now)
{
    if (note->failures == 0 || note->failed_at < now - FAILURES_TOLD_S)
        return PASS_WELL;
    return note->done_at < note->since ? PASS_FAILS : PASS_FAILS_PARTLY;
}

struct text pass_state_name(struct arena *arena, const struct pass_note_row *note)
{
    if (note->app.length == 0)
        return text_copy(arena, note->pass);
    return text_print(arena, TEXT_FORMAT " of " TEXT_FORMAT, TEXT_ARG(note->pass),
                      TEXT_ARG(note->app));
}

struct text pass_state_words(struct arena *arena, const struct pass_note_row *note, int64_t now)
{
    return text_print(arena, COUNT_FORMAT ", the first " COUNT_FORMAT " ago, and %s: " TEXT_FORMAT,
                      COUNT_ARG(note->failures, "failure"),
                      COUNT_ARG((now - note->since) / 60, "minute"),
                      pass_state_of(note, now) == PASS_FAILS ? "no success" : "some successes",
                      TEXT_ARG(note->words));
}
