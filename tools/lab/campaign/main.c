/* SPDX-License-Identifier: Apache-2.0 */
/* qmcampaign crowd|audit|self-test|query STATE: the state is a folder, in which the history, the
 * extract of the database and the list of faults lie. tools/lab/campaign/drive uses all of them. */
#include "server/base/file.h"
#include "server/base/text.h"
#include "server/base/version.h"
#include "tools/lab/campaign/audit.h"
#include "tools/lab/campaign/campaign_crowd.h"
#include "tools/lab/campaign/campaign_report.h"
#include "tools/lab/campaign/violations.h"

#include <argp.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    KEY_DAILY = 0x100,
    KEY_DOUBLED,
    KEY_ERRORS,
    KEY_IN_PROGRESS,
    KEY_JSON,
    KEY_LIFE,
    KEY_LOST,
    KEY_PAUSE,
    KEY_SETTLING,
    KEY_TIME,
    KEY_USERS
};

enum { USERS_MAX = TURNS_MAX, KEY_LENGTH = 32 };

static const struct argp_option options[] = {
    {"hosts", 'n', "N", 0, "Number of hosts at a time (48)", 0},
    {"users", KEY_USERS, "N", 0,
     "Accounts 1 to N, whose keys are their numbers with leading zeros (61)", 0},
    {"time", KEY_TIME, "S", 0,
     "Settle after S seconds; without it, on SIGTERM. SIGUSR1: lose no more replies", 0},
    {"settling", KEY_SETTLING, "S", 0, "Maximum number of seconds for the last requests (90)", 0},
    {"lost", KEY_LOST, "PERCENT", 0, "Requests whose reply is lost (6)", 0},
    {"doubled", KEY_DOUBLED, "PERCENT", 0, "Requests that are sent twice at the same time (2)", 0},
    {"life", KEY_LIFE, "N", 0,
     "Maximum number of jobs that a machine takes before it leaves "
     "(120)",
     0},
    {"pause", KEY_PAUSE, "S", 0,
     "Crowd: maximum number of seconds between two requests of a machine; some are slow, some not "
     "(0)",
     0},
    {"errors", KEY_ERRORS, "PERCENT", 0,
     "Jobs that end with an error (5); give the auditor the same number", 0},
    {"quiet", 'q', NULL, 0, "Print no progress", 0},
    {"daily", KEY_DAILY, "N", 0, "Audit: jobs of one version that a host may get on a day", 1},
    {"in-progress", KEY_IN_PROGRESS, "N", 0, "Audit: jobs that a host may have at a time", 1},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object", 1},
    {0}};

struct campaign_arguments {
    const char *command, *state, *url;
    struct crowd_plan plan;
    struct audit_limits limits;
    int64_t users;
    bool is_json;
};

static int64_t number_argument(const char *argument, int64_t most, struct argp_state *state)
{
    int64_t number = 0;

    if (!text_to_i64(text_from(argument), &number) || number < 0 || number > most)
        argp_error(state, "%s: wanted a number from 0 to %lld", argument, (long long)most);
    return number;
}

static error_t take_argument(struct campaign_arguments *arguments, const char *argument,
                             struct argp_state *state)
{
    const char **const places[] = {&arguments->command, &arguments->state, &arguments->url};

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (*places[i] == NULL) {
            *places[i] = argument;
            return 0;
        }
    }
    argp_usage(state);
    return 0;
}

