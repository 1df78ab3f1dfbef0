/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/concurrency.h"

#include "server/process/group_time.h"

#include "server/base/banned.h"

/* Parts of the processors' time. Between the two the limit stays as it is. Whoever comes to two
 * processors that are busy to three quarters finds none free in two cases of three (by Erlang's
 * formula 0.64). */
static const double busy_from = 0.75, idle_below = 0.60;

struct concurrency concurrency_of(size_t workers, size_t processors)
{
    return (struct concurrency){
        .workers = workers, .processors = processors, .limit = workers, .servers = 1};
}

_Static_assert(CONCURRENCY_STUCK_NS > GROUP_TIME_LONGEST_NS,
               "a worker counts until its transaction takes no more members");

static size_t least(const struct concurrency *concurrency)
{
    size_t part = concurrency->processors / concurrency->servers;

    if (part == 0)
        return 1;
    return part < concurrency->workers ? part : concurrency->workers;
}

void concurrency_note_busy(struct concurrency *concurrency, double part)
{
    size_t limit = concurrency->limit;

    if (part >= busy_from) {
        limit -= (limit + 3) / 4;
        concurrency->limit = limit > least(concurrency) ? limit : least(concurrency);
    } else if (part < idle_below) {
        concurrency->limit = limit < concurrency->workers / 2 ? limit * 2 : concurrency->workers;
    }
}

void concurrency_set_servers(struct concurrency *concurrency, size_t servers)
{
    concurrency->servers = servers > 0 ? servers : 1;
}

bool concurrency_gets_on(uint64_t taken_ns, uint64_t now_ns)
{
    return now_ns - taken_ns < CONCURRENCY_STUCK_NS;
}

bool concurrency_permits(const struct concurrency *concurrency, size_t getting_on)
{
    return getting_on < concurrency->limit;
}
