/* SPDX-License-Identifier: Apache-2.0 */
/* What a request is told before the database is asked. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "tests/support/test.h"

static struct arena *arena;
static struct config *config;
static struct request request;

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    assert_status(STATUS_OK, config_defaults(&config));
    memset(&request, 0, sizeof(request));
    request.config = config;
    request.arena = arena;
    request.now = 1795000000;
    request.client_version = 72005;
    request.message.p_vendor = TEXT("GenuineIntel");
    request.message.p_model = TEXT("i7 [Family 6]");
    request.message.os_name = TEXT("Linux Debian");
    request.message.os_version = TEXT("12");
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    config_release(config);
    return 0;
}

static bool is_said(enum message_priority priority, const char *words)
{
    for (size_t i = 0; i < request.early.message_count; i++) {
        if (request.early.messages[i].priority == priority &&
            text_contains(request.early.messages[i].text, text_from(words)))
            return true;
    }
    return false;
}

static void an_ordinary_client_hears_nothing(void **state)
{
    (void)state;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_int_equal(request.early.message_count, 0);
    assert_false(request.work_forbidden);
    assert_real(request.early.request_delay, 0, 0);
}

/* Or an account could have each request served on the turn of an account that nobody has. */
static void a_second_key_gets_nothing(void **state)
{
    (void)state;
    request.message.authenticator = TEXT("2222222222222222222222222222bbbb");
    request.transport.has_account = true;
    request.transport.account = request_account(TEXT(" 2222222222222222222222222222bbbb\n"));
    assert_int_equal(step_screen(&request), NEXT_STEP);
    request.transport.account = request_account(TEXT("another"));
    assert_int_equal(step_screen(&request), NEXT_REPLY);
    assert_int_equal(request.early.kind, ANSWER_NUCLEUS);
    assert_true(is_said(MESSAGE_LOW, "two account keys"));
    assert_string_equal(answer_first_reason(&request.early), "two_keys");
    assert_true(request.early.request_delay > 0);
}

static void an_old_client_gets_no_work(void **state)
{
    (void)state;
    config->min_core_client_version = 72006;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(request.work_forbidden);
    assert_true(is_said(MESSAGE_NOTICE, "7.20.6"));
    assert_true(request.early.request_delay >= 86400);
    assert_string_equal(answer_first_reason(&request.early), "client_not_accepted");
}

static void a_short_version_number_is_understood(void **state)
{
    (void)state;
    config->min_core_client_version = 721;
    step_screen(&request);
    assert_true(is_said(MESSAGE_NOTICE, "7.21.0"));
}

static void ban(const char *option, const char *pattern)
{
    struct failure failure = {0};

    assert_status(STATUS_OK, config_set(config, text_from(option), text_from(pattern), &failure));
}

static void a_banned_system_gets_no_work(void **state)
{
    (void)state;
    ban("ban_os", "^Linux.*\t1[0-2]$");
    ban("ban_os", "Plan 9");
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(request.work_forbidden);
    assert_true(is_said(MESSAGE_NOTICE, "Linux Debian 12"));
    assert_string_equal(answer_first_reason(&request.early), "os_not_accepted");
    assert_true(request.early.request_delay >= 86400);
}

static void a_banned_processor_gets_no_work(void **state)
{
    (void)state;
    ban("ban_cpu", "^Genuine.*\ti7");
    step_screen(&request);
    assert_true(request.work_forbidden);
    assert_true(is_said(MESSAGE_NOTICE, "GenuineIntel i7 [Family 6]"));
    assert_string_equal(answer_first_reason(&request.early), "cpu_not_accepted");
}

/* Each is counted, the first is the one of the log. */
static void what_comes_together_is_all_noted(void **state)
{
    static const enum reason all[] = {REASON_CLIENT_NOT_ACCEPTED, REASON_OS_NOT_ACCEPTED,
                                      REASON_CPU_NOT_ACCEPTED, REASON_DONT_SEND_JOBS};

    (void)state;
    config->min_core_client_version = 72006;
    config->dont_send_jobs = true;
    request.message.cpu_req_seconds = 100;
    request.message.has_resource_request = true;
    ban("ban_os", "Linux");
    ban("ban_cpu", "Intel");
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_int_equal(request.early.reason_count, sizeof(all) / sizeof(all[0]));
    for (size_t i = 0; i < request.early.reason_count; i++)
        assert_int_equal(request.early.reasons[i], all[i]);
}

static void other_systems_are_not_banned(void **state)
{
    (void)state;
    ban("ban_os", "Windows");
    ban("ban_cpu", "Windows");
    ban("ban_cpu", ""); /* none */
    step_screen(&request);
    assert_false(request.work_forbidden);
}

/* One message, whatever is missing. */
static void missing_names_are_noticed(void **state)
{
    (void)state;
    request.message.os_name = NO_TEXT;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(is_said(MESSAGE_NOTICE, "Your BOINC client does not tell the operating system"));
    request.early.message_count = 0;
    request.message.p_vendor = NO_TEXT;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_int_equal(request.early.message_count, 1);
    assert_true(is_said(MESSAGE_NOTICE, "does not describe this computer: host_info is missing"));
    assert_false(request.work_forbidden);
    request.early.message_count = 0;
    request.message.os_name = TEXT("Linux");
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(is_said(MESSAGE_NOTICE, "does not tell the vendor of the processor"));
}

static void an_upgrade_is_announced_in_time(void **state)
{
    static const struct {
        int64_t left;
        bool low, notice;
    } cases[] = {
        {10 * 86400, true, false}, {3 * 86400, true, false}, {3 * 86400 - 1, false, true},
        {3600, false, true},       {3599, false, false},     {-100, false, false},
    };

    (void)state;
    config->min_core_client_version_announced = 80000;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        request.early.message_count = 0;
        config->min_core_client_upgrade_deadline = 1795000000 + cases[i].left;
        step_screen(&request);
        assert_int_equal(is_said(MESSAGE_LOW, "8.0.0"), cases[i].low);
        assert_int_equal(is_said(MESSAGE_NOTICE, "8.0.0"), cases[i].notice);
    }
    request.client_version = 80000;
    request.early.message_count = 0;
    config->min_core_client_upgrade_deadline = 1795000000 + 86400;
    step_screen(&request);
    assert_int_equal(request.early.message_count, 0);
}

static void a_project_can_stop_sending(void **state)
{
    (void)state;
    config->dont_send_jobs = true;
    request.message.cpu_req_seconds = 100;
    request.message.has_resource_request = true;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(request.work_forbidden);
    assert_true(is_said(MESSAGE_LOW, "no jobs"));
    config->dont_send_jobs = false;
    request.early.message_count = 0;
    request.work_forbidden = false;
    request.early.reason_count = 0;
    request.stop_work = true;
    assert_int_equal(step_screen(&request), NEXT_STEP);
    assert_true(request.work_forbidden);
    assert_true(is_said(MESSAGE_LOW, "no jobs"));
    assert_string_equal(answer_first_reason(&request.early), "stop_work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_ordinary_client_hears_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_key_gets_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(an_old_client_gets_no_work, setup, teardown),
        cmocka_unit_test_setup_teardown(a_short_version_number_is_understood, setup, teardown),
        cmocka_unit_test_setup_teardown(a_banned_system_gets_no_work, setup, teardown),
        cmocka_unit_test_setup_teardown(a_banned_processor_gets_no_work, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_together_is_all_noted, setup, teardown),
        cmocka_unit_test_setup_teardown(other_systems_are_not_banned, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_names_are_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_upgrade_is_announced_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_project_can_stop_sending, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
