/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/complaints.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { COMPLAINTS_MAX = 20, MINUTE = 60 };

void complain(struct complaints *complaints, const char *what, struct text name, const char *why,
              int64_t again_after)
{
    complaints->count++;
    if (complaints->count <= COMPLAINTS_MAX) {
        fprintf(stderr, "qmctl: %s " TEXT_FORMAT ": %s", what, TEXT_ARG(text_first(name, 120)),
                why);
        if (again_after > 0)
            fprintf(stderr, "; tried again in %" PRId64 " minutes", again_after / MINUTE);
        fputc('\n', stderr);
    } else if (complaints->count == COMPLAINTS_MAX + 1) {
        fputs("qmctl: further failures are counted only\n", stderr);
    }
}
