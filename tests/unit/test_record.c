/* SPDX-License-Identifier: Apache-2.0 */
/* The last writes of a transaction, and messages in both directions, before a fake database. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "tests/support/db_fake.h"
#include "tests/support/test.h"

enum { NOW = 1795000000 };

static struct arena *arena;
static struct config config;
static struct request request;
static struct host_app_version_row versions[3];
static struct host_app_version_change changes[4];

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    db_fake_begin("host_save host_app_versions_save messages_from_host_save"
                  " messages_to_host_take");
    db_fake.messages[0] = TEXT("<one/>");
    db_fake.messages[1] = TEXT("<two/>");
    db_fake.message_count = 2;
    memset(&config, 0, sizeof(config));
    memset(&request, 0, sizeof(request));
    memset(changes, 0, sizeof(changes));
    versions[0] = (struct host_app_version_row){
        .app_version_id = 70, .max_jobs_per_day = 40, .n_jobs_today = 3};
    versions[1] = (struct host_app_version_row){.app_version_id = 71, .max_jobs_per_day = 40};
    versions[2] = (struct host_app_version_row){.app_version_id = 72};
    request.config = &config;
    request.arena = arena;
    request.now = NOW;
    request.token = 77;
    request.attempt.host.id = 3;
    request.attempt.versions = versions;
    request.attempt.version_count = 3;
    request.attempt.version_changes = changes;
    request.attempt.version_change_capacity = 4;
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void an_ordinary_request_leaves_the_host_to_the_end(void **state)
{
    (void)state;
    assert_int_equal(step_record(&request), NEXT_STEP);
    assert_true(request.attempt.contact_waits);
    assert_int_equal(db_fake_calls("host_save"), 0);
}

static void another_machine_is_written_whole(void **state)
{
    (void)state;
    request.attempt.contact_waits = true;
    request.attempt.host.p_model = TEXT("another");
    assert_int_equal(step_record(&request), NEXT_STEP);
    assert_false(request.attempt.contact_waits);
    assert_int_equal(db_fake_calls("host_save"), 1);
    assert_int_equal(db_fake_calls("host_app_versions_save"), 0);
}

static void a_new_host_is_not_written_twice(void **state)
{
    (void)state;
    request.attempt.host_is_new = true;
    request.attempt.version_count = 0;
    assert_int_equal(step_record(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_save"), 0);
}

static void a_new_day_clears_what_was_counted(void **state)
{
    (void)state;
    request.attempt.is_new_day = true;
    assert_int_equal(step_record(&request), NEXT_STEP);
    assert_int_equal(request.attempt.version_change_count, 1);
    assert_i64(changes[0].app_version_id, 70);
    assert_true(changes[0].reset_today);
    assert_false(changes[0].sets_max_jobs_per_day);
    assert_int_equal(db_fake_calls("host_app_versions_save"), 1);
}

static void a_quota_that_nobody_set_starts_full(void **state)
{
    (void)state;
    config.daily_result_quota = 50;
    assert_int_equal(step_record(&request), NEXT_STEP);
    assert_int_equal(request.attempt.version_change_count, 1);
    assert_i64(changes[0].app_version_id, 72);
    assert_i64(changes[0].max_jobs_per_day, 50);
    assert_false(changes[0].reset_today);
}

static void a_quota_that_a_report_set_stays(void **state)
{
    struct host_app_version_change *change;

    (void)state;
    config.daily_result_quota = 50;
    change = request_version_change(&request, 72);
    change->sets_max_jobs_per_day = true;
    change->max_jobs_per_day = 49;
    step_record(&request);
    assert_int_equal(request.attempt.version_change_count, 1);
    assert_i64(changes[0].max_jobs_per_day, 49);
}

static void only_a_first_job_inherits(void **state)
{
    (void)state;
    request_version_change(&request, 80)->jobs_sent = 1;
    request_version_change(&request, 70)->jobs_sent = 1;
    request_version_change(&request, 81)->resets_consecutive_valid = true;
    step_record(&request);
    assert_true(changes[0].inherits);
    assert_false(changes[1].inherits);
    assert_false(changes[2].inherits);
}

/* One acknowledgement is for all of them, and without it all come again for ever: so too many are
 * acknowledged, the first ones are stored, and it is said that the others are lost. */
