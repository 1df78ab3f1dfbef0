/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/help.h"

#include "server/base/near_name.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { LINE_WIDTH = 79, NAME_WIDTH = 18, OPTION_WIDTH = 26 };

/* Words in lines; each line but the first begins with `indent` blanks, and on the first so many
 * columns are taken. */
static void print_words(struct text text, size_t indent)
{
    size_t column = indent;

    while (text.length > 0) {
        struct text word = text_split(&text, ' ');

        if (column > indent && column + 1 + word.length > LINE_WIDTH) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        }
        column += word.length + (column > indent);
        printf("%s" TEXT_FORMAT, column > indent + word.length ? " " : "", TEXT_ARG(word));
    }
    putchar('\n');
}

struct text help_first_sentence(const char *help)
{
    struct text text = text_first(text_from(help), text_find(text_from(help), TEXT(". ")));
    return text_ends(text, TEXT(".")) ? text_first(text, text.length - 1) : text;
}

static void print_row(const struct subcommand *command)
{
    printf("  %-*s ", NAME_WIDTH, command->name);
    print_words(help_first_sentence(command->summary), NAME_WIDTH + 3);
}

static bool begins_with(const struct subcommand *command, const char *group)
{
    struct text rest = text_from(command->name);

    return text_is(text_split(&rest, ' '), group);
}

void help_overview(void)
{
    puts("Usage: qmctl [--project DIR] SUBCOMMAND [options] [arguments]\n\n"
         "Administers a project of Quartermaster. Subcommands:\n");
    for (size_t i = 0; i < subcommand_count; i++)
        print_row(&subcommands[i]);
    puts("\nqmctl SUBCOMMAND --help says more.\n"
         "Exit status: 0 done, 1 failed, 2 wrong usage, 3 nothing (why), or a change\n"
         "(adopt, replay, deploy --dry-run).");
}

bool help_group(const char *group)
{
    bool has_any = false;

    for (size_t i = 0; i < subcommand_count; i++) {
        if (!begins_with(&subcommands[i], group))
            continue;
        if (!has_any)
            printf("Usage: qmctl %s SUBCOMMAND [options] [arguments]\n\n", group);
        has_any = true;
        print_row(&subcommands[i]);
    }
    if (has_any)
        printf("\nqmctl %s SUBCOMMAND --help says more.\n", group);
    return has_any;
}

static void print_option(void *context, const char *name, const char *value, const char *help)
{
    char left[40];
    (void)context;
    (void)snprintf(left, sizeof left, "--%s%s%s", name, value == NULL ? "" : " ",
                   value == NULL ? "" : value);
    printf("  %-*s ", OPTION_WIDTH, left);
    print_words(text_from(help), OPTION_WIDTH + 3);
}

/* "host" is a subcommand, and the group of "host delete". */
static void print_others_of_group(const struct subcommand *command)
{
    bool has_any = false;

    for (size_t i = 0; i < subcommand_count; i++) {
        if (&subcommands[i] == command || !begins_with(&subcommands[i], command->name))
            continue;
        if (!has_any)
            printf("\nSubcommands with options of their own:\n");
        has_any = true;
        print_row(&subcommands[i]);
    }
}

void help_subcommand(const struct subcommand *command)
{
    printf("Usage: qmctl %s [options]%s%s\n\n", command->name,
           command->arguments[0] != '\0' ? " " : "", command->arguments);
    print_words(text_from(command->summary), 0);
    putchar('\n');
    options_visit(command, print_option, NULL);
    print_others_of_group(command);
    printf("\nExample:\n  %s\n", command->example);
}

const char *help_meant(const char *first, const char *second)
{
    struct near_name near;
    char typed[64];
    int length = snprintf(typed, sizeof(typed), "%s%s%s", first, second[0] == '\0' ? "" : " ",
                          second[0] == '-' ? "" : second);

    if (length < 0 || (size_t)length >= sizeof(typed))
        return NULL;
    near_name_begin(&near, text_trim(text_from(typed)));
    for (size_t i = 0; i < subcommand_count; i++)
        near_name_try(&near, subcommands[i].name);
    if (near.nearest != NULL || second[0] == '\0')
        return near.nearest;
    near_name_begin(&near, text_from(first)); /* the second word is an argument */
    for (size_t i = 0; i < subcommand_count; i++)
        if (strchr(subcommands[i].name, ' ') == NULL)
            near_name_try(&near, subcommands[i].name);
    return near.nearest;
}
