/* SPDX-License-Identifier: Apache-2.0 */
/* The authenticate step before a fake database: which record a request gets, in which order rows
 * are locked, what is stored and what is refused; and that every call may fail. */
#include "server/policy/host/client_keys.h"
#include "server/project/project.h"
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/policy/host/identity.h"
#include "server/project/catalog.h"
#include "server/request/authenticate.h"
#include "server/request/identify.h"
#include "tests/support/db_fake.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

enum { NOW = 1795000000 };

#define KEY_OF_17 "1234567890abcdef1234567890abcdef"
#define KEY_OF_18 "fedcba0987654321fedcba0987654321"

static struct arena *arena;
static struct config config;
static struct project_keys keys;
static struct request request;
static struct platform_row platforms[] = {{.name = {.at = "x86_64-pc-linux-gnu", .length = 19}}};
static struct app_row apps[] = {{.name = {.at = "summer", .length = 6}}};
static const struct catalog catalog = {
    .rows = {.apps = apps, .app_count = 1, .platforms = platforms, .platform_count = 1}};

/* --- the stage -------------------------------------------------------------------------------- */

static struct host_row *add_host(int64_t id, int64_t userid, int64_t rpc_seqno)
{
    struct host_row *host = &db_fake.hosts[db_fake.host_count++];

    *host = (struct host_row){.id = id,
                              .userid = userid,
                              .rpc_seqno = rpc_seqno,
                              .rpc_time = NOW - 5000,
                              .venue = TEXT("home"),
                              .p_ncpus = 4,
                              .p_vendor = TEXT("GenuineIntel"),
                              .p_model = TEXT("i7"),
                              .os_name = TEXT("Linux Debian"),
                              .os_version = TEXT("12"),
                              .m_nbytes = 4e9,
                              .domain_name = TEXT("box"),
                              .last_ip_addr = TEXT("10.0.0.1")};
    return host;
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create(8 << 20);
    db_fake_begin(
        "rollback user_by_id user_by_authenticator user_lock host_lock"
        " host_lock_with_user host_newest_by_cpid host_newest_alike host_insert host_guard"
        " host_app_versions host_ask_ahead user_save_global_prefs user_save_cross_project_id");
    memset(&config, 0, sizeof(config));
    memset(&keys, 0, sizeof(keys));
    memset(&request, 0, sizeof(request));
    db_fake.users[0] = (struct user_row){.id = 17,
                                         .authenticator = TEXT(KEY_OF_17),
                                         .email_addr = TEXT("a@example.org"),
                                         .passwd_hash = TEXT("hash"),
                                         .venue = TEXT("work")};
    db_fake.user_count = 2;
    db_fake.users[1] = (struct user_row){
        .id = 18, .authenticator = TEXT(KEY_OF_18), .email_addr = TEXT("b@example.org")};
    request.config = &config;
    request.keys = &keys;
    request.catalog = &catalog;
    request.arena = arena;
    request.now = NOW;
    request.transport.remote_addr = TEXT("192.0.2.1");
    message_of_a_host(&request.message);
    request.message.authenticator = TEXT(KEY_OF_17);
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void stage_again(void)
{
    teardown(NULL);
    setup(NULL);
}

/* Rows in the order in which they were locked. */
static const char *locks(void)
{
    return db_fake_record("user_lock host_lock host_lock_with_user host_guard rollback");
}

static bool is_said(enum message_priority priority, const char *words)
{
    const struct answer *answer = &request.attempt.answer;

    for (size_t i = 0; i < answer->message_count; i++) {
        if (answer->messages[i].priority == priority &&
            text_contains(answer->messages[i].text, text_from(words)))
            return true;
    }
    return false;
}

static struct text weak_key(void)
{
    char hash[MD5_HEX_SIZE];

    md5_hex(TEXT(KEY_OF_17), TEXT("hash"), hash);
    return text_print(arena, "17_%s", hash);
}

static struct text hashed_cpid(void)
{
    char hash[MD5_HEX_SIZE];

