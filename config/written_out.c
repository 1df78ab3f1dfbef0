/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options written out: what is in force and why, a sample to begin with, the manual.
 */
#include "config/internal.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { SAMPLE_COLUMNS = 96, MANUAL_COLUMNS = 100 };

/* --- what is in force ------------------------------------------------------------------------ */

static const void *member(const struct config *config, const struct config_option *option)
{
    return (const char *)config + option->offset;
}

static void dump_origin(const struct config_origin *origin, struct buffer *buffer)
{
    if (origin->file.length == 0)
        buffer_add_string(buffer, "default");
    else
        buffer_add(buffer, origin->file);
    if (origin->line > 0)
        buffer_print(buffer, ":%d", origin->line);
}

static void dump_line(const struct config_option *option, const struct config_origin *origin,
                      struct text value, struct buffer *buffer)
{
    buffer_print(buffer, "%s = " TEXT_FORMAT "  # ", option->name, TEXT_ARG(value));
    dump_origin(origin, buffer);
    buffer_add_char(buffer, '\n');
}

static void dump_list(const struct config_option *option, const struct config_origin *origin,
                      const struct text_list *list, struct buffer *buffer)
{
    for (size_t i = 0; i < list->count; i++)
        dump_line(option, origin, list->items[i], buffer);
    if (list->count == 0)
        dump_line(option, origin, NO_TEXT, buffer);
}

static void dump_option(const struct config_option *option, const struct config_origin *origin,
                        const void *value, struct buffer *buffer)
{
    char number[64];
    int length = 0;

    switch (option->type) {
    case CONFIG_FLAG:
        length = snprintf(number, sizeof(number), "%d", *(const bool *)value);
        break;
    case CONFIG_INTEGER:
        length = snprintf(number, sizeof(number), "%" PRId64, *(const int64_t *)value);
        break;
    case CONFIG_REAL:
        length = snprintf(number, sizeof(number), "%.15g", *(const double *)value);
        break;
    case CONFIG_CHOICE:
        dump_line(option, origin, text_from(config_word_of(option, value)), buffer);
        return;
    case CONFIG_STRING:
        dump_line(option, origin, *(const struct text *)value, buffer);
        return;
    case CONFIG_SECRET:
        dump_line(option, origin,
                  ((const struct text *)value)->length > 0 ? TEXT("(hidden)") : NO_TEXT, buffer);
        return;
    case CONFIG_LIST:
    case CONFIG_REGEXES:
        dump_list(option, origin, value, buffer);
        return;
    }
    dump_line(option, origin, (struct text){.at = number, .length = (size_t)length}, buffer);
}

static void dump_limit(struct text app_name, const char *kind, const struct jobs_limit *limit,
                       struct buffer *buffer)
{
    if (limit->jobs <= 0)
        return;
    buffer_add_string(buffer, "max_jobs_in_progress.");
    buffer_add(buffer, app_name.length > 0 ? app_name : TEXT("(project)"));
    buffer_print(buffer, ".%s = %" PRId64 "%s\n", kind, limit->jobs,
                 limit->per_processor ? " per processor" : "");
}

void config_dump(const struct config *config, struct buffer *ret_text)
{
    for (size_t i = 0; i < config_option_count; i++)
        dump_option(&config_options[i], &config->origins[i], member(config, &config_options[i]),
                    ret_text);
    for (size_t i = 0; i < config->jobs_in_progress_count; i++) {
        const struct jobs_in_progress *limits = &config->jobs_in_progress[i];

        dump_limit(limits->app_name, "total", &limits->total, ret_text);
        dump_limit(limits->app_name, "cpu", &limits->cpu, ret_text);
        dump_limit(limits->app_name, "gpu", &limits->gpu, ret_text);
    }
}

/* --- what decides about jobs ------------------------------------------------------------------ */

static void write_deciding(const struct config_option *option, const void *value,
                           struct buffer *text)
{
    const struct text_list *list = value;

    switch (option->type) {
    case CONFIG_FLAG:
        buffer_print(text, "<%s>%d</%s>\n", option->name, *(const bool *)value, option->name);
        return;
    case CONFIG_INTEGER:
        buffer_print(text, "<%s>%" PRId64 "</%s>\n", option->name, *(const int64_t *)value,
                     option->name);
        return;
    case CONFIG_REAL:
        buffer_print(text, "<%s>%.17g</%s>\n", option->name, *(const double *)value, option->name);
        return;
    case CONFIG_CHOICE:
        buffer_add_element(text, 0, option->name, text_from(config_word_of(option, value)));
        return;
    case CONFIG_REGEXES:
        for (size_t i = 0; i < list->count; i++)
            buffer_add_element(text, 0, option->name, list->items[i]);
        return;
    case CONFIG_STRING:
    case CONFIG_SECRET:
    case CONFIG_LIST:
        return;
    }
}

