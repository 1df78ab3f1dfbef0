/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the order of the boot. How a web server starts us decides what we are: with
 * a listening socket a FastCGI server, with a request in the environment a CGI program. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/shown.h"
#include "server/base/version.h"
#include "server/base/xml.h"
#include "server/check/project_check.h"
#include "server/process/run.h"
#include "server/process/server.h"
#include "server/submission/submission.h"
#include "server/upload/upload.h"
#include "server/web/listen.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum run {
    RUN_SERVE,
    RUN_CHECK_CONFIG,
    RUN_DUMP_CONFIG,
    RUN_PRINT_SQL,
    RUN_WRITE_SAMPLE,
    RUN_WRITE_MANUAL
};

struct server_command {
    struct server_options options;
    const char *log_path;
    enum run run;
    bool is_upload, is_submit;
};

/* Keys of options that have no letter. */
enum {
    KEY_CLOCK = 0x100,
    KEY_CHECK_CONFIG,
    KEY_DUMP_CONFIG,
    KEY_LISTEN,
    KEY_LOG,
    KEY_PRINT_SQL,
    KEY_PROJECT,
    KEY_SERVICE_TIME,
    KEY_SOCKET_MODE,
    KEY_SOCKET_GROUP,
    KEY_SUBMIT,
    KEY_THREADS,
    KEY_UPLOAD,
    KEY_WRITE_MANUAL,
    KEY_WRITE_SAMPLE
};

static const struct argp_option options[] = {
    {"project", KEY_PROJECT, "DIR", 0,
     "The project's folder. Default: QM_PROJECT in the environment, else the current directory, or "
     "the one above it if only that has a config.xml",
     0},
    {"listen", KEY_LISTEN, "ADDRESS", 0,
     "Speak FastCGI on unix:PATH or tcp:ADDRESS:PORT. Default: the socket that the web server, "
     "spawn-fcgi or systemd passes",
     0},
    {"socket-mode", KEY_SOCKET_MODE, "MODE", 0, "Mode of the socket file, in octal (0660)", 0},
    {"socket-group", KEY_SOCKET_GROUP, "GROUP", 0,
     "Group of the socket file, such as the web server's (Debian: www-data)", 0},
    {"threads", KEY_THREADS, "N", 0, "Number of worker threads, instead of that of config.xml", 0},
    {"upload", KEY_UPLOAD, NULL, 0,
     "Run as the upload handler of the project, which takes the files that clients send back. "
     "QM_UPLOAD in the environment does the same",
     0},
    {"submit", KEY_SUBMIT, NULL, 0,
     "Run as the process that takes jobs over the web from those who may submit them. QM_SUBMIT in "
     "the environment does the same",
     0},
    {"log", KEY_LOG, "PATH", 0, "Append the log to this file (standard error)", 0},
    {"clock", KEY_CLOCK, "request", 0,
     "Take the time from the X-Simulated-Time header of each request. For tests: anybody can then "
     "set the clock",
     0},
    {"service-time", KEY_SERVICE_TIME, "SECONDS", 0,
     "With --clock request: assume each request occupies a worker for this long, so that delays "
     "grow with that load (0: no load)",
     0},
    {"check-config", KEY_CHECK_CONFIG, NULL, 0,
     "Check configuration, keys, the project's files and the database, print what is wrong, and "
     "exit with 1 if there is an error",
     1},
    {"dump-config", KEY_DUMP_CONFIG, NULL, 0,
     "Write every option with its value and where that came from", 1},
    {"print-sql", KEY_PRINT_SQL, NULL, 0, "Write every statement that the server prepares", 1},
    {"write-sample", KEY_WRITE_SAMPLE, NULL, 0, "Write a sample config.xml with every option", 1},
    {"write-manual", KEY_WRITE_MANUAL, NULL, 0, "Write the manual page of config.xml", 1},
    {0}};

static error_t parse_socket_mode(const char *argument, struct argp_state *state,
                                 struct server_command *command)
{
    char *end;
    unsigned long mode = strtoul(argument, &end, 8);

    if (argument[0] == '\0' || *end != '\0' || mode > 0777)
        argp_error(state, "--socket-mode %s: wanted octal digits up to 0777", argument);
    command->options.socket.mode = (unsigned)mode;
    return 0;
}

static error_t parse_threads(const char *argument, struct argp_state *state,
                             struct server_command *command)
{
    int64_t threads = 0;

    if (!text_to_i64(text_from(argument), &threads) || threads < 1 || threads > 1024)
        argp_error(state, "--threads %s: wanted 1 to 1024", argument);
    command->options.threads = (int)threads;
    return 0;
}

