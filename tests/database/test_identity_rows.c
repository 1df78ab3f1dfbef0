/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and users as they stand in the database after a request: which row a request gets, what is
 * written into it, and what two requests at the same moment do. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/policy/host/identity.h"
#include "tests/support/database.h"
#include "tests/support/test.h"
#include "tests/support/visitor.h"

#include <pthread.h>
#include <unistd.h>

static struct test_database *database;
static struct visitor *visitor;
static struct request *request;

static int setup_all(void **state)
{
    (void)state;
    database = visitors_create();
    test_sql(database, "INSERT INTO team SET id = 6, name = 'The team', userid = 17;"
                       "UPDATE user SET passwd_hash = 'hash', venue = 'work' WHERE id = 17");
    return 0;
}

static int teardown_all(void **state)
{
    (void)state;
    test_database_destroy(database);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    visitors_clear(database);
    visitor = visitor_create(database);
    request = &visitor->request;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    visitor_destroy(visitor);
    return 0;
}

static void add_host(int64_t id, int64_t userid, int64_t rpc_seqno)
{
    test_sql(database,
             "INSERT INTO host SET id = %lld, userid = %lld, rpc_seqno = %lld, rpc_time = %d,"
             " create_time = 5, venue = 'home', p_ncpus = 4, p_vendor = 'GenuineIntel',"
             " p_model = 'i7', os_name = 'Linux Debian', os_version = '12', m_nbytes = 4e9,"
             " domain_name = 'box', last_ip_addr = '10.0.0.1', nsame_ip_addr = 4,"
             " total_credit = 12.5, avg_turnaround = 99",
             (long long)id, (long long)userid, (long long)rpc_seqno, VISITOR_NOW - 5000);
}

static void add_job(int64_t id, int64_t hostid)
{
    test_sql(database,
             "INSERT INTO workunit SET id = %lld, appid = 1, name = 'w%lld',"
             " transition_time = 2147483647;"
             "INSERT INTO result SET id = %lld, workunitid = %lld, name = 'r%lld',"
             " server_state = 4, hostid = %lld, userid = 17, appid = 1",
             (long long)id, (long long)id, (long long)id, (long long)id, (long long)id,
             (long long)hostid);
}

static int64_t hosts(void)
{
    return test_sql_integer(database, "SELECT COUNT(*) FROM host");
}

static const char *hashed_cpid(void)
{
    static char hash[MD5_HEX_SIZE];

    identity_hash_cpid(TEXT("cpid"), TEXT("a@example.org"), hash);
    return hash;
}

static void a_first_contact_writes_a_whole_host(void **state)
{
    (void)state;
    request->message.host_cpid = TEXT("cpid");
    request->message.rpc_seqno = 3;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 1);
    assert_i64(request->attempt.answer.hostid, test_sql_integer(database, "SELECT id FROM host"));
    assert_i64(test_sql_integer(database, "SELECT userid FROM host"), 17);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host"), 0);
    assert_i64(test_sql_integer(database, "SELECT create_time FROM host"), VISITOR_NOW);
    assert_i64(test_sql_integer(database, "SELECT rpc_time FROM host"), VISITOR_NOW);
    assert_text(test_sql_text(database, "SELECT venue FROM host"), "work");
    assert_text(test_sql_text(database, "SELECT host_cpid FROM host"), hashed_cpid());
    assert_text(test_sql_text(database, "SELECT external_ip_addr FROM host"), "192.0.2.1");
    assert_text(test_sql_text(database, "SELECT p_model FROM host"), "i7");
    assert_text(request->attempt.team_name, "The team");
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host WHERE hostid = %lld",
                                (long long)request->attempt.host.id),
               1);
}

static void a_known_host_keeps_what_others_write(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request->message.hostid = 3;
    request->message.rpc_seqno = 7;
    request->message.p_model = TEXT("i9");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 1);
    assert_i64(request->attempt.answer.hostid, 0);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host"), 7);
    assert_i64(test_sql_integer(database, "SELECT nsame_ip_addr FROM host"), 5);
    assert_text(test_sql_text(database, "SELECT p_model FROM host"), "i9");
    assert_text(test_sql_text(database, "SELECT venue FROM host"), "home");
    assert_i64(test_sql_integer(database, "SELECT create_time FROM host"), 5);
    assert_real(test_sql_real(database, "SELECT total_credit FROM host"), 12.5, 0);
    assert_real(test_sql_real(database, "SELECT avg_turnaround FROM host"), 99, 0);
}