static void of_too_many_trickles_the_first_are_stored(void **state)
{
    struct trickle_up trickle = {.variety = TEXT("v"), .xml = TEXT("<a/>")};
    uint64_t before = counter_value(COUNTER_trickles_refused);

    (void)state;
    request.message.trickles = &trickle;
    request.message.trickle_count = 1;
    request.message.trickles_left = 4;
    assert_int_equal(step_messages(&request), NEXT_STEP);
    assert_int_equal(db_fake.from_host_count, 1);
    assert_true(request.attempt.answer.message_ack);
    assert_int_equal(counter_value(COUNTER_trickles_refused) - before, 4);
    assert_int_equal(request.attempt.answer.message_count, 1);
    assert_true(text_contains(request.attempt.answer.messages[0].text, TEXT("sent 5 messages")));
    assert_true(text_contains(request.attempt.answer.messages[0].text, TEXT("Lost: the last 4")));
}

static void trickles_are_stored_and_acknowledged(void **state)
{
    struct trickle_up trickles[2] = {{.variety = TEXT("v"), .xml = TEXT("<a/>")},
                                     {.variety = TEXT("w")}};

    (void)state;
    assert_int_equal(step_messages(&request), NEXT_STEP);
    assert_false(request.attempt.answer.message_ack);
    request.message.trickles = trickles;
    request.message.trickle_count = 2;
    assert_int_equal(step_messages(&request), NEXT_STEP);
    assert_true(request.attempt.answer.message_ack);
    assert_int_equal(db_fake_calls("messages_from_host_save"), 1);
    assert_int_equal(db_fake.from_host_count, 2);
    assert_text(db_fake.from_host[0].variety, "v");
    assert_text(db_fake.from_host[0].xml, "<a/>");
}

static void messages_are_taken_where_the_project_has_them(void **state)
{
    (void)state;
    step_messages(&request);
    assert_int_equal(request.attempt.answer.host_messages.count, 0);
    config.msg_to_host = true;
    step_messages(&request);
    assert_int_equal(request.attempt.answer.host_messages.count, 2);
    assert_text(request.attempt.answer.host_messages.first->text, "<one/>");
}

static void every_call_may_fail(void **state)
{
    struct trickle_up trickle = {.variety = TEXT("v")};
    int calls;

    (void)state;
    for (calls = 0;; calls++) {
        teardown(NULL);
        setup(NULL);
        config.msg_to_host = true;
        request.message.trickles = &trickle;
        request.message.trickle_count = 1;
        request.attempt.is_new_day = true;
        request.attempt.host.p_model = TEXT("another");
        db_fake.calls_left = calls;
        if (step_messages(&request) == NEXT_STEP && step_record(&request) == NEXT_STEP)
            break;
        assert_int_not_equal(request.failure.status, STATUS_OK);
        assert_true(calls > 0 || !request.attempt.answer.message_ack);
    }
    assert_int_equal(calls, 4);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_ordinary_request_leaves_the_host_to_the_end),
        CASE(another_machine_is_written_whole),
        CASE(a_new_host_is_not_written_twice),
        CASE(a_new_day_clears_what_was_counted),
        CASE(a_quota_that_nobody_set_starts_full),
        CASE(a_quota_that_a_report_set_stays),
        CASE(only_a_first_job_inherits),
        CASE(trickles_are_stored_and_acknowledged),
        CASE(of_too_many_trickles_the_first_are_stored),
        CASE(messages_are_taken_where_the_project_has_them),
        CASE(every_call_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
