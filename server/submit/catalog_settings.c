/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/catalog_settings.h"

#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/result/quorum.h"
#include "server/submit/version_document.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    NAME_MOST = 254,                /* bytes, as the columns have them */
    CORE_VERSION_OLD_BELOW = 10000, /* 100 * major + minor, in databases of former years */
    CORE_VERSION_OLD_SCALE = 100
};

#define SETTING(row, name_, kind_, lowest_, highest_, usual_, help_) \
    {.name = #name_,                                                 \
     .kind = SETTING_##kind_,                                        \
     .lowest = (lowest_),                                            \
     .highest = (highest_),                                          \
     .usual = (usual_),                                              \
     .help = (help_),                                                \
     .offset = offsetof(struct row, name_)},
static const struct catalog_setting of_apps[] = {
#define APP_SETTING(...) SETTING(app_setting_row, __VA_ARGS__)
#include "server/submit/app_settings.def"
#undef APP_SETTING
};
static const struct catalog_setting of_versions[] = {
#define VERSION_SETTING(...) SETTING(version_setting_row, __VA_ARGS__)
#include "server/submit/version_settings.def"
#undef VERSION_SETTING
};
const struct catalog_settings app_settings = {of_apps, sizeof of_apps / sizeof of_apps[0],
                                              sizeof(struct app_setting_row)};
const struct catalog_settings version_settings = {
    of_versions, sizeof of_versions / sizeof of_versions[0], sizeof(struct version_setting_row)};

/* --- values ---------------------------------------------------------------------------------- */

static bool read_flag(struct text typed, int64_t *ret_value)
{
    *ret_value = text_is(typed, "yes") || text_is(typed, "1");
    return *ret_value != 0 || text_is(typed, "no") || text_is(typed, "0");
}

/* "7.16.0", "7.16" or "7"; "0": none. */
static bool read_client(struct text typed, int64_t *ret_value)
{
    enum { PARTS = 3, PART_MOST = 99 };

    *ret_value = 0;
    for (int i = 0; i < PARTS; i++) {
        int64_t part = 0;

        if ((i == 0 || typed.length > 0) &&
            (!text_to_i64(text_split(&typed, '.'), &part) || part < 0 || part > PART_MOST))
            return false;
        *ret_value = 100 * *ret_value + part;
    }
    return typed.length == 0;
}

static bool has_control_character(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f)
            return true;
    return false;
}

static enum status read_integer(const struct catalog_setting *setting, struct text typed,
                                int64_t *ret_value, struct failure *failure)
{
    if (text_to_whole(typed, ret_value) && (double)*ret_value >= setting->lowest &&
        (double)*ret_value <= setting->highest)
        return STATUS_OK;
    return fail(failure, STATUS_INVALID,
                "--%s: \"" TEXT_FORMAT "\" is not a whole number from %.0f to %.0f", setting->name,
                TEXT_ARG(text_first(typed, NAME_MOST)), setting->lowest, setting->highest);
}

static enum status read_real(const struct catalog_setting *setting, struct text typed, double *real,
                             struct failure *failure)
{
    double value;

    if (!text_to_real(typed, &value) || value < setting->lowest || value > setting->highest)
        return fail(failure, STATUS_INVALID,
                    "--%s: \"" TEXT_FORMAT "\" is not a number from %g to %g", setting->name,
                    TEXT_ARG(text_first(typed, NAME_MOST)), setting->lowest, setting->highest);
    *real = value;
    return STATUS_OK;
}

static enum status read_name(const struct catalog_setting *setting, struct text typed,
                             struct text *name, struct failure *failure)
{
    if (typed.length > NAME_MOST || has_control_character(typed))
        return fail(failure, STATUS_INVALID,
                    "--%s: more than %d bytes, or a control character in it", setting->name,
                    NAME_MOST);
    *name = typed;
    return STATUS_OK;
}

static enum status not_such(const struct catalog_setting *setting, struct text typed,
                            const char *such, struct failure *failure)
{
    return fail(failure, STATUS_INVALID, "--%s: \"" TEXT_FORMAT "\" is not %s", setting->name,
                TEXT_ARG(text_first(typed, NAME_MOST)), such);
}

