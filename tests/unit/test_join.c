/* SPDX-License-Identifier: Apache-2.0 */
/* The pages for joining without a database: what is read of a query, the rules for names and
 * addresses, the answers as XML, and the limits. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/xml.h"
#include "server/join/join_limits.h"
#include "server/join/join_page.h"
#include "server/join/join_query.h"
#include "server/policy/host/client_keys.h"
#include "server/project/catalog.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static struct join_query read_query(const char *query)
{
    struct join_query values;

    join_query_read(case_arena, text_from(query), &values);
    return values;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void what_boinccmd_sends_is_read(void **state)
{
    (void)state;
    struct join_query query = read_query("email_addr=bob%40example%2Ecom"
                                         "&passwd_hash=e1e0c1a0ff0b50bd7a40dc9ec1a34c0a"
                                         "&user_name=Bob%20%26%20J%C3%BCrgen&team_name=A%2DTeam"
                                         "&consent_flag=1&source=BOINC%20Manager");

    assert_text(query.email_addr, "bob@example.com");
    assert_text(query.passwd_hash, "e1e0c1a0ff0b50bd7a40dc9ec1a34c0a");
    assert_text(query.user_name, "Bob & J\xC3\xBCrgen");
    assert_text(query.team_name, "A-Team");
    assert_text(query.consent_flag, "1");
    assert_text(query.source, "BOINC Manager");
}

static void what_client_5_2_does_not_escape_is_read(void **state)
{
    (void)state;
    struct join_query query =
        read_query("email_addr=Bob+boinc@Example.COM&passwd_hash=0123&user_name=Bob B.");

    assert_text(query.email_addr, "bob+boinc@example.com");
    assert_text(query.user_name, "Bob B.");
    assert_text(read_query("user_name=Bob+B").user_name, "Bob B");
}

static void a_name_of_windows_becomes_utf8(void **state)
{
    (void)state;

    assert_text(read_query("user_name=J%FCrgen").user_name, "J\xC3\xBCrgen");
    assert_text(read_query("user_name=%FF%C3").user_name, "\xC3\xBF\xC3\x83");
}

static void odd_queries_are_read_as_far_as_they_go(void **state)
{
    (void)state;

    assert_text(read_query("").email_addr, "");
    assert_text(read_query("&&=&email_addr").email_addr, "");
    assert_text(read_query("user_name=a%").user_name, "a%");
    assert_text(read_query("user_name=a%4").user_name, "a%4");
    assert_text(read_query("user_name=a%4g%41").user_name, "a%4gA");
    assert_text(read_query("user_name=a&user_name=b").user_name, "b");
    assert_text(read_query("user_name=a=b").user_name, "a=b");
    assert_text(read_query("USER_NAME=a&xuser_name=b&user_namex=c").user_name, "");
    assert_int_equal(read_query("user_name=a%00b").user_name.length, 3);
}

static void of_a_query_that_is_too_long_nothing_is_read(void **state)
{
    (void)state;
    static char query[1 << 20];

    memset(query, 'a', sizeof(query));
    memcpy(query, "email_addr=a@b.c&x=", 19);
    struct join_query values;
    join_query_read(case_arena, (struct text){.at = query, .length = JOIN_QUERY_MAX}, &values);
    assert_text(values.email_addr, "a@b.c");
    join_query_read(case_arena, (struct text){.at = query, .length = JOIN_QUERY_MAX + 1}, &values);
    assert_text(values.email_addr, "");
    join_query_read(case_arena, (struct text){.at = query, .length = sizeof(query)}, &values);
    assert_text(values.email_addr, "");
}

/* --- rules ------------------------------------------------------------------------------------ */

