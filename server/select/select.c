/* SPDX-License-Identifier: Apache-2.0 */
/* New jobs for the host. */
#include "server/request.h"

#include "server/base/banned.h"

enum next step_select(struct request *request)
{
    (void)request;
    return NEXT_STEP;
}
