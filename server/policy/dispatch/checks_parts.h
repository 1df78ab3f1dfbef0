/* SPDX-License-Identifier: Apache-2.0 */
/* The question that each check answers, and the two checks that are long enough for files of their
 * own. */
#ifndef SERVER_POLICY_DISPATCH_CHECKS_PARTS_H
#define SERVER_POLICY_DISPATCH_CHECKS_PARTS_H

#include "server/policy/dispatch/checks.h"

#include <stdbool.h>
#include <stddef.h>

struct question {
    const struct host_view *view;
    const struct tally *tally;
    enum check_kind kind;
    size_t resource;
    struct job *job;
    double need, have; /* for the refusal */
    struct text name;
    struct refusal why; /* of checks that know more than one reason */
};

/* Chooses the job's version, and says how long it would run. */
bool version_is_found(struct question *question);
bool meets_deadline(struct question *question);

#endif