    identity_hash_cpid(TEXT("cpid"), TEXT("a@example.org"), hash);
    return text_copy(arena, text_from(hash));
}

/* --- the record (policy(7) 1.2, 1.4) -----------------------------------------------------------
 */

static void a_known_host_is_used(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 5; /* equal: a repetition */
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_i64(request.attempt.host.id, 3);
    assert_i64(request.attempt.host.rpc_seqno, 5);
    assert_i64(request.attempt.host.rpc_time, NOW);
    assert_i64(request.attempt.stored.rpc_time, NOW - 5000);
    assert_text(request.attempt.host.external_ip_addr, "192.0.2.1");
    assert_i64(request.attempt.answer.hostid, 0);
    assert_text(request.attempt.team_name, "team");
    assert_false(request.attempt.is_weak);
    assert_string_equal(locks(), "host_lock_with_user(3)");
    assert_int_equal(db_fake_calls("host_insert"), 0);
}

static void a_first_contact_makes_a_host(void **state)
{
    (void)state;
    request.message.host_cpid = TEXT("cpid");
    request.message.rpc_seqno = 9;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_insert"), 1);
    assert_true(request.attempt.host_is_new);
    assert_i64(request.attempt.host.id, 1000);
    assert_i64(request.attempt.answer.hostid, 1000);
    assert_i64(db_fake.hosts[0].userid, 17);
    assert_i64(db_fake.hosts[0].create_time, NOW);
    assert_i64(db_fake.hosts[0].rpc_seqno, 0);
    assert_text(db_fake.hosts[0].venue, "work"); /* the user's */
    assert_true(text_equal(db_fake.hosts[0].host_cpid, hashed_cpid()));
    assert_string_equal(
        locks(), "user_lock(17) host_guard(-17)"); /* the second for two nodes of a cluster */
}

static void a_first_contact_finds_its_host_by_cpid(void **state)
{
    (void)state;
    add_host(3, 17, 5)->host_cpid = hashed_cpid();
    request.message.host_cpid = TEXT("cpid");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_i64(request.attempt.host.id, 3);
    assert_i64(request.attempt.answer.hostid, 3);
    assert_i64(request.attempt.host.rpc_seqno, 0);
    assert_true(request.attempt.detaches);
    assert_string_equal(locks(), "user_lock(17) host_lock(3)");
}

static void a_repeated_first_contact_keeps_its_jobs(void **state)
{
    (void)state;
    add_host(3, 17, 0)->host_cpid = hashed_cpid();
    db_fake.hosts[0].rpc_time = NOW - 1;
    request.message.host_cpid = TEXT("cpid");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_i64(request.attempt.host.id, 3);
    assert_false(request.attempt.detaches);
}

static void another_machine_with_the_same_cpid_is_another_host(void **state)
{
    (void)state;
    add_host(3, 17, 5)->host_cpid = hashed_cpid();
    db_fake.hosts[0].p_ncpus = 64;
    db_fake.hosts[0].domain_name = TEXT("elsewhere");
    request.message.host_cpid = TEXT("cpid");
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("host_insert"), 1);
}

static void a_first_contact_finds_a_similar_host(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    add_host(4, 17, 5);
    add_host(5, 18, 5);
    step_authenticate(&request);
    assert_i64(request.attempt.host.id, 4); /* the newest of this user */
    assert_i64(request.attempt.answer.hostid, 4);
    assert_true(request.attempt.detaches);
}

static void several_clients_on_a_machine_are_several_hosts(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request.message.allow_multiple_clients = 1;
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("host_insert"), 1);
}

static void an_exempt_user_finds_no_similar_host(void **state)
{
    const struct text exempt = TEXT("17");

    (void)state;
    add_host(3, 17, 5);
    config.dont_search_host_for_user = (struct text_list){.items = &exempt, .count = 1};
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("host_insert"), 1);
}

static void a_stale_number_leads_to_the_similar_host(void **state)
{
    struct other_result other = {.name = TEXT("job")};

    (void)state;
    add_host(3, 17, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 4;
    request.message.other_results = &other;
    request.message.other_result_count = 1;
    step_authenticate(&request);
    assert_i64(request.attempt.answer.hostid, 3);
    assert_i64(request.attempt.host.rpc_seqno, 0);
    assert_false(request.attempt.detaches); /* it has a job */
    assert_string_equal(
        locks(),
        "host_lock_with_user(3) rollback user_lock(17) host_lock(3)"); /* user before host */
}

/* Whoever deletes hosts may do so between a search and the lock of what it found. */
static void a_record_that_is_deleted_meanwhile_is_not_used(void **state)
{
    (void)state;
    add_host(3, 17, 9);
    add_host(4, 17, 5);
    db_fake.gone_host = 4;
    request.message.hostid = 3;
    request.message.rpc_seqno = 6; /* too small for 3 */
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_true(request.attempt.host_is_new);
    assert_false(request.attempt.detaches);
    assert_i64(request.attempt.answer.hostid, 1002);
}

static void a_clone_on_another_machine_gets_a_new_host(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 4;
    request.message.domain_name = TEXT("copy");
    request.message.host_cpid = TEXT("cpid");
    db_fake.hosts[0].host_cpid = hashed_cpid(); /* not searched by: it came with the copy */
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("host_insert"), 1);
    assert_i64(request.attempt.answer.hostid, 1001);
}

