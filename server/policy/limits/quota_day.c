/* SPDX-License-Identifier: Apache-2.0 */
/* Days are counted from the epoch, shifted by a part of a day that the host's id gives. A day
 * number, unlike a day of the year, also differs after exactly one year; a clock set back gives a
 * new day too, which errs to the volunteer's side. */
#include "server/policy/limits/quota_day.h"

#include "server/base/random.h"

#include "server/base/banned.h"

static const int64_t day_length = 86400;                     /* s */
static const uint64_t spread = UINT64_C(0x71756f7461646179); /* any constant of its own */

static int64_t day_of(int64_t hostid, int64_t time)
{
    int64_t shift = (int64_t)(random_mix((uint64_t)hostid, spread) % (uint64_t)day_length);

    return (time + shift) / day_length;
}

bool quota_day_is_new(int64_t hostid, int64_t previous_time, int64_t now)
{
    return previous_time <= 0 || day_of(hostid, previous_time) != day_of(hostid, now);
}
