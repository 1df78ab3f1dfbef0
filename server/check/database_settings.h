/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the database server is configured as a project needs it: database_settings.def. Its
 * settings are read once and judged row by row; judging is pure. */
#ifndef SERVER_CHECK_DATABASE_SETTINGS_H
#define SERVER_CHECK_DATABASE_SETTINGS_H

#include "db/admin.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct db;

enum setting_asked { SETTING_ONE_OF, SETTING_LEAST, SETTING_TABLES, SETTING_REDO };

struct database_setting {
    const char *name;
    enum setting_asked asked;
    const char *wanted, *if_name, *if_value, *words;
};

enum database_setting_index {
#define SETTING(name, asked, wanted, if_name, if_value, words) DATABASE_SETTING_##name,
#include "server/check/database_settings.def"
#undef SETTING
    DATABASE_SETTING_COUNT
};
extern const struct database_setting database_settings[DATABASE_SETTING_COUNT];

/* What a database server says of itself. One that lacks a variable has no row for it. */
struct database_reading {
    struct setting_row *variables;
    size_t count;
    struct database_load_row load;
};

/* Texts of the arena. The failure is the database's. */
MUST_CHECK enum status database_settings_read(struct db *db, struct arena *arena,
                                              struct database_reading *ret_reading);
/* Empty: nothing is to be said of it. Else a sentence of the arena. */
struct text database_setting_complaint(const struct database_setting *setting,
                                       const struct database_reading *reading, struct arena *arena);

#endif
