/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker takes from the web server's variables: time and seed, real and simulated. */
#include "server/process/web_request.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "tests/support/test.h"

#include <string.h>
#include <time.h>

#include "server/base/banned.h"

static const char *simulated_time; /* the header of the case */

static const char *read_variable(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "HTTP_X_SIMULATED_TIME") == 0 ? simulated_time : NULL;
}

static struct web_request fill(const char *time_word, bool clock_from_request, const char *body)
{
    struct web_request web = {.transport = {.body = text_from(body)}};

    simulated_time = time_word;
    web_request_read(&web, clock_from_request, read_variable, NULL);
    return web;
}

static void the_header_is_the_time_where_it_may_be(void **state)
{
    (void)state;
    double now = (double)time(NULL);

    assert_real(fill("1767225600.5", true, "").now, 1767225600.5, 0);
    assert_true(fill("1767225600.5", true, "").is_simulated);
    assert_real(fill("1767225600.5", false, "").now, now, 10);
    assert_false(fill("1767225600.5", false, "").is_simulated);
    assert_real(fill("yesterday", true, "").now, now, 10);
    assert_false(fill("yesterday", true, "").is_simulated);
    assert_real(fill("-1", true, "").now, now, 10);
    assert_real(fill("1e30", true, "").now, now, 10);
    assert_real(fill(NULL, true, "").now, now, 10);
}

static void the_same_simulated_request_has_the_same_seed(void **state)
{
    (void)state;
    uint64_t seed = fill("1e9", true, "<a>k1</authenticator><hostid>7</hostid>").seed;

    assert_true(fill("1e9", true, "<a>k1</authenticator><hostid>7</hostid>").seed == seed);
    assert_true(fill("1e9", true, "<a>k2</authenticator><hostid>7</hostid>").seed == seed);
    assert_false(fill("1e9", true, "<a>k1</authenticator><hostid>8</hostid>").seed == seed);
    assert_false(fill("1000000001", true, "<a>k1</authenticator><hostid>7</hostid>").seed == seed);
    assert_false(fill("1e9", true, "<hostid>8").seed == fill("1e9", true, "<hostid>9").seed);
}

static void real_requests_have_seeds_of_their_own(void **state)
{
    (void)state;

    assert_false(fill(NULL, false, "same").seed == fill(NULL, false, "same").seed);
}

static void assert_head(const char *time_word, bool clock_from_request, const char *wanted)
{
    struct web_request web = fill(time_word, clock_from_request, "");
    struct buffer head = buffer_on_heap(1000);

    web_reply_head(&head, "text/xml", &web, 12);
    assert_text(buffer_text(&head), wanted);
    buffer_free(&head);
}

static void a_time_that_was_taken_is_repeated(void **state)
{
    (void)state;

    assert_head("1767225600.5", true,
                "Content-Type: text/xml\r\nContent-Length: 12\r\n"
                "X-Simulated-Time: 1767225600.500\r\n\r\n");
    assert_head("1767225600.5", false, "Content-Type: text/xml\r\nContent-Length: 12\r\n\r\n");
    assert_head(NULL, true, "Content-Type: text/xml\r\nContent-Length: 12\r\n\r\n");
}

static const char *asked[4]; /* method, script, page of the sample, query */

static const char *read_asked(void *context, const char *name)
{
    static const char *const names[] = {"REQUEST_METHOD", "SCRIPT_NAME", "QM_PAGE", "QUERY_STRING"};

    (void)context;
    for (size_t i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return asked[i];
    return NULL;
}

static enum join_page ask(bool joining, const char *method, const char *script, const char *page)
{
    const struct config config = {.joining = joining};

    asked[0] = method;
    asked[1] = script;
    asked[2] = page;
    return web_request_join_page(read_asked, NULL, &config);
}

static void pages_for_joining_are_answered_where_the_project_says_so(void **state)
{
    (void)state;
    const char *script = "/test/create_account.php";

    assert_int_equal(ask(true, "GET", script, NULL), JOIN_CREATE);
    assert_int_equal(ask(false, "GET", script, NULL), JOIN_NONE);
    assert_int_equal(ask(true, "POST", script, NULL), JOIN_NONE);
    assert_int_equal(ask(true, NULL, script, NULL), JOIN_NONE);
    assert_int_equal(ask(true, "GET", script, "metrics"), JOIN_NONE);
    assert_int_equal(ask(true, "GET", "/test_cgi/cgi", NULL), JOIN_NONE);
    assert_int_equal(ask(true, "GET", NULL, NULL), JOIN_NONE);
}

/* A client cannot ask for it: its headers come with HTTP_ before their names. */
static void pages_are_asked_for_by_the_web_server(void **state)
{
    static const struct {
        const char *method, *page;
        enum page_kind kind;
    } cases[] = {
        {"GET", "status", PAGE_SERVER}, {"GET", "project", PAGE_PROJECT},
        {"GET", "metrics", PAGE_KINDS}, {"GET", NULL, PAGE_KINDS},
        {"POST", "status", PAGE_KINDS}, {NULL, "status", PAGE_KINDS},
        {"GET", "Status", PAGE_KINDS},
    };

    static const struct {
        const char *method, *query;
        enum public_page page;
    } queries[] = {
        {"GET", NULL, PUBLIC_STATUS},
        {"GET", "xml=1", PUBLIC_STATUS},
        {"POST", "counts=1", PUBLIC_COUNTS},
        {"GET", "xml=1&counts=1", PUBLIC_COUNTS},
        {"GET", "counts=10&xcounts=1", PUBLIC_STATUS},
        {"PUT", "counts=1", PUBLIC_NONE},
        {NULL, "counts=1", PUBLIC_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        asked[0] = cases[i].method;
        asked[1] = "/test_cgi/cgi/status";
        asked[2] = cases[i].page;
        assert_int_equal(web_request_status_page(read_asked, NULL), cases[i].kind);
        assert_int_equal(web_request_public_page(read_asked, NULL), PUBLIC_NONE);
    }
    asked[2] = "server_status";
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        asked[0] = queries[i].method;
        asked[3] = queries[i].query;
        assert_int_equal(web_request_public_page(read_asked, NULL), queries[i].page);
    }
    asked[3] = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_the_time_where_it_may_be),
        cmocka_unit_test(the_same_simulated_request_has_the_same_seed),
        cmocka_unit_test(real_requests_have_seeds_of_their_own),
        cmocka_unit_test(a_time_that_was_taken_is_repeated),
        cmocka_unit_test(pages_are_asked_for_by_the_web_server),
        cmocka_unit_test(pages_for_joining_are_answered_where_the_project_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
