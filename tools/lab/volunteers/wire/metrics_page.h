/* SPDX-License-Identifier: Apache-2.0 */
/* The counters on a server's metrics page, the reasons for "no work" among them. */
#ifndef TOOLS_LAB_VOLUNTEERS_WIRE_METRICS_PAGE_H
#define TOOLS_LAB_VOLUNTEERS_WIRE_METRICS_PAGE_H

#include "server/base/text.h"

#include <stddef.h>

enum { METRICS_MAX = 512, METRICS_NAME_BYTES = 96, METRICS_PAGE_BYTES_MAX = 1 << 20 };

struct metric {
    char name[METRICS_NAME_BYTES]; /* with its labels: x_total{reason="y"} */
    double value;
};

/* Zero it before use. */
struct metrics {
    struct metric items[METRICS_MAX];
    size_t count;
};

/* Adds a page. Values of a name that is there already are added up, so that several processes
 * of one project can be summed. Lines that are not in the format, too long or too many are
 * left out. */
void metrics_add_page(struct metrics *metrics, struct text page);
double metrics_value(const struct metrics *metrics, const char *name); /* 0: not there */

#endif
