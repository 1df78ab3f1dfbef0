/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for shells: the table of subcommands in a form that bash and zsh read, within a
 * function that finds out what is being typed. Its rows: subcommand, option, what its value is
 * called, help, with tabs between them and - for nothing; the row without an option has the
 * arguments and the summary of the subcommand. */
#include "tools/qmctl/help.h"
#include "tools/qmctl/session/commands.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static const char bash_begin[] =
    "# Completion of qmctl for bash, made by \"qmctl completion bash\".\n"
    "_qmctl()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local typed='' best='' next='' arguments='' options='--project --help --version' i\n"
    "    local valued=' --project ' paths=' --project ' command option value help\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --project) ((i++)) ;;\n"
    "        -*) ;;\n"
    "        *) typed+=\"${COMP_WORDS[i]} \" ;;\n"
    "        esac\n"
    "    done\n"
    "    while IFS=$'\\t' read -r command option value help; do\n"
    "        if [[ $option = - && \"$command \" = \"$typed\"?* ]]; then\n"
    "            help=${command#\"$typed\"}\n"
    "            next+=\" ${help%% *}\"\n"
    "        fi\n"
    "        [[ $typed = \"$command \"* && ${#command} -ge ${#best} ]] || continue\n"
    "        if [[ $option = - ]]; then\n"
    "            best=$command arguments=$value options='' valued=' ' paths=' '\n"
    "            continue\n"
    "        fi\n"
    "        options+=\" $option\"\n"
    "        [[ $value = - ]] || valued+=\"$option \"\n"
    "        [[ ! $value =~ ^(FILE|DIR|PATH)$ ]] || paths+=\"$option \"\n"
    "    done <<'TABLE'\n";
static const char bash_end[] =
    "TABLE\n"
    "    COMPREPLY=()\n"
    "    if [[ $valued = *\" $previous \"* ]]; then\n"
    "        [[ $paths = *\" $previous \"* ]] || return\n"
    "        arguments=FILE next=''\n"
    "    elif [[ $current = -* ]]; then\n"
    "        next=$options arguments=-\n"
    "    fi\n"
    "    [[ $arguments != *'|'* ]] || next+=\" ${arguments//|/ }\"\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$current\" | sort -u)\n"
    "    if [[ $arguments = *FILE* || $arguments = *DIR* ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$current\")\n"
    "    fi\n"
    "}\n"
    "complete -F _qmctl qmctl\n";

static const char zsh_begin[] =
    "#compdef qmctl\n"
    "# Completion of qmctl for zsh, made by \"qmctl completion zsh\".\n"
    "_qmctl() {\n"
    "    local typed='' best='' arguments='' command option value help state\n"
    "    local -a next options\n"
    "    local -i i\n"
    "    options=('--project[The project folder]:DIR:_files -/' '--help[Help]' "
    "'--version[Version]')\n"
    "    for ((i = 2; i < CURRENT; i++)); do\n"
    "        case $words[i] in\n"
    "        (--project) ((i++)) ;;\n"
    "        (-*) ;;\n"
    "        (*) typed+=\"$words[i] \" ;;\n"
    "        esac\n"
    "    done\n"
    "    while IFS=$'\\t' read -r command option value help; do\n"
    "        help=${${${help//:/\\\\:}//\\[/\\\\[}//\\]/\\\\]}\n"
    "        if [[ $option == - && \"$command \" == \"$typed\"?* ]]; then\n"
    "            next+=(\"${${command#$typed}%% *}:$help\")\n"
    "        fi\n"
    "        [[ $typed == \"$command \"* ]] && (( $#command >= $#best )) || continue\n"
    "        if [[ $option == - ]]; then\n"
    "            best=$command arguments=$value options=()\n"
    "            continue\n"
    "        fi\n"
    "        [[ $help == *repeated* ]] && option=\"*$option\"\n"
    "        case $value in\n"
    "        (-) options+=(\"${option}[$help]\") ;;\n"
    "        (FILE|DIR|PATH) options+=(\"${option}[$help]:$value:_files\") ;;\n"
    "        (*) options+=(\"${option}[$help]:$value: \") ;;\n"
    "        esac\n"
    "    done <<'TABLE'\n";
static const char zsh_end[] =
    "TABLE\n"
    "    _arguments -S : $options '*:argument:->rest'\n"
    "    if [[ $state == rest ]]; then\n"
    "        (( $#next )) && _describe -t commands subcommand next\n"
    "        [[ $arguments == *'|'* ]] && compadd -- ${(s:|:)arguments}\n"
    "        [[ $arguments == *FILE* || $arguments == *DIR* ]] && _files\n"
    "    fi\n"
    "}\n"
    "_qmctl \"$@\"\n";

static const struct {
    const char *name, *begin, *end;
} shells[] = {{"bash", bash_begin, bash_end}, {"zsh", zsh_begin, zsh_end}};

static const char *or_dash(const char *text)
{
    return text == NULL || text[0] == '\0' ? "-" : text;
}

static void put_option(void *context, const char *name, const char *value, const char *help)
{
    const struct subcommand *command = context;

    printf("%s\t--%s\t%s\t" TEXT_FORMAT "\n", command->name, name, or_dash(value),
           TEXT_ARG(help_first_sentence(help)));
}

enum exit_code command_completion(struct session *session)
{
    for (size_t s = 0; s < sizeof shells / sizeof shells[0]; s++) {
        if (strcmp(session->arguments[0], shells[s].name) != 0)
            continue;
        fputs(shells[s].begin, stdout);
        for (size_t i = 0; i < subcommand_count; i++) {
            struct subcommand command = subcommands[i];

            printf("%s\t-\t%s\t" TEXT_FORMAT "\n", command.name, or_dash(command.arguments),
                   TEXT_ARG(help_first_sentence(command.summary)));
            options_visit(&command, put_option, &command);
        }
        fputs(shells[s].end, stdout);
        return EXIT_DONE;
    }
    return usage_failed(session, "there is no completion for the shell \"%s\"",
                        session->arguments[0]);
}
