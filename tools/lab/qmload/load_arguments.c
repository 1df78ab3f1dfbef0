/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, and what is true without them. */
#include "tools/lab/qmload/load_arguments.h"

#include "server/base/random.h"
#include "server/base/text.h"
#include "server/base/version.h"

#include <argp.h>

#include "server/base/banned.h"

enum {
    KEY_CONNECTIONS = 0x100,
    KEY_CSV,
    KEY_EMPTY,
    KEY_FINISH,
    KEY_FROM,
    KEY_JOBS,
    KEY_JSON,
    KEY_KEEP,
    KEY_LOG,
    KEY_MIX,
    KEY_NCPUS,
    KEY_OLD,
    KEY_PLATFORM,
    KEY_RATE,
    KEY_SECONDS,
    KEY_SEED,
    KEY_TIME,
    KEY_TIMEOUT,
    KEY_UPLOAD,
    KEY_VENDOR,
    KEY_WARM_UP
};

static const struct argp_option options[] = {
    {"authenticator", 'a', "KEY", 0,
     "Account key (required); if repeated, hosts use the keys in "
     "turn",
     0},
    {"hosts", 'n', "N", 0, "Emulated hosts, each with one request at a time (8)", 0},
    {"connections", KEY_CONNECTIONS, "N", 0,
     "At most N requests at a time; hosts take turns (as many as hosts)", 0},
    {"requests", 'r', "R", 0,
     "Requests of each host; without this and --time, a host continues until no work is left", 0},
    {"time", KEY_TIME, "S", 0, "Send no request after S seconds", 0},
    {"empty", KEY_EMPTY, "N", 0,
     "Assume that no work is left after N consecutive replies without "
     "a job (2)",
     0},
    {"rate", KEY_RATE, "R", 0,
     "Open loop: R requests per second in total, each at its own time. Without it, a host sends "
     "the next request as soon as it has the answer",
     0},
    {"seconds", KEY_SECONDS, "S", 0,
     "CPU seconds of work that each request asks for (100000); 0: it asks for no work", 0},
    {"ncpus", KEY_NCPUS, "N", 0, "CPUs of each host (4)", 0},
    {"platform", KEY_PLATFORM, "NAME", 0,
     "Platform of each host (x86_64-pc-linux-gnu); if repeated, in turn", 0},
    {"vendor", KEY_VENDOR, "NAME", 0,
     "CPU vendor of each host (GenuineIntel); if repeated, in turn", 0},
    {"from", KEY_FROM, "ADDRESS", 0,
     "Local address of the connections. One address has ports for about 28,000 connections; all "
     "addresses of 127.0.0.0/8 belong to this machine",
     0},
    {"old", KEY_OLD, "PERCENT", 0, "Percentage of hosts whose client never lists its queue (0)", 0},
    {"upload", KEY_UPLOAD, "BYTES", 0,
     "Upload a file of BYTES for each job before it is reported, if it has an output file", 0},
    {"finish", KEY_FINISH, NULL, 0,
     "After --time, report what is on the hosts and ask for nothing; figures end at --time", 0},
    {"keep", KEY_KEEP, NULL, 0, "Report nothing: jobs stay in progress", 0},
    {"mix", KEY_MIX, "WEIGHT,JOBS,REPORTS", 0,
     "A kind of request that asks for JOBS times the work of --seconds and reports at most REPORTS "
     "of the jobs on the host. Repeat the option for several kinds, each as frequent as its weight "
     "says",
     0},
    {"seed", KEY_SEED, "N", 0,
     "The same number gives the same machines; without it, each run has "
     "its own",
     0},
    {"timeout", KEY_TIMEOUT, "S", 0, "Seconds after which a request counts as failed (120)", 0},
    {"warm-up", KEY_WARM_UP, "S", 0, "Ignore the first S seconds, and do not list their jobs", 1},
    {"csv", KEY_CSV, NULL, 0, "Print a line of names and a line of figures", 1},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object", 1},
    {"jobs", KEY_JOBS, "PATH", 0, "Write the name of every job received and the number of its host",
     1},
    {"log", KEY_LOG, "PATH", 0,
     "Write a line for each completed request: when it was due (s after the start), the time until "
     "its answer (s), full, short, down or failed, and the reply's request_delay (s; 0: none)",
     1},
    {"quiet", 'q', NULL, 0, "Do not print single failures", 1},
    {0}};

static double real_argument(const char *argument, struct argp_state *state)
{
    double number = 0;

    if (!text_to_real(text_from(argument), &number) || number <= 0)
        argp_error(state, "%s: wanted a number above 0", argument);
    return number;
}

static double real_argument_or_0(const char *argument, struct argp_state *state)
{
    return text_is(text_from(argument), "0") ? 0 : real_argument(argument, state);
}