static void names_follow_the_rules(void **state)
{
    (void)state;
    static const char *const good[] = {"Bob",   "Bob B", "12a",      "J\xC3\xBCrgen",   "1e5x",
                                       "a;b--", "inf",   "\\ % {x}", "\xF0\x9F\x9A\x80"};
    static const char *const bad[] = {"",       " Bob", "Bob ",      "\tBob",         "12",
                                      "1e5",    "-3.5", "<b>",       "a>b",           "a&b",
                                      "O'Neil", "a\"b", "a\nb",      "a\x01",         "a\x7F",
                                      "a\xFF",  "\xC3", "a\xC2\x85", "a\xED\xA0\x80", "0"};
    char name[192 + 1];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(join_name_is_good(text_from(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(join_name_is_good(text_from(bad[i])));
    assert_false(join_name_is_good((struct text){.at = "a\0b", .length = 3}));
    memset(name, 'x', sizeof(name));
    assert_true(join_name_is_good((struct text){.at = name, .length = 191}));
    assert_false(join_name_is_good((struct text){.at = name, .length = 192}));
}

static void a_name_with_a_number_is_a_good_name(void **state)
{
    (void)state;
    char longest[191 * 3 + 1] = "";

    assert_text(join_name_with_number(case_arena, TEXT("Bob"), 42), "Bob 42");
    assert_text(join_name_with_number(case_arena, TEXT("+"), 5), "+ 5");
    memset(longest, 'x', 191);
    struct text numbered = join_name_with_number(case_arena, text_from(longest), 999999999);
    assert_int_equal(numbered.length, 191);
    assert_true(text_ends(numbered, TEXT("x 999999999")));
    for (int i = 0; i < 84; i++) /* 252 bytes */
        memcpy(longest + 3 * i, "\xE2\x82\xAC", 3);
    longest[252] = '\0';
    numbered = join_name_with_number(case_arena, text_from(longest), 12345);
    assert_int_equal(numbered.length, 82 * 3 + 6);
    assert_true(join_name_is_good(numbered));
}

static void addresses_follow_the_rules(void **state)
{
    (void)state;
    static const char *const good[] = {"bob@example.com", "a@b.c", "o'neil+x@a-b.co.uk",
                                       "bob@1.example.org"};
    static const char *const bad[] = {
        "",         "bob",          "bob@localhost", "@example.com", "bob@",    "a b@c.de",
        "a@b..c",   "a@.b.c",       "a@b.c.",        ".a@b.c",       "a.@b.c",  "a..b@c.de",
        "a@b@c.de", "a@-b.c",       "a@b-.c",        "a@b_c.de",     "a\n@b.c", "a@b.c\n",
        "<a@b.c>",  "\xC3\xBC@b.c", "a@b.c ",        "\"a b\"@c.d"};
    char address[200];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(join_email_is_good(text_from(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(join_email_is_good(text_from(bad[i])));
    assert_false(join_email_is_good((struct text){.at = "a\0@b.c", .length = 6}));
    memset(address, 'x', sizeof(address));
    memcpy(address + 65, "@b.c", 5);
    assert_false(join_email_is_good(text_from(address)));
    assert_true(join_email_is_good(text_from(address + 1)));
}

static void a_hash_has_32_digits(void **state)
{
    (void)state;

    assert_true(join_hash_is_good(TEXT("0123456789abcdefABCDEF0123456789")));
    assert_false(join_hash_is_good(TEXT("0123456789abcdefABCDEF012345678")));
    assert_false(join_hash_is_good(TEXT("0123456789abcdefABCDEF01234567899")));
    assert_false(join_hash_is_good(TEXT("0123456789abcdefghijkl0123456789")));
    assert_false(join_hash_is_good(NO_TEXT));
}

/* What a client makes of a password and an address, and a weak key of an account. */
static void the_digests_of_the_protocol(void **state)
{
    (void)state;
    char hash[MD5_HEX_SIZE];
    const struct user_row user = {
        .id = 7,
        .authenticator = TEXT("0123456789abcdef0123456789abcdef"),
        .passwd_hash = TEXT("af918ab81954a4df4a78fe5ae7e7bf72"),
    };

    md5_hex(TEXT("secret pass"), TEXT("bob@example.com"), hash);
    assert_true(join_hash_is_good(text_from(hash)));
    assert_int_equal(account_key_match(TEXT("7_265ad6585549a692958518a830f6d54c"), &user),
                     KEY_WEAK);
}

/* --- pages ------------------------------------------------------------------------------------ */

static void paths_name_pages(void **state)
{
    (void)state;

    assert_int_equal(join_page_of(TEXT("/test/get_project_config.php")), JOIN_CONFIG);
    assert_int_equal(join_page_of(TEXT("/test//lookup_account.php")), JOIN_LOOKUP);
    assert_int_equal(join_page_of(TEXT("/create_account.php")), JOIN_CREATE);
    assert_int_equal(join_page_of(TEXT("/test_cgi/cgi")), JOIN_NONE);
    assert_int_equal(join_page_of(TEXT("create_account.php")), JOIN_NONE);
    assert_int_equal(join_page_of(TEXT("/xcreate_account.php")), JOIN_NONE);
    assert_int_equal(join_page_of(TEXT("/create_account.php/")), JOIN_NONE);
    assert_int_equal(join_page_of(NO_TEXT), JOIN_NONE);
}

/* Well-formed, and a line has one element at most: its tag and its end. */
static void assert_sound(const struct buffer *page)
{
    const struct xml_limits limits = {.bytes_max = 1 << 20, .depth_max = 4, .elements_max = 1000};
    const struct xml_handler handler = {.context = NULL};
    struct failure failure = {0};
    struct text rest = buffer_text(page);

    assert_status(STATUS_OK, xml_walk(buffer_text(page), &limits, &handler, &failure));
    assert_true(text_ends(rest, TEXT("\n")));
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');
        size_t tags = 0;

        for (size_t i = 0; i < line.length; i++)
            tags += line.at[i] == '<' && line.at[i + 1] != '/';
        assert_true(tags <= 1);
    }
}

static bool page_has(const struct buffer *page, const char *part)
{
    return text_contains(buffer_text(page), text_from(part));
}

static void every_error_has_a_number_and_words(void **state)
{
    (void)state;

    for (int error = JOIN_NO_ERROR + 1; error < JOIN_ERROR_COUNT; error++) {
        struct buffer page = buffer_in(case_arena);

        join_write_error(&page, (enum join_error)error);
        assert_sound(&page);
        assert_true(join_error_number((enum join_error)error) < 0);
        assert_true(page_has(&page, "<error>\n    <error_num>-"));
        assert_false(page_has(&page, "<error_msg></error_msg>"));
    }
}

static void a_key_is_told(void **state)
{
    (void)state;
    struct buffer page = buffer_in(case_arena);

    join_write_key(&page, TEXT("0123456789abcdef0123456789abcdef"));
    assert_text(buffer_text(&page),
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" ?>\n<account_out>\n"
                "    <authenticator>0123456789abcdef0123456789abcdef</authenticator>\n"
                "</account_out>\n");
    assert_sound(&page);
}

static struct buffer config_page(const struct config *config, const struct catalog *catalog,
                                 const char *terms, bool is_stopped)
{
    struct buffer page = buffer_in(case_arena);
    const struct join_project project = {.config = config,
                                         .catalog = catalog,
                                         .terms_of_use = text_from(terms),
                                         .is_stopped = is_stopped};

    join_write_config(&page, &project);
    assert_sound(&page);
    return page;
}

static void the_project_is_described(void **state)
{
    (void)state;
    const struct config config = {.long_name = TEXT("Bees & <Wasps> of M\xC3\xBCnchen"),
                                  .master_url = TEXT("http://example.org/bees/"),
                                  .min_passwd_length = 6};
    struct buffer page = config_page(&config, NULL, "", false);

    assert_text(buffer_text(&page),
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" ?>\n<project_config>\n"
                "<name>Bees &amp; &lt;Wasps&gt; of M&#195;&#188;nchen</name>\n"
                "<master_url>http://example.org/bees/</master_url>\n"
                "<web_stopped>0</web_stopped>\n"
                "<min_passwd_length>6</min_passwd_length>\n"
                "<sched_stopped>0</sched_stopped>\n"
                "</project_config>\n");
}

static void the_rest_is_told_where_it_is_so(void **state)
{
    (void)state;
    const struct config config = {.web_rpc_url_base = TEXT("https://example.org/bees/"),
                                  .disable_account_creation = true,
                                  .disable_account_creation_rpc = true,
                                  .min_core_client_version = 71600};
    struct buffer page = config_page(&config, NULL, "", true);

    assert_true(page_has(&page, "<web_rpc_url_base>https://example.org/bees/</web_rpc_url_base>"));
    assert_true(page_has(&page, "<account_creation_disabled/>"));
    assert_true(page_has(&page, "<client_account_creation_disabled/>"));
    assert_true(page_has(&page, "<min_client_version>71600</min_client_version>"));
    assert_true(page_has(&page, "<error_num>-183</error_num>"));
    assert_true(page_has(&page, "<web_stopped>1</web_stopped>"));
}

static void terms_keep_their_lines_and_hide_their_tags(void **state)
{
    (void)state;
    const struct config config = {.min_passwd_length = 6};
    struct buffer page =
        config_page(&config, NULL, "<p>Be kind\r\n& f\xC3\xA4ir\x01\n</terms_of_use>", false);

    assert_true(page_has(&page, "<terms_of_use>\n&lt;p&gt;Be kind\n&amp; f\xC3\xA4ir\n"
                                "&lt;/terms_of_use&gt;\n</terms_of_use>\n"));
}

static void each_platform_with_a_version_is_named_once(void **state)
{
    (void)state;
    struct platform_row platforms[] = {
        {.id = 1, .name = TEXT("linux"), .user_friendly_name = TEXT("Linux & more")},
        {.id = 2, .name = TEXT("windows"), .user_friendly_name = TEXT("Windows")},
        {.id = 3, .name = TEXT("amiga"), .user_friendly_name = TEXT("Amiga")}};
    struct app_version_row versions[] = {
        {.id = 1, .platformid = 1},
        {.id = 2, .platformid = 1},
        {.id = 3, .platformid = 1, .plan_class = TEXT("cuda")},
        {.id = 4, .platformid = 2, .deprecated = 1},
    };
    const struct catalog catalog = {
        .rows = {
            .versions = versions, .version_count = 4, .platforms = platforms, .platform_count = 3}};
    const struct config config = {.min_passwd_length = 6};
    struct buffer page = config_page(&config, &catalog, "", false);

    assert_true(page_has(&page, "<platforms>\n"
                                "<platform>\n"
                                "    <platform_name>linux</platform_name>\n"
                                "    <user_friendly_name>Linux &amp; more</user_friendly_name>\n"
                                "</platform>\n"
                                "<platform>\n"
                                "    <platform_name>linux</platform_name>\n"
                                "    <user_friendly_name>Linux &amp; more</user_friendly_name>\n"
                                "    <plan_class>cuda</plan_class>\n"
                                "</platform>\n"
                                "</platforms>\n"));
}

/* --- limits ----------------------------------------------------------------------------------- */

#define HOUR_NS UINT64_C(3600000000000)

static int take_all(struct join_limits *limits, enum join_bucket bucket, const char *whose,
                    int64_t per_hour, uint64_t now_ns)
{
    int taken = 0;

    while (taken < 1000 && join_limits_take(limits, bucket, text_from(whose), per_hour, now_ns))
        taken++;
    return taken;
}

static void tries_come_back_with_time(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(1);

    assert_int_equal(take_all(limits, JOIN_OF_ACCOUNT, "a@b.c", 10, HOUR_NS), 10);
    assert_int_equal(take_all(limits, JOIN_OF_ACCOUNT, "a@b.d", 10, HOUR_NS), 10);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "a@b.c", 10, HOUR_NS), 10);
    assert_int_equal(take_all(limits, JOIN_OF_ACCOUNT, "a@b.c", 10, HOUR_NS * 3 / 2), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ACCOUNT, "a@b.c", 10, HOUR_NS * 9), 10);
    join_limits_give_back(limits, JOIN_OF_ACCOUNT, TEXT("a@b.c"), 10, HOUR_NS * 9);
    assert_int_equal(take_all(limits, JOIN_OF_ACCOUNT, "a@b.c", 10, HOUR_NS * 9), 1);
    join_limits_destroy(limits);
}

static void ten_thousand_guesses_are_few(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(1);
    int heard = 0;

    /* One guess a second. */
    for (uint64_t i = 0; i < 10000; i++)
        heard += join_limits_take(limits, JOIN_OF_ACCOUNT, TEXT("a@b.c"), 10,
                                  HOUR_NS + i * UINT64_C(1000000000));
    assert_in_range(heard, 37, 38); /* 10 and 10 an hour */
    join_limits_destroy(limits);
}

static void a_network_of_ipv6_is_one_address(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(1);

    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "2001:db8:1:2::1", 5, HOUR_NS), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "2001:db8:1:2:3:4:5:6", 5, HOUR_NS), 0);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "2001:db8:1:3::1", 5, HOUR_NS), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "::ffff:192.0.2.1", 5, HOUR_NS), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "::ffff:192.0.2.2", 5, HOUR_NS), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "192.0.2.1", 5, HOUR_NS), 5);
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "", 5, HOUR_NS), 5);
    join_limits_destroy(limits);
}

