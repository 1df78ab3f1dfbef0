/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of what a host says of itself: read again it says the same, whatever the client. */
#include "server/policy/host/host_said.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/parse/elements.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define BODY(elements)                                                                   \
    "<scheduler_request>\n<platform_name>x86_64-pc-linux-gnu</platform_name>\n" elements \
    "</scheduler_request>\n"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 24);
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void what_captures_say_is_read_again(void **state)
{
    size_t with_coprocs = 0;

    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++) {
        struct text body = capture_read_path(*path), said, again;
        struct parsed *first = parse_body(body), *second;

        if (first->status == STATUS_OK) {
            said = host_said_write(&first->message, arena);
            assert_true(said.length > 0 && said.length < HOST_SAID_BYTES_MAX);
            second = parse_body(said);
            assert_status(STATUS_OK, second->status);
            again = host_said_write(&second->message, arena);
            assert_true(text_equal(said, again));
            assert_i64((int64_t)second->message.platform_count,
                       (int64_t)first->message.platform_count);
            assert_i64((int64_t)second->message.coproc_count, (int64_t)first->message.coproc_count);
            with_coprocs += second->message.coproc_count > 0;
            parsed_free(second);
        }
        parsed_free(first);
        text_free(body);
    }
    assert_true(with_coprocs > 3);
}

/* One client on one machine: attached, with jobs and without, reporting, with other preferences,
 * started again, with an older state. Whatever else a request says, this is written once. */
static void one_host_says_the_same_in_all_its_requests(void **state)
{
    static const char *const v7[] = {"tests/captures/0", "tests/captures/10", "tests/captures/11"};
    static const char *const others[] = {"051", "052", "054", "055", "056", "057", "059",
                                         "060", "066", "067", "069", "070", "071", "073",
                                         "074", "082", "083", "085"}; /* with coprocessors, or a
                                                                         file of their own */
    uint64_t first = 0;
    size_t count = 0;

    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++) {
        struct text body = capture_read_path(*path), name = text_from(*path);
        struct parsed *parsed = parse_body(body);
        bool counts = parsed->status == STATUS_OK;

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            counts = counts && !text_contains(name, text_print(arena, "/%s-", others[i]));
        if (counts &&
            (text_contains(name, text_from(v7[0])) || text_contains(name, text_from(v7[1])) ||
             text_contains(name, text_from(v7[2])))) {
            if (count++ == 0)
                first = parsed->message.said_digest;
            if (parsed->message.said_digest != first)
                fail_msg("%s says something else", *path);
        }
        parsed_free(parsed);
        text_free(body);
    }
    assert_true(count > 50);
}

static uint64_t digest_of(const char *body)
{
    struct parsed *parsed = parse_accepted(body);
    uint64_t digest = parsed->message.said_digest;

    parsed_free(parsed);
    return digest;
}

