/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/complaints.h"

#include "db/pass_note.h"
#include "server/passes/pass.h"
#include "server/passes/pass_repeat.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { COMPLAINTS_MAX = 20, MINUTE = 60, NAME_BYTES = 120 };

void complain(struct complaints *complaints, const struct pass_owner *owner, const char *what,
              struct text name, const char *why, int64_t again_after)
{
    char sentence[1024], again[64] = "";

    complaints->count++;
    (void)snprintf(complaints->last, sizeof(complaints->last), "%s", why);
    if (owner->say == NULL || complaints->count > COMPLAINTS_MAX + 1)
        return;
    if (complaints->count == COMPLAINTS_MAX + 1) {
        owner->say(owner->context, "further failures are counted only");
        return;
    }
    if (again_after > 0)
        (void)snprintf(again, sizeof(again), "; tried again in " COUNT_FORMAT,
                       COUNT_ARG(again_after / MINUTE, "minute"));
    (void)snprintf(sentence, sizeof(sentence), "%s " TEXT_FORMAT ": %s%s", what,
                   TEXT_ARG(text_first(name, NAME_BYTES)), why, again);
    owner->say(owner->context, sentence);
}

struct keeping {
    struct db *db;
    struct pass_note note;
};

static enum status keep(void *subject)
{
    const struct keeping *keeping = subject;
    enum status status = db_pass_note(keeping->db, &keeping->note);

    return status == STATUS_OK ? db_commit(keeping->db) : status;
}

enum status complaints_keep(const struct complaints *complaints, const struct pass_owner *owner,
                            const struct pass_turn *turn)
{
    struct keeping keeping = {.db = owner->db,
                              .note = {.pass = text_from(turn->pass),
                                       .appid = turn->appid,
                                       .now = turn->now,
                                       .failures = turn->failures,
                                       .words = text_from(complaints->last),
                                       .has_done = turn->has_done}};

    if (turn->failures == 0 && !turn->has_done)
        return STATUS_OK;
    return repeat_transaction(owner->db, keep, &keeping);
}