/* Whoever has spent his tries gets no new ones because many others come. */
static void a_flood_of_others_gives_no_new_tries(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(1);
    char whose[32];

    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "192.0.2.1", 5, HOUR_NS), 5);
    for (int i = 0; i < 200000; i++) {
        snprintf(whose, sizeof(whose), "10.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
        assert_true(join_limits_take(limits, JOIN_OF_ADDRESS, text_from(whose), 5, HOUR_NS));
    }
    assert_int_equal(take_all(limits, JOIN_OF_ADDRESS, "192.0.2.1", 5, HOUR_NS), 0);
    join_limits_destroy(limits);
}

static void *enter(void *context)
{
    struct join_limits *limits = context;
    bool enters = join_limits_enter(limits);

    if (enters)
        join_limits_leave(limits);
    return enters ? context : NULL;
}

static void one_hashes_and_few_wait(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(2);
    pthread_t thread;
    void *result;

    assert_true(join_limits_enter(limits));
    assert_int_equal(pthread_create(&thread, NULL, enter, limits), 0);
    while (!join_limits_is_full(limits)) /* until it waits */
        sched_yield();
    assert_false(join_limits_enter(limits)); /* a third one would wait too */
    join_limits_leave(limits);
    pthread_join(thread, &result);
    assert_non_null(result);
    assert_true(join_limits_enter(limits));
    join_limits_leave(limits);
    join_limits_destroy(limits);
}