static void the_digest_changes_with_what_lasts(void **state)
{
    static const char *const different[] = {
        BODY(""),
        BODY("<core_client_release>5</core_client_release>\n"),
        BODY("<client_cap_plan_class>1</client_cap_plan_class>\n"),
        BODY("<alt_platform>\n<name>i686-pc-linux-gnu</name>\n</alt_platform>\n"),
        BODY("<host_info>\n<p_features>sse2 avx</p_features>\n</host_info>\n"),
        BODY("<host_info>\n<p_features>sse2 avx2</p_features>\n</host_info>\n"),
        BODY("<host_info>\n<docker_version>5</docker_version>\n</host_info>\n"),
        BODY("<coprocs>\n<coproc_cuda>\n<count>1</count>\n<drvVersion>1</drvVersion>\n"
             "</coproc_cuda>\n</coprocs>\n"),
        BODY("<coprocs>\n<coproc_cuda>\n<count>1</count>\n<drvVersion>2</drvVersion>\n"
             "</coproc_cuda>\n</coprocs>\n"),
        BODY("<coprocs>\n<coproc_cuda>\n<count>1</count>\n<cudaVersion>2</cudaVersion>\n"
             "</coproc_cuda>\n</coprocs>\n"),
    };
    static const char *const alike[] = {
        BODY("<rpc_seqno>7</rpc_seqno>\n"),
        BODY("<work_req_seconds>7</work_req_seconds>\n"),
        BODY("<host_info>\n<d_free>7</d_free>\n<domain_name>x</domain_name>\n</host_info>\n"),
        BODY("<app_versions>\n<app_version>\n<app_name>x</app_name>\n</app_version>\n"
             "</app_versions>\n"),
        BODY("<time_stats>\n<on_frac>0.5</on_frac>\n</time_stats>\n"),
    };
    enum { DIFFERENT = sizeof different / sizeof *different };
    uint64_t digests[DIFFERENT];

    (void)state;
    for (size_t i = 0; i < DIFFERENT; i++) {
        digests[i] = digest_of(different[i]);
        assert_true(digests[i] != 0);
        for (size_t j = 0; j < i; j++)
            assert_true(digests[i] != digests[j]);
    }
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        assert_true(digest_of(alike[i]) == digests[0]);
    assert_true(digest_of(BODY("<coprocs>\n<coproc_cuda>\n<count>1</count>\n<drvVersion>1"
                               "</drvVersion>\n<req_secs>9</req_secs>\n<estimated_delay>9"
                               "</estimated_delay>\n</coproc_cuda>\n</coprocs>\n")) == digests[7]);
}

static void versions_are_kept_of_clients_that_bring_their_own(void **state)
{
    struct parsed *parsed = parse_accepted(
        "<scheduler_request>\n<platform_name>anonymous</platform_name>\n<app_versions>\n"
        "<app_version>\n<app_name>mine</app_name>\n<coproc>\n<type>ATI</type>\n<count>2</count>\n"
        "</coproc>\n</app_version>\n</app_versions>\n</scheduler_request>\n");
    struct text said = host_said_write(&parsed->message, arena);

    (void)state;
    assert_true(text_contains(said, TEXT("<app_name>mine</app_name>")));
    assert_true(text_contains(said, TEXT("<type>ATI</type>")));
    parsed_free(parsed);
}

/* Names, addresses, keys and preferences are no part of it. */
static void nothing_tells_whose_it_is(void **state)
{
    struct parsed *parsed = parse_accepted(
        BODY("<authenticator>MARK</authenticator>\n<cross_project_id>MARK</cross_project_id>\n"
             "<hostid>5</hostid>\n<global_preferences>MARK</global_preferences>\n"
             "<host_info>\n<domain_name>MARK</domain_name>\n<ip_addr>MARK</ip_addr>\n"
             "<host_cpid>MARK</host_cpid>\n</host_info>\n"));
    struct text said = host_said_write(&parsed->message, arena);

    (void)state;
    assert_false(text_contains(said, TEXT("MARK")));
    assert_false(text_contains(said, TEXT("hostid")));
    parsed_free(parsed);
}

static void one_that_says_too_much_is_not_kept(void **state)
{
    struct buffer body = buffer_on_heap(0);
    struct parsed *parsed;

    (void)state;
    buffer_add_string(&body, "<scheduler_request>\n<platform_name>anonymous</platform_name>\n"
                             "<app_versions>\n");
    for (int i = 0; i < 1000; i++)
        buffer_add_string(&body, "<app_version>\n<app_name>a_name_of_some_length</app_name>\n"
                                 "</app_version>\n");
    buffer_add_string(&body, "</app_versions>\n</scheduler_request>\n");
    parsed = parse_body(buffer_text(&body));
    assert_status(STATUS_OK, parsed->status);
    assert_i64((int64_t)host_said_write(&parsed->message, arena).length, 0);
    parsed_free(parsed);
    buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_captures_say_is_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(one_host_says_the_same_in_all_its_requests, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_digest_changes_with_what_lasts, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_are_kept_of_clients_that_bring_their_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nothing_tells_whose_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_says_too_much_is_not_kept, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
