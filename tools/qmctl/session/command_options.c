/* SPDX-License-Identifier: Apache-2.0 */
/* The command line from tables: an option is one row, from which come its reading and its help.
 * One dash is as good as two, as in BOINC's own tools, so that scripts written for those work. */
#include "server/base/shown.h"
#include "tools/qmctl/session/project_session.h"

#include "server/base/arena.h"
#include "server/base/near_name.h"
#include "server/submit/parameters.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static const struct option common_options[] = {
    {"project", NULL, "DIR", "The project's folder (default: the current one)."},
    {"help", NULL, NULL, "This text."},
};
static const struct option table_options[] = {
    {"tsv", NULL, NULL, "Print columns with tabs between them, for scripts."},
    {"json", NULL, NULL, "Print one JSON object for each line."},
};
static const struct option asking_options[] = {
    {"yes", NULL, NULL, "Do not ask first."},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* BOINC's tools have underscores in their options, others dashes: both are understood. */
static bool is_called(struct text typed, const char *name)
{
    struct text wanted = text_from(name);

    if (typed.length != wanted.length)
        return false;
    for (size_t i = 0; i < typed.length; i++)
        if (typed.at[i] != wanted.at[i] && !((typed.at[i] == '-' || typed.at[i] == '_') &&
                                             (wanted.at[i] == '-' || wanted.at[i] == '_')))
            return false;
    return true;
}

static const struct option *find_among(const struct option *options, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++)
        if (is_called(name, options[i].name) ||
            (options[i].alias != NULL && is_called(name, options[i].alias)))
            return &options[i];
    return NULL;
}

/* Finds what an option is called and whether it has a value. */
static bool find_option(const struct subcommand *command, struct text name, struct text *ret_name,
                        bool *ret_has_value)
{
    const struct option *option = find_among(command->options, command->option_count, name);
    if (option == NULL)
        option = find_among(common_options, COUNT(common_options), name);
    if (option == NULL && !command->prints_page)
        option = find_among(table_options, COUNT(table_options), name);
    if (option == NULL && command->asks)
        option = find_among(asking_options, COUNT(asking_options), name);
    if (option != NULL) {
        *ret_name = text_from(option->name);
        *ret_has_value = option->value != NULL;
        return true;
    }
    const struct parameter *parameter =
        command->takes_parameters ? parameter_find(name, PARAMETER_ARGUMENT) : NULL;
    if (parameter == NULL)
        return false;
    *ret_name = text_from(parameter->name);
    *ret_has_value = true;
    return true;
}

static void try_option(void *context, const char *name, const char *value, const char *help)
{
    (void)value;
    (void)help;
    near_name_try(context, name);
}

/* NULL: none is near. */
static const char *option_meant(const struct subcommand *command, struct text name)
{
    struct near_name near;

    near_name_begin(&near, name);
    options_visit(command, try_option, &near);
    return near.nearest;
}

enum exit_code usage_failed(struct session *session, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("qmctl: ", stderr);
    shown_line_of(stderr, format, arguments);
    va_end(arguments);
    if (session->command != NULL)
        shown_line(stderr, "Try: qmctl %s --help", session->command->name);
    else
        fputs("Try: qmctl --help\n", stderr);
    return EXIT_USAGE;
}

static enum exit_code read_option(struct session *session, int count, char **words, int *index)
{
    struct text word = text_from(words[*index]);
    struct text name = {word.at + 1, word.length - 1};
    bool has_value = false;
    if (text_starts(name, TEXT("-")))
        name = (struct text){name.at + 1, name.length - 1};
    size_t sign = text_find(name, TEXT("="));
    const char *value = sign < name.length ? name.at + sign + 1 : NULL;
    name = text_first(name, sign);
    struct given_option *given = &session->options[session->option_count];
    if (!find_option(session->command, name, &given->name, &has_value)) {
        const char *meant = option_meant(session->command, name);
        return usage_failed(session, "unknown option %s%s%s%s", words[*index],
                            meant == NULL ? "" : "; did you mean --", meant == NULL ? "" : meant,
                            meant == NULL ? "" : "?");
    }
    if (has_value && value == NULL) {
        if (*index + 1 == count)
            return usage_failed(session, "%s needs a value", words[*index]);
        value = words[++*index];
    } else if (!has_value && value != NULL) {
        return usage_failed(session, "--" TEXT_FORMAT " has no value", TEXT_ARG(given->name));
    }
    given->value = value == NULL ? "" : value;
    session->option_count++;
    return EXIT_DONE;
}

