/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong with single jobs in a pass over many: said to the owner, up to a number. */
#ifndef SERVER_PASSES_COMPLAINTS_H
#define SERVER_PASSES_COMPLAINTS_H

#include "server/base/text.h"

#include <stdint.h>

struct pass_owner;

struct complaints {
    int64_t count;
};

/* "WHAT NAME: WHY", and when it is tried again, for 0: not. */
void complain(struct complaints *complaints, const struct pass_owner *owner, const char *what,
              struct text name, const char *why, int64_t again_after);

#endif
