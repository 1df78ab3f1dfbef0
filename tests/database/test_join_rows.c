/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and looking up accounts: the rows that are written, every form of a stored password,
 * what two requests at the same moment do, and how many guesses are heard. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/password.h"
#include "server/join/join.h"
#include "server/join/join_limits.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

#define NOW 1800000000
/* Of the accounts that cases write by themselves. */
#define KEY "0123456789abcdef0123456789abcdef"

static struct test_fixture *fixture;
static struct join_limits *limits;
static struct config *config;

static int setup(void **state)
{
    fixture = *state;
    test_fixture_clear(fixture);
    limits = join_limits_create(4);
    config = test_database_config(fixture->database);
    config->join_tries_of_account = 10;
    config->join_tries_of_address = 60;
    config->disable_account_creation = config->disable_account_creation_rpc = false;
    config->account_creation_rpc_require_consent = config->enable_privacy_by_default = false;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    join_limits_destroy(limits);
    return 0;
}

static const char *hash_of(const char *password, const char *email_addr)
{
    static char hash[4][MD5_HEX_SIZE];
    static int next;

    next = (next + 1) % 4;
    md5_hex(text_from(password), text_from(email_addr), hash[next]);
    return hash[next];
}

static struct join_request make_request(enum join_page page, const char *query)
{
    return (struct join_request){.page = page,
                                 .query = text_from(query),
                                 .address = TEXT("192.0.2.1"),
                                 .project = {.config = config},
                                 .db = fixture->db,
                                 .limits = limits,
                                 .arena = fixture->arena,
                                 .now = NOW};
}

/* What is asked and, in `key`, the account's key, "" after an error. */
static enum join_error ask(struct join_request *request, char key[MD5_HEX_SIZE])
{
    struct buffer page = buffer_on_heap(1 << 16);
    size_t at;

    join_answer(request, &page);
    at = text_find(buffer_text(&page), TEXT("<authenticator>"));
    key[0] = '\0';
    if (at < page.length)
        snprintf(key, MD5_HEX_SIZE, "%.32s", page.at + at + 15);
    assert_int_equal(key[0] != '\0', request->error == JOIN_NO_ERROR);
    assert_int_equal(text_contains(buffer_text(&page), TEXT("<error_num>-")),
                     request->error != JOIN_NO_ERROR);
    buffer_free(&page);
    return request->error;
}

static enum join_error ask_for(enum join_page page, const char *query)
{
    struct join_request request = make_request(page, query);
    char key[MD5_HEX_SIZE];

    return ask(&request, key);
}

static const char *query_of(const char *email_addr, const char *password, const char *name)
{
    static char query[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(query[next], sizeof(query[next]), "email_addr=%s&passwd_hash=%s&user_name=%s",
             email_addr, hash_of(password, email_addr), name);
    return query[next];
}

static void assert_opens(const char *email_addr, const char *password, const char *wanted_key)
{
    struct join_request request = make_request(JOIN_LOOKUP, query_of(email_addr, password, ""));
    char key[MD5_HEX_SIZE];

    assert_int_equal(ask(&request, key), JOIN_NO_ERROR);
    assert_string_equal(key, wanted_key);
}

static void assert_refuses(const char *email_addr, const char *password, enum join_error error)
{
    assert_int_equal(ask_for(JOIN_LOOKUP, query_of(email_addr, password, "")), error);
}

static int64_t users(void)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM user");
}

/* --- creating --------------------------------------------------------------------------------- */

