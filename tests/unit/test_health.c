/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says of itself. */
#include "server/process/health.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/request/reason_counts.h"
#include "tests/support/test.h"

struct world {
    struct arena *arena;
    struct health *health;
};

static int make_world(void **state)
{
    static struct world world;

    world = (struct world){.arena = arena_create(1 << 22), .health = health_create()};
    *state = &world;
    return world.arena == NULL || world.health == NULL;
}

static int remove_world(void **state)
{
    struct world *world = *state;

    health_destroy(world->health);
    arena_destroy(world->arena);
    return 0;
}

static bool shows(struct world *world, int64_t now, const char *line)
{
    struct buffer page = buffer_in(world->arena);

    health_write(world->health, now, &page);
    return text_contains(buffer_text(&page), text_print(world->arena, "\n%s\n", line));
}

static void nothing_is_well_before_it_was_asked(void **state)
{
    struct world *world = *state;

    assert_non_null(health_problem(world->health));
    assert_true(shows(world, 100, "quartermaster_database_state{state=\"ok\"} 0"));
    health_note_database(world->health, DB_TROUBLE_NONE, 90);
    assert_null(health_problem(world->health));
    assert_true(shows(world, 100, "quartermaster_database_state{state=\"ok\"} 1"));
    assert_true(shows(world, 100, "quartermaster_database_examined_seconds 10"));
    health_note_clock(world->health, -259200);
    assert_true(shows(world, 100, "quartermaster_database_clock_ahead_seconds -259200"));
}

/* Each trouble has words, and one line of the page is 1. */
static void every_trouble_is_told(void **state)
{
    struct world *world = *state;

    for (int i = 0; i < DB_TROUBLE_COUNT; i++) {
        health_note_database(world->health, (enum db_trouble)i, 1);
        if (i == DB_TROUBLE_NONE)
            assert_null(health_problem(world->health));
        else
            assert_string_equal(health_problem(world->health), db_trouble_words[i].sentence);
        for (int j = 0; j < DB_TROUBLE_COUNT; j++)
            assert_true(
                shows(world, 1,
                      text_string(world->arena,
                                  text_print(world->arena,
                                             "quartermaster_database_state{state=\"%s\"} %d",
                                             db_trouble_words[j].word, i == j))));
    }
}

static void a_stop_goes_before_all(void **state)
{
    struct world *world = *state;

    health_note_database(world->health, DB_TROUBLE_RIGHTS, 1);
    health_note_stop(world->health, true, true);
    assert_true(text_contains(text_from(health_problem(world->health)), TEXT("stop_sched")));
    assert_true(shows(world, 1, "quartermaster_stop_sched 1"));
    assert_true(shows(world, 1, "quartermaster_sends_no_jobs 1"));
}

static void replies_of_the_last_ten_minutes_count(void **state)
{
    struct world *world = *state;

    health_note_counters(world->health, 1000);
    counter_add(COUNTER_requests, 10);
    counter_add(COUNTER_replies_down, 3);
    counter_add(COUNTER_replies_later, 2);
    counter_add(COUNTER_requests_turned_away, 1);
    assert_true(shows(world, 1001, "quartermaster_recent_replies 11"));
    assert_true(shows(world, 1001, "quartermaster_recent_replies_down 3"));
    assert_true(shows(world, 1001, "quartermaster_recent_replies_later 2"));
    for (int64_t now = 1030; now <= 1000 + 599; now++)
        health_note_counters(world->health, now);
    assert_true(shows(world, 1599, "quartermaster_recent_replies 11"));
    for (int64_t now = 1600; now <= 1630; now++)
        health_note_counters(world->health, now);
    assert_true(shows(world, 1630, "quartermaster_recent_replies 0"));
    counter_add(COUNTER_requests, 4);
    assert_true(shows(world, 1630, "quartermaster_recent_replies 4"));
}

static void clients_with_another_key_are_counted(void **state)
{
    struct world *world = *state;

    health_note_counters(world->health, 1000);
    assert_true(shows(world, 1001, "quartermaster_recent_replies_other_key 0"));
    reason_count_add(REASON_CODE_SIGN_KEY);
    reason_count_add(REASON_CODE_SIGN_KEY);
    reason_count_add(REASON_MEMORY);
    assert_true(shows(world, 1001, "quartermaster_recent_replies_other_key 2"));
    for (int64_t now = 1030; now <= 1630; now++)
        health_note_counters(world->health, now);
    assert_true(shows(world, 1630, "quartermaster_recent_replies_other_key 0"));
}

static void the_last_request_has_an_age(void **state)
{
    struct world *world = *state;

    assert_true(shows(world, 100, "quartermaster_last_served_seconds -1"));
    health_note_served(world->health, 70);
    assert_true(shows(world, 100, "quartermaster_last_served_seconds 30"));
}

/* Old figures are none: the alerts would take them for new ones. */
static void what_waits_is_shown_while_it_can_be_had(void **state)
{
    struct world *world = *state;
    struct backlog backlog = {
        .transitions = 3, .oldest_transition = 40, .validations = 2, .assimilations = 1};

    assert_false(shows(world, 100, "# TYPE quartermaster_transitions_waiting gauge"));
    health_note_backlog(world->health, &backlog, 90);
    assert_true(shows(world, 100, "quartermaster_transitions_waiting 3"));
    assert_true(shows(world, 100, "quartermaster_transitions_waiting_seconds 60"));
    assert_true(shows(world, 100, "quartermaster_validations_waiting 2"));
    assert_true(shows(world, 100, "quartermaster_assimilations_waiting 1"));
    health_note_backlog(world->health, NULL, 95);
    assert_false(shows(world, 100, "# TYPE quartermaster_transitions_waiting gauge"));
}

