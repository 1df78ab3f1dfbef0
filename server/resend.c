/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the host should have. */
#include "server/request.h"

#include "server/base/banned.h"

enum next step_resend(struct request *request)
{
    (void)request;
    return NEXT_STEP;
}