static void the_row_is_as_web_pages_write_it(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;
    struct join_request request =
        make_request(JOIN_CREATE, query_of("bob@example.com", "secret pass", "Bob%20J%C3%BCrgen"));
    char key[MD5_HEX_SIZE];
    struct text hash;

    assert_int_equal(ask(&request, key), JOIN_NO_ERROR);
    assert_true(request.is_new);
    assert_i64(users(), 1);
    assert_i64(request.userid, test_sql_integer(database, "SELECT id FROM user"));
    assert_text(test_sql_text(database, "SELECT authenticator FROM user"), key);
    assert_i64(test_sql_integer(database, "SELECT cross_project_id REGEXP '^[0-9a-f]{32}$'"
                                          " AND cross_project_id <> authenticator FROM user"),
               1);
    assert_text(test_sql_text(database, "SELECT email_addr FROM user"), "bob@example.com");
    assert_text(test_sql_text(database, "SELECT name FROM user"), "Bob J\xC3\xBCrgen");
    assert_text(test_sql_text(database, "SELECT CONCAT_WS('|', country, postal_code, create_time,"
                                        " expavg_time, send_email, show_hosts, venue,"
                                        " COALESCE(project_prefs, ''), teamid) FROM user"),
                "International||1800000000|1800000000|1|1|||0");
    assert_text(test_sql_text(database, "SELECT CONCAT_WS('|', total_credit, expavg_credit, posts,"
                                        " seti_id, has_profile, email_validated, donated,"
                                        " login_token, previous_email_addr) FROM user"),
                "0|0|0|0|0|0|0||");
    hash = test_sql_text(database, "SELECT passwd_hash FROM user");
    assert_int_equal(hash.length, 60);
    assert_true(text_starts(hash, TEXT("$2y$10$")));
    assert_true(password_fits(hash, text_from(hash_of("secret pass", "bob@example.com"))));
}

static void an_account_is_created_once(void **state)
{
    (void)state;
    struct join_request again;
    char key[MD5_HEX_SIZE], same[MD5_HEX_SIZE];
    struct join_request request =
        make_request(JOIN_CREATE, query_of("bob@example.com", "secret pass", "Bob"));

    assert_int_equal(ask(&request, key), JOIN_NO_ERROR);
    again = make_request(JOIN_CREATE, query_of("bob@example.com", "secret pass", "Bobby"));
    assert_int_equal(ask(&again, same), JOIN_NO_ERROR);
    assert_string_equal(key, same);
    assert_false(again.is_new);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("bob@example.com", "other", "Bob")),
                     JOIN_ACCOUNT_EXISTS);
    assert_i64(users(), 1);
    assert_text(test_sql_text(fixture->database, "SELECT name FROM user"), "Bob");
}

/* In the Manager nobody can choose another name. */
static void a_name_that_is_taken_gets_a_number(void **state)
{
    (void)state;
    char email_addr[32];

    for (int i = 0; i < 5; i++) {
        snprintf(email_addr, sizeof(email_addr), "a%d@b.c", i);
        assert_int_equal(ask_for(JOIN_CREATE, query_of(email_addr, "secret pass", "Bob")),
                         JOIN_NO_ERROR);
    }
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(DISTINCT name) FROM user WHERE name = 'Bob'"
                                " OR name REGEXP '^Bob [1-9][0-9]*$'"),
               5);
    /* Where equal names are allowed, as in databases before 2024, it is the same. */
    test_sql(fixture->database, "ALTER TABLE user DROP KEY name");
    assert_int_equal(ask_for(JOIN_CREATE, query_of("b@b.c", "secret pass", "bob")), JOIN_NO_ERROR);
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(DISTINCT name) FROM user"), 6);
    test_sql(fixture->database, "ALTER TABLE user ADD UNIQUE KEY name (name)");
}

static void what_cannot_be_an_account_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum join_error error;
    } cases[] = {
        {"", JOIN_BAD_REQUEST},
        {"email_addr=a%40b.c&user_name=Bob", JOIN_BAD_REQUEST},
        {"email_addr=a%40b.c&passwd_hash=" KEY, JOIN_BAD_REQUEST},
        {"user_name=Bob&passwd_hash=" KEY, JOIN_BAD_REQUEST},
        {"email_addr=a%40b.c&user_name=Bob&passwd_hash=' OR 1", JOIN_BAD_REQUEST},
        {"email_addr=a%40b.c&user_name=12&passwd_hash=" KEY, JOIN_BAD_NAME},
        {"email_addr=a%40b.c&user_name=O%27Neil&passwd_hash=" KEY, JOIN_BAD_NAME},
        {"email_addr=a%40b.c&user_name=a%0Ab&passwd_hash=" KEY, JOIN_BAD_NAME},
        {"email_addr=bob%40localhost&user_name=Bob&passwd_hash=" KEY, JOIN_BAD_EMAIL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ask_for(JOIN_CREATE, cases[i].query), cases[i].error);
    config->disable_account_creation = true;
    assert_int_equal(ask_for(JOIN_CREATE, query_of("a@b.c", "secret pass", "Bob")),
                     JOIN_CREATION_DISABLED);
    assert_i64(users(), 0);
}

