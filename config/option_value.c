/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of an element to a member of struct config. BOINC's rules: white space around a
 * value does not count, an empty number is 0, an empty flag is true, the last of several wins.
 * Unlike BOINC, which keeps the default when it cannot read a number, we refuse: a quota that
 * silently is not the one written down is found weeks later. */
#include "config/internal.h"

#include "server/base/arena.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static void *member(struct config *config, const struct config_option *option)
{
    return (char *)config + option->offset;
}

static enum status set_flag(const struct config_option *option, struct text value, bool *ret_flag,
                            struct failure *failure)
{
    int64_t number = 1;

    if (value.length > 0 && !text_to_whole(value, &number))
        return fail(failure, STATUS_INVALID,
                    "%s is \"" TEXT_FORMAT "\"; it must be empty (true), 1 or 0", option->name,
                    TEXT_ARG(text_first(value, 60)));
    *ret_flag = number != 0;
    return STATUS_OK;
}

struct text config_option_most(const struct config_option *option, bool *ret_caps)
{
    struct text most = text_from(option->maximum_text);

    *ret_caps = text_ends(most, TEXT("+"));
    return text_first(most, most.length - *ret_caps);
}

static enum status fail_range(const struct config_option *option, struct text value,
                              struct failure *failure)
{
    const char *kind = option->type == CONFIG_INTEGER ? "whole number" : "number";
    bool caps;
    struct text most = config_option_most(option, &caps);

    if (most.length == 0)
        return fail(failure, STATUS_INVALID,
                    "%s is \"" TEXT_FORMAT "\"; it must be a %s of at least %s", option->name,
                    TEXT_ARG(text_first(value, 60)), kind, option->minimum_text);
    return fail(failure, STATUS_INVALID,
                "%s is \"" TEXT_FORMAT "\"; it must be a %s from %s to " TEXT_FORMAT, option->name,
                TEXT_ARG(text_first(value, 60)), kind, option->minimum_text, TEXT_ARG(most));
}

/* The bounds of an option's row; our own table, so that they are numbers is our own business. */
static int64_t integer_bound(const char *text, int64_t otherwise)
{
    must(text[0] == '\0' || text_to_i64(text_from(text), &otherwise));
    return otherwise;
}

static int64_t largest_integer(const struct config_option *option, bool *ret_caps)
{
    struct text digits = config_option_most(option, ret_caps);
    int64_t most = INT64_MAX;

    must(digits.length == 0 || text_to_i64(digits, &most));
    return most;
}

static double real_bound(const char *text, double otherwise)
{
    must(text[0] == '\0' || text_to_real(text_from(text), &otherwise));
    return otherwise;
}

static enum status set_integer(const struct config_option *option, struct text value,
                               int64_t *ret_number, struct failure *failure)
{
    bool caps;
    int64_t number = 0, most = largest_integer(option, &caps);

    if ((value.length > 0 && !text_to_whole(value, &number)) ||
        number < integer_bound(option->minimum_text, INT64_MIN) || (number > most && !caps))
        return fail_range(option, value, failure);
    *ret_number = number > most ? most : number;
    return STATUS_OK;
}

bool config_value_is_capped(const struct config_option *option, struct text value)
{
    bool caps = false;
    int64_t number;

    return option->type == CONFIG_INTEGER && text_to_whole(value, &number) &&
           number > largest_integer(option, &caps) && caps;
}

static enum status set_real(const struct config_option *option, struct text value,
                            double *ret_number, struct failure *failure)
{
    double number = 0;

    if ((value.length > 0 && !text_to_real(value, &number)) ||
        number < real_bound(option->minimum_text, number) ||
        number > real_bound(option->maximum_text, number))
        return fail_range(option, value, failure);
    *ret_number = number;
    return STATUS_OK;
}

_Static_assert(sizeof(enum config_edf_min_queue) == sizeof(int), "a choice is kept as an int");

const char *config_word_of(const struct config_option *option, const void *value)
{
    int number;

    memcpy(&number, value, sizeof(number));
    for (const struct config_word *word = option->words; word->word != NULL; word++)
        if (word->value == number)
            return word->word;
    return "";
}