static void the_same_number_comes_twice(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request->message.hostid = 3;
    request->message.rpc_seqno = 6;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        assert_i64(request->attempt.host.id, 3);
        assert_i64(request->attempt.answer.hostid, 0);
    }
}

static void a_host_comes_back_by_its_cpid(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    test_sql(database, "UPDATE host SET host_cpid = '%s', domain_name = 'renamed'", hashed_cpid());
    add_job(31, 3);
    request->message.host_cpid = TEXT("cpid");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(request->attempt.answer.hostid, 3);
    assert_i64(hosts(), 1);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host"), 0);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result"), 5);
    assert_i64(test_sql_integer(database, "SELECT outcome FROM result"), 7);
    assert_i64(test_sql_integer(database, "SELECT received_time FROM result"), VISITOR_NOW);
    assert_i64(test_sql_integer(database, "SELECT transition_time FROM workunit"), VISITOR_NOW);
}

static void a_first_contact_twice_finds_the_host_and_its_jobs(void **state)
{
    (void)state;
    request->message.host_cpid = TEXT("cpid");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    add_job(31, request->attempt.host.id);
    request->now += 30;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 1);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result"), 4);
}

/* The first contact comes twice, to servers whose clocks are apart or stepped. */
static void a_first_contact_twice_keeps_its_jobs_whatever_the_clock(void **state)
{
    static const int differences[] = {-86400, -3600, -5, 0, 5, 300};

    (void)state;
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        teardown(NULL);
        setup(NULL);
        request->message.host_cpid = TEXT("cpid");
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        add_job(31, request->attempt.host.id);
        request->now += differences[i];
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        assert_i64(hosts(), 1);
        assert_i64(test_sql_integer(database, "SELECT server_state FROM result"), 4);
    }
}

static void a_report_is_booked_before_the_others_are_lost(void **state)
{
    struct reported_result reported = {.name = TEXT("r31"), .state = 5, .has_exit_status = true};

    (void)state;
    add_host(3, 17, 5);
    add_job(31, 3);
    add_job(32, 3);
    request->message.hostid = 3;
    request->message.rpc_seqno = 4; /* stale */
    request->message.results = &reported;
    request->message.result_count = 1;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_string_equal(visitor_acks(visitor), "r31");
    assert_i64(request->attempt.answer.hostid, 3);
    assert_i64(test_sql_integer(database, "SELECT outcome FROM result WHERE id = 31"), 1);
    assert_i64(test_sql_integer(database, "SELECT outcome FROM result WHERE id = 32"), 7);
}

static void a_similar_host_is_found(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    add_host(4, 17, 5);
    add_host(5, 18, 5);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(request->attempt.answer.hostid, 4);
    assert_i64(hosts(), 3);
}

static void a_clone_gets_a_host_of_its_own(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    request->message.hostid = 3;
    request->message.rpc_seqno = 4;
    request->message.domain_name = TEXT("copy");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 2);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = 3"), 5);
}

static void a_host_of_another_user_stays_untouched(void **state)
{
    (void)state;
    add_host(3, 18, 5);
    request->message.hostid = 3;
    request->message.rpc_seqno = 9;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 2);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = 3"), 5);
    assert_i64(test_sql_integer(database, "SELECT userid FROM host WHERE id <> 3"), 17);
}

static void merged_hosts_lead_to_the_one_that_remains(void **state)
{
    (void)state;
    add_host(3, 0, 4);
    add_host(4, 0, 7);
    add_host(7, 17, 50);
    request->message.hostid = 3;
    request->message.rpc_seqno = 2;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(request->attempt.answer.hostid, 7);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = 7"), 0);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = 3"), 4);
    request->message.hostid = 7;
    request->message.rpc_seqno = 0; /* as the client goes on */
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(request->attempt.answer.hostid, 0);
}

static void a_cycle_of_merged_hosts_makes_a_new_one(void **state)
{
    (void)state;
    add_host(3, 0, 4);
    add_host(4, 0, 3);
    request->message.hostid = 3;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 3);
}