static void former_addresses_are_not_given_away(void **state)
{
    (void)state;

    test_sql(fixture->database,
             "INSERT INTO user SET id = 5, email_addr = 'new@b.c', authenticator = 'k', name = 'A',"
             " previous_email_addr = 'old@b.c', email_addr_change_time = 5");
    assert_int_equal(ask_for(JOIN_CREATE, query_of("old@b.c", "secret pass", "Bob")),
                     JOIN_ACCOUNT_EXISTS);
    assert_i64(users(), 1);
}

static void a_team_is_joined_that_may_be_joined(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;
    char query[600];

    test_sql(database, "INSERT INTO team SET id = 6, name = 'Bees', joinable = 1;"
                       "INSERT INTO team SET id = 7, name = 'Wasps', joinable = 0");
    snprintf(query, sizeof(query), "%s&team_name=Bees", query_of("a@b.c", "secret pass", "A"));
    assert_int_equal(ask_for(JOIN_CREATE, query), JOIN_NO_ERROR);
    snprintf(query, sizeof(query), "%s&team_name=Wasps", query_of("b@b.c", "secret pass", "B"));
    assert_int_equal(ask_for(JOIN_CREATE, query), JOIN_NO_ERROR);
    snprintf(query, sizeof(query), "%s&team_name=Ants", query_of("c@b.c", "secret pass", "C"));
    config->enable_privacy_by_default = true;
    assert_int_equal(ask_for(JOIN_CREATE, query), JOIN_NO_ERROR);
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(teamid ORDER BY id) FROM user"),
                "6,0,0");
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(show_hosts ORDER BY id) FROM user"),
                "1,1,0");
}

static enum join_error create_with_terms(const char *query)
{
    struct join_request request = make_request(JOIN_CREATE, query);
    char key[MD5_HEX_SIZE];

    request.project.terms_of_use = TEXT("Be kind.");
    return ask(&request, key);
}

static void consent_is_noted_and_may_be_demanded(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;
    char query[600];

    test_sql(database, "INSERT INTO consent_type SET id = 3, shortname = 'ENROLL', enabled = 1");
    config->account_creation_rpc_require_consent = true;
    assert_int_equal(create_with_terms(query_of("a@b.c", "secret pass", "A")), JOIN_NEEDS_CONSENT);
    snprintf(query, sizeof(query), "%s&consent_flag=1", query_of("a@b.c", "secret pass", "A"));
    assert_int_equal(create_with_terms(query), JOIN_NEEDS_CONSENT);
    snprintf(query, sizeof(query), "%s&consent_flag=1&source=BOINC%%20Manager",
             query_of("a@b.c", "secret pass", "A"));
    assert_int_equal(create_with_terms(query), JOIN_NO_ERROR);
    config->account_creation_rpc_require_consent = false;
    assert_int_equal(create_with_terms(query_of("b@b.c", "secret pass", "B")), JOIN_NO_ERROR);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("c@b.c", "secret pass", "C")), JOIN_NO_ERROR);
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(CONCAT_WS('/', user.name,"
                                        " consent_type_id, consent_time, consent_flag,"
                                        " consent_not_required, source) ORDER BY user.id)"
                                        " FROM consent JOIN user ON user.id = userid"),
                "A/3/1800000000/1/0/BOINC Manager,B/3/1800000000/0/1/");
    test_sql(database, "UPDATE consent_type SET enabled = 0");
    assert_int_equal(create_with_terms(query_of("d@b.c", "secret pass", "D")), JOIN_NO_ERROR);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM consent"), 2);
}

/* --- looking up ------------------------------------------------------------------------------- */

static void add_user(int64_t id, const char *email_addr, const char *passwd_hash)
{
    test_sql(fixture->database,
             "INSERT INTO user SET id = %lld, email_addr = '%s', name = 'N%lld',"
             " authenticator = '" KEY "', passwd_hash = '%s'",
             (long long)id, email_addr, (long long)id, passwd_hash);
}