static void a_host_of_another_user_is_not_used(void **state)
{
    (void)state;
    add_host(3, 18, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 6;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_insert"), 1);
    assert_i64(request.attempt.user.id, 17);
    assert_i64(request.attempt.host.userid, 17);
}

static void an_unknown_host_is_told_and_treated_as_new(void **state)
{
    (void)state;
    add_host(3, 17, 5)->host_cpid = hashed_cpid();
    request.message.hostid = 99;
    request.message.host_cpid = TEXT("cpid");
    step_authenticate(&request);
    assert_true(is_said(MESSAGE_LOW, "99"));
    assert_i64(request.attempt.answer.hostid, 3);
    assert_int_equal(db_fake_calls("host_insert"), 0);
}

/* Where another node of a cluster made it a moment ago, it is not here yet. */
static void on_a_cluster_a_host_is_looked_for_again(void **state)
{
    (void)state;
    add_host(99, 17, 5);
    request.message.hostid = 99;
    request.message.rpc_seqno = 5;
    db_fake.is_cluster = db_fake.lags = true;
    assert_int_equal(step_authenticate(&request), NEXT_FAILED);
    assert_int_equal(request.failure.status, STATUS_DB_RETRY);
    assert_int_equal(request.catch_up, CATCH_UP_WANTED);
    request.catch_up = CATCH_UP_DONE;
    memset(&request.attempt, 0, sizeof(request.attempt));
    assert_int_equal(step_authenticate(&request), NEXT_STEP); /* still not: it never was */
    assert_true(request.attempt.host_is_new);
    db_fake.lags = false;
    memset(&request.attempt, 0, sizeof(request.attempt));
    request.catch_up = CATCH_UP_NOT;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_i64(request.attempt.host.id, 99);
}

/* Nothing is made slower by who invents a number without a key, nor by a first contact. */
static void only_known_accounts_with_a_number_are_looked_for_again(void **state)
{
    (void)state;
    db_fake.is_cluster = db_fake.lags = true;
    request.message.hostid = 99;
    request.message.authenticator = TEXT("a key of nobody");
    assert_int_equal(step_authenticate(&request), NEXT_REPLY);
    assert_int_equal(request.catch_up, CATCH_UP_NOT);
    stage_again();
    db_fake.is_cluster = db_fake.lags = true;
    request.message.hostid = 0;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_int_equal(request.catch_up, CATCH_UP_NOT);
}

static void a_merged_host_is_followed(void **state)
{
    (void)state;
    add_host(3, 0, 4);
    add_host(4, 0, 7);
    add_host(7, 17, 50);
    request.message.hostid = 3;
    request.message.rpc_seqno = 12;
    step_authenticate(&request);
    assert_i64(request.attempt.host.id, 7);
    assert_i64(request.attempt.answer.hostid, 7);
    assert_i64(request.attempt.host.rpc_seqno, 0); /* or the next request, 0, were too small */
    assert_false(request.attempt.detaches);
    assert_int_equal(db_fake_calls("host_insert"), 0);
}

static void a_cycle_of_merged_hosts_is_no_host(void **state)
{
    (void)state;
    add_host(3, 0, 4);
    add_host(4, 0, 3);
    request.message.hostid = 3;
    request.message.domain_name = TEXT("new");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_true(is_said(MESSAGE_LOW, "3"));
    assert_int_equal(db_fake_calls("host_insert"), 1);
}

static void a_long_chain_of_merged_hosts_is_no_host(void **state)
{
    (void)state;
    for (int64_t id = 1; id < FAKE_HOSTS - 2; id++)
        add_host(id, 0, id + 1);
    add_host(FAKE_HOSTS - 2, 17, 5);
    request.message.hostid = 1;
    request.message.domain_name = TEXT("new");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_insert"), 1);
}

/* --- the key (policy(7) 1.1) -------------------------------------------------------------------
 */

static void an_unknown_key_gets_nothing(void **state)
{
    static const char *const refused[] = {"", "wrong", "1234567890ABCDEF1234567890ABCDEF",
                                          "17_00000000000000000000000000000000", "99_00"};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (int64_t hostid = 0; hostid <= 3; hostid += 3) {
            stage_again();
            add_host(3, 17, 5);
            request.message.hostid = hostid;
            request.message.authenticator = text_from(refused[i]);
            assert_int_equal(step_authenticate(&request), NEXT_REPLY);
            assert_int_equal(request.attempt.answer.kind, ANSWER_NUCLEUS);
            assert_true(is_said(hostid != 0 ? MESSAGE_NOTICE : MESSAGE_LOW, "account key"));
            assert_true(request.attempt.answer.request_delay >= 3600);
            assert_i64(request.attempt.answer.hostid, 0);
            assert_int_equal(db_fake_calls("host_insert"), 0);
        }
    }
}