static error_t take_option(int key, char *argument, struct argp_state *state)
{
    struct campaign_arguments *arguments = state->input;

    switch (key) {
    case 'n':
        arguments->plan.hosts = number_argument(argument, 100000, state);
        return 0;
    case 'q':
        arguments->plan.is_quiet = true;
        return 0;
    case KEY_USERS:
        arguments->users = number_argument(argument, USERS_MAX, state);
        return 0;
    case KEY_TIME:
        arguments->plan.time = (double)number_argument(argument, 10000000, state);
        return 0;
    case KEY_SETTLING:
        arguments->plan.settling = (double)number_argument(argument, 100000, state);
        return 0;
    case KEY_LOST:
        arguments->plan.lost = number_argument(argument, 100, state);
        return 0;
    case KEY_DOUBLED:
        arguments->plan.doubled = number_argument(argument, 100, state);
        return 0;
    case KEY_LIFE:
        arguments->plan.life = number_argument(argument, 1000000, state);
        return 0;
    case KEY_PAUSE:
        arguments->plan.pause = number_argument(argument, 3600, state);
        return 0;
    case KEY_ERRORS:
        arguments->limits.errors = number_argument(argument, 100, state);
        return 0;
    case KEY_DAILY:
        arguments->limits.daily = number_argument(argument, 1000000, state);
        return 0;
    case KEY_IN_PROGRESS:
        arguments->limits.in_progress = number_argument(argument, 1000000, state);
        return 0;
    case KEY_JSON:
        arguments->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(arguments, argument, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = take_option,
    .args_doc = "crowd STATE URL\naudit STATE\nself-test STATE\nquery",
    .doc =
        "A crowd of hosts that lose replies and repeat requests, and an auditor that knows from a "
        "history what they received.\v"
        "crowd      sends requests to the scheduler at URL, and writes STATE/history\n"
        "audit      compares it with STATE/rows, and prints violations\n"
        "self-test  breaks every rule in a copy, and checks that the auditor finds it\n"
        "query      prints the SQL that makes STATE/rows\n\n"
        "Exit status: 0 all is well, 1 something is lost, double or broken (self-test: was not "
        "found), or there is too little to say so, 2 usage, 3 files cannot be read or written."};

enum { EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_FILES = 3 };

static volatile sig_atomic_t is_calm, is_over;

static void end_run(int signal_number)
{
    (void)signal_number;
    is_over = 1;
}

static void calm_down(int signal_number)
{
    (void)signal_number;
    is_calm = 1;
}

static const char *state_path(const struct campaign_arguments *arguments, const char *name,
                              char path[4096])
{
    snprintf(path, 4096, "%s/%s", arguments->state, name);
    return path;
}

static int cannot_read(const char *path)
{
    fprintf(stderr, "qmcampaign: %s: %s\n", path, strerror(errno));
    return EXIT_FILES;
}

static int run_crowd(struct campaign_arguments *arguments, struct history *history)
{
    static char keys[USERS_MAX][KEY_LENGTH + 1];
    const struct text platforms[] = {TEXT("x86_64-pc-linux-gnu"), TEXT("windows_x86_64")};
    const struct text vendors[] = {TEXT("GenuineIntel"), TEXT("GenuineIntel"),
                                   TEXT("AuthenticAMD")};
    struct load_profile *profile = &arguments->plan.profile;
    char path[4096];
    bool is_written;

    for (int64_t i = 0; i < arguments->users; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%0*" PRId64, KEY_LENGTH, i + 1);
        profile->authenticators.items[i] = text_from(keys[i]);
    }
    profile->authenticators.count = (size_t)arguments->users;
    memcpy(profile->platforms.items, platforms, sizeof(platforms));
    profile->platforms.count = 2;
    memcpy(profile->vendors.items, vendors, sizeof(vendors));
    profile->vendors.count = 3;
    profile->errors = arguments->limits.errors;
    arguments->plan.url = arguments->url;
    arguments->plan.is_calm = &is_calm;
    arguments->plan.is_over = &is_over;
    signal(SIGUSR1, calm_down);
    signal(SIGTERM, end_run);
    signal(SIGINT, end_run);
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    is_written =
        campaign_crowd_run(&arguments->plan, history, state_path(arguments, "history", path));
    curl_global_cleanup();
    if (!is_written)
        fprintf(stderr, "qmcampaign: %s cannot be written\n", path);
    return is_written ? 0 : EXIT_FILES;
}

/* Whether nothing found means that all is well. */
static bool is_enough(const struct audit *audit, const struct history *history,
                      const struct extract *extract)
{
    const struct {
        bool is_so;
        const char *words;
    } lacks[] = {
        {history->handouts == 0, "no job was handed out"},
        {extract->count == 0, "the database has no results"},
        {audit->unsettled > 0, "machines had no full reply to their last request"},
        {history->odd_lines > 0, "lines of the history cannot be understood"},
    };
    bool is_enough = true;

    for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++) {
        if (!lacks[i].is_so)
            continue;
        fprintf(stderr, "qmcampaign: too little to say that all is well: %s\n", lacks[i].words);
        is_enough = false;
    }
    return is_enough;
}

static int run_audit(struct campaign_arguments *arguments, struct history *history,
                     struct extract *extract)
{
    struct history faults = {0};
    struct audit audit;
    char path[4096];
    bool is_clean;

    if (!campaign_report_faults(&faults, state_path(arguments, "faults", path)))
        return cannot_read(path);
    for (size_t i = 0; i < faults.figure_count; i++) {
        if (text_is(TEXT("clock_hour"), faults.figures[i].name))
            arguments->limits.clocks_were_hours_apart = true;
    }
    if (strcmp(arguments->command, "self-test") == 0) {
        history_clear(&faults);
        return violations_find_all(history, extract, &arguments->limits, stdout) ? 0 : EXIT_BROKEN;
    }
    audit = audit_run(history, extract, &arguments->limits);
    campaign_report_print(&audit, history, &faults, arguments->is_json, stdout);
    history_clear(&faults);
    is_clean = audit_count(&audit, RULES_OF_LOST) + audit_count(&audit, RULES_OF_DOUBLE) +
                   audit_count(&audit, RULES_OF_BROKEN) ==
               0;
    is_clean = is_enough(&audit, history, extract) && is_clean;
    audit_clear(&audit);
    return is_clean ? 0 : EXIT_BROKEN;
}

static int run_command(struct campaign_arguments *arguments)
{
    struct history history = {0};
    struct extract extract = {0};
    char path[4096];
    size_t line = 0;
    int exit_status = EXIT_FILES;

    if (!history_read(&history, state_path(arguments, "history", path))) {
        exit_status = cannot_read(path);
    } else if (strcmp(arguments->command, "crowd") == 0) {
        exit_status = run_crowd(arguments, &history);
    } else if (!extract_read(&extract, state_path(arguments, "rows", path), &line)) {
        if (line == 0)
            exit_status = cannot_read(path);
        else
            fprintf(stderr, "qmcampaign: %s: line %zu is no row\n", path, line);
    } else {
        exit_status = run_audit(arguments, &history, &extract);
    }
    extract_clear(&extract);
    history_clear(&history);
    return exit_status;
}

static bool is_usable(const struct campaign_arguments *arguments)
{
    const char *command = arguments->command;

    if (command == NULL || arguments->state == NULL || arguments->users == 0 ||
        arguments->plan.hosts == 0 || arguments->plan.life == 0)
        return false;
    if (strcmp(command, "crowd") == 0)
        return arguments->url != NULL;
    return arguments->url == NULL &&
           (strcmp(command, "audit") == 0 || strcmp(command, "self-test") == 0);
}

int main(int argc, char **argv)
{
    /* The machines of a state are always the same ones: their numbers are in its history. */
    struct campaign_arguments arguments = {
        .plan = {.hosts = 48,
                 .lost = 6,
                 .doubled = 2,
                 .life = 120,
                 .settling = 90,
                 .profile = {.seconds = 50000, .ncpus = 4, .run = 1}},
        .limits = {.errors = 5},
        .users = 61};

    file_occupy_standard();
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = program_version_line;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.command != NULL && strcmp(arguments.command, "query") == 0 &&
        arguments.state == NULL) {
        puts(extract_query);
        return EXIT_SUCCESS;
    }
    if (!is_usable(&arguments)) {
        argp_help(&argp, stderr, ARGP_HELP_STD_USAGE, argv[0]);
        return EXIT_USAGE;
    }
    return run_command(&arguments);
}
