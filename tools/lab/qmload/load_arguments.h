/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of qmload. */
#ifndef TOOLS_LAB_QMLOAD_LOAD_ARGUMENTS_H
#define TOOLS_LAB_QMLOAD_LOAD_ARGUMENTS_H

#include "tools/lab/qmload/load_host.h"
#include "tools/lab/qmload/load_tally.h"

#include <stdbool.h>
#include <stdint.h>

struct load_arguments {
    const char *url;
    const char *from; /* NULL: whatever address the system takes */
    struct load_profile profile;
    int64_t hosts, requests, empty_replies;
    int64_t connections;        /* 0: as many as hosts */
    double rate, timeout, time; /* time: s, 0: no end */
    double warm_up;             /* s */
    bool finishes;              /* after `time` hosts report what they have */
    enum tally_format format;
    const char *jobs_path, *log_path; /* NULL: not wanted */
    bool is_quiet;
};

/* Ends the program where the words cannot be understood. */
struct load_arguments arguments_read(int argc, char **argv);

#endif
