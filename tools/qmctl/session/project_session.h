/* SPDX-License-Identifier: Apache-2.0 */
/* What every subcommand gets: its arguments as the table of options reads them, the project's
 * configuration, its database, and one place for the reason of a failure.
 *
 * main.c finds the subcommand in its table, reads the options that the row names
 * (command_options.c) and calls the row's function with the session. The function opens the
 * configuration and the database when it needs them, does its work in one transaction or several,
 * prints a table (output.h) or a sentence, and returns the exit status; main.c closes what is open.
 * `qmctl manual` writes qmctl.1.md from the same table. One thread, one arena for the whole run. */
#ifndef TOOLS_QMCTL_SESSION_PROJECT_SESSION_H
#define TOOLS_QMCTL_SESSION_PROJECT_SESSION_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_row;
struct arena;
struct config;
struct config_findings;
struct db;
struct user_row;

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 3 };

struct option {
    const char *name;  /* without dashes */
    const char *alias; /* the name that BOINC's tools have; NULL: none */
    const char *value; /* what the value is called in the help; NULL: a flag */
    const char *help;
};

struct session;

struct subcommand {
    const char *name; /* one word or two */
    const char *arguments;
    const char *summary;
    const char *example;
    const struct option *options;
    size_t option_count;
    int arguments_min, arguments_max; /* words that are not options; -1: any number */
    bool takes_parameters;            /* options of server/submit/parameters.def too */
    bool asks;                        /* before what cannot be undone (confirm.h): --yes */
    bool prints_page;                 /* neither --tsv nor --json */
    enum exit_code (*run)(struct session *session);
};
extern const struct subcommand subcommands[];
extern const size_t subcommand_count;

struct given_option {
    struct text name; /* never the alias */
    const char *value;
};

enum output_form { FORM_TEXT, FORM_TSV, FORM_JSON };

/* What progress() was told last; moments as clock_seconds() has them. */
struct progress {
    const char *what;
    double began, shown;
    int64_t count;
};

struct session {
    struct arena *arena;
    const struct subcommand *command;
    const char *project;
    struct config *config;
    struct db *db;
    struct failure failure;
    struct given_option *options;
    size_t option_count;
    const char **arguments;
    size_t argument_count;
    enum output_form form;
    bool is_usage;     /* the failure is the caller's: EXIT_USAGE */
    bool lacks_output; /* a table could not be printed: EXIT_FAILED */
    struct progress progress;
    int64_t now;
};

/* NULL: not given. The last one counts; option_next goes through all, from *index = 0. */
const char *option_value(const struct session *session, const char *name);
bool option_given(const struct session *session, const char *name);
const char *option_next(const struct session *session, const char *name, size_t *index);
/* STATUS_INVALID with the option's name, which is wrong usage; without the option *number stays. */
MUST_CHECK enum status option_number(struct session *session, const char *name, int64_t minimum,
                                     int64_t maximum, int64_t *number);
/* The same of yes and no: *flag becomes 1 or 0, and stays where the option was not given. */
MUST_CHECK enum status option_yes(struct session *session, const char *name, int64_t *flag);

/* What is wrong with a config.xml, on standard error. Errors where there are several, as one is
 * what the failure says. */
void print_config_errors(const struct config_findings *findings);
void print_config_warnings(const struct config_findings *findings);

/* Load config.xml, and connect, once. */
MUST_CHECK enum status session_config(struct session *session);
/* The same for whoever has said already what is wrong with it: wrong values are their defaults; of
 * a file that cannot be read to its end it is what stands before the error, and *ret_is_whole
 * false. False: there is nothing of it. */
bool session_config_partly(struct session *session, bool *ret_is_whole);
MUST_CHECK enum status session_db(struct session *session);
/* The application of that name, in the arena; to be called when the database is open.
 * STATUS_NOT_FOUND: there is none, which is said, with the names that there are. */
MUST_CHECK enum status session_app(struct session *session, const char *name,
                                   struct app_row *ret_app);
/* Likewise, an account by its e-mail address. */
MUST_CHECK enum status session_user(struct session *session, const char *given,
                                    struct user_row *ret_user);
/* The account that the command is about, by the e-mail address that is its argument, or by --id;
 * connects to the database first. */
MUST_CHECK enum status session_account(struct session *session, struct user_row *ret_user);
/* Connects to a database that has tables for batches and submitters, or says what is missing. */
MUST_CHECK enum status session_batches(struct session *session);
/* Likewise, a batch by its name or number; of a number nobody asks whether there are such jobs. */
MUST_CHECK enum status session_batch(struct session *session, const char *given, int64_t *ret_id);
/* STATUS_INVALID: no batch can have this name. "12" would be taken for a number. */
MUST_CHECK enum status session_batch_name(struct session *session, struct text name);
/* Answers STATUS_NOT_FOUND, which is said with the names that there are: those of `known`, whose
 * `what` is "application" or so; `advice` says how there come to be some. */
enum status session_unknown(struct session *session, const char *what, const char *name,
                            const struct text *known, size_t count, const char *advice);
/* The failure of a db call in words; keeps an earlier one. */
enum status session_db_failed(struct session *session, enum status status, const char *what);
/* After the commit of changes to applications, versions or platforms: has the servers read them at
 * once. */
void session_catalog_changed(const struct session *session);
/* That commit, and this. */
MUST_CHECK enum status session_commit_catalog(struct session *session);
/* The same after adding a version, where a lost answer is found out. */
MUST_CHECK enum status session_commit_version(struct session *session, int64_t id);
/* Each line as a warning on standard error. */
void session_warn(struct text lines);
/* Says what failed on standard error; answers EXIT_FAILED, or EXIT_USAGE. */
enum exit_code session_failed(struct session *session);
enum exit_code usage_failed(struct session *session, const char *format, ...) PRINTF_LIKE(2, 3);

/* Reads the arguments behind the subcommand's name. EXIT_DONE: go on; the help was asked for when
 * *ret_help. */
enum exit_code options_read(struct session *session, int count, char **words, bool *ret_help);
/* Every option that the subcommand knows, in the order of its help; value NULL: a flag. */
typedef void option_visitor(void *context, const char *name, const char *value, const char *help);
void options_visit(const struct subcommand *command, option_visitor *visit, void *context);

#endif