/* Who sends a wrong key keeps nobody from the host that he names. */
static void a_wrong_key_gives_the_host_back_first(void **state)
{
    (void)state;
    for (int is_empty = 0; is_empty <= 1; is_empty++) {
        stage_again();
        add_host(3, 17, 5);
        request.message.hostid = 3;
        request.message.authenticator = is_empty ? NO_TEXT : TEXT("unknown");
        assert_int_equal(step_authenticate(&request), NEXT_REPLY);
        assert_string_equal(db_fake_record("host_lock_with_user rollback user_by_authenticator"),
                            is_empty ? "host_lock_with_user(3) rollback"
                                     : "host_lock_with_user(3) rollback user_by_authenticator");
    }
}

/* Between the two looks the host is not locked: it is found and locked once more. */
static void a_key_that_has_just_changed_locks_its_host_again(void **state)
{
    (void)state;
    add_host(3, 17, 5)->host_cpid = hashed_cpid();
    db_fake.users[1] = db_fake.users[0];
    db_fake.users[1].authenticator = TEXT(KEY_OF_18);
    request.message.authenticator = TEXT(KEY_OF_18);
    request.message.hostid = 3;
    request.message.rpc_seqno = 6;
    request.message.host_cpid = TEXT("cpid");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_i64(request.attempt.host.id, 3);
    assert_string_equal(locks(), "host_lock_with_user(3) rollback user_lock(17) host_lock(3)");
}

static void a_weak_key_works_with_and_without_host(void **state)
{
    (void)state;
    for (int64_t hostid = 0; hostid <= 3; hostid += 3) {
        stage_again();
        add_host(3, 17, 5);
        request.message.hostid = hostid;
        request.message.rpc_seqno = 6;
        request.message.authenticator = weak_key();
        assert_int_equal(step_authenticate(&request), NEXT_STEP);
        assert_true(request.attempt.is_weak);
        assert_i64(request.attempt.user.id, 17);
        assert_i64(request.attempt.host.id, 3);
    }
}

/* --- what is stored --------------------------------------------------------------------------- */

static void say_preferences(void)
{
    static char hash[MD5_HEX_SIZE];

    md5_hex(TEXT("a@example.org"), NO_TEXT, hash);
    request.message.has_global_preferences = true;
    request.message.global_preferences = TEXT("\n<mod_time>7</mod_time>\n");
    request.message.global_prefs_source_email_hash = text_from(hash);
    request.message.cross_project_id = TEXT("00000000000000000000000000000001");
}

static void newer_preferences_are_stored_whole(void **state)
{
    (void)state;
    say_preferences();
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("user_save_global_prefs"), 1);
    assert_text(db_fake.global_prefs,
                "<global_preferences>\n<mod_time>7</mod_time>\n</global_preferences>\n");
    assert_int_equal(db_fake_calls("user_save_cross_project_id"), 1);
    assert_text(db_fake.cross_project_id, "00000000000000000000000000000001");
    assert_text(request.attempt.user.cross_project_id, ""); /* the reply shows the one before */
}

/* Old clients send the element within an element. */
static void preferences_that_are_whole_are_stored_as_they_are(void **state)
{
    static const char whole[] = "<global_preferences>\n<mod_time>7</mod_time>\n"
                                "</global_preferences>";

    (void)state;
    say_preferences();
    request.message.global_preferences = text_from(whole);
    step_authenticate(&request);
    assert_text(db_fake.global_prefs, whole);
}

