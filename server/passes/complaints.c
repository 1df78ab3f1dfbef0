/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/complaints.h"

#include "server/base/shown.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { COMPLAINTS_MAX = 20, MINUTE = 60 };

void complain(struct complaints *complaints, const char *what, struct text name, const char *why,
              int64_t again_after)
{
    complaints->count++;
    if (complaints->count <= COMPLAINTS_MAX) {
        char again[64] = "";

        if (again_after > 0)
            snprintf(again, sizeof(again), "; tried again in %" PRId64 " minutes",
                     again_after / MINUTE);
        shown_line(stderr, "qmctl: %s " TEXT_FORMAT ": %s%s", what, TEXT_ARG(text_first(name, 120)),
                   why, again);
    } else if (complaints->count == COMPLAINTS_MAX + 1) {
        fputs("qmctl: further failures are counted only\n", stderr);
    }
}