static enum status read_number(const struct catalog_setting *setting, struct text typed,
                               int64_t *ret_value, struct failure *failure)
{
    struct failure why = {.status = STATUS_OK};

    switch (setting->kind) {
    case SETTING_FLAG:
        if (!read_flag(typed, ret_value))
            return not_such(setting, typed, "yes or no", failure);
        return STATUS_OK;
    case SETTING_CLIENT:
        if (!read_client(typed, ret_value))
            return not_such(setting, typed, "a client's version such as 7.16.0, or 0", failure);
        return STATUS_OK;
    case SETTING_VERSION:
        *ret_value = 0;
        if (text_is(typed, "0") || version_number_read(typed, ret_value, &why) == STATUS_OK)
            return STATUS_OK;
        return fail(failure, STATUS_INVALID, "--%s: %s", setting->name, why.text);
    case SETTING_INTEGER:
    case SETTING_REAL:
    case SETTING_NAME:
    case SETTING_CLASS:
    default:
        return read_integer(setting, typed, ret_value, failure);
    }
}

enum status catalog_setting_read(const struct catalog_setting *setting, struct text typed,
                                 void *row, struct failure *failure)
{
    void *member = (char *)row + setting->offset;
    int64_t number;
    enum status status;

    if (setting->kind == SETTING_NAME || setting->kind == SETTING_CLASS)
        return read_name(setting, typed, member, failure);
    if (setting->kind == SETTING_REAL)
        return read_real(setting, typed, member, failure);
    status = read_number(setting, typed, &number, failure);
    if (status == STATUS_OK)
        *(int64_t *)member = number;
    return status;
}

/* As the servers read it. */
static int64_t core_version(int64_t stored)
{
    return stored > 0 && stored < CORE_VERSION_OLD_BELOW ? stored * CORE_VERSION_OLD_SCALE : stored;
}

struct text catalog_setting_words(struct arena *arena, const struct catalog_setting *setting,
                                  const void *row)
{
    const void *member = (const char *)row + setting->offset;
    int64_t number;

    if (setting->kind == SETTING_NAME || setting->kind == SETTING_CLASS)
        return *(const struct text *)member;
    if (setting->kind == SETTING_REAL)
        return text_print(arena, "%.15g", *(const double *)member);
    number = *(const int64_t *)member;
    if (setting->kind == SETTING_FLAG)
        return number != 0 ? TEXT("yes") : TEXT("no");
    if (setting->kind == SETTING_VERSION && number != 0)
        return text_print(arena, "%" PRId64 ".%02" PRId64, number / 100, number % 100);
    if (setting->kind == SETTING_CLIENT && number != 0) {
        number = core_version(number);
        return text_print(arena, "%" PRId64 ".%" PRId64 ".%" PRId64, number / 10000,
                          number / 100 % 100, number % 100);
    }
    return text_print(arena, "%" PRId64, number);
}

/* --- together -------------------------------------------------------------------------------- */

enum status app_settings_check(const struct app_setting_row *row, struct failure *failure)
{
    if (row->weight < 0 && row->weight != -1)
        return fail(failure, STATUS_INVALID,
                    "--weight: %g: below 0 only -1 has a meaning: an application whose jobs hardly "
                    "meet their deadlines",
                    row->weight);
    if (row->user_friendly_name.length == 0)
        return fail(failure, STATUS_INVALID, "--user_friendly_name: an application needs one");
    return STATUS_OK;
}

enum status version_settings_check(const struct version_setting_row *row, struct failure *failure)
{
    int64_t least = core_version(row->min_core_version), most = core_version(row->max_core_version);

    if (most != 0 && least > most)
        return fail(failure, STATUS_INVALID,
                    "min_core_version would be above max_core_version: no client could have it");
    return STATUS_OK;
}

void app_advice(const struct config *config, const struct app_row *app, struct buffer *lines)
{
    if (app->target_nresults < 0 || app->target_nresults >= QUORUM_RESULTS_MAX)
        buffer_print(lines,
                     "app " TEXT_FORMAT ": target_nresults is %" PRId64
                     "; at most %d results of a job are compared\n",
                     TEXT_ARG(app->name), app->target_nresults, QUORUM_RESULTS_MAX - 1);
    if (app->target_nresults > 1 && !config->one_result_per_host_per_wu &&
        !config->one_result_per_user_per_wu)
        buffer_print(
            lines,
            "app " TEXT_FORMAT ": target_nresults is %" PRId64
            ", but without one_result_per_user_per_wu a host may be compared with itself\n",
            TEXT_ARG(app->name), app->target_nresults);
    if (app->n_size_classes > 1 && !config->size_classes && !config->batch_accel)
        buffer_print(lines,
                     "app " TEXT_FORMAT ": n_size_classes is %" PRId64
                     ", which has no effect without size_classes in config.xml\n",
                     TEXT_ARG(app->name), app->n_size_classes);
}
