/* SPDX-License-Identifier: Apache-2.0 */
/* What a load run measures: latencies, replies by kind, and every job with the host that got it. */
#ifndef TOOLS_LAB_QMLOAD_LOAD_TALLY_H
#define TOOLS_LAB_QMLOAD_LOAD_TALLY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct job_owner {
    char *name;
    size_t host;
};

struct load_tally {
    double *latencies; /* s */
    size_t latency_count, latency_capacity;

    struct job_owner *jobs; /* hash table, open addressing; name NULL: free */
    size_t job_count, job_capacity;
    size_t jobs_again;     /* sent again to the host that has them */
    size_t jobs_duplicate; /* sent to a host while another one has or had them */

    size_t requests;
    size_t failed; /* no complete reply with status 200 */
    size_t down, later;
    size_t acked, missing_acks;
    size_t uploads; /* files that are whole */
    size_t empty;   /* full replies without a job to requests that asked for some */
    uint64_t bytes_out, bytes_in;
    double elapsed; /* s */
};

void tally_latency(struct load_tally *tally, double seconds);
/* Also finds out whether the job went to somebody else before. */
void tally_job(struct load_tally *tally, struct text name, size_t host);
void tally_clear(struct load_tally *tally);

/* Smallest latency that at least this fraction of all stayed below; 0 when there is none. Sorts. */
double tally_percentile(struct load_tally *tally, double fraction);

enum tally_format { TALLY_TEXT, TALLY_CSV, TALLY_JSON };
void tally_print(struct load_tally *tally, enum tally_format format, FILE *stream);
/* One name per line, with the number of its host. */
void tally_print_jobs(const struct load_tally *tally, FILE *stream);

/* Nothing went wrong: no duplicate, no failure, no ack missing. */
bool tally_is_clean(const struct load_tally *tally);

#endif