/* --- the head of a large body ----------------------------------------------------------------- */

/* A body of so many bytes with this key, or none (NULL). */
static void large_body(const char *key, size_t bytes)
{
    struct buffer body = buffer_in(arena);

    buffer_add_string(&body, "<scheduler_request>\n");
    if (key != NULL)
        buffer_print(&body, "<authenticator>%s</authenticator>\n", key);
    while (body.length < bytes)
        buffer_add_char(&body, ' ');
    request.transport.body = buffer_text(&body);
}

/* Half a MiB takes 10 ms to be parsed, and anybody can send it. */
_Static_assert(LARGE_BODY <= 64 * 1024, "little of a stranger's is parsed");

static void of_a_large_body_the_key_is_looked_up_first(void **state)
{
    static const struct {
        const char *key;
        size_t bytes;
        enum next next;
        const char *asked;
    } rows[] = {{KEY_OF_17, LARGE_BODY + 1, NEXT_STEP, "user_by_authenticator"},
                {" " KEY_OF_17 "\n", LARGE_BODY + 1, NEXT_STEP, "user_by_authenticator"},
                {"nobody", LARGE_BODY + 1, NEXT_REPLY, "user_by_authenticator"},
                {"", LARGE_BODY + 1, NEXT_REPLY, ""},
                {NULL, LARGE_BODY + 1, NEXT_REPLY, ""},
                {"17_00000000000000000000000000000000", LARGE_BODY + 1, NEXT_REPLY,
                 "user_by_id(17) user_by_authenticator"},
                {"nobody", LARGE_BODY, NEXT_STEP, ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        stage_again();
        large_body(rows[i].key, rows[i].bytes);
        assert_int_equal(step_head(&request), rows[i].next);
        assert_string_equal(db_fake_record(NULL), rows[i].asked);
    }
    stage_again();
    large_body(text_string(arena, weak_key()), LARGE_BODY + 1);
    assert_int_equal(step_head(&request), NEXT_STEP);
}

/* It is asked for with the host, as that of any request. */
static void a_known_key_is_not_looked_up_before(void **state)
{
    (void)state;
    stage_again();
    large_body("nobody", LARGE_BODY + 1);
    request.transport.is_known = true;
    assert_int_equal(step_head(&request), NEXT_STEP);
    assert_string_equal(db_fake_record(NULL), "");
}

static void a_weak_key_stores_neither_preferences_nor_cpid(void **state)
{
    (void)state;
    say_preferences();
    request.message.authenticator = weak_key();
    step_authenticate(&request);
    assert_true(request.attempt.host_is_new); /* on a first contact too */
    assert_int_equal(db_fake_calls("user_save_global_prefs"), 0);
    assert_int_equal(db_fake_calls("user_save_cross_project_id"), 0);
}

static void a_request_that_only_reads_stores_neither(void **state)
{
    (void)state;
    say_preferences();
    request.is_read_only = true;
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("user_save_global_prefs"), 0);
    assert_int_equal(db_fake_calls("user_save_cross_project_id"), 0);
}

static void the_same_cpid_is_not_stored_again(void **state)
{
    (void)state;
    db_fake.users[0].cross_project_id = TEXT("00000000000000000000000000000001");
    request.message.cross_project_id = TEXT("00000000000000000000000000000001");
    step_authenticate(&request);
    assert_int_equal(db_fake_calls("user_save_cross_project_id"), 0);
}

static void stored_preferences_are_sent_by_venue(void **state)
{
    (void)state;
    db_fake.users[0].global_prefs =
        TEXT("<global_preferences><mod_time>9</mod_time><max_ncpus_pct>10</max_ncpus_pct>"
             "<venue name=\"home\"><max_ncpus_pct>20</max_ncpus_pct></venue>"
             "</global_preferences>");
    add_host(3, 17, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 6;
    step_authenticate(&request);
    assert_true(
        text_equal(request.attempt.answer.global_preferences, db_fake.users[0].global_prefs));
    assert_real(request.attempt.prefs.max_ncpus_pct, 20, 0);
    assert_real(request.attempt.project_prefs.resource_share, 100, 0);
}

/* --- reasons against work --------------------------------------------------------------------- */

static void ask_for_work(void)
{
    add_host(3, 17, 5);
    request.message.hostid = 3;
    request.message.rpc_seqno = 6;
    request.message.has_resource_request = true;
    request.message.cpu_req_seconds = 1000;
}

static void nothing_stands_against_work(void **state)
{
    (void)state;
    ask_for_work();
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_false(request.attempt.work_refused);
    assert_int_equal(request.attempt.answer.message_count, 0);
    assert_null(answer_first_reason(&request.attempt.answer));
}

static void a_blacklisted_host_gets_no_work(void **state)
{
    (void)state;
    ask_for_work();
    db_fake.hosts[0].max_results_day = -1;
    assert_int_equal(step_authenticate(&request), NEXT_STEP); /* it may report */
    assert_true(request.attempt.work_refused);
    assert_true(request.attempt.answer.request_delay >= 86400);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "host_blacklisted");
}

