/* SPDX-License-Identifier: Apache-2.0 */
/* What a newly read configuration changes, and where an option was given. */
#include "config/internal.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/log.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

enum { VALUE_BYTES_MAX = 1024 * 1024, SHOWN_BYTES = 1000, BRIEF_BYTES = 60 };

static const void *member_of(const struct config *config, const struct config_option *option)
{
    return (const char *)config + option->offset;
}

static void add_list(struct buffer *buffer, const struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            buffer_add_char(buffer, '\n');
        buffer_add(buffer, list->items[i]);
    }
}

/* As text, by which two values are compared; a secret too. */
static void add_value(struct buffer *buffer, const struct config *config,
                      const struct config_option *option)
{
    const void *value = member_of(config, option);

    switch (option->type) {
    case CONFIG_FLAG:
        buffer_print(buffer, "%d", *(const bool *)value);
        return;
    case CONFIG_INTEGER:
        buffer_print(buffer, "%" PRId64, *(const int64_t *)value);
        return;
    case CONFIG_REAL:
        buffer_print(buffer, "%.15g", *(const double *)value);
        return;
    case CONFIG_CHOICE:
        buffer_add_string(buffer, config_word_of(option, value));
        return;
    case CONFIG_STRING:
    case CONFIG_SECRET:
        buffer_add(buffer, *(const struct text *)value);
        return;
    case CONFIG_LIST:
    case CONFIG_REGEXES:
        add_list(buffer, value);
        return;
    }
}

/* A value that is a list goes on one line. */
static void add_brief(struct buffer *words, struct text value)
{
    struct text shown = text_first(value, BRIEF_BYTES);

    for (size_t i = 0; i < shown.length; i++)
        buffer_add_char(words, shown.at[i] == '\n' ? ' ' : shown.at[i]);
    if (shown.length < value.length)
        buffer_add_string(words, "...");
    else if (value.length == 0)
        buffer_add_string(words, "(nothing)");
}

static void tell_change(const struct config_option *option, struct text was, struct text is,
                        struct buffer *words)
{
    buffer_print(words, "%s%s: ", words->length > 0 ? "\n" : "", option->name);
    if (option->type == CONFIG_SECRET) {
        buffer_add_string(words, "(hidden)");
        return;
    }
    add_brief(words, is);
    buffer_add_string(words, ", was ");
    add_brief(words, was);
}

static void log_change(const struct config_option *option, struct text was, struct text is)
{
    struct buffer line = buffer_on_heap(4 * SHOWN_BYTES);
    bool is_secret = option->type == CONFIG_SECRET;

    buffer_print(&line, "event=config_changed option=%s", option->name);
    log_add_pair(&line, "was", is_secret ? TEXT("(hidden)") : text_first(was, SHOWN_BYTES));
    log_add_pair(&line, "is", is_secret ? TEXT("(hidden)") : text_first(is, SHOWN_BYTES));
    log_line(LOG_LEVEL_NORMAL, TEXT_FORMAT, TEXT_ARG(buffer_text(&line)));
    buffer_free(&line);
}

static bool differs(const struct config *before, const struct config *now,
                    const struct config_option *option, bool logs, struct buffer *words)
{
    struct buffer was = buffer_on_heap(VALUE_BYTES_MAX), is = buffer_on_heap(VALUE_BYTES_MAX);
    bool is_changed;

    add_value(&was, before, option);
    add_value(&is, now, option);
    is_changed = !text_equal(buffer_text(&was), buffer_text(&is));
    if (is_changed && logs)
        log_change(option, buffer_text(&was), buffer_text(&is));
    if (is_changed && words != NULL)
        tell_change(option, buffer_text(&was), buffer_text(&is), words);
    buffer_free(&was);
    buffer_free(&is);
    return is_changed;
}

static bool limit_equals(struct jobs_limit a, struct jobs_limit b)
{
    return a.jobs == b.jobs && a.per_processor == b.per_processor;
}

static bool limits_differ(const struct config *before, const struct config *now)
{
    if (before->jobs_in_progress_count != now->jobs_in_progress_count)
        return true;
    for (size_t i = 0; i < now->jobs_in_progress_count; i++) {
        const struct jobs_in_progress *a = &before->jobs_in_progress[i];
        const struct jobs_in_progress *b = &now->jobs_in_progress[i];

        if (!text_equal(a->app_name, b->app_name) || !limit_equals(a->total, b->total) ||
            !limit_equals(a->cpu, b->cpu) || !limit_equals(a->gpu, b->gpu))
            return true;
    }
    return false;
}

size_t config_log_changes(const struct config *before, const struct config *now,
                          struct buffer *words)
{
    size_t count = 0;

    for (size_t i = 0; i < config_option_count; i++)
        count += differs(before, now, &config_options[i], true, words);
    if (limits_differ(before, now)) {
        log_line(LOG_LEVEL_NORMAL, "event=config_changed option=max_jobs_in_progress");
        if (words != NULL)
            buffer_print(words, "%smax_jobs_in_progress", words->length > 0 ? "\n" : "");
        count++;
    }
    return count;
}

size_t config_restarts_wanted(const struct config *begun, const struct config *now,
                              enum config_program program)
{
    size_t count = 0;

    for (size_t i = 0; i < config_at_start_count; i++) {
        const struct config_option *option = config_option_find(text_from(config_at_start[i].name));

        if (config_at_start[i].program != program || option == NULL ||
            !differs(begun, now, option, false, NULL))
            continue;
        log_line(LOG_LEVEL_WARNING, "event=restart_needed option=%s", option->name);
        count++;
    }
    return count;
}

const char *config_place(const struct config *config, const char *name, struct arena *arena)
{
    const struct config_option *option = config_option_find(text_from(name));
    const struct config_origin *origin;

    if (option == NULL || !config->origins[option - config_options].is_given)
        return text_string(arena, text_print(arena, "config.xml: %s", name));
    origin = &config->origins[option - config_options];
    return text_string(arena, text_print(arena, TEXT_FORMAT ":%d: %s", TEXT_ARG(origin->file),
                                         origin->line, name));
}
