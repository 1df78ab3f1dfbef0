/* SPDX-License-Identifier: Apache-2.0 */
/* The table written out, twice: what is in force and why, and a sample to begin with. */
#include "config/internal.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { SAMPLE_COLUMNS = 96 };

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

/* Appends words to a comment, which breaks where a line would be too long. */
static void add_wrapped(struct buffer *buffer, const char *words, size_t *column)
{
    static const char indent[] = "         ";
    struct text rest = text_from(words);

    while (rest.length > 0) {
        struct text word = text_split(&rest, ' ');
        if (*column + 1 + word.length > SAMPLE_COLUMNS) {
            buffer_print(buffer, "\n%s", indent);
            *column = sizeof(indent) - 1;
        } else {
            buffer_add_char(buffer, ' ');
            *column += 1;
        }
        buffer_add(buffer, word);
        *column += word.length;
    }
}

static void sample_range(const struct config_option *option, struct buffer *buffer, size_t *column)
{
    const char *least = option->minimum_text, *most = option->maximum_text;
    char range[128];

    if (least[0] == '\0' && most[0] == '\0')
        return;
    if (most[0] == '\0')
        (void)snprintf(range, sizeof(range), "At least %s.", least);
    else
        (void)snprintf(range, sizeof(range), "From %s to %s.", least, most);
    add_wrapped(buffer, range, column);
}

static void sample_option(const struct config_option *option, struct buffer *buffer)
{
    size_t column = 8;

    buffer_add_string(buffer, "\n    <!--");
    add_wrapped(buffer, option->help, &column);
    sample_range(option, buffer, &column);
    if (option->source == CONFIG_OURS)
        add_wrapped(buffer, "Not an option of BOINC.", &column);
    buffer_print(buffer, " -->\n    <!-- <%s>%s</%s> -->\n", option->name, option->default_text,
                 option->name);
}

void config_write_sample(struct buffer *ret_text)
{
    buffer_add_string(
        ret_text,
        "<!-- A sample config.xml, with every option that this server reads and its default. A\n"
        "     project's other programs keep their own options here too. A flag is set by <x/> or\n"
        "     <x>1</x> and taken back by <x>0</x>. -->\n"
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
