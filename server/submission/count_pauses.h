/* SPDX-License-Identifier: Apache-2.0 */
/* How rarely the jobs of a batch are counted, however often its submitter asks: where counting
 * takes long, it takes a twentieth of the time at most. Shared by threads; no I/O, no clock. */
#ifndef SERVER_SUBMISSION_COUNT_PAUSES_H
#define SERVER_SUBMISSION_COUNT_PAUSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNT_PAUSES_MOST = 1024 /* batches; of two that fall together the last is known */ };

/* Zeroed at first, with PTHREAD_MUTEX_INITIALIZER. */
struct count_pauses {
    pthread_mutex_t lock;
    struct {
        int64_t batch;
        double until;
    } slots[COUNT_PAUSES_MOST];
};

/* Times in seconds of one clock. */
bool count_pauses_is_over(struct count_pauses *pauses, int64_t batch, double now);
void count_pauses_begin(struct count_pauses *pauses, int64_t batch, double took, double now);

#endif
