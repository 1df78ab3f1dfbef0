/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of qmvolunteers. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_COMMAND_LINE_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_COMMAND_LINE_H

#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>

struct command_line {
    const char *scenario;
    /* In the order of the command line. Of keys one for each URL, or one for all; of metrics one
     * for each URL or none. */
    const char *urls[CLIENT_PROJECTS_MAX], *keys[CLIENT_PROJECTS_MAX],
        *metrics[CLIENT_PROJECTS_MAX];
    const char *transitions[CLIENT_PROJECTS_MAX]; /* commands */
    size_t project_count, key_count, metrics_count, transition_count;
    size_t parallel;
    double window, patience; /* s; window < 0: the scenario's */
    bool is_quiet;
    bool has_masters;       /* the URLs are those of master pages, not of schedulers */
    const char *csv, *plot; /* figures over time; a folder for pictures; NULL: neither */
    bool has_trace;
    size_t trace; /* a host, from 0 */
};

/* Exits with a word about wrong usage. */
void command_line_parse(int argc, char **argv, struct command_line *ret_options);

#endif
