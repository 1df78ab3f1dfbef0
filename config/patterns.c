/* SPDX-License-Identifier: Apache-2.0 */
/* Options that are regular expressions. They are compiled once, when the text is read, and may be
 * asked by any number of threads. What regcomp sets aside is not in the configuration's arena, so
 * it is freed by itself. */
#include "config/internal.h"

#include "server/base/arena.h"

#include <regex.h>

#include "server/base/banned.h"

struct config_pattern {
    regex_t compiled;
    struct config_pattern *next;
};

enum status config_pattern_add(struct config *config, const struct config_option *option,
                               struct text value, struct config_patterns *patterns,
                               struct failure *failure)
{
    struct config_pattern *pattern = ARENA_NEW(config->arena, struct config_pattern);
    const char *text = text_string(config->arena, value);
    char why[128];
    int error;

    if (pattern == NULL || text[0] == '\0')
        return fail(failure, STATUS_NO_MEMORY, "no memory for %s", option->name);
    error = regcomp(&pattern->compiled, text, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        (void)regerror(error, &pattern->compiled, why, sizeof(why));
        return fail(failure, STATUS_INVALID, "%s: \"" TEXT_FORMAT "\" is no regular expression: %s",
                    option->name, TEXT_ARG(text_first(value, 200)), why);
    }
    pattern->next = patterns->first;
    patterns->first = pattern;
    return STATUS_OK;
}

void config_patterns_free(struct config_patterns *patterns)
{
    for (struct config_pattern *pattern = patterns->first; pattern != NULL; pattern = pattern->next)
        regfree(&pattern->compiled);
}

bool config_matches(const struct config_patterns *patterns, const char *subject)
{
    for (const struct config_pattern *pattern = patterns->first; pattern != NULL;
         pattern = pattern->next)
        if (regexec(&pattern->compiled, subject, 0, NULL, 0) == 0)
            return true;
    return false;
}
