/* SPDX-License-Identifier: Apache-2.0 */
/* The samples in this folder for other programs, such as nginx.conf, as they were when the program
 * was built, and how they are filled in.
 *
 * @WORD@ is replaced by a value. Lines between #<WORD> and #</WORD> are for some projects only;
 * such parts may be nested. The lines between #<by_hand> and #</by_hand> tell a reader what to
 * replace, and are left out of what is filled in. */
#ifndef CONFIG_SAMPLE_H
#define CONFIG_SAMPLE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

struct config_sample {
    const char *name; /* of the file */
    const char *text;
};
extern const struct config_sample samples[];
extern const size_t sample_count;
const struct config_sample *sample_find(const char *name); /* NULL: there is none */

struct sample_value {
    const char *word;
    struct text value;
};
struct sample_part {
    const char *word;
    bool holds;
};
struct sample_filling {
    const struct sample_value *values;
    size_t value_count;
    const struct sample_part *parts;
    size_t part_count;
};

/* Adds the sample to the buffer. STATUS_NOT_FOUND: a word of it, which the failure names, is not
 * among those given; STATUS_INVALID: a part does not end, or ends without having begun. */
MUST_CHECK enum status sample_fill(const struct config_sample *sample,
                                   const struct sample_filling *filling, struct buffer *buffer,
                                   struct failure *failure);

#endif
