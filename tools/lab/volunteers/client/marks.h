/* SPDX-License-Identifier: Apache-2.0 */
/* How the clients from 2012 on fetch work: the buffer has two marks. Below the low one it is filled
 * up to the high one, from the project that got least lately for its share and has least queued.
 * Pure; over the simulation of fetch.h, which is to reach as far as the high mark. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_MARKS_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_MARKS_H

#include "tools/lab/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>

struct marks {
    double low, high; /* s that every instance is to be busy */
};

/* `flops` operations were done for the project in the last `interval` s, those of all before count
 * half as much in ten days. */
void marks_book(struct fetch_project *project, double flops, double interval);
double marks_peak_flops(const struct fetch_host *host); /* of all that it has */
/* Of each project; the highest is asked first. */
void marks_rank(const struct fetch_host *host, const struct marks *marks,
                const struct fetch_job *jobs, size_t job_count, double *ret_priorities);
/* Whom to ask for what. False: nobody is to be asked now. */
bool marks_choose(const struct fetch_host *host, const struct marks *marks,
                  const double *priorities, double now, struct fetch_request *ret_request);
/* What a project that is contacted anyway is asked for; there anything below the high mark is
 * wanted. False: nothing. */
bool marks_add(const struct fetch_host *host, const struct marks *marks, const double *priorities,
               size_t project, double now, struct fetch_request *ret_request);
/* When it is to be thought of again, if nothing happens before; INFINITY: nobody is to be asked. */
double marks_next(const struct fetch_host *host, const struct marks *marks, double now);

#endif
