/* SPDX-License-Identifier: Apache-2.0 */
/* The steps by their numbers: their words, and how one is run. */
#include "server/request/walk.h"

#include "server/base/arena.h"
#include "server/base/clock.h"

#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *name, *brief;
    enum next (*run)(struct request *request);
} steps[STEP_COUNT] = {
#define STEP_ROW(name_, brief_) \
    [STEP_##name_] = {.name = #name_, .brief = brief_, .run = step_##name_},
    REQUEST_STEPS(STEP_ROW)
#undef STEP_ROW
};

const char *request_step_word(enum step step)
{
    return steps[step].name;
}

const char *request_step_brief(enum step step)
{
    return steps[step].brief;
}

enum next request_run_step(struct request *request, enum step step)
{
    uint64_t begun = clock_ns();
    enum next next = steps[step].run(request);

    request->step_ns[step] += clock_ns() - begun;
    if (arena_overflowed(request->arena)) {
        memset(&request->failure, 0, sizeof(request->failure));
        return request_failed(request, STATUS_TOO_LARGE, steps[step].name);
    }
    return next;
}
