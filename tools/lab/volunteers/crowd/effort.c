/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/crowd/effort.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "server/base/banned.h"

const char *crowd_failure_words(enum crowd_failure failure)
{
    static const char *const words[] = {
#define CROWD_FAILURE_WORDS(name, text) text,
        CROWD_FAILURES(CROWD_FAILURE_WORDS)
#undef CROWD_FAILURE_WORDS
    };

    return (unsigned)failure < CROWD_FAILURE_COUNT ? words[failure] : "?";
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void crowd_effort_print(const struct crowd_effort *effort, bool is_good)
{
    struct rusage usage = {.ru_maxrss = 0};

    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr,
            "%" PRIu64 " RPCs, %" PRIu64 " jobs in %.1f s, %.0f RPCs/s; %.2f s of CPU, %ld MB\n",
            effort->rpcs, effort->jobs, effort->seconds,
            effort->seconds > 0 ? (double)effort->rpcs / effort->seconds : 0,
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss / 1024);
    if (effort->masters > 0)
        fprintf(stderr, "%" PRIu64 " times a master page was read\n", effort->masters);
    for (int i = 0; i < CROWD_FAILURE_COUNT; i++)
        if (effort->failures[i] > 0)
            fprintf(stderr, "%s: %" PRIu64 "\n", crowd_failure_words((enum crowd_failure)i),
                    effort->failures[i]);
    if (is_good && effort->rpcs > 0 && effort->jobs == 0)
        fputs("no job was sent: --metrics shows the reasons, qmctl why HOST tells them\n", stderr);
}
