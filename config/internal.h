/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef CONFIG_INTERNAL_H
#define CONFIG_INTERNAL_H

#include "config/config.h"

/* NULL: no such option. */
const struct config_option *config_option_find(struct text name);

/* Elements of config.xml that are not options of this server. */
enum other_use {
    OTHER_PROGRAM, /* of another program */
    OTHER_UNSERVED /* of BOINC's scheduler; not served here, which the operator should know */
};
struct other_option {
    const char *pattern; /* a name, or several with * for any characters */
    enum other_use use;
};
const struct other_option *config_other_find(struct text name);

extern const struct other_option config_other[];
extern const size_t config_other_count;

/* The known name that `name` is probably a misspelling of; NULL: none is near. */
const char *config_nearest_name(struct text name);

/* Sets an option from the text of its element; lists are added to. STATUS_INVALID: not a value for
 * this option, and then nothing is changed. */
/* The largest value as digits, "" for no bound; *ret_caps: more counts as that. */
struct text config_option_most(const struct config_option *option, bool *ret_caps);
/* Whether this value, which was taken, is more than it counts as. */
bool config_value_is_capped(const struct config_option *option, struct text value);
MUST_CHECK enum status config_set_option(struct config *config, const struct config_option *option,
                                         struct text value, struct config_origin origin,
                                         struct failure *failure);

/* Compiles one more. STATUS_INVALID: it is no regular expression. */
MUST_CHECK enum status config_pattern_add(struct config *config, const struct config_option *option,
                                          struct text value, struct config_patterns *patterns,
                                          struct failure *failure);
void config_patterns_free(struct config_patterns *patterns);

/* The word of a choice; `value` points to the option's member of a struct config. */
const char *config_word_of(const struct config_option *option, const void *value);

/* Where the reader is inside max_jobs_in_progress. Both calls answer what is wrong, or NULL; after
 * an unknown element its whole content is to be passed over, and its end is not told. */
struct limits_reader {
    size_t depth; /* of the open elements in it */
    bool is_app;
    struct jobs_in_progress open;
    struct jobs_limit *limit;
};
const char *config_limits_start(struct limits_reader *reader, struct text name);
const char *config_limits_end(struct limits_reader *reader, struct config *config, struct text name,
                              struct text value, bool *ret_is_error);

#endif
