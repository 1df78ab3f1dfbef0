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
    "qmctl makes and maintains a project of Quartermaster: its folder, keys, applications, "
    "accounts\n"
    "and jobs, and answers questions about them. It reads the project's `config.xml` and uses its\n"
    "database; the server need not run.\n"
    "\n"
    "`--project DIR` names the project's folder (default: the current one), before or after the\n"
    "subcommand. `--help` lists the options of a subcommand. One dash before an option is as good "
    "as\n"
    "two. `--json` prints one object for each line of a table, and one for a sentence; `--tsv` "
    "prints\n"
    "tabs between columns, below a line with their names. If a list has no rows, a person reads so "
    "on\n"
    "standard error, and a program gets no line.\n"
    "\n"
    "A command that destroys something permanently asks for a word at the terminal. `--yes` "
    "answers\n"
    "beforehand; scripts need it, because without a terminal the command ends with exit status 2.\n"
    "\n"
    "Long commands print their progress every two seconds on standard error, if that is a "
    "terminal.\n"
    "\n"
    "Exit status: 0 done, 1 failed (the reason is on standard error), 2 wrong usage, 3 nothing "
    "for\n"
    "this host (`why`), or something would change (`adopt`, `deploy --dry-run`).\n"
    "\n"
    "`qmctl manual` prints this page. See also: qmctl-why(1), quartermaster(8), config.xml(5).\n";

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
