/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/crowd/command_line.h"

#include "server/base/text.h"
#include "tools/lab/volunteers/crowd/http_lines.h"

#include <argp.h>

#include "server/base/banned.h"

enum {
    KEY_CSV = 0x100,
    KEY_MASTER,
    KEY_METRICS,
    KEY_PATIENCE,
    KEY_PLOT,
    KEY_TRACE,
    KEY_TRANSITION,
    KEY_WINDOW
};

static const struct argp_option options[] = {
    {"authenticator", 'a', "KEY", 0,
     "Account key of all hosts, or @FILE with a key in each line, which hosts use in turn "
     "(required): once for all projects, or once for each in order",
     0},
    {"csv", KEY_CSV, "FILE", 0, "Write the figures over time to FILE, a row every sample_hours", 0},
    {"master", KEY_MASTER, NULL, 0,
     "The URLs are those of master pages, where hosts find one or more schedulers. The run then "
     "waits for no server: hosts try the others",
     0},
    {"metrics", KEY_METRICS, "URL", 0,
     "URL of the server's counters: once for each project in order, or not at all. For several "
     "processes of one project, separate their URLs by commas",
     0},
    {"parallel", 'p', "N", 0,
     "Number of requests under way at once (1). With more than one, a run cannot be repeated "
     "exactly",
     0},
    {"patience", KEY_PATIENCE, "SECONDS", 0,
     "How long to wait for a server that does not answer before the run is given up (30). 0: never "
     "wait; the request of the host has then failed",
     0},
    {"plot", KEY_PLOT, "DIR", 0,
     "Draw pictures in DIR with gnuplot: figures over time, arrivals of RPCs, the traced host", 0},
    {"quiet", 'q', NULL, 0, "Print neither progress nor failed requests", 0},
    {"trace", KEY_TRACE, "HOST", 0,
     "Draw what the processors of this host do, from 0 (with --plot)", 0},
    {"transition", KEY_TRANSITION, "COMMAND", 0,
     "Run this every transition_hours of virtual time, with {now} replaced by the time; may be "
     "repeated",
     0},
    {"window", KEY_WINDOW, "SECONDS", 0,
     "Virtual time by which requests under way at once may differ, instead of the scenario's", 0},
    {0}};

static double real_of(const char *name, const char *value, double least, double most,
                      struct argp_state *state)
{
    double number = 0;

    if (!text_to_real(text_from(value), &number) || number < least || number > most)
        argp_error(state, "--%s %s: wanted %g to %g", name, value, least, most);
    return number;
}

static void add(const char *name, const char *value, const char *list[CLIENT_PROJECTS_MAX],
                size_t *count, struct argp_state *state)
{
    if (*count == CLIENT_PROJECTS_MAX)
        argp_error(state, "%s %s: at most %d", name, value, CLIENT_PROJECTS_MAX);
    else
        list[(*count)++] = value;
}

static void check(const struct command_line *given, struct argp_state *state)
{
    if (given->scenario == NULL || given->project_count == 0 || given->key_count == 0)
        argp_usage(state);
    if (given->key_count != 1 && given->key_count != given->project_count)
        argp_error(state, "--authenticator: once, or once for each URL");
    if (given->metrics_count != 0 && given->metrics_count != given->project_count)
        argp_error(state, "--metrics: once for each URL, or not at all");
    if (given->has_trace && given->plot == NULL)
        argp_error(state, "--trace: only with --plot");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct command_line *given = state->input;

    switch (key) {
    case 'a':
        add("--authenticator", value, given->keys, &given->key_count, state);
        return 0;
    case 'p':
        given->parallel = (size_t)real_of("parallel", value, 1, HTTP_LINES_MAX, state);
        return 0;
    case 'q':
        given->is_quiet = true;
        return 0;
    case KEY_CSV:
        given->csv = value;
        return 0;
    case KEY_MASTER:
        given->has_masters = true;
        return 0;
    case KEY_METRICS:
        add("--metrics", value, given->metrics, &given->metrics_count, state);
        return 0;
    case KEY_PATIENCE:
        given->patience = real_of("patience", value, 0, 86400, state);
        return 0;
    case KEY_PLOT:
        given->plot = value;
        return 0;
    case KEY_TRACE:
        given->trace = (size_t)real_of("trace", value, 0, 1e9, state);
        given->has_trace = true;
        return 0;
    case KEY_TRANSITION:
        add("--transition", value, given->transitions, &given->transition_count, state);
        return 0;
    case KEY_WINDOW:
        given->window = real_of("window", value, 0, 86400, state);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            given->scenario = value;
        else
            add("URL", value, given->urls, &given->project_count, state);
        return 0;
    case ARGP_KEY_END:
        check(given, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void command_line_parse(int argc, char **argv, struct command_line *ret_options)
{
    static const struct argp parser = {
        options,
        parse_option,
        "SCENARIO URL...",
        "Lets an emulated crowd work on the projects whose schedulers, started with "
        "--clock=request, are at these URLs.",
        NULL,
        NULL,
        NULL};

    *ret_options = (struct command_line){.parallel = 1, .window = -1, .patience = 30};
    argp_parse(&parser, argc, argv, 0, NULL, ret_options);
}