static struct text stored(void)
{
    return test_sql_text(fixture->database, "SELECT passwd_hash FROM user");
}

static void every_form_of_a_stored_password_opens(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE];

    assert_status(STATUS_OK,
                  password_hash(text_from(hash_of("secret pass", "bob@example.com")), hash, NULL));
    add_user(5, "bob@example.com", hash);
    assert_opens("bob@example.com", "secret pass", KEY);
    assert_opens("bob@example.com", KEY, KEY); /* the key, typed as the password */
    assert_refuses("bob@example.com", "secret pasS", JOIN_BAD_PASSWORD);
    assert_refuses("rob@example.com", "secret pass", JOIN_NO_SUCH_ACCOUNT);
    assert_text(stored(), hash); /* a weak key is a hash of what is stored */
}

static void an_old_form_is_rewritten_by_its_password_alone(void **state)
{
    (void)state;
    const char *old = hash_of("secret pass", "bob@example.com");
    struct text new;

    add_user(5, "Bob@Example.com", old);
    assert_refuses("bob@example.com", "other", JOIN_BAD_PASSWORD);
    assert_opens("bob@example.com", KEY, KEY);
    assert_text(stored(), old);
    assert_opens("bob@example.com", "secret pass", KEY);
    new = stored();
    assert_int_equal(new.length, 60);
    assert_true(password_fits(new, text_from(old)));
    assert_opens("bob@example.com", "secret pass", KEY);
}

static void what_is_stored_is_no_password(void **state)
{
    (void)state;
    char query[200];
    char hash[PASSWORD_HASH_SIZE];

    /* Neither the empty hash nor a hash of the empty text is a password of nobody. */
    add_user(5, "bob@example.com", "");
    assert_refuses("bob@example.com", "", JOIN_BAD_PASSWORD);
    assert_opens("bob@example.com", KEY, KEY);
    assert_text(stored(), "");
    assert_refuses("rob@example.com", "", JOIN_NO_SUCH_ACCOUNT);
    assert_int_equal(ask_for(JOIN_LOOKUP, "email_addr=bob@example.com&passwd_hash="),
                     JOIN_BAD_REQUEST);
    assert_int_equal(ask_for(JOIN_LOOKUP, "email_addr=bob@example.com"), JOIN_BAD_REQUEST);
    assert_status(STATUS_OK, password_hash(TEXT("x"), hash, NULL));
    test_sql(fixture->database, "UPDATE user SET passwd_hash = '%s'", hash);
    snprintf(query, sizeof(query), "email_addr=bob@example.com&passwd_hash=%s", hash);
    assert_int_equal(ask_for(JOIN_LOOKUP, query), JOIN_BAD_REQUEST);
}

static void an_account_without_a_key_opens_for_nobody(void **state)
{
    (void)state;

    add_user(5, "bob@example.com", hash_of("secret pass", "bob@example.com"));
    test_sql(fixture->database, "UPDATE user SET authenticator = NULL");
    assert_refuses("bob@example.com", "secret pass", JOIN_BAD_PASSWORD);
    assert_refuses("bob@example.com", "", JOIN_BAD_PASSWORD);
}

/* The collation takes an accent for none. */
static void an_address_is_compared_byte_by_byte(void **state)
{
    (void)state;

    add_user(5,
             "b\xC3\xB6"
             "b@example.com",
             hash_of("secret pass", "bob@example.com"));
    assert_refuses("bob@example.com", "secret pass", JOIN_NO_SUCH_ACCOUNT);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("bob@example.com", "secret pass", "Bob")),
                     JOIN_ACCOUNT_EXISTS);
    assert_i64(users(), 1);
}

static void who_makes_no_account_does_not_hear_who_has_one(void **state)
{
    (void)state;

    add_user(5, "bob@example.com", hash_of("secret pass", "bob@example.com"));
    config->disable_account_creation_rpc = true;
    assert_refuses("bob@example.com", "guess", JOIN_BAD_PASSWORD);
    assert_refuses("rob@example.com", "guess", JOIN_BAD_PASSWORD);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("bob@example.com", "guess", "Bob")),
                     JOIN_CREATION_DISABLED);
    assert_opens("bob@example.com", "secret pass", KEY);
}

/* --- guesses ---------------------------------------------------------------------------------- */

