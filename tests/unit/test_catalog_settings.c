/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator types of applications and versions, and what is refused of it. */
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "db/rows.h"
#include "server/base/buffer.h"
#include "server/policy/result/quorum.h"
#include "server/submit/catalog_settings.h"

#include <string.h>

#include "server/base/banned.h"

static const struct catalog_setting *find(const struct catalog_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0)
            return &settings->items[i];
    fail_msg("no setting %s", name);
    return NULL;
}

/* Sorted, explained, each once; the usual value is one that can be typed. */
static void the_tables_are_sound(void **state)
{
    const struct catalog_settings *const tables[] = {&app_settings, &version_settings};
    union {
        struct app_setting_row app;
        struct version_setting_row version;
    } row;

    (void)state;
    memset(&row, 0, sizeof row);
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t]->count; i++) {
            const struct catalog_setting *setting = &tables[t]->items[i];

            assert_true(i == 0 || strcmp(setting[-1].name, setting->name) < 0);
            assert_int_equal(setting->help[strlen(setting->help) - 1], '.');
            assert_status(STATUS_OK,
                          catalog_setting_read(setting, text_from(setting->usual), &row, NULL));
            assert_text(catalog_setting_words(case_arena, setting, &row), setting->usual);
        }
    assert_i64((int64_t)find(&app_settings, "target_nresults")->highest, QUORUM_RESULTS_MAX - 1);
}

static void values_are_read_or_refused(void **state)
{
    static const struct {
        const struct catalog_settings *settings;
        const char *name, *typed;
        const char *shown; /* NULL: refused */
    } cases[] = {
        {&app_settings, "beta", "yes", "yes"},
        {&app_settings, "beta", "0", "no"},
        {&app_settings, "beta", "maybe", NULL},
        {&app_settings, "beta", "", NULL},
        {&app_settings, "target_nresults", "2", "2"},
        {&app_settings, "target_nresults", "2.000000", "2"},
        {&app_settings, "target_nresults", "100", NULL},
        {&app_settings, "target_nresults", "-1", NULL},
        {&app_settings, "target_nresults", "2.5", NULL},
        {&app_settings, "homogeneous_redundancy", "3", NULL},
        {&app_settings, "weight", "0.5", "0.5"},
        {&app_settings, "weight", "nan", NULL},
        {&app_settings, "weight", "1e7", NULL},
        {&app_settings, "min_avg_pfc", "0", NULL},
        {&app_settings, "min_version", "1.05", "1.05"},
        {&app_settings, "min_version", "0", "0"},
        {&app_settings, "min_version", "1.5", NULL},
        {&app_settings, "user_friendly_name", "Sums", "Sums"},
        {&app_settings, "user_friendly_name", "a\nb", NULL},
        {&version_settings, "min_core_version", "7.16.0", "7.16.0"},
        {&version_settings, "min_core_version", "7.16", "7.16.0"},
        {&version_settings, "min_core_version", "7", "7.0.0"},
        {&version_settings, "min_core_version", "0", "0"},
        {&version_settings, "min_core_version", "716", NULL},
        {&version_settings, "min_core_version", "7.16.0.1", NULL},
        {&version_settings, "min_core_version", "7..1", NULL},
        {&version_settings, "min_core_version", "7.-1", NULL},
        {&version_settings, "plan_class", "", ""},
        {&version_settings, "plan_class", "mt", "mt"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct catalog_setting *setting = find(cases[i].settings, cases[i].name);
        struct failure failure = {.status = STATUS_OK};
        union {
            struct app_setting_row app;
            struct version_setting_row version;
        } row;
        enum status status;

        memset(&row, 0, sizeof row);
        status = catalog_setting_read(setting, text_from(cases[i].typed), &row, &failure);
        assert_status(cases[i].shown == NULL ? STATUS_INVALID : STATUS_OK, status);
        if (cases[i].shown != NULL)
            assert_text(catalog_setting_words(case_arena, setting, &row), cases[i].shown);
        else
            assert_memory_equal(failure.text, "--", 2);
    }
}

/* Databases of former years have 716 for 7.16.0. */
static void old_client_versions_are_shown_as_they_are_meant(void **state)
{
    const struct version_setting_row row = {.min_core_version = 716};

    (void)state;
    assert_text(
        catalog_setting_words(case_arena, find(&version_settings, "min_core_version"), &row),
        "7.16.0");
}

static void settings_bind_each_other(void **state)
{
    struct version_setting_row version = {.min_core_version = 71600, .max_core_version = 71600};
    struct app_setting_row app = {.weight = -1, .user_friendly_name = TEXT("x")};

    (void)state;
    assert_status(STATUS_OK, version_settings_check(&version, NULL));
    version.min_core_version = 71601;
    assert_status(STATUS_INVALID, version_settings_check(&version, NULL));
    version.max_core_version = 0;
    assert_status(STATUS_OK, version_settings_check(&version, NULL));
    version.max_core_version = 717;
    assert_status(STATUS_OK, version_settings_check(&version, NULL));
    assert_status(STATUS_OK, app_settings_check(&app, NULL));
    app.weight = -2;
    assert_status(STATUS_INVALID, app_settings_check(&app, NULL));
    app.weight = 0;
    app.user_friendly_name = NO_TEXT;
    assert_status(STATUS_INVALID, app_settings_check(&app, NULL));
}

static struct text advice(const struct config *config, const struct app_row *app)
{
    struct buffer lines = buffer_in(case_arena);

    app_advice(config, app, &lines);
    return buffer_text(&lines);
}

static void what_has_no_effect_is_said(void **state)
{
    struct config config = {.one_result_per_user_per_wu = false};
    struct app_row app = {.name = TEXT("sum"), .target_nresults = 2};

    (void)state;
    assert_text(advice(&config, &app),
                "app sum: target_nresults is 2, but without one_result_per_user_per_wu a host may"
                " be compared with itself\n");
    config.one_result_per_user_per_wu = true;
    assert_text(advice(&config, &app), "");
    app.target_nresults = QUORUM_RESULTS_MAX;
    assert_text(advice(&config, &app),
                "app sum: target_nresults is 100; at most 99 results of a job are compared\n");
    app = (struct app_row){.name = TEXT("sum"), .n_size_classes = 2};
    assert_text(advice(&config, &app), "app sum: n_size_classes is 2, which has no effect without"
                                       " size_classes in config.xml\n");
    config.size_classes = true;
    assert_text(advice(&config, &app), "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, case_arena_setup, case_arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_tables_are_sound),
        CASE(values_are_read_or_refused),
        CASE(old_client_versions_are_shown_as_they_are_meant),
        CASE(settings_bind_each_other),
        CASE(what_has_no_effect_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
