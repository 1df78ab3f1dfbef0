/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/request_delay.h"

#include "config/config.h"
#include "server/base/random.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

/* Parts of the request's seed, apart from those of the walk. */
enum { SEED_CAUSE = 0x6465, SEED_LOAD };

double delay_of_request(const struct request *request, enum delay_cause cause, double configured)
{
    return delay_for(cause, configured, &request->load, request->config->delay_jitter,
                     random_mix(request->seed, SEED_CAUSE));
}

void delay_by_load(struct request *request)
{
    if (request->load.backlog > 0)
        answer_delay(&request->attempt.answer,
                     delay_spread(0, &request->load, request->config->delay_jitter,
                                  random_mix(request->seed, SEED_LOAD)));
}
