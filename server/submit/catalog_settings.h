/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator may set of applications and versions, as words and as numbers of a row.
 * Pure. */
#ifndef SERVER_SUBMIT_CATALOG_SETTINGS_H
#define SERVER_SUBMIT_CATALOG_SETTINGS_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stddef.h>

struct app_row;
struct app_setting_row;
struct arena;
struct buffer;
struct config;
struct version_setting_row;

enum setting_kind {
    SETTING_FLAG,
    SETTING_INTEGER,
    SETTING_REAL,
    SETTING_NAME,  /* what people call it */
    SETTING_CLASS, /* of plan classes */
    SETTING_VERSION,
    SETTING_CLIENT
};
/* What the value is called in a help. */
#define SETTING_VALUE_FLAG    "yes|no"
#define SETTING_VALUE_INTEGER "N"
#define SETTING_VALUE_REAL    "N"
#define SETTING_VALUE_NAME    "NAME"
#define SETTING_VALUE_CLASS   "CLASS"
#define SETTING_VALUE_VERSION "VERSION"
#define SETTING_VALUE_CLIENT  "VERSION"

struct catalog_setting {
    const char *name; /* of the column, and of the option */
    enum setting_kind kind;
    double lowest, highest;
    const char *usual, *help;
    size_t offset; /* in the row: of an int64_t, a double or a struct text */
};
struct catalog_settings {
    const struct catalog_setting *items;
    size_t count;
    size_t row_size;
};
extern const struct catalog_settings app_settings;     /* of struct app_setting_row */
extern const struct catalog_settings version_settings; /* of struct version_setting_row */

/* Writes what was typed into the row; a name is borrowed. STATUS_INVALID: it is no such value; the
 * failure says "--NAME: ...", and the row is as before. */
MUST_CHECK enum status catalog_setting_read(const struct catalog_setting *setting,
                                            struct text typed, void *row, struct failure *failure);
/* As it would be typed. */
struct text catalog_setting_words(struct arena *arena, const struct catalog_setting *setting,
                                  const void *row);

/* What no row may say. STATUS_INVALID: the settings contradict each other, as the failure says. */
MUST_CHECK enum status app_settings_check(const struct app_setting_row *row,
                                          struct failure *failure);
MUST_CHECK enum status version_settings_check(const struct version_setting_row *row,
                                              struct failure *failure);

/* Adds a line for each setting of the application that does not do what it is for: by its value, or
 * by config.xml. */
void app_advice(const struct config *config, const struct app_row *app, struct buffer *lines);

#endif
