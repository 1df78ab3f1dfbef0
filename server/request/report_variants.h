/* SPDX-License-Identifier: Apache-2.0 */
/* What reports say of the variants of science apps that ran (policy(7) 4.6). */
#ifndef SERVER_REQUEST_REPORT_VARIANTS_H
#define SERVER_REQUEST_REPORT_VARIANTS_H

#include "server/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct request;

/* A result that was booked as a success. */
struct variant_run {
    int64_t variant, workunitid;
    double elapsed_time; /* s */
};
/* Adds them to the host's statistics, in the attempt and in the database. */
MUST_CHECK enum status report_variants(struct request *request, const struct variant_run *runs,
                                       size_t count);

#endif
