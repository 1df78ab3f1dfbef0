/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/edf/deadline.h"

#include <math.h>

#include "server/base/banned.h"

#define EQUAL_WITHIN 1e-6 /* s */

bool deadline_is_met(double finish, double delay_bound)
{
    return finish <= delay_bound + EQUAL_WITHIN;
}

double deadline_allows_delay(double deadline, double finish)
{
    if (!isfinite(finish) || !deadline_is_met(finish, deadline))
        return DEADLINE_RETRY_MAX;
    return fmin(fmax(deadline - finish, DEADLINE_RETRY_MIN), DEADLINE_RETRY_MAX);
}
