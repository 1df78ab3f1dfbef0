/* SPDX-License-Identifier: Apache-2.0 */
/* How much a job suits a host and its user beyond being possible (policy(7) 10.2); pure. */
#ifndef SERVER_POLICY_DISPATCH_SCORE_H
#define SERVER_POLICY_DISPATCH_SCORE_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_view;
struct job;

/* The sum of the terms, each of its own weight in config.xml. Orders jobs of one priority. */
double job_score(const struct host_view *view, const struct job *job);

/* Speeds that divide the hosts of an app into size classes, from a file size_census_APP: one number
 * per line, rising. */
enum { SIZE_CLASSES_MAX = 10 };
struct size_census {
    struct text app_name;
    double flops[SIZE_CLASSES_MAX - 1];
    size_t count;
};
/* False: not numbers, too many, or not rising. */
bool size_census_read(struct text document, struct size_census *ret_census);
/* The class of a host of this speed, 0 the slowest. */
int64_t size_census_class(const struct size_census *census, double flops);

#endif