static void findings_are_shown_by_topic(void **state)
{
    struct world *world = *state;
    struct check_counts counts = {.error_count = 0};

    for (int i = 0; i < TOPIC_COUNT; i++) {
        check_count(&counts, &(const struct check_finding){CHECK_ERROR, (enum check_topic)i, ""});
        check_count(&counts, &(const struct check_finding){CHECK_STOPS, (enum check_topic)i, ""});
        check_count(&counts, &(const struct check_finding){CHECK_WARNING, (enum check_topic)i, ""});
    }
    health_note_folder(world->health, &counts);
    for (int i = 0; i < TOPIC_COUNT; i++)
        for (int errors = 0; errors < 2; errors++)
            assert_true(shows(
                world, 1,
                text_string(world->arena,
                            text_print(world->arena,
                                       "quartermaster_check_findings{severity=\"%s\",topic=\"%s\"}"
                                       " %d",
                                       errors ? "error" : "warning",
                                       check_topic_word((enum check_topic)i), errors ? 2 : 1))));
}

/* What was found elsewhere counts where this server cannot look, and for two days. */
static void findings_of_others_are_shown_while_they_are_current(void **state)
{
    struct world *world = *state;
    struct check_counts folder = {.errors[TOPIC_keys] = 1, .warnings[TOPIC_plan_classes] = 2};
    struct check_counts checks = {.errors = {[TOPIC_keys] = 9, [TOPIC_versions] = 3},
                                  .warnings[TOPIC_plan_classes] = 1};
    struct check_counts web = {.errors = {[TOPIC_web] = 2, [TOPIC_versions] = 9}};
    struct health_figures figures;

    health_note_folder(world->health, &folder);
    health_figures(world->health, 1000000, &figures);
    assert_i64(figures.checks_at, 0);
    assert_true(shows(world, 1000000, "quartermaster_check_database_seconds -1"));
    assert_true(shows(world, 1000000, "quartermaster_check_web_seconds -1"));
    health_note_checks(world->health, &checks, 1000000);
    health_note_web(world->health, &web, 1000100);
    health_figures(world->health, 1000160, &figures);
    assert_int_equal(figures.checks.errors[TOPIC_keys], 1);
    assert_int_equal(figures.checks.errors[TOPIC_versions], 3);
    assert_int_equal(figures.checks.errors[TOPIC_web], 2);
    assert_int_equal(figures.checks.warnings[TOPIC_plan_classes], 2);
    assert_i64(figures.checks_at, 1000000);
    assert_i64(figures.web_at, 1000100);
    assert_true(shows(world, 1000160, "quartermaster_check_database_seconds 160"));
    assert_true(shows(world, 1000160, "quartermaster_check_web_seconds 60"));
    assert_true(shows(world, 999999, "quartermaster_check_web_seconds 0"));
    assert_true(
        shows(world, 1000160, "quartermaster_check_findings{severity=\"error\",topic=\"web\"} 2"));
    health_figures(world->health, 1000000 + CHECKS_CURRENT_S, &figures);
    assert_int_equal(figures.checks.errors[TOPIC_versions], 0);
    assert_int_equal(figures.checks.errors[TOPIC_web], 2);
    assert_i64(figures.checks_at, 0);
}

static void counts_are_read_as_they_were_written(void **state)
{
    struct world *world = *state;
    struct check_counts counts = {.error_count = 0}, read;
    struct buffer words = buffer_in(world->arena);
    int64_t at;

    for (int i = 0; i < TOPIC_COUNT; i += 2) {
        check_count(&counts, &(const struct check_finding){CHECK_ERROR, (enum check_topic)i, ""});
        check_count(&counts, &(const struct check_finding){CHECK_WARNING, (enum check_topic)i, ""});
    }
    check_counts_write(&counts, 77, &words);
    buffer_add_string(&words, "later 3 4\nkeys\nfolders 70000 -1\n\n");
    check_counts_read(buffer_text(&words), &read, &at);
    assert_i64(at, 77);
    counts.errors[TOPIC_keys] = counts.warnings[TOPIC_keys] = 0;
    counts.errors[TOPIC_folders] = counts.warnings[TOPIC_folders] = 0;
    assert_memory_equal(counts.errors, read.errors, sizeof(counts.errors));
    assert_memory_equal(counts.warnings, read.warnings, sizeof(counts.warnings));
    check_counts_read(TEXT("at x\n"), &read, &at);
    assert_i64(at, 0);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, remove_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(nothing_is_well_before_it_was_asked),
        IN_WORLD(every_trouble_is_told),
        IN_WORLD(a_stop_goes_before_all),
        IN_WORLD(replies_of_the_last_ten_minutes_count),
        IN_WORLD(clients_with_another_key_are_counted),
        IN_WORLD(the_last_request_has_an_age),
        IN_WORLD(what_waits_is_shown_while_it_can_be_had),
        IN_WORLD(findings_are_shown_by_topic),
        IN_WORLD(findings_of_others_are_shown_while_they_are_current),
        IN_WORLD(counts_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