static void few_of_many_guesses_are_heard(void **state)
{
    (void)state;
    char guess[32];
    int heard = 0;

    add_user(5, "bob@example.com", hash_of("secret pass", "bob@example.com"));
    config->join_tries_of_address = 1000000;
    for (int i = 0; i < 10000; i++) {
        snprintf(guess, sizeof(guess), "guess %d", i);
        heard += ask_for(i % 2 == 0 ? JOIN_LOOKUP : JOIN_CREATE,
                         query_of("bob@example.com", guess, "Bob")) != JOIN_TOO_MANY_TRIES;
        arena_reset(fixture->arena);
    }
    assert_in_range(heard, 10, 12); /* an hour has 10, and the test takes a while */
    assert_refuses("bob@example.com", "secret pass", JOIN_TOO_MANY_TRIES);
}

static void an_address_has_its_tries(void **state)
{
    (void)state;
    struct join_request request;
    char key[MD5_HEX_SIZE], email_addr[32];

    config->join_tries_of_address = 3;
    for (int i = 0; i < 3; i++) {
        snprintf(email_addr, sizeof(email_addr), "a%d@b.c", i);
        assert_refuses(email_addr, "guess", JOIN_NO_SUCH_ACCOUNT);
    }
    assert_refuses("a3@b.c", "guess", JOIN_TOO_MANY_TRIES);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("a3@b.c", "secret pass", "A")),
                     JOIN_TOO_MANY_TRIES);
    request = make_request(JOIN_LOOKUP, query_of("a3@b.c", "guess", ""));
    request.address = TEXT("192.0.2.2");
    assert_int_equal(ask(&request, key), JOIN_NO_SUCH_ACCOUNT);
}

/* Of this thread on a processor: hashing is nothing else, and the machine may be busy. */
static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double fastest(const char *email_addr)
{
    double least = 1e9;

    for (int i = 0; i < 5; i++) {
        double begun = processor_seconds(), spent;

        assert_true(ask_for(JOIN_LOOKUP, query_of(email_addr, "guess", "")) != JOIN_NO_ERROR);
        spent = processor_seconds() - begun;
        least = spent < least ? spent : least;
    }
    return least;
}

static void the_time_does_not_tell_who_has_an_account(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE];
    double none, plain, hashed;

    assert_status(STATUS_OK, password_hash(TEXT("x"), hash, NULL));
    add_user(5, "hashed@b.c", hash);
    test_sql(fixture->database,
             "INSERT INTO user SET id = 6, email_addr = 'plain@b.c', name = 'P',"
             " authenticator = 'k', passwd_hash = '%s'",
             hash_of("secret pass", "plain@b.c"));
    none = fastest("nobody@b.c");
    plain = fastest("plain@b.c");
    hashed = fastest("hashed@b.c");
    print_message("seconds: none %.4f plain %.4f hashed %.4f\n", none, plain, hashed);
    assert_real(plain, none, none / 2);
    assert_real(hashed, none, none / 2);
}

/* --- trouble ---------------------------------------------------------------------------------- */

static void without_a_database_it_is_down(void **state)
{
    (void)state;
    struct join_request request = make_request(JOIN_LOOKUP, query_of("a@b.c", "secret", ""));
    char key[MD5_HEX_SIZE];

    request.db = NULL;
    assert_int_equal(ask(&request, key), JOIN_DOWN);
    request = make_request(JOIN_CREATE, query_of("a@b.c", "secret", "A"));
    request.project.is_stopped = true;
    assert_int_equal(ask(&request, key), JOIN_DOWN);
    assert_i64(users(), 0);
}

/* By a rule of the project's own, say: somebody is to look at it. */
static void what_the_database_refuses_is_no_error_of_the_volunteer(void **state)
{
    (void)state;

    test_sql(fixture->database, "ALTER TABLE user ADD CONSTRAINT nobody CHECK (name <> 'Nobody')");
    assert_int_equal(ask_for(JOIN_CREATE, query_of("a@b.c", "secret pass", "Nobody")), JOIN_DOWN);
    assert_int_equal(ask_for(JOIN_CREATE, query_of("a@b.c", "secret pass", "Ada")), JOIN_NO_ERROR);
    test_sql(fixture->database, "ALTER TABLE user DROP CONSTRAINT nobody");
    assert_i64(users(), 1);
}

