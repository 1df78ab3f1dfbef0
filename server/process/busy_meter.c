/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/busy_meter.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "server/base/banned.h"

/* The columns behind "cpu", as proc(5) names them; those that follow are parts of the first two. */
enum column { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMN_COUNT };

struct busy_meter busy_meter_open(const char *path)
{
    return (struct busy_meter){.descriptor = open(path, O_RDONLY | O_CLOEXEC)};
}

void busy_meter_close(struct busy_meter *meter)
{
    if (meter->descriptor >= 0)
        close(meter->descriptor);
    meter->descriptor = -1;
}

bool busy_meter_parse(struct text content, double *ret_busy, double *ret_all)
{
    struct text line = text_split(&content, '\n');
    double ticks[COLUMN_COUNT];

    *ret_busy = *ret_all = 0;
    if (!text_is(text_split(&line, ' '), "cpu"))
        return false;
    line = text_trim(line); /* two blanks stand behind the name */
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!text_to_real(text_split(&line, ' '), &ticks[i]))
            return false;
        *ret_all += ticks[i];
    }
    *ret_busy = *ret_all - ticks[NICE] - ticks[IDLE] - ticks[IOWAIT];
    return true;
}

double busy_meter_read(struct busy_meter *meter)
{
    char bytes[1024];
    ssize_t length = meter->descriptor < 0 ? -1 : pread(meter->descriptor, bytes, sizeof(bytes), 0);
    double busy, all, part;

    if (length < 0 ||
        !busy_meter_parse((struct text){.at = bytes, .length = (size_t)length}, &busy, &all))
        return NAN;
    part = meter->all > 0 && all > meter->all ? (busy - meter->busy) / (all - meter->all) : NAN;
    meter->busy = busy;
    meter->all = all;
    return part;
}