enum exit_code options_read(struct session *session, int count, char **words, bool *ret_help)
{
    const struct subcommand *command = session->command;
    bool only_arguments = false;
    session->options = ARENA_ARRAY(session->arena, (size_t)count + 1, struct given_option);
    session->arguments = ARENA_ARRAY(session->arena, (size_t)count + 1, const char *);
    if (session->options == NULL || session->arguments == NULL)
        return usage_failed(session, "too many arguments");
    for (int i = 0; i < count; i++) {
        if (!only_arguments && strcmp(words[i], "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && words[i][0] == '-' && words[i][1] != '\0') {
            enum exit_code code = read_option(session, count, words, &i);
            if (code != EXIT_DONE)
                return code;
        } else {
            session->arguments[session->argument_count++] = words[i];
        }
    }
    *ret_help = option_given(session, "help");
    if (*ret_help)
        return EXIT_DONE;
    if ((int)session->argument_count < command->arguments_min)
        return usage_failed(session, "%s needs %s", command->name, command->arguments);
    if (command->arguments_max >= 0 && (int)session->argument_count > command->arguments_max)
        return usage_failed(session, "%s: \"%s\" is one argument too many", command->name,
                            session->arguments[command->arguments_max]);
    if (option_given(session, "project"))
        session->project = option_value(session, "project");
    session->form = option_given(session, "json")  ? FORM_JSON
                    : option_given(session, "tsv") ? FORM_TSV
                                                   : FORM_TEXT;
    return EXIT_DONE;
}

const char *option_next(const struct session *session, const char *name, size_t *index)
{
    while (*index < session->option_count) {
        const struct given_option *given = &session->options[(*index)++];
        if (text_is(given->name, name))
            return given->value;
    }
    return NULL;
}

const char *option_value(const struct session *session, const char *name)
{
    const char *last = NULL, *value;
    for (size_t index = 0; (value = option_next(session, name, &index)) != NULL;)
        last = value;
    return last;
}

bool option_given(const struct session *session, const char *name)
{
    return option_value(session, name) != NULL;
}

enum status option_number(struct session *session, const char *name, int64_t minimum,
                          int64_t maximum, int64_t *number)
{
    const char *value = option_value(session, name);
    int64_t read;
    if (value == NULL)
        return STATUS_OK;
    if (!text_to_i64(text_from(value), &read) || read < minimum || read > maximum) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID,
                    "--%s: \"%.40s\" is not a whole number from %" PRId64 " to %" PRId64, name,
                    value, minimum, maximum);
    }
    *number = read;
    return STATUS_OK;
}

enum status option_yes(struct session *session, const char *name, int64_t *flag)
{
    const char *value = option_value(session, name);

    if (value == NULL)
        return STATUS_OK;
    *flag = text_is(text_from(value), "yes");
    if (*flag != 0 || text_is(text_from(value), "no"))
        return STATUS_OK;
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID, "--%s: \"%.40s\" is neither yes nor no", name,
                value);
}

static void visit_each(const struct option *options, size_t count, option_visitor *visit,
                       void *context)
{
    for (size_t i = 0; i < count; i++)
        visit(context, options[i].name, options[i].value, options[i].help);
}

void options_visit(const struct subcommand *command, option_visitor *visit, void *context)
{
    visit_each(command->options, command->option_count, visit, context);
    for (size_t i = 0; i < parameter_count && command->takes_parameters; i++) {
        char help[PARAMETER_HELP_MOST];
        if ((parameters[i].place & PARAMETER_ARGUMENT) == 0)
            continue;
        parameter_help(&parameters[i], help, sizeof help);
        visit(context, parameters[i].name, "N", help);
    }
    if (command->asks)
        visit_each(asking_options, COUNT(asking_options), visit, context);
    if (!command->prints_page)
        visit_each(table_options, COUNT(table_options), visit, context);
    visit_each(common_options, COUNT(common_options), visit, context);
}
