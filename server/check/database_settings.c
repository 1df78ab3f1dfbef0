/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/database_settings.h"

#include "server/base/arena.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define MEBIBYTE (INT64_C(1) << 20)

enum {
    UPTIME_LEAST_S = 3600, /* before that, what was written may be the filling of the tables */
    MISSES_PER_MILLE = 1   /* pages read from the disk, of a thousand that were asked for */
};

const struct database_setting database_settings[DATABASE_SETTING_COUNT] = {
#define SETTING(name, asked, wanted, if_name, if_value, words) \
    [DATABASE_SETTING_##name] = {#name, SETTING_##asked, wanted, if_name, if_value, words},
#include "server/check/database_settings.def"
#undef SETTING
};

static bool find_variable(const struct database_reading *reading, const char *name,
                          struct text *ret_value)
{
    for (size_t i = 0; i < reading->count; i++)
        if (text_equal_nocase(reading->variables[i].name, text_from(name))) {
            *ret_value = reading->variables[i].value;
            return true;
        }
    return false;
}

static bool is_one_of(struct text value, struct text words)
{
    while (words.length > 0)
        if (text_equal_nocase(value, text_split(&words, ' ')))
            return true;
    return false;
}

static struct text complain_of_word(const struct database_setting *setting, struct text value,
                                    struct arena *arena)
{
    struct text words = text_from(setting->wanted);
    struct text recommended = text_split(&words, ' ');

    if (is_one_of(value, text_from(setting->wanted)))
        return NO_TEXT;
    return text_print(arena, "%s is " TEXT_FORMAT ", should be " TEXT_FORMAT ": %s", setting->name,
                      TEXT_ARG(value), TEXT_ARG(recommended), setting->words);
}

static struct text complain_of_number(const struct database_setting *setting, int64_t number,
                                      struct arena *arena)
{
    int64_t least = 0;

    if (!text_to_i64(text_from(setting->wanted), &least) || number >= least)
        return NO_TEXT;
    return text_print(arena, "%s is %" PRId64 ", should be %" PRId64 " or more: %s", setting->name,
                      number, least, setting->words);
}

static struct text complain_of_pool(const struct database_setting *setting, int64_t bytes,
                                    const struct database_load_row *load, struct arena *arena)
{
    if (bytes >= load->table_bytes || load->uptime < UPTIME_LEAST_S || load->page_reads <= 0 ||
        load->page_requests / load->page_reads >= 1000 / MISSES_PER_MILLE)
        return NO_TEXT;
    return text_print(arena,
                      "%s is %" PRId64 " MB, the tables have %" PRId64 " MB, and of %" PRId64
                      " pages that are asked for one is read from the disk: %s",
                      setting->name, bytes / MEBIBYTE, load->table_bytes / MEBIBYTE,
                      load->page_requests / load->page_reads, setting->words);
}

static struct text complain_of_log(const struct database_setting *setting, int64_t bytes,
                                   const struct database_load_row *load, struct arena *arena)
{
    int64_t seconds = 0, rate = load->uptime > 0 ? load->redo_bytes / load->uptime : 0;

    if (!text_to_i64(text_from(setting->wanted), &seconds) || load->uptime < UPTIME_LEAST_S ||
        rate == 0 || bytes / rate >= seconds)
        return NO_TEXT;
    return text_print(arena,
                      "%s is %" PRId64 " MB, which are written in %" PRId64
                      " s since the database started, should be %" PRId64 " MB: %s",
                      setting->name, bytes / MEBIBYTE, bytes / rate, rate * seconds / MEBIBYTE + 1,
                      setting->words);
}

struct text database_setting_complaint(const struct database_setting *setting,
                                       const struct database_reading *reading, struct arena *arena)
{
    struct text value, other = TEXT("OFF"); /* what a server was built without */
    int64_t number;

    if (!find_variable(reading, setting->name, &value))
        return NO_TEXT;
    (void)find_variable(reading, setting->if_name, &other);
    if (setting->if_name[0] != '\0' && !text_equal_nocase(other, text_from(setting->if_value)))
        return NO_TEXT;
    if (setting->asked == SETTING_ONE_OF)
        return complain_of_word(setting, value, arena);
    if (!text_to_i64(value, &number))
        return NO_TEXT;
    switch (setting->asked) {
    case SETTING_TABLES:
        return complain_of_pool(setting, number, &reading->load, arena);
    case SETTING_REDO:
        return complain_of_log(setting, number, &reading->load, arena);
    case SETTING_LEAST:
    case SETTING_ONE_OF:
    default:
        return complain_of_number(setting, number, arena);
    }
}

enum status database_settings_read(struct db *db, struct arena *arena,
                                   struct database_reading *ret_reading)
{
    struct text names[2 * DATABASE_SETTING_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < DATABASE_SETTING_COUNT; i++) {
        names[count++] = text_from(database_settings[i].name);
        if (database_settings[i].if_name[0] != '\0')
            names[count++] = text_from(database_settings[i].if_name);
    }
    return db_admin_settings(db, arena, names, count, &ret_reading->variables, &ret_reading->count,
                             &ret_reading->load);
}
