/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/guest_time.h"

#include "server/base/banned.h"

enum { RUNS_REMEMBERED = 8 };

void guest_time_note_run(struct guest_time *time, uint64_t took_ns)
{
    time->usual_run_ns += took_ns / RUNS_REMEMBERED - time->usual_run_ns / RUNS_REMEMBERED;
}

bool guest_time_is_left(const struct guest_time *time, uint64_t now_ns)
{
    return now_ns - time->begun_ns < GUEST_TIME_LONGEST_NS;
}

bool guest_time_has_room(const struct guest_time *time, size_t taken, uint64_t now_ns)
{
    return guest_time_is_left(time, now_ns + 2 * taken * time->usual_run_ns);
}