static error_t parse_service_time(const char *argument, struct argp_state *state,
                                  struct server_command *command)
{
    double *seconds = &command->options.service_time;

    if (!text_to_real(text_from(argument), seconds) || *seconds < 0 || *seconds > 3600)
        argp_error(state, "--service-time %s: wanted 0 to 3600", argument);
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct server_command *command = state->input;

    switch (key) {
    case KEY_PROJECT:
        command->options.project_dir = argument;
        return 0;
    case KEY_LISTEN:
        command->options.listen = argument;
        return 0;
    case KEY_SOCKET_MODE:
        return parse_socket_mode(argument, state, command);
    case KEY_SOCKET_GROUP:
        command->options.socket.group = argument;
        return 0;
    case KEY_THREADS:
        return parse_threads(argument, state, command);
    case KEY_UPLOAD:
        command->is_upload = true;
        return 0;
    case KEY_SUBMIT:
        command->is_submit = true;
        return 0;
    case KEY_LOG:
        command->log_path = argument;
        return 0;
    case KEY_CLOCK:
        if (strcmp(argument, "request") != 0)
            argp_error(state, "--clock %s: wanted request", argument);
        command->options.clock_from_request = true;
        return 0;
    case KEY_SERVICE_TIME:
        return parse_service_time(argument, state, command);
    case KEY_CHECK_CONFIG:
        command->run = RUN_CHECK_CONFIG;
        return 0;
    case KEY_DUMP_CONFIG:
        command->run = RUN_DUMP_CONFIG;
        return 0;
    case KEY_PRINT_SQL:
        command->run = RUN_PRINT_SQL;
        return 0;
    case KEY_WRITE_SAMPLE:
        command->run = RUN_WRITE_SAMPLE;
        return 0;
    case KEY_WRITE_MANUAL:
        command->run = RUN_WRITE_MANUAL;
        return 0;
    case ARGP_KEY_ARG:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "%s\n%s\n%s\nMariaDB Connector/C %s\n", program_version_line,
            xml_library_version(), crypto_library_version(), db_library_version());
}

static const char *default_project_dir(void)
{
    const char *from_environment = getenv("QM_PROJECT");

    if (from_environment != NULL && from_environment[0] != '\0')
        return from_environment;
    if (access("config.xml", F_OK) != 0 && access("../config.xml", F_OK) == 0)
        return ".."; /* a CGI program starts in PROJECT/cgi-bin */
    return ".";
}

static void print_findings(const struct config_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct config_finding *finding = &findings->items[i];

        shown_line(stderr, TEXT_FORMAT ":%d: %s: " TEXT_FORMAT, TEXT_ARG(finding->file),
                   finding->line, finding->is_error ? "error" : "warning", TEXT_ARG(finding->text));
    }
}

static enum status print_buffer(struct buffer *text)
{
    bool done = fwrite(text->at, 1, text->length, stdout) == text->length && fflush(stdout) == 0;

    buffer_free(text);
    return done ? STATUS_OK : STATUS_IO;
}

static enum status dump(const struct config *config)
{
    struct buffer text = buffer_on_heap(0);

    config_dump(config, &text);
    return print_buffer(&text);
}

static enum status print_made(void (*make)(struct buffer *ret_text))
{
    struct buffer text = buffer_on_heap(0);

    make(&text);
    return print_buffer(&text);
}

/* A failure was printed. */
static enum status dump_config(const struct server_command *command)
{
    struct arena *arena = arena_create(FINDINGS_BYTES_MAX);
    struct config_findings findings = {0};
    struct failure failure = {0};
    struct config *config = NULL;
    enum status status;

    if (arena == NULL)
        return STATUS_NO_MEMORY;
    status = config_load(command->options.project_dir, arena, &config, &findings, &failure);
    print_findings(&findings);
    if (status == STATUS_OK)
        status = dump(config);
    else
        shown_line(stderr, "quartermaster: %s", failure.text);
    config_release(config);
    arena_destroy(arena);
    return status;
}

static void print_found(void *context, const struct check_finding *finding)
{
    check_count(context, finding);
    check_print(stderr, finding);
}

static enum status check_config(const struct server_command *command)
{
    struct check_counts counts = {.error_count = 0};

    project_check(command->options.project_dir, CHECK_DATABASE, print_found, &counts);
    check_print_counts(stderr, &counts);
    return counts.error_count == 0 ? STATUS_OK : STATUS_INVALID;
}