static int64_t integer_argument(const char *argument, struct argp_state *state)
{
    int64_t number = 0;

    if (!text_to_i64(text_from(argument), &number) || number < 1 || number > 1000000)
        argp_error(state, "%s: wanted a number from 1 to 1000000", argument);
    return number;
}

static void add_turn(struct turns *turns, const char *argument, struct argp_state *state)
{
    if (turns->count == TURNS_MAX)
        argp_error(state, "%s: one too many", argument);
    else
        turns->items[turns->count++] = text_from(argument);
}

static void add_kind(struct load_profile *profile, const char *argument, struct argp_state *state)
{
    struct text rest = text_from(argument), weight = text_split(&rest, ','),
                jobs = text_split(&rest, ',');
    struct load_kind kind = {0};

    if (profile->kind_count == KINDS_MAX || !text_to_real(weight, &kind.weight) ||
        !text_to_real(jobs, &kind.jobs) || !text_to_i64(rest, &kind.reports) || kind.weight <= 0 ||
        kind.jobs < 0 || kind.reports < 0)
        argp_error(state, "%s: wanted at most %d kinds, each as WEIGHT,JOBS,REPORTS", argument,
                   KINDS_MAX);
    else
        profile->kinds[profile->kind_count++] = kind;
}

/* NULL: the option takes something else. */
static int64_t *integer_of(struct load_arguments *arguments, int key)
{
    switch (key) {
    case 'n':
        return &arguments->hosts;
    case 'r':
        return &arguments->requests;
    case KEY_CONNECTIONS:
        return &arguments->connections;
    case KEY_EMPTY:
        return &arguments->empty_replies;
    case KEY_NCPUS:
        return &arguments->profile.ncpus;
    case KEY_OLD:
        return &arguments->profile.old;
    case KEY_UPLOAD:
        return &arguments->profile.upload_bytes;
    default:
        return NULL;
    }
}

static double *real_of(struct load_arguments *arguments, int key)
{
    return key == KEY_RATE      ? &arguments->rate
           : key == KEY_TIME    ? &arguments->time
           : key == KEY_TIMEOUT ? &arguments->timeout
                                : NULL;
}

/* Where one option says nothing without another. */
static void check_together(const struct load_arguments *arguments, struct argp_state *state)
{
    if (arguments->url == NULL || arguments->profile.authenticators.count == 0)
        argp_usage(state);
    if (arguments->profile.old > 100)
        argp_error(state, "--old: wanted at most 100 percent");
    if (arguments->finishes && arguments->time <= 0)
        argp_error(state, "--finish needs --time");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct load_arguments *arguments = state->input;
    int64_t *integer = integer_of(arguments, key);
    double *real = real_of(arguments, key);

    if (integer != NULL)
        *integer = integer_argument(argument, state);
    if (real != NULL)
        *real = real_argument(argument, state);
    if (integer != NULL || real != NULL)
        return 0;
    switch (key) {
    case 'a':
        add_turn(&arguments->profile.authenticators, argument, state);
        return 0;
    case 'q':
        arguments->is_quiet = true;
        return 0;
    case KEY_SECONDS:
        arguments->profile.seconds = real_argument_or_0(argument, state);
        return 0;
    case KEY_PLATFORM:
        add_turn(&arguments->profile.platforms, argument, state);
        return 0;
    case KEY_VENDOR:
        add_turn(&arguments->profile.vendors, argument, state);
        return 0;
    case KEY_FROM:
        arguments->from = argument;
        return 0;
    case KEY_FINISH:
        arguments->finishes = true;
        return 0;
    case KEY_KEEP:
        arguments->profile.keeps_jobs = true;
        return 0;
    case KEY_MIX:
        add_kind(&arguments->profile, argument, state);
        return 0;
    case KEY_SEED:
        arguments->profile.run = (uint64_t)integer_argument(argument, state);
        return 0;
    case KEY_WARM_UP:
        arguments->warm_up = real_argument_or_0(argument, state);
        return 0;
    case KEY_CSV:
        arguments->format = TALLY_CSV;
        return 0;
    case KEY_JSON:
        arguments->format = TALLY_JSON;
        return 0;
    case KEY_LOG:
        arguments->log_path = argument;
        return 0;
    case KEY_JOBS:
        arguments->jobs_path = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->url != NULL)
            argp_usage(state);
        arguments->url = argument;
        return 0;
    case ARGP_KEY_END:
        check_together(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "URL",
    .doc = "Loads the scheduler at URL with emulated hosts, and prints throughput, percentiles of "
           "latency, and failures.\vExit status: 0 if every request was answered in full and no "
           "job went to two hosts, else 1."};

struct load_arguments arguments_read(int argc, char **argv)
{
    struct load_arguments arguments = {
        .profile = {.seconds = 100000, .ncpus = 4, .run = random_u64()},
        .hosts = 8,
        .empty_replies = 2,
        .timeout = 120};

    argp_program_version = program_version_line;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    return arguments;
}