static enum status set_choice(const struct config_option *option, struct text value,
                              void *ret_value, struct failure *failure)
{
    char words[256] = "";
    size_t length = 0;

    for (const struct config_word *word = option->words; word->word != NULL; word++) {
        if (text_is(value, word->word)) {
            memcpy(ret_value, &word->value, sizeof(word->value));
            return STATUS_OK;
        }
        length += (size_t)snprintf(words + length, sizeof(words) - length, "%s%s",
                                   length > 0 ? ", " : "", word->word);
        must(length < sizeof(words));
    }
    return fail(failure, STATUS_INVALID, "%s is \"" TEXT_FORMAT "\"; it must be one of %s",
                option->name, TEXT_ARG(text_first(value, 60)), words);
}

static enum status fail_memory(const struct config_option *option, struct failure *failure)
{
    return fail(failure, STATUS_NO_MEMORY, "no memory for %s", option->name);
}

static enum status set_text(struct config *config, const struct config_option *option,
                            struct text value, struct text *ret_text, struct failure *failure)
{
    struct text copy = text_copy(config->arena, value);

    if (copy.length != value.length)
        return fail_memory(option, failure);
    *ret_text = copy;
    return STATUS_OK;
}

/* The items are copied for each one added: lists are short, and old ones may be in use nowhere. */
static enum status add_item(struct config *config, const struct config_option *option,
                            struct text value, struct text_list *list, struct failure *failure)
{
    struct text *items = ARENA_ARRAY(config->arena, list->count + 1, struct text);

    if (items == NULL)
        return fail_memory(option, failure);
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i];
    enum status status = set_text(config, option, value, &items[list->count], failure);
    if (status == STATUS_OK)
        *list = (struct text_list){.items = items, .count = list->count + 1};
    return status;
}

static enum status set_value(struct config *config, const struct config_option *option,
                             struct text value, struct failure *failure)
{
    struct config_patterns *patterns;
    enum status status;

    switch (option->type) {
    case CONFIG_FLAG:
        return set_flag(option, value, member(config, option), failure);
    case CONFIG_INTEGER:
        return set_integer(option, value, member(config, option), failure);
    case CONFIG_REAL:
        return set_real(option, value, member(config, option), failure);
    case CONFIG_CHOICE:
        return set_choice(option, value, member(config, option), failure);
    case CONFIG_STRING:
    case CONFIG_SECRET:
        return set_text(config, option, value, member(config, option), failure);
    case CONFIG_REGEXES:
    case CONFIG_LIST:
        break;
    }
    if (value.length == 0) /* no item: an empty regular expression would ban everybody */
        return STATUS_OK;
    if (option->type == CONFIG_LIST)
        return add_item(config, option, value, member(config, option), failure);
    patterns = member(config, option);
    status = config_pattern_add(config, option, value, patterns, failure);
    return status == STATUS_OK ? add_item(config, option, value, &patterns->texts, failure)
                               : status;
}

static struct config_origin *origin_at(struct config *config, size_t offset)
{
    for (size_t i = 0; i < config_option_count; i++)
        if (config_options[i].offset == offset)
            return &config->origins[i];
    return NULL; /* only for what is no option */
}

/* What BOINC makes of one option by way of another. */
static void derive(struct config *config, const struct config_option *changed)
{
    struct config_origin *grace = origin_at(config, offsetof(struct config, report_grace_period));

    must(grace != NULL);
    if (changed->offset == offsetof(struct config, grace_period_hours) && !grace->is_given) {
        config->report_grace_period = (int64_t)(config->grace_period_hours * 3600);
        grace->file = TEXT("grace_period_hours");
    }
    /* Versions were once written as 100 * major + minor. */
    if (changed->offset == offsetof(struct config, min_core_client_version) &&
        config->min_core_client_version < 10000)
        config->min_core_client_version *= 100;
}

enum status config_set_option(struct config *config, const struct config_option *option,
                              struct text value, struct config_origin origin,
                              struct failure *failure)
{
    enum status status = set_value(config, option, text_trim(value), failure);

    if (status != STATUS_OK)
        return status;
    config->origins[option - config_options] = origin;
    if (origin.is_given)
        derive(config, option);
    return STATUS_OK;
}
