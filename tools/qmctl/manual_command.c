/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page, from the same table as the help; a test compares it with the file beside it. */
#include "server/submit/parameters.h"
#include "tools/qmctl/session/commands.h"

#include <stdio.h>

#include "server/base/banned.h"

static const char introduction[] =
    "# qmctl(1): administration of a project\n"
    "\n"
    "    qmctl [--project DIR] SUBCOMMAND [options] [arguments]\n"
    "\n"
    "qmctl makes and tends a project of Quartermaster: its folder, keys, applications, accounts "
    "and\n"
    "jobs, and answers questions about them. It reads the project's `config.xml` and works on its\n"
    "database; the server need not run.\n"
    "\n"
    "`--project DIR` names the project's folder (default: the current one) and may stand before "
    "or\n"
    "behind the subcommand; `--help` lists the options of any of them. One dash before an option "
    "is as\n"
    "good as two. `--json` prints one object for each line of a table, and one for a sentence; "
    "`--tsv`\n"
    "tabs between columns, below a line with their names. A list without rows says so to people, "
    "on\n"
    "standard error; a program sees no line.\n"
    "\n"
    "A command that destroys what nobody can make again asks for a word at the terminal. `--yes` "
    "answers\n"
    "beforehand; a script has to say so, since without a terminal the command ends with exit "
    "status "
    "2.\n"
    "\n"
    "What takes long says every two seconds how far it is, on standard error, where that is a "
    "terminal.\n"
    "\n"
    "Exit status: 0 done, 1 failed (the reason is on standard error), 2 wrong usage, 3 nothing for "
    "this\n"
    "host (`why`), or something would change (`adopt`, `deploy --dry-run`).\n"
    "\n"
    "This page is made by `qmctl manual`. See also: qmctl-why(1), quartermaster(8), "
    "config.xml(5).\n";

static void print_option(const char *name, const char *value, const char *help)
{
    printf("- `--%s%s%s`: %s\n", name, value == NULL ? "" : " ", value == NULL ? "" : value, help);
}

static void print_subcommand(const struct subcommand *command)
{
    printf("\n## qmctl %s%s%s\n\n%s\n", command->name, command->arguments[0] != '\0' ? " " : "",
           command->arguments, command->summary);
    if (command->option_count > 0 || command->takes_parameters)
        putchar('\n');
    for (size_t i = 0; i < command->option_count; i++)
        print_option(command->options[i].name, command->options[i].value, command->options[i].help);
    for (size_t i = 0; i < parameter_count && command->takes_parameters; i++) {
        char help[PARAMETER_HELP_MOST];

        parameter_help(&parameters[i], help, sizeof help);
        if ((parameters[i].place & PARAMETER_ARGUMENT) != 0)
            print_option(parameters[i].name, "N", help);
    }
    if (command->asks)
        puts("\nAsks first (`--yes`: does not).");
    printf("\n    %s\n", command->example);
}

enum exit_code command_manual(struct session *session)
{
    (void)session;
    fputs(introduction, stdout);
    for (size_t i = 0; i < subcommand_count; i++)
        print_subcommand(&subcommands[i]);
    return EXIT_DONE;
}