/* A CGI program that cannot even read its configuration still has a client waiting. */
static void reply_down(void)
{
    static const char reply[] = "<scheduler_reply>\n"
                                "<message priority=\"low\">Project is temporarily not available"
                                "</message>\n"
                                "<request_delay>3600</request_delay>\n"
                                "<project_is_down/>\n"
                                "</scheduler_reply>\n";

    printf("Content-Type: text/xml\r\nContent-Length: %zu\r\n\r\n%s", sizeof(reply) - 1, reply);
}

static bool is_cgi_program(const struct server_command *command)
{
    return getenv("REQUEST_METHOD") != NULL && command->options.listen == NULL &&
           !listener_is_inherited();
}

static enum status run_upload(const struct server_command *command, struct failure *failure)
{
    const struct upload_options upload = {.project_dir = command->options.project_dir,
                                          .version = command->options.version,
                                          .listen = command->options.listen,
                                          .socket = command->options.socket};

    return is_cgi_program(command) ? upload_run_cgi(&upload, failure)
                                   : upload_run_fastcgi(&upload, failure);
}

static enum status run_submit(const struct server_command *command, struct failure *failure)
{
    const struct submission_options submit = {.project_dir = command->options.project_dir,
                                              .version = command->options.version,
                                              .listen = command->options.listen,
                                              .socket = command->options.socket};

    return is_cgi_program(command) ? submission_run_cgi(&submit, failure)
                                   : submission_run_fastcgi(&submit, failure);
}

/* One of the processes beside the scheduler. */
static enum status run_beside(const struct server_command *command)
{
    struct failure failure = {0};
    enum status status;

    /* A file beyond the limit of a process (ulimit -f), or a log that nobody reads any more, fails
     * one write, which is no reason to end. */
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    status = log_open(command->log_path, getenv("JOURNAL_STREAM") != NULL, &failure);

    if (status == STATUS_OK)
        status = command->is_submit ? run_submit(command, &failure) : run_upload(command, &failure);
    if (status != STATUS_OK)
        log_event(LOG_LEVEL_CRITICAL, "not_served", text_from(failure.text));
    return status;
}

static enum status run_server(const struct server_command *command)
{
    bool is_cgi = is_cgi_program(command);
    struct server *server = NULL;
    struct failure failure = {0};
    enum status status = log_open(command->log_path, getenv("JOURNAL_STREAM") != NULL, &failure);

    if (status == STATUS_OK)
        status = server_create(&command->options, &server, &failure);
    if (status == STATUS_OK)
        status = is_cgi ? run_cgi(server, &failure) : run_fastcgi(server, &failure);
    if (status != STATUS_OK)
        log_event(LOG_LEVEL_CRITICAL, server == NULL ? "not_started" : "failed",
                  text_from(failure.text));
    if (is_cgi && server == NULL) {
        reply_down();
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        server_destroy(server); /* else threads may still hold it */
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Quartermaster, a scheduling server for volunteer computing. It answers the "
               "scheduler requests of BOINC clients, as a FastCGI or CGI program."};
    struct server_command command = {.options = {.project_dir = default_project_dir(),
                                                 .version = program_version,
                                                 .socket = {.mode = 0660}},
                                     .is_upload = getenv("QM_UPLOAD") != NULL,
                                     .is_submit = getenv("QM_SUBMIT") != NULL};
    const char *query = getenv("QUERY_STRING");
    enum status status = STATUS_INVALID;

    file_occupy_standard(); /* FastCGI lets a web server start us with two of them closed */
    argp_program_version_hook = print_version;
    if (getenv("REQUEST_METHOD") != NULL && query != NULL && query[0] != '\0')
        argc = 1; /* a web server may hand the words of a query over as our arguments */
    argp_parse(&argp, argc, argv, 0, NULL, &command);
    xml_startup();
    switch (command.run) {
    case RUN_SERVE:
        status =
            command.is_upload || command.is_submit ? run_beside(&command) : run_server(&command);
        break;
    case RUN_CHECK_CONFIG:
        status = check_config(&command);
        break;
    case RUN_DUMP_CONFIG:
        status = dump_config(&command);
        break;
    case RUN_PRINT_SQL:
        status = print_made(db_print_sql);
        break;
    case RUN_WRITE_SAMPLE:
        status = print_made(config_write_sample);
        break;
    case RUN_WRITE_MANUAL:
        status = print_made(config_write_manual);
        break;
    }
    if (status != STATUS_OK)
        _exit(EXIT_FAILURE);
    xml_shutdown();
    return EXIT_SUCCESS;
}