static void write_limit(const char *name, const struct jobs_limit *limit, struct buffer *text)
{
    if (limit->jobs > 0)
        buffer_print(text, "<%s><jobs>%" PRId64 "</jobs>%s</%s>", name, limit->jobs,
                     limit->per_processor ? "<per_proc>1</per_proc>" : "", name);
}

/* All on one line. */
static void write_limits(const struct config *config, struct buffer *text)
{
    if (config->jobs_in_progress_count == 0)
        return;
    buffer_add_string(text, "<max_jobs_in_progress>");
    for (size_t i = 0; i < config->jobs_in_progress_count; i++) {
        const struct jobs_in_progress *limits = &config->jobs_in_progress[i];
        bool is_app = limits->app_name.length > 0;

        buffer_add_string(text, is_app ? "<app><app_name>" : "<project>");
        buffer_add_xml(text, limits->app_name);
        buffer_add_string(text, is_app ? "</app_name>" : "");
        write_limit("total_limit", &limits->total, text);
        write_limit("cpu_limit", &limits->cpu, text);
        write_limit("gpu_limit", &limits->gpu, text);
        buffer_add_string(text, is_app ? "</app>" : "</project>");
    }
    buffer_add_string(text, "</max_jobs_in_progress>\n");
}

void config_write_deciding(const struct config *config, struct buffer *ret_text)
{
    buffer_add_string(ret_text, "<config>\n");
    for (size_t i = 0; i < config_option_count; i++)
        write_deciding(&config_options[i], member(config, &config_options[i]), ret_text);
    write_limits(config, ret_text);
    buffer_add_string(ret_text, "</config>\n");
}

/* --- a sample -------------------------------------------------------------------------------- */

static const char sample_indent[] = "         ";

/* Appends words behind a blank, or in the next line where this one would be too long. */
static void add_wrapped(struct buffer *buffer, const char *words, size_t *column, size_t most,
                        const char *indent)
{
    struct text rest = text_from(words);

    while (rest.length > 0) {
        struct text word = text_split(&rest, ' ');

        if (*column > 0 && *column + 1 + word.length > most) {
            buffer_print(buffer, "\n%s", indent);
            *column = text_from(indent).length;
        } else if (*column > 0) {
            buffer_add_char(buffer, ' ');
            *column += 1;
        }
        buffer_add(buffer, word);
        *column += word.length;
    }
}

static void add_comment(struct buffer *buffer, const char *words, size_t *column)
{
    add_wrapped(buffer, words, column, SAMPLE_COLUMNS, sample_indent);
}

/* "always, when_not_idle, never", each between two marks. */
static void add_words(struct buffer *buffer, const struct config_option *option, const char *mark)
{
    for (const struct config_word *word = option->words; word->word != NULL; word++)
        buffer_print(buffer, "%s%s%s%s", word == option->words ? "" : ", ", mark, word->word, mark);
}

static void sample_range(const struct config_option *option, struct buffer *buffer, size_t *column)
{
    const char *least = option->minimum_text;
    bool caps;
    struct text most = config_option_most(option, &caps);
    char range[128];

    if (option->words != NULL) {
        struct buffer words = buffer_on_heap(0);

        buffer_add_string(&words, "One of ");
        add_words(&words, option, "");
        buffer_add(&words, TEXT(".\0"));
        add_comment(buffer, words.at, column);
        buffer_free(&words);
        return;
    }
    if (least[0] == '\0' && most.length == 0)
        return;
    if (most.length == 0)
        (void)snprintf(range, sizeof(range), "At least %s.", least);
    else
        (void)snprintf(range, sizeof(range), "From %s to " TEXT_FORMAT "%s.", least, TEXT_ARG(most),
                       caps ? "; more counts as that" : "");
    add_comment(buffer, range, column);
}

static void sample_option(const struct config_option *option, struct buffer *buffer)
{
    size_t column = 8;

    buffer_add_string(buffer, "\n    <!--");
    add_comment(buffer, option->help, &column);
    sample_range(option, buffer, &column);
    if (option->source == CONFIG_OURS)
        add_comment(buffer, "Not an option of BOINC.", &column);
    buffer_print(buffer, " -->\n    <!-- <%s>%s</%s> -->\n", option->name, option->default_text,
                 option->name);
}

