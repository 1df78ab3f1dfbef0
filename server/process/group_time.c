/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/group_time.h"

#include "server/base/banned.h"

enum { RUNS_REMEMBERED = 8 };

void group_time_note_run(struct group_time *time, uint64_t took_ns)
{
    time->usual_run_ns += took_ns / RUNS_REMEMBERED - time->usual_run_ns / RUNS_REMEMBERED;
}

bool group_time_is_left(const struct group_time *time, uint64_t now_ns)
{
    return now_ns - time->begun_ns < GROUP_TIME_LONGEST_NS;
}

bool group_time_has_room(const struct group_time *time, size_t taken, uint64_t now_ns)
{
    return group_time_is_left(time, now_ns + 2 * taken * time->usual_run_ns);
}