static void the_dearest_hash_is_remembered(void **state)
{
    (void)state;
    struct join_limits *limits = join_limits_create(1);

    assert_int_equal(join_limits_cost(limits, 0), 10);
    assert_int_equal(join_limits_cost(limits, 12), 12);
    assert_int_equal(join_limits_cost(limits, 11), 12);
    join_limits_destroy(limits);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, case_arena_setup, case_arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_boinccmd_sends_is_read),
        CASE(what_client_5_2_does_not_escape_is_read),
        CASE(a_name_of_windows_becomes_utf8),
        CASE(odd_queries_are_read_as_far_as_they_go),
        CASE(of_a_query_that_is_too_long_nothing_is_read),
        CASE(names_follow_the_rules),
        CASE(a_name_with_a_number_is_a_good_name),
        CASE(addresses_follow_the_rules),
        CASE(a_hash_has_32_digits),
        CASE(the_digests_of_the_protocol),
        CASE(paths_name_pages),
        CASE(every_error_has_a_number_and_words),
        CASE(a_key_is_told),
        CASE(the_project_is_described),
        CASE(the_rest_is_told_where_it_is_so),
        CASE(terms_keep_their_lines_and_hide_their_tags),
        CASE(each_platform_with_a_version_is_named_once),
        CASE(tries_come_back_with_time),
        CASE(ten_thousand_guesses_are_few),
        CASE(a_network_of_ipv6_is_one_address),
        CASE(a_flood_of_others_gives_no_new_tries),
        CASE(one_hashes_and_few_wait),
        CASE(the_dearest_hash_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