void config_write_sample(struct buffer *ret_text)
{
    buffer_add_string(
        ret_text,
        "<!-- A sample config.xml, with every option that this server reads and its default. A\n"
        "     project's other programs keep their own options here too. <x/> or <x>1</x> turns a\n"
        "     flag on, and <x>0</x> turns it off. -->\n"
        "<boinc>\n"
        "  <config>\n");
    for (size_t i = 0; i < config_option_count; i++)
        sample_option(&config_options[i], ret_text);
    buffer_add_string(ret_text, "\n"
                                "  </config>\n"
                                "  <tasks>\n"
                                "  </tasks>\n"
                                "  <daemons>\n"
                                "  </daemons>\n"
                                "</boinc>\n");
}

/* --- the manual ------------------------------------------------------------------------------ */

static const char introduction[] =
    "# config.xml(5): configuration of a project\n"
    "\n"
    "Quartermaster reads `config.xml` in the project's folder, then `config_aux.xml`, if there\n"
    "is one, whose options take precedence. The options of a BOINC project have the same names\n"
    "and meanings as in BOINC; the others are marked as not of BOINC. The server knows the\n"
    "options of a project's other programs and ignores them. It reports an unknown name with\n"
    "file, line and the nearest known name.\n"
    "\n"
    "    <boinc>\n"
    "      <config>\n"
    "        <master_url>https://example.org/demo/</master_url>\n"
    "        <one_result_per_user_per_wu/>\n"
    "      </config>\n"
    "    </boinc>\n"
    "\n"
    "`<x/>` or `<x>1</x>` turns a flag on, and `<x>0</x>` turns it off. A changed file takes\n"
    "effect within seconds, without a restart, and always as a whole: while the file has errors,\n"
    "the old configuration stays in force.\n"
    "\n"
    "    quartermaster --check-config    check config.xml\n"
    "    quartermaster --dump-config     print every option, its value, and where that came from\n"
    "    quartermaster --write-sample    print a sample of the whole file\n"
    "    quartermaster --write-manual    print this page, which is made from the table of options\n"
    "\n"
    "See also: quartermaster(8), qmctl(1).\n"
    "\n"
    "## Options\n";

static const char *const kinds[] = {
    [CONFIG_FLAG] = "flag",     [CONFIG_INTEGER] = "whole number",
    [CONFIG_REAL] = "number",   [CONFIG_STRING] = "text",
    [CONFIG_CHOICE] = "one of", [CONFIG_SECRET] = "text, never shown",
    [CONFIG_LIST] = "list",     [CONFIG_REGEXES] = "list of regular expressions",
};

static void add_option(struct buffer *buffer, const struct config_option *option)
{
    size_t column = 0;
    bool caps;
    struct text most = config_option_most(option, &caps);

    buffer_print(buffer, "\n### %s\n\n", option->name);
    add_wrapped(buffer, option->help, &column, MANUAL_COLUMNS, "");
    buffer_add_char(buffer, '\n');
    buffer_print(buffer, "\n*%s", kinds[option->type]);
    if (option->words != NULL) {
        buffer_add_char(buffer, ' ');
        add_words(buffer, option, "`");
    }
    if (option->default_text[0] != '\0')
        buffer_print(buffer, "; default %s", option->default_text);
    if (option->minimum_text[0] != '\0')
        buffer_print(buffer, "; at least %s", option->minimum_text);
    if (most.length > 0)
        buffer_print(buffer, "; at most " TEXT_FORMAT "%s", TEXT_ARG(most),
                     caps ? " (more counts as that)" : "");
    buffer_print(buffer, "%s*\n", option->source == CONFIG_OURS ? "; not of BOINC" : "");
}

/* The one option that is not plain text, and so not of the table. */
static const char limits[] =
    "\n"
    "## Limits on jobs in progress\n"
    "\n"
    "`max_jobs_in_progress` contains limits for the whole `project`, for an `app` by its\n"
    "`app_name`, or for both. Each may have a `total_limit`, a `cpu_limit`, and a `gpu_limit`,\n"
    "which applies to each type of coprocessor separately. `jobs` is the number (0: no limit),\n"
    "with `per_proc` for each processor. The jobs that a host has and those that one reply sends\n"
    "it count together.\n"
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
    "BOINC reads it from config_aux.xml; here it may be in either file.\n";

void config_write_manual(struct buffer *ret_text)
{
    buffer_add_string(ret_text, introduction);
    for (size_t i = 0; i < config_option_count; i++)
        add_option(ret_text, &config_options[i]);
    buffer_add_string(ret_text, limits);
}
