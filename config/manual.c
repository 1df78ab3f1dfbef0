/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page of config.xml: a few words of our own, then the table of options. */
#include "config/config.h"

#include "server/base/buffer.h"

#include <string.h>

#include "server/base/banned.h"

#define MANUAL_COLUMNS 100

static const char introduction[] =
    "# config.xml(5): configuration of a project\n"
    "\n"
    "Quartermaster reads `config.xml` in the project's folder, and over it `config_aux.xml` where "
    "there\n"
    "is one. The options of a BOINC project have their names and meanings there; the others are "
    "marked\n"
    "as not of BOINC. Options of a project's other programs are known and passed over; a name "
    "that\n"
    "nobody knows is reported with file, line and the nearest known name.\n"
    "\n"
    "    <boinc>\n"
    "      <config>\n"
    "        <master_url>https://example.org/demo/</master_url>\n"
    "        <one_result_per_user_per_wu/>\n"
    "      </config>\n"
    "    </boinc>\n"
    "\n"
    "A flag is set by `<x/>` or `<x>1</x>` and taken back by `<x>0</x>`. A changed file takes "
    "effect\n"
    "within seconds, without a restart, and never half: while it is wrong the old configuration "
    "stays.\n"
    "\n"
    "    quartermaster --check-config    what is wrong\n"
    "    quartermaster --dump-config     every option, its value, and where that came from\n"
    "    quartermaster --write-sample    a sample of the whole file\n"
    "    quartermaster --write-manual    this page, which is made from the table of options\n"
    "\n"
    "See also: quartermaster(8), qmctl(1).\n"
    "\n"
    "## Options\n";

static const char *const kinds[] = {
    [CONFIG_FLAG] = "flag",
    [CONFIG_INTEGER] = "whole number",
    [CONFIG_REAL] = "number",
    [CONFIG_STRING] = "text",
    [CONFIG_SECRET] = "text, never shown",
    [CONFIG_LIST] = "list",
    [CONFIG_REGEXES] = "list of regular expressions",
};

static void add_wrapped(struct buffer *buffer, const char *words)
{
    struct text rest = text_from(words);
    size_t column = 0;

    while (rest.length > 0) {
        struct text word = text_split(&rest, ' ');

        if (column > 0 && column + 1 + word.length > MANUAL_COLUMNS) {
            buffer_add_char(buffer, '\n');
            column = 0;
        } else if (column > 0) {
            buffer_add_char(buffer, ' ');
            column++;
        }
        buffer_add(buffer, word);
        column += word.length;
    }
    buffer_add_char(buffer, '\n');
}

static void add_option(struct buffer *buffer, const struct config_option *option)
{
    buffer_print(buffer, "\n### %s\n\n", option->name);
    add_wrapped(buffer, option->help);
    buffer_print(buffer, "\n*%s", kinds[option->type]);
    if (option->default_text[0] != '\0')
        buffer_print(buffer, "; default %s", option->default_text);
    if (option->minimum_text[0] != '\0')
        buffer_print(buffer, "; at least %s", option->minimum_text);
    if (option->maximum_text[0] != '\0')
        buffer_print(buffer, "; at most %s", option->maximum_text);
    buffer_print(buffer, "%s*\n", option->source == CONFIG_OURS ? "; not of BOINC" : "");
}

/* The one option that is not plain text, and so not of the table. */
static const char limits[] =
    "\n## Limits on jobs in progress\n"
    "\n"
    "`max_jobs_in_progress` holds limits of the whole `project`, of an `app` by its `app_name`, or "
    "of\n"
    "both. Each may have a `total_limit`, a `cpu_limit`, and a `gpu_limit`, which is of each type "
    "of\n"
    "coprocessor by itself; `jobs` is the number (0: no limit), with `per_proc` for each "
    "processor. What\n"
    "counts is what a host has and what it is sent in one reply.\n"
    "\n"
    "    <max_jobs_in_progress>\n"
    "      <project>\n"
    "        <total_limit> <jobs>100</jobs> </total_limit>\n"
    "        <gpu_limit> <jobs>2</jobs> <per_proc/> </gpu_limit>\n"
    "      </project>\n"
    "      <app>\n"
    "        <app_name>summer</app_name>\n"
    "        <cpu_limit> <jobs>1</jobs> </cpu_limit>\n"
    "      </app>\n"
    "    </max_jobs_in_progress>\n"
    "\n"
    "BOINC reads it from config_aux.xml; here it may stand in either file.\n";

void config_write_manual(struct buffer *ret_text)
{
    buffer_add_string(ret_text, introduction);
    for (size_t i = 0; i < config_option_count; i++)
        add_option(ret_text, &config_options[i]);
    buffer_add_string(ret_text, limits);
}
