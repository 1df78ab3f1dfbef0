/* SPDX-License-Identifier: Apache-2.0 */
/* The two tables, and names in them: an element of config.xml is an option of ours, one that
 * somebody else knows, or a mistake, for which the nearest known name is looked up. */
#include "config/internal.h"

#include "server/base/near_name.h"

#include <fnmatch.h>
#include <string.h>

#include "server/base/banned.h"

#define OPTION(name, type, default_, minimum, maximum, source, help)
#define CHOICES(option, choices) \
    static const struct config_word words_of_##option[] = {choices{.word = NULL}};
#define CHOICE(value, word) {value, word},
#include "config/options.def"
#undef OPTION
#undef CHOICES
#undef CHOICE

/* The words of an option by its type. */
#define WORDS_FLAG(name)    NULL
#define WORDS_INTEGER(name) NULL
#define WORDS_REAL(name)    NULL
#define WORDS_CHOICE(name)  words_of_##name
#define WORDS_STRING(name)  NULL
#define WORDS_SECRET(name)  NULL
#define WORDS_LIST(name)    NULL
#define WORDS_REGEXES(name) NULL

const struct config_option config_options[] = {
#define CHOICES(option, choices)
#define OPTION(name_, type_, default_, minimum, maximum, source_, help_) \
    {.name = #name_,                                                     \
     .type = CONFIG_##type_,                                             \
     .default_text = (default_),                                         \
     .minimum_text = (minimum),                                          \
     .maximum_text = (maximum),                                          \
     .words = WORDS_##type_(name_),                                      \
     .source = CONFIG_##source_,                                         \
     .help = help_,                                                      \
     .offset = offsetof(struct config, name_)},
#include "config/options.def"
#undef OPTION
#undef CHOICES
};
const size_t config_option_count = sizeof(config_options) / sizeof(config_options[0]);

const struct config_at_start config_at_start[] = {
    {"pool_jobs_max", PROGRAM_SERVER},  {"submit_threads", PROGRAM_SUBMIT},
    {"threads", PROGRAM_SERVER},        {"upload_connections", PROGRAM_UPLOAD},
    {"upload_threads", PROGRAM_UPLOAD}, {"user_filter", PROGRAM_SERVER},
};
const size_t config_at_start_count = sizeof(config_at_start) / sizeof(config_at_start[0]);

const struct other_option config_other[] = {
#define OTHER(pattern, use) {pattern, OTHER_##use},
#include "config/other_options.def"
#undef OTHER
};
const size_t config_other_count = sizeof(config_other) / sizeof(config_other[0]);

enum { NAME_SIZE = 64 }; /* of names worth comparing; all known ones are shorter */

const struct config_option *config_option_find(struct text name)
{
    for (size_t i = 0; i < config_option_count; i++)
        if (text_is(name, config_options[i].name))
            return &config_options[i];
    return NULL;
}

const struct other_option *config_other_find(struct text name)
{
    char string[NAME_SIZE] = {0};

    if (name.length >= sizeof(string))
        return NULL;
    memcpy(string, name.at, name.length);
    for (size_t i = 0; i < config_other_count; i++)
        if (fnmatch(config_other[i].pattern, string, 0) == 0)
            return &config_other[i];
    return NULL;
}

const char *config_nearest_name(struct text name)
{
    struct near_name near;

    near_name_begin(&near, name);
    for (size_t i = 0; i < config_option_count; i++)
        near_name_try(&near, config_options[i].name);
    for (size_t i = 0; i < config_other_count; i++)
        if (strchr(config_other[i].pattern, '*') == NULL)
            near_name_try(&near, config_other[i].pattern);
    return near.nearest;
}