static void a_wrong_key_changes_nothing(void **state)
{
    struct reported_result reported = {.name = TEXT("r31"), .state = 5, .has_exit_status = true};
    int64_t before;

    (void)state;
    add_host(3, 17, 5);
    add_job(31, 3);
    before = test_sql_integer(database, "CHECKSUM TABLE host");
    request->message.authenticator = TEXT("1234567890ABCDEF1234567890ABCDEF"); /* case differs */
    request->message.hostid = 3;
    request->message.rpc_seqno = 9;
    request->message.results = &reported;
    request->message.result_count = 1;
    assert_int_equal(visitor_walk(visitor), NEXT_REPLY);
    assert_string_equal(visitor_acks(visitor), "");
    assert_i64(test_sql_integer(database, "CHECKSUM TABLE host"), before);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result"), 4);
    assert_int_equal(request->attempt.answer.kind, ANSWER_NUCLEUS);
}

static void a_weak_key_may_do_all_but_store(void **state)
{
    char hash[MD5_HEX_SIZE], email[MD5_HEX_SIZE];
    struct message *message = &request->message;

    (void)state;
    md5_hex(TEXT(VISITOR_KEY), TEXT("hash"), hash);
    md5_hex(TEXT("a@example.org"), NO_TEXT, email);
    message->has_global_preferences = true;
    message->global_preferences = TEXT("<mod_time>7</mod_time><x>caf\xC3\xA9</x>");
    message->global_prefs_source_email_hash = text_from(email);
    message->cross_project_id = TEXT("0123456789abcdef0123456789abcdef");
    message->authenticator = text_print(visitor->arena, "17_%s", hash);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 1);
    assert_text(test_sql_text(database, "SELECT cross_project_id FROM user WHERE id = 17"), "");
    assert_i64(test_sql_integer(database, "SELECT global_prefs IS NULL FROM user WHERE id = 17"),
               1);
    message->authenticator = TEXT(VISITOR_KEY);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_text(test_sql_text(database, "SELECT cross_project_id FROM user WHERE id = 17"),
                "0123456789abcdef0123456789abcdef");
    assert_text(test_sql_text(database, "SELECT global_prefs FROM user WHERE id = 17"),
                "<global_preferences>\n<mod_time>7</mod_time><x>caf\xC3\xA9</x>\n"
                "</global_preferences>\n");
}

static void a_machine_may_be_called_anything(void **state)
{
    static char long_name[2000];

    (void)state;
    memset(long_name, 0xE9, sizeof(long_name)); /* ISO-8859-1 */
    request->message.host_cpid = TEXT("cpid");
    request->message.domain_name = (struct text){.at = long_name, .length = sizeof(long_name)};
    request->message.p_model = TEXT("Intel(R) \xAE '\\\"; DROP TABLE host; --");
    request->message.p_ncpus = INT64_MAX;
    request->message.timezone = INT64_MIN;
    request->message.d_total = 1.7e308;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(hosts(), 1);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP); /* and is the same when it comes again */
    assert_i64(hosts(), 1);
    assert_i64(test_sql_integer(database, "SELECT JSON_VALID(misc) FROM host"), 1);
}

static void many_coprocessors_fit_their_column(void **state)
{
    static struct coproc coprocs[MESSAGE_COPROCS_MAX];
    static char name[254];

    (void)state;
    memset(name, 1, sizeof(name));
    for (size_t i = 0; i < MESSAGE_COPROCS_MAX; i++)
        coprocs[i] = (struct coproc){.type = {.at = name, .length = sizeof(name)},
                                     .name = {.at = name, .length = sizeof(name)},
                                     .count = 1e9,
                                     .peak_flops = 1e300};
    request->message.coprocs = coprocs;
    request->message.coproc_count = MESSAGE_COPROCS_MAX;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(test_sql_integer(database, "SELECT JSON_VALID(misc) FROM host"), 1);
    assert_i64(test_sql_integer(database, "SELECT p_ngpus FROM host"), INT32_MAX);
}

static void a_new_day_resets_counters_and_sets_quotas(void **state)
{
    (void)state;
    add_host(3, 17, 5);
    test_sql(database, "UPDATE host SET rpc_time = rpc_time - 86400 * 2;"
                       "INSERT INTO host_app_version SET host_id = 3, app_version_id = 70,"
                       " n_jobs_today = 9, max_jobs_per_day = 0");
    request->message.hostid = 3;
    request->message.rpc_seqno = 6;
    assert_status(STATUS_OK, config_set(test_database_config(database), TEXT("daily_result_quota"),
                                        TEXT("50"), NULL));
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_status(STATUS_OK, config_set(test_database_config(database), TEXT("daily_result_quota"),
                                        TEXT("0"), NULL));
    assert_i64(test_sql_integer(database, "SELECT n_jobs_today FROM host_app_version"), 0);
    assert_i64(test_sql_integer(database, "SELECT max_jobs_per_day FROM host_app_version"), 50);
}