/* Not even those that it lost, by a request that comes too early, which others get. */
static void a_blacklisted_host_gets_no_lost_jobs(void **state)
{
    (void)state;
    ask_for_work();
    config.resend_lost_results = true;
    config.min_sendwork_interval = 600;
    db_fake.hosts[0].rpc_time = (int64_t)request.now - 1;
    db_fake.hosts[0].max_results_day = -1;
    request.message.has_other_results = true;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_false(request.attempt.plan.will_resend || request.attempt.plan.serves_any);
    request.attempt.host.max_results_day = 0;
    authenticate_judge(&request);
    assert_true(request.attempt.plan.will_resend && !request.attempt.plan.serves_any);
}

static void an_unknown_platform_gets_no_work(void **state)
{
    (void)state;
    ask_for_work();
    request.message.platforms[0] = TEXT("vax-dec-vms");
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_NOTICE, "vax-dec-vms"));
    assert_true(request.attempt.answer.request_delay >= 86400);
}

static void a_client_that_names_no_platform_hears_so(void **state)
{
    (void)state;
    ask_for_work();
    request.message.platform_count = 0;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_NOTICE, "your client does not name it"));
    assert_false(is_said(MESSAGE_NOTICE, "computers of type"));
}

static void an_alternative_platform_is_enough(void **state)
{
    (void)state;
    ask_for_work();
    request.message.platforms[0] = TEXT("vax-dec-vms");
    request.message.platforms[1] = TEXT("x86_64-pc-linux-gnu");
    request.message.platform_count = 2;
    step_authenticate(&request);
    assert_false(request.attempt.work_refused);
}

static void an_anonymous_platform_needs_its_row(void **state)
{
    (void)state;
    ask_for_work();
    request.message.anonymous_platform = true; /* its alternatives do not count */
    step_authenticate(&request);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_NOTICE, "anonymous"));
}

static void a_request_too_early_gets_no_work(void **state)
{
    (void)state;
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW - 20;
    config.min_sendwork_interval = 60;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_LOW, "too recent"));
    assert_true(is_said(MESSAGE_LOW, "40 seconds"));
    assert_true(request.attempt.answer.request_delay >= 60.6);
}

/* Where a clock was set back the host waits for one interval, however far that was. */
static void a_request_before_the_one_before_waits_one_interval(void **state)
{
    (void)state;
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW + 5000;
    config.min_sendwork_interval = 60;
    step_authenticate(&request);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_LOW, "60 seconds"));
    stage_again();
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW + 5000;
    step_authenticate(&request); /* without an interval there is nothing to wait for */
    assert_false(request.attempt.work_refused);
}

static void only_requests_for_work_can_be_too_early(void **state)
{
    (void)state;
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW - 20;
    config.min_sendwork_interval = 60;
    request.message.cpu_req_seconds = 0;
    step_authenticate(&request);
    assert_int_equal(request.attempt.answer.message_count, 0);
    stage_again();
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW - 60;
    config.min_sendwork_interval = 60;
    step_authenticate(&request);
    assert_false(request.attempt.work_refused);
    stage_again();
    ask_for_work();
    db_fake.hosts[0].rpc_time = NOW;
    config.min_sendwork_interval = 1; /* the shortest there is */
    step_authenticate(&request);
    assert_true(request.attempt.work_refused);
}

