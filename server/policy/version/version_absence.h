/* SPDX-License-Identifier: Apache-2.0 */
/* Why a host has no version at all of those that a job may use (policy(7) 4.5); pure. A kind of
 * computer that is wrong, a version that was withdrawn and one that never was there look alike from
 * the host's own versions, so all that the project has and had is looked at. */
#ifndef SERVER_POLICY_VERSION_VERSION_ABSENCE_H
#define SERVER_POLICY_VERSION_VERSION_ABSENCE_H

#include "server/parse/message.h"
#include "server/policy/refusal/reason.h"

#include <stdint.h>

struct catalog_rows;

/* The project's versions, as a host finds them. */
struct version_offer {
    const struct catalog_rows *rows;
    int64_t platformids[MESSAGE_PLATFORMS_MAX]; /* the host's; 0: the project has none of these */
};

/* Of jobs that ask for a version by number, or for any current one (0). The refusal has no name. */
struct refusal version_absence(const struct version_offer *offer, int64_t appid,
                               int64_t version_num);

#endif
