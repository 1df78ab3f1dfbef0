/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the machine's processors are, with this process or any other. */
#ifndef SERVER_PROCESS_BUSY_METER_H
#define SERVER_PROCESS_BUSY_METER_H

#include "server/base/text.h"

#include <stdbool.h>

struct busy_meter {
    int descriptor;   /* -1: nothing is known */
    double busy, all; /* ticks since the start of the machine, at the last call */
};

/* Of a file like /proc/stat (proc(5)), which is kept open. */
struct busy_meter busy_meter_open(const char *path);
void busy_meter_close(struct busy_meter *meter);
/* The part of all processors' time, 0 to 1, that was used since the last call; NAN: not known, as
 * at the first call. What runs at low priority (nice) or waits for a disk leaves the processors to
 * others: it is not busy. */
double busy_meter_read(struct busy_meter *meter);

/* The first line of that file: the times of all processors since the start, in ticks. False: it is
 * none. Pure. */
bool busy_meter_parse(struct text content, double *ret_busy, double *ret_all);

#endif
