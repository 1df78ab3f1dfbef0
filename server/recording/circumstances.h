/* SPDX-License-Identifier: Apache-2.0 */
/* The data that many recorded requests share: the options that matter to decisions, plan classes,
 * apps and versions. A file of the recording has each set once, before the first record that names
 * it, so a replay needs neither the project's folder of that time nor its database. */
#ifndef SERVER_RECORDING_CIRCUMSTANCES_H
#define SERVER_RECORDING_CIRCUMSTANCES_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/policy/plan_class/plan_class.h"

#include <stdint.h>

struct arena;
struct buffer;
struct catalog;
struct config;

/* By what a record names them: 16 hexadecimal digits over all that they say. */
enum { CIRCUMSTANCES_KEY_SIZE = 17 };
struct circumstances_key {
    char text[CIRCUMSTANCES_KEY_SIZE];
};

/* Appends them as lines from <circumstances> to </circumstances>; answers their key.
 * `plan_classes` NULL: the built-in ones. */
struct circumstances_key circumstances_write(const struct config *config,
                                             const struct plan_classes *plan_classes,
                                             const struct catalog *catalog,
                                             struct buffer *ret_text);

/* As read again; circumstances_free. */
struct circumstances {
    struct circumstances_key key;
    struct text deciding; /* the options, as config_write_deciding wrote them; in the arena */
    struct config *config;
    struct catalog *catalog;
    struct plan_classes plan_classes;
};
/* The lines between the two. STATUS_INVALID: they are not as they were written, or of another
 * format. `arena` is for this call's work and `deciding`. */
MUST_CHECK enum status circumstances_read(struct text lines, struct arena *arena,
                                          struct circumstances *ret_circumstances,
                                          struct failure *failure);
void circumstances_free(struct circumstances *circumstances);

#endif
