/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/complaints.h"

#include "server/passes/pass.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { COMPLAINTS_MAX = 20, MINUTE = 60, NAME_BYTES = 120 };

void complain(struct complaints *complaints, const struct pass_owner *owner, const char *what,
              struct text name, const char *why, int64_t again_after)
{
    char sentence[1024], again[64] = "";

    complaints->count++;
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