static void trickles_are_kept(void **state)
{
    struct trickle_up trickles[] = {{.variety = TEXT("progress"), .xml = TEXT("<s>\xE9</s>\n")},
                                    {.variety = NO_TEXT, .xml = NO_TEXT}};

    (void)state;
    request->message.trickles = trickles;
    request->message.trickle_count = 2;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_true(request->attempt.answer.message_ack);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM msg_from_host"), 2);
    assert_text(test_sql_text(database, "SELECT variety FROM msg_from_host ORDER BY id LIMIT 1"),
                "progress");
}

static void waiting_messages_are_delivered_once(void **state)
{
    struct config *config = test_database_config(database);

    (void)state;
    add_host(3, 17, 5);
    test_sql(database, "INSERT INTO msg_to_host SET hostid = 3, variety = '', xml = '<m/>'");
    request->message.hostid = 3;
    request->message.rpc_seqno = 6;
    assert_status(STATUS_OK, config_set(config, TEXT("msg_to_host"), TEXT("1"), NULL));
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_int_equal(request->attempt.answer.host_messages.count, 1);
    assert_text(request->attempt.answer.host_messages.first->text, "<m/>");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_int_equal(request->attempt.answer.host_messages.count, 0);
    assert_status(STATUS_OK, config_set(config, TEXT("msg_to_host"), TEXT("0"), NULL));
}

/* --- at the same moment ----------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 8 };

static pthread_barrier_t barrier;

static void *walk_in_a_thread(void *context)
{
    struct visitor *own = context;

    pthread_barrier_wait(&barrier);
    return visitor_walk(own) == NEXT_STEP ? own : NULL;
}

static void walk_group(struct visitor **visitors)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk_in_a_thread, visitors[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *done = NULL;

        pthread_join(threads[i], &done);
        if (done == NULL)
            fail_msg("walk %d: %s", i, status_word(visitors[i]->request.failure.status));
    }
    pthread_barrier_destroy(&barrier);
}

static void the_same_first_contact_at_once_makes_one_host(void **state)
{
    struct visitor *visitors[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = visitor_create(database);
        visitors[i]->request.message.authenticator = TEXT(VISITOR_KEY);
        visitors[i]->request.message.host_cpid = TEXT("cpid");
    }
    for (int round = 0; round < ROUNDS; round++) {
        test_sql(database, "TRUNCATE host");
        walk_group(visitors);
        assert_i64(hosts(), 1);
        for (int i = 0; i < THREADS; i++)
            assert_i64(visitors[i]->request.attempt.answer.hostid,
                       test_sql_integer(database, "SELECT id FROM host"));
    }
    for (int i = 0; i < THREADS; i++)
        visitor_destroy(visitors[i]);
}

/* Named hosts that turn out to be clones give their lock back before they lock the user; without
 * that some of these would deadlock, which a repetition would hide, so the attempts are counted. */
static void clones_and_first_contacts_do_not_deadlock(void **state)
{
    struct visitor *visitors[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = visitor_create(database);
        visitors[i]->request.message.authenticator = TEXT(VISITOR_KEY);
        visitors[i]->request.message.hostid = i % 2 == 0 ? 3 : 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        test_sql(database, "TRUNCATE host");
        add_host(3, 17, 5);
        for (int i = 0; i < THREADS; i++)
            visitors[i]->request.token = 0;
        walk_group(visitors);
        assert_i64(hosts(), 1);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(visitors[i]->request.token, 1);
    }
    for (int i = 0; i < THREADS; i++)
        visitor_destroy(visitors[i]);
}

/* --- host and user by one query ------------------------------------------------------------------
 */

