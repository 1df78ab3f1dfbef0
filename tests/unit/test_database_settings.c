/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a database's settings: each row of the table complains of what it is for, by the
 * name of the setting, and of nothing else. */
#include "server/check/database_settings.h"

#include "server/base/arena.h"
#include "tests/support/test.h"

#include <string.h>

enum { VARIABLES = 2 };

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* 100 days, 1,000 MB of tables of which all pages are in memory, 1 MB/s of redo. */
static const struct database_load_row usual = {.table_bytes = INT64_C(1000) << 20,
                                               .uptime = 8640000,
                                               .redo_bytes = INT64_C(8640000) << 20,
                                               .page_requests = 1000000,
                                               .page_reads = 1};

static struct text complaint(const struct database_setting *setting, const char *value,
                             const char *condition, const struct database_load_row *load)
{
    struct setting_row variables[VARIABLES] = {
        {.name = text_from(setting->name), .value = text_from(value)},
        {.name = text_from(setting->if_name), .value = text_from(condition)}};
    struct database_reading reading = {
        .variables = variables, .count = setting->if_name[0] == '\0' ? 1 : 2, .load = *load};

    return database_setting_complaint(setting, &reading, arena);
}

static void each_row_complains_of_what_it_is_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < DATABASE_SETTING_COUNT; i++) {
        const struct database_setting *setting = &database_settings[i];
        struct database_load_row load = usual;
        const char *good = "4294967296", *bad = "1048576";
        char first[64];
        struct text said;

        if (setting->asked == SETTING_ONE_OF) {
            struct text words = text_from(setting->wanted), word = text_split(&words, ' ');

            (void)snprintf(first, sizeof first, TEXT_FORMAT, TEXT_ARG(word));
            good = first;
            bad = "something else";
        } else if (setting->asked == SETTING_LEAST) {
            good = setting->wanted;
            bad = "9";
        }
        load.page_reads = load.page_requests / 10;
        assert_text(complaint(setting, good, setting->if_value, &load), "");
        said = complaint(setting, bad, setting->if_value, &load);
        assert_true(text_starts(said, text_from(setting->name)));
        assert_true(text_ends(said, text_from(setting->words)));
        if (setting->if_name[0] != '\0')
            assert_text(complaint(setting, bad, "another", &load), "");
    }
}

static void other_words_are_as_good(void **state)
{
    const struct database_setting *setting =
        &database_settings[DATABASE_SETTING_innodb_flush_log_at_trx_commit];

    (void)state;
    assert_text(complaint(setting, "3", "OFF", &usual), "");
    assert_text(complaint(setting, "2", "OFF", &usual),
                "innodb_flush_log_at_trx_commit is 2, should be 1: the loss of the machine loses "
                "the last acknowledged reports");
    assert_text(complaint(setting, "2", "ON", &usual), ""); /* the other nodes have it */
}

static void a_small_pool_is_no_matter_while_pages_are_in_it(void **state)
{
    const struct database_setting *setting =
        &database_settings[DATABASE_SETTING_innodb_buffer_pool_size];
    struct database_load_row load = usual;

    (void)state;
    assert_text(complaint(setting, "134217728", "", &load), "");
    load.page_reads = load.page_requests / 50;
    assert_text(
        complaint(setting, "134217728", "", &load),
        "innodb_buffer_pool_size is 128 MB, the tables have 1000 MB, and of 50 pages that "
        "are asked for one is read from the disk: requests wait for the rows that they need");
    load.uptime = 60; /* they are read for the first time */
    assert_text(complaint(setting, "134217728", "", &load), "");
    load = usual;
    load.page_reads = 0;
    assert_text(complaint(setting, "134217728", "", &load), "");
}

static void the_log_holds_half_an_hour(void **state)
{
    const struct database_setting *setting =
        &database_settings[DATABASE_SETTING_innodb_log_file_size];
    struct database_load_row load = usual;

    (void)state;
    assert_text(complaint(setting, "1887436800", "", &load), ""); /* 1,800 MB */
    assert_text(complaint(setting, "1073741824", "", &load),
                "innodb_log_file_size is 1024 MB, which are written in 1024 s since the database "
                "started, should be 1801 MB: pages are written repeatedly, because their place in "
                "the log is needed");
    load.redo_bytes = 5; /* less than a byte in a second */
    assert_text(complaint(setting, "1073741824", "", &load), "");
    load = usual;
    load.uptime = 0;
    assert_text(complaint(setting, "1073741824", "", &load), "");
}

static void a_number_has_a_least(void **state)
{
    const struct database_setting *setting =
        &database_settings[DATABASE_SETTING_max_allowed_packet];

    (void)state;
    assert_text(complaint(setting, "4194304", "", &usual), "");
    assert_text(
        complaint(setting, "4194303", "", &usual),
        "max_allowed_packet is 4194303, should be 4194304 or more: long reports take more "
        "round trips, and a version's document or a message to a host that is larger is refused");
}

/* Of a variable that a server lacks nothing is said; one without Galera is no cluster. */
static void a_server_may_lack_a_variable(void **state)
{
    struct setting_row variable = {.name = TEXT("innodb_flush_log_at_trx_commit"),
                                   .value = TEXT("0")};
    struct database_reading reading = {.variables = &variable, .count = 1, .load = usual};

    (void)state;
    assert_true(
        database_setting_complaint(
            &database_settings[DATABASE_SETTING_innodb_flush_log_at_trx_commit], &reading, arena)
            .length > 0);
    reading.count = 0;
    for (size_t i = 0; i < DATABASE_SETTING_COUNT; i++)
        assert_text(database_setting_complaint(&database_settings[i], &reading, arena), "");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(each_row_complains_of_what_it_is_for),
        CASE(other_words_are_as_good),
        CASE(a_small_pool_is_no_matter_while_pages_are_in_it),
        CASE(the_log_holds_half_an_hour),
        CASE(a_number_has_a_least),
        CASE(a_server_may_lack_a_variable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