static void the_key_of_the_project_is_compared(void **state)
{
    const struct old_key old = {
        .key = TEXT("old"), .signature = TEXT("signature"), .signature_stripped = TEXT("stripped")};

    (void)state;
    keys = (struct project_keys){
        .code_sign_public = TEXT("new"), .old_keys = &old, .old_key_count = 1};
    ask_for_work();
    request.client_version = 72005;
    request.message.code_sign_key = TEXT("old");
    step_authenticate(&request);
    assert_text(request.attempt.answer.code_sign_key, "new");
    assert_text(request.attempt.answer.code_sign_key_signature, "stripped");
    assert_false(request.attempt.work_refused);
}

static void an_unknown_project_key_gets_no_work(void **state)
{
    (void)state;
    keys.code_sign_public = TEXT("new");
    ask_for_work();
    request.message.code_sign_key = TEXT("forged");
    step_authenticate(&request);
    assert_true(request.attempt.work_refused);
    assert_true(is_said(MESSAGE_NOTICE, "security key"));
    assert_text(request.attempt.answer.code_sign_key, "");
}

static void a_forbidden_request_stays_forbidden(void **state)
{
    (void)state;
    ask_for_work();
    request.work_forbidden = true;
    step_authenticate(&request);
    assert_true(request.attempt.work_refused);
}

/* --- the volunteer's own versions ------------------------------------------------------------- */

static void misspelt_apps_are_named_once_and_three_at_most(void **state)
{
    static const char *const names[] = {"summer", "sumer",  "sumer", NULL,
                                        "somer",  "sommer", "smmer"};
    struct client_app_version own[sizeof(names) / sizeof(names[0])] = {0};

    (void)state;
    ask_for_work();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        own[i].is_placeholder = names[i] == NULL;
        own[i].app_name = names[i] == NULL ? NO_TEXT : text_from(names[i]);
    }
    request.message.app_versions = own;
    request.message.app_version_count = sizeof(names) / sizeof(names[0]);
    step_authenticate(&request);
    assert_int_equal(request.attempt.answer.message_count, 0); /* its platform is not anonymous */

    request.message.anonymous_platform = true;
    platforms[0].name = TEXT("anonymous");
    step_authenticate(&request);
    platforms[0].name = TEXT("x86_64-pc-linux-gnu");
    assert_int_equal(request.attempt.answer.message_count, 3);
    assert_true(is_said(MESSAGE_NOTICE, "\"sumer\""));
    assert_true(is_said(MESSAGE_NOTICE, "\"somer\""));
    assert_true(is_said(MESSAGE_NOTICE, "\"sommer\""));
}

/* --- what the plan is made of ------------------------------------------------------------------
 */

static struct request_plan plan_with_apps(struct app_row *first, size_t count)
{
    const struct catalog changed = {
        .rows = {.apps = first, .app_count = count, .platforms = platforms, .platform_count = 1}};
    struct request_plan plan;

    memset(&request.attempt, 0, sizeof(request.attempt));
    request.catalog = &changed;
    assert_int_equal(step_authenticate(&request), NEXT_STEP);
    plan = request.attempt.plan;
    request.catalog = &catalog;
    return plan;
}

static void an_app_that_is_always_on_is_served_until_it_is_deprecated(void **state)
{
    struct app_row both[] = {{.non_cpu_intensive = 1}, {0}};

    (void)state;
    ask_for_work();
    assert_false(plan_with_apps(both + 1, 1).serves_always_on);
    assert_true(plan_with_apps(both, 2).serves_always_on);
    assert_true(plan_with_apps(both, 1).serves_always_on);
    both[0].deprecated = 1;
    assert_false(plan_with_apps(both, 2).serves_always_on);
}

/* Rows in progress are read for the limits of what the host has, and for the simulation where the
 * client did not say its queue; not for either where it is off. */
static void rows_are_read_for_what_is_on(void **state)
{
    struct coproc gpu = {.type = TEXT("NVIDIA"), .count = 1};

    (void)state;
    ask_for_work();
    config.max_wus_in_progress_gpu = 5;
    request.message.coprocs = &gpu;
    assert_false(plan_with_apps(apps, 1).counts_rows);
    request.message.coproc_count = 1;
    assert_true(plan_with_apps(apps, 1).counts_rows);

    request.message.coproc_count = 0;
    config.max_wus_in_progress = 1;
    assert_true(plan_with_apps(apps, 1).counts_rows);

    assert_false(plan_with_apps(apps, 1).queue_needs_rows);
    config.workload_sim = true;
    assert_true(plan_with_apps(apps, 1).queue_needs_rows);
    config.ignore_delay_bound = true;
    assert_false(plan_with_apps(apps, 1).queue_needs_rows);
}

