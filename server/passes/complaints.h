/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of single jobs in a pass over many: printed for the caller, up to a number, and kept in
 * the database for `qmctl status` and the page Project. */
#ifndef SERVER_PASSES_COMPLAINTS_H
#define SERVER_PASSES_COMPLAINTS_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct pass_owner;

enum { COMPLAINT_BYTES = 251 };

struct complaints {
    int64_t count;
    char last[COMPLAINT_BYTES]; /* why the last of them */
};

/* "WHAT NAME: WHY", and when it is tried again, for 0: not. */
void complain(struct complaints *complaints, const struct pass_owner *owner, const char *what,
              struct text name, const char *why, int64_t again_after);

/* What a pass has come to, for whoever asks: in the database, in a transaction of its own. */
struct pass_turn {
    const char *pass;
    int64_t appid;    /* 0: of a pass that goes by no app */
    int64_t now;      /* epoch */
    int64_t failures; /* that were complained of */
    bool has_done;    /* something */
};
MUST_CHECK enum status complaints_keep(const struct complaints *complaints,
                                       const struct pass_owner *owner,
                                       const struct pass_turn *turn);

#endif