/* Each command of a creation fails in its turn: the account is there once, with the key that is
 * told. */
static void what_breaks_off_is_tried_again(void **state)
{
    (void)state;
    static const enum status failures[] = {STATUS_DB_RETRY, STATUS_DB_GONE};

    for (size_t f = 0; f < 2; f++)
        for (uint64_t nth = 1; nth < 12; nth++) {
            struct join_request request =
                make_request(JOIN_CREATE, query_of("a@b.c", "secret pass", "A"));
            char key[MD5_HEX_SIZE];

            db_fail_nth(fixture->db, nth, failures[f]);
            assert_int_equal(ask(&request, key), JOIN_NO_ERROR);
            db_fail_nth(fixture->db, 0, STATUS_OK);
            assert_text(test_sql_text(fixture->database, "SELECT authenticator FROM user"), key);
            assert_i64(users(), 1);
            test_sql(fixture->database, "DELETE FROM user");
        }
}

struct creation {
    struct db *db;
    const char *query;
    enum join_error error;
    char key[MD5_HEX_SIZE];
};

static void *create_beside(void *context)
{
    struct creation *creation = context;
    struct join_request request = make_request(JOIN_CREATE, creation->query);

    request.db = creation->db;
    request.arena = arena_create(1 << 20);
    creation->error = ask(&request, creation->key);
    arena_destroy(request.arena);
    return NULL;
}

static void create_both(struct creation pair[2])
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_beside, &pair[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void two_at_once_are_one_account(void **state)
{
    (void)state;
    struct creation pair[2] = {{.db = fixture->db}, {.db = fixture->other}};

    for (int round = 0; round < 5; round++) {
        pair[0].query = pair[1].query = query_of("a@b.c", "secret pass", "A");
        create_both(pair);
        assert_int_equal(pair[0].error, JOIN_NO_ERROR);
        assert_int_equal(pair[1].error, JOIN_NO_ERROR);
        assert_string_equal(pair[0].key, pair[1].key);
        assert_i64(users(), 1);
        test_sql(fixture->database, "DELETE FROM user");
    }
}

static void two_at_once_have_two_names(void **state)
{
    (void)state;
    struct creation pair[2] = {{.db = fixture->db}, {.db = fixture->other}};

    for (int round = 0; round < 5; round++) {
        pair[0].query = query_of("a@b.c", "secret pass", "A");
        pair[1].query = query_of("b@b.c", "secret pass", "A");
        create_both(pair);
        assert_int_equal(pair[0].error, JOIN_NO_ERROR);
        assert_int_equal(pair[1].error, JOIN_NO_ERROR);
        assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(DISTINCT name) FROM user"
                                                       " WHERE name REGEXP '^A( [1-9][0-9]*)?$'"),
                   2);
        test_sql(fixture->database, "DELETE FROM user");
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_row_is_as_web_pages_write_it),
        CASE(an_account_is_created_once),
        CASE(a_name_that_is_taken_gets_a_number),
        CASE(what_cannot_be_an_account_is_refused),
        CASE(former_addresses_are_not_given_away),
        CASE(a_team_is_joined_that_may_be_joined),
        CASE(consent_is_noted_and_may_be_demanded),
        CASE(every_form_of_a_stored_password_opens),
        CASE(an_old_form_is_rewritten_by_its_password_alone),
        CASE(what_is_stored_is_no_password),
        CASE(an_account_without_a_key_opens_for_nobody),
        CASE(an_address_is_compared_byte_by_byte),
        CASE(who_makes_no_account_does_not_hear_who_has_one),
        CASE(few_of_many_guesses_are_heard),
        CASE(an_address_has_its_tries),
        CASE(the_time_does_not_tell_who_has_an_account),
        CASE(without_a_database_it_is_down),
        CASE(what_the_database_refuses_is_no_error_of_the_volunteer),
        CASE(what_breaks_off_is_tried_again),
        CASE(two_at_once_are_one_account),
        CASE(two_at_once_have_two_names),
    };

    return cmocka_run_group_tests(tests, test_fixture_open, test_fixture_close);
}