static void statistics_are_read_where_a_report_or_a_day_counts(void **state)
{
    (void)state;
    ask_for_work();
    request.message.cpu_req_seconds = 0;
    assert_false(plan_with_apps(apps, 1).reads_versions);
    request.message.result_count = 1;
    assert_true(plan_with_apps(apps, 1).reads_versions);
    request.message.result_count = 0;
    db_fake.hosts[0].rpc_time = NOW - 2 * 86400; /* another day */
    assert_true(plan_with_apps(apps, 1).reads_versions);
}

/* --- failures --------------------------------------------------------------------------------- */

static void every_call_may_fail(void **state)
{
    (void)state;
    for (int story = 0; story < 6; story++) {
        int calls = 0;

        for (;; calls++) {
            enum next next;

            stage_again();
            say_preferences();
            if (story % 3 > 0) {
                add_host(3, story % 3 == 1 ? 17 : 18, 5);
                request.message.hostid = 3;
                request.message.domain_name = TEXT("copy");
            }
            request.message.host_cpid = TEXT("cpid");
            db_fake.calls_left = calls;
            db_fake.fails_once = story >= 3;
            next = step_authenticate(&request);
            if (next == NEXT_STEP)
                break;
            assert_int_equal(next, NEXT_FAILED);
            assert_int_not_equal(request.failure.status, STATUS_OK);
        }
        assert_true(calls >= 7);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_known_host_is_used),
        CASE(a_first_contact_makes_a_host),
        CASE(a_first_contact_finds_its_host_by_cpid),
        CASE(a_repeated_first_contact_keeps_its_jobs),
        CASE(another_machine_with_the_same_cpid_is_another_host),
        CASE(a_first_contact_finds_a_similar_host),
        CASE(several_clients_on_a_machine_are_several_hosts),
        CASE(an_exempt_user_finds_no_similar_host),
        CASE(a_stale_number_leads_to_the_similar_host),
        CASE(a_record_that_is_deleted_meanwhile_is_not_used),
        CASE(a_clone_on_another_machine_gets_a_new_host),
        CASE(a_host_of_another_user_is_not_used),
        CASE(an_unknown_host_is_told_and_treated_as_new),
        CASE(on_a_cluster_a_host_is_looked_for_again),
        CASE(only_known_accounts_with_a_number_are_looked_for_again),
        CASE(a_merged_host_is_followed),
        CASE(a_cycle_of_merged_hosts_is_no_host),
        CASE(a_long_chain_of_merged_hosts_is_no_host),
        CASE(an_unknown_key_gets_nothing),
        CASE(a_wrong_key_gives_the_host_back_first),
        CASE(a_key_that_has_just_changed_locks_its_host_again),
        CASE(a_weak_key_works_with_and_without_host),
        CASE(newer_preferences_are_stored_whole),
        CASE(preferences_that_are_whole_are_stored_as_they_are),
        CASE(of_a_large_body_the_key_is_looked_up_first),
        CASE(a_known_key_is_not_looked_up_before),
        CASE(a_weak_key_stores_neither_preferences_nor_cpid),
        CASE(a_request_that_only_reads_stores_neither),
        CASE(the_same_cpid_is_not_stored_again),
        CASE(stored_preferences_are_sent_by_venue),
        CASE(nothing_stands_against_work),
        CASE(a_blacklisted_host_gets_no_work),
        CASE(a_blacklisted_host_gets_no_lost_jobs),
        CASE(an_unknown_platform_gets_no_work),
        CASE(a_client_that_names_no_platform_hears_so),
        CASE(an_alternative_platform_is_enough),
        CASE(an_anonymous_platform_needs_its_row),
        CASE(a_request_too_early_gets_no_work),
        CASE(a_request_before_the_one_before_waits_one_interval),
        CASE(only_requests_for_work_can_be_too_early),
        CASE(the_key_of_the_project_is_compared),
        CASE(an_unknown_project_key_gets_no_work),
        CASE(a_forbidden_request_stays_forbidden),
        CASE(misspelt_apps_are_named_once_and_three_at_most),
        CASE(an_app_that_is_always_on_is_served_until_it_is_deprecated),
        CASE(rows_are_read_for_what_is_on),
        CASE(statistics_are_read_where_a_report_or_a_day_counts),
        CASE(every_call_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