static void the_host_is_locked_and_its_user_is_not(void **state)
{
    struct db *db = test_database_open(database);
    struct host_with_user host;

    (void)state;
    add_host(3, 17, 1);
    add_host(4, 99, 1); /* of nobody */
    assert_status(STATUS_OK, db_host_lock_with_user(db, visitor->arena, 3, &host));
    assert_true(host.has_user);
    assert_text(host.host.domain_name, "box");
    assert_text(host.host.venue, "home");
    assert_i64(host.user.id, 17);
    assert_text(host.user.venue, "work");
    assert_text(host.user.authenticator, VISITOR_KEY);
    assert_text(host.team_name, "The team");
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host FORCE INDEX (PRIMARY)"
                                          " WHERE id IN (3, 4) FOR UPDATE SKIP LOCKED"),
               1);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM user FORCE INDEX (PRIMARY)"
                                          " WHERE id = 17 FOR UPDATE SKIP LOCKED"),
               1);
    assert_status(STATUS_OK, db_host_lock_with_user(db, visitor->arena, 4, &host));
    assert_false(host.has_user);
    assert_i64(host.host.userid, 99);
    assert_status(STATUS_NOT_FOUND, db_host_lock_with_user(db, visitor->arena, 5, &host));
    db_close(db);
}

static void it_is_known_whether_there_is_a_guard_row(void **state)
{
    struct db *db = test_database_open(database);
    struct host_with_user host;

    (void)state;
    add_host(3, 17, 1);
    assert_status(STATUS_OK, db_host_lock_with_user(db, visitor->arena, 3, &host));
    assert_false(host.has_guard);
    assert_status(STATUS_OK, db_host_guard(db, 3, 7, 1));
    assert_status(STATUS_OK, db_host_lock_with_user(db, visitor->arena, 3, &host));
    assert_true(host.has_guard);
    db_close(db);
}

struct waiter {
    struct host_with_user host;
    enum status status;
};

static void *lock_host(void *argument)
{
    struct waiter *waiter = argument;
    struct db *db = test_database_open(database);

    waiter->status = db_host_lock_with_user(db, visitor->arena, 3, &waiter->host);
    db_close(db);
    return NULL;
}

/* What the request before has written is seen by the one that waits for it. */
static void the_user_is_as_fresh_as_the_lock(void **state)
{
    struct db *db = test_database_open(database);
    struct host_with_user host;
    struct waiter waiter = {.status = STATUS_DB_BUG};
    pthread_t thread;

    (void)state;
    add_host(3, 17, 1);
    assert_status(STATUS_OK, db_host_lock_with_user(db, visitor->arena, 3, &host));
    assert_int_equal(pthread_create(&thread, NULL, lock_host, &waiter), 0);
    test_database_wait_for_lock_wait(database);
    assert_status(STATUS_OK, db_user_save_global_prefs(db, 17, TEXT("<new/>")));
    assert_status(STATUS_OK, db_commit(db));
    (void)pthread_join(thread, NULL);
    assert_status(STATUS_OK, waiter.status);
    assert_text(waiter.host.user.global_prefs, "<new/>");
    db_close(db);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_first_contact_writes_a_whole_host),
        CASE(a_known_host_keeps_what_others_write),
        CASE(the_same_number_comes_twice),
        CASE(a_host_comes_back_by_its_cpid),
        CASE(a_first_contact_twice_finds_the_host_and_its_jobs),
        CASE(a_first_contact_twice_keeps_its_jobs_whatever_the_clock),
        CASE(a_report_is_booked_before_the_others_are_lost),
        CASE(a_similar_host_is_found),
        CASE(a_clone_gets_a_host_of_its_own),
        CASE(a_host_of_another_user_stays_untouched),
        CASE(merged_hosts_lead_to_the_one_that_remains),
        CASE(a_cycle_of_merged_hosts_makes_a_new_one),
        CASE(a_wrong_key_changes_nothing),
        CASE(a_weak_key_may_do_all_but_store),
        CASE(a_machine_may_be_called_anything),
        CASE(many_coprocessors_fit_their_column),
        CASE(a_new_day_resets_counters_and_sets_quotas),
        CASE(trickles_are_kept),
        CASE(waiting_messages_are_delivered_once),
        CASE(the_same_first_contact_at_once_makes_one_host),
        CASE(clones_and_first_contacts_do_not_deadlock),
        CASE(the_host_is_locked_and_its_user_is_not),
        CASE(it_is_known_whether_there_is_a_guard_row),
        CASE(the_user_is_as_fresh_as_the_lock),
    };

    return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
