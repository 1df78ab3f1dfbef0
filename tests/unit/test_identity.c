/* SPDX-License-Identifier: Apache-2.0 */
/* Account keys, the choice of a host's record, and the walk over merged records. */
#include "server/parse/message.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/host/identity.h"

#include "server/base/random.h"
#include "tests/support/test.h"

static const struct user_row user = {
    .id = 17,
    .authenticator = {.at = "0123456789abcdef0123456789abcdef", .length = 32},
    .passwd_hash = {.at = "secret", .length = 6},
};

static struct text weak_key_of(const struct user_row *owner, char buffer[80])
{
    char hash[MD5_HEX_SIZE];

    md5_hex(owner->authenticator, owner->passwd_hash, hash);
    snprintf(buffer, 80, "%lld_%s", (long long)owner->id, hash);
    return text_from(buffer);
}

static void the_account_key_is_strong(void **state)
{
    (void)state;
    assert_int_equal(account_key_match(user.authenticator, &user), KEY_STRONG);
}

static void a_hash_of_key_and_password_is_weak(void **state)
{
    char buffer[80];

    (void)state;
    assert_int_equal(account_key_match(weak_key_of(&user, buffer), &user), KEY_WEAK);
}

static void a_new_password_ends_a_weak_key(void **state)
{
    struct user_row changed = user;
    char buffer[80];

    (void)state;
    changed.passwd_hash = TEXT("another");
    assert_int_equal(account_key_match(weak_key_of(&user, buffer), &changed), KEY_NO_MATCH);
}

static void a_weak_key_is_of_one_user(void **state)
{
    struct user_row other = user;
    char buffer[80];

    (void)state;
    other.id = 18;
    assert_int_equal(account_key_match(weak_key_of(&user, buffer), &other), KEY_NO_MATCH);
}

static void an_account_without_key_is_nobodys(void **state)
{
    struct user_row keyless = user;
    char buffer[80];

    (void)state;
    keyless.authenticator = NO_TEXT;
    assert_int_equal(account_key_match(NO_TEXT, &keyless), KEY_NO_MATCH);
    assert_int_equal(account_key_match(weak_key_of(&keyless, buffer), &keyless), KEY_NO_MATCH);
    assert_int_equal(account_key_match(NO_TEXT, &user), KEY_NO_MATCH);
}

static void keys_differ_in_case(void **state)
{
    (void)state;
    assert_int_equal(account_key_match(TEXT("0123456789ABCDEF0123456789ABCDEF"), &user),
                     KEY_NO_MATCH);
}

static void only_digits_and_a_bar_begin_a_weak_key(void **state)
{
    static const struct {
        int64_t userid; /* 0: no weak key */
        const char *key;
    } cases[] = {
        {17, "17_abc"}, {17, "17_"},    {1, "1_abc"},   {0, "17"},
        {0, "_abc"},    {0, "-17_abc"}, {0, " 17_abc"}, {0, "0_ab"},
        {0, "1x_abc"},  {0, ""},        {5, "005_a_b"}, {0, "99999999999999999999_abc"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t userid = 0;
        bool is_weak = account_key_read_weak(text_from(cases[i].key), &userid);

        assert_int_equal(is_weak, cases[i].userid != 0);
        assert_i64(userid, cases[i].userid);
    }
}

static void the_record_follows_the_table(void **state)
{
    static const struct {
        enum host_decision wanted;
        bool exists, forwarded;
        int64_t owner, seqno;
    } cases[] = {
        /* user 17 sends number 5 */
        {HOST_SEARCH_BY_CPID, false, false, 0, 0},
        {HOST_USE, true, false, 17, 4},
        {HOST_USE, true, false, 17, 5}, /* equal: a lost reply */
        {HOST_SEARCH_ALIKE, true, false, 17, 6},
        {HOST_SEARCH_ALIKE, true, false, 18, 4},
        {HOST_SEARCH_ALIKE, true, true, 18, 4},
        {HOST_USE, true, true, 17, 6}, /* another client's numbers */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct host_row host = {.id = 3, .userid = cases[i].owner, .rpc_seqno = cases[i].seqno};

        assert_int_equal(
            identity_decide_host(cases[i].exists ? &host : NULL, cases[i].forwarded, 17, 5),
            cases[i].wanted);
    }
}

static void each_of_five_properties_makes_another_machine(void **state)
{
    const struct host_row same = {
        .p_ncpus = 4,
        .p_vendor = TEXT("v"),
        .p_model = TEXT("m"),
        .os_name = TEXT("o"),
        .os_version = TEXT("1"),
        .m_nbytes = 1e9,
    };
    const struct message message = {
        .p_ncpus = 4,
        .p_vendor = TEXT("v"),
        .p_model = TEXT("m"),
        .os_name = TEXT("o"),
        .os_version = TEXT("1"),
        .m_nbytes = 2e9, /* memory is no such property */
    };
    struct host_row host = same;

    (void)state;
    assert_false(identity_host_differs(&message, &host));
    host.p_ncpus = 8;
    assert_true(identity_host_differs(&message, &host));
    host = same, host.p_vendor = TEXT("w");
    assert_true(identity_host_differs(&message, &host));
    host = same, host.p_model = TEXT("w");
    assert_true(identity_host_differs(&message, &host));
    host = same, host.os_name = TEXT("w");
    assert_true(identity_host_differs(&message, &host));
    host = same, host.os_version = TEXT("2");
    assert_true(identity_host_differs(&message, &host));
    host = same, host.os_version = TEXT("1.1");
    assert_true(identity_host_differs(&message, &host));
    host = same, host.os_version = TEXT("");
    assert_true(identity_host_differs(&message, &host));
}

static void a_cut_name_is_still_the_same(void **state)
{
    static char name[300];
    struct message message = {.p_ncpus = 1};
    struct host_row host = {.p_ncpus = 1};

    (void)state;
    memset(name, 'x', sizeof(name));
    message.p_model = (struct text){.at = name, .length = 300};
    host.p_model = (struct text){.at = name, .length = 254};
    assert_false(identity_host_differs(&message, &host));
}

static void a_byte_that_the_database_replaced_is_the_same(void **state)
{
    struct message message = {.p_ncpus = 1, .p_model = TEXT("caf\xE9")};
    struct host_row host = {.p_ncpus = 1, .p_model = TEXT("caf?")};

    (void)state;
    assert_false(identity_host_differs(&message, &host));
    message.p_model = TEXT("caf\x80"); /* the first byte that is none of ASCII */
    assert_false(identity_host_differs(&message, &host));
    message.p_model = TEXT("cafe");
    assert_true(identity_host_differs(&message, &host));
}

static void a_cross_project_id_is_32_hexadecimal_digits(void **state)
{
    (void)state;
    assert_true(identity_is_cross_project_id(TEXT("0123456789abcdefABCDEF9876543210")));
    assert_false(identity_is_cross_project_id(NO_TEXT));
    assert_false(identity_is_cross_project_id(TEXT("0123456789abcdef")));
    assert_false(identity_is_cross_project_id(TEXT("0123456789abcdefABCDEF98765432100")));
    assert_false(identity_is_cross_project_id(TEXT("0123456789abcdefABCDEF987654321g")));
    assert_false(identity_is_cross_project_id(TEXT("0123456789abcdef'ABCDEF987654321")));
}

static struct message alike(void)
{
    struct message message;

    memset(&message, 0, sizeof(message));
    message.allow_multiple_clients = -1;
    message.domain_name = TEXT("box");
    message.ip_addr = TEXT("10.0.0.1");
    message.os_name = TEXT("Linux");
    message.p_model = TEXT("cpu");
    message.m_nbytes = 4e9;
    return message;
}

static void a_search_needs_four_names(void **state)
{
    struct message message = alike();
    struct host_row like;

    (void)state;
    assert_true(identity_may_search_alike(&message, NULL, 0, 17, &like));
    assert_text(like.domain_name, "box");
    assert_text(like.last_ip_addr, "10.0.0.1");
    assert_text(like.os_name, "Linux");
    assert_text(like.p_model, "cpu");
    assert_real(like.m_nbytes, 4e9, 0);
    message.domain_name = NO_TEXT;
    assert_false(identity_may_search_alike(&message, NULL, 0, 17, &like));
    message = alike(), message.ip_addr = NO_TEXT;
    assert_false(identity_may_search_alike(&message, NULL, 0, 17, &like));
    message = alike(), message.os_name = NO_TEXT;
    assert_false(identity_may_search_alike(&message, NULL, 0, 17, &like));
    message = alike(), message.p_model = NO_TEXT;
    assert_false(identity_may_search_alike(&message, NULL, 0, 17, &like));
}

static void several_clients_and_exempt_users_are_not_searched(void **state)
{
    const struct text exempt[] = {TEXT("nonsense"), TEXT(" 17 ")};
    struct message message = alike();
    struct host_row like;

    (void)state;
    assert_false(identity_may_search_alike(&message, exempt, 2, 17, &like));
    assert_true(identity_may_search_alike(&message, exempt, 2, 18, &like));
    message.allow_multiple_clients = 1;
    assert_false(identity_may_search_alike(&message, NULL, 0, 17, &like));
}

static void jobs_are_lost_when_nothing_speaks_for_them(void **state)
{
    static const struct {
        bool lost;
        enum host_found found;
        int64_t hostid, multiple;
        bool has_list;
        size_t listed;
        int64_t age;
    } cases[] = {
        {true, HOST_FOUND_BY_CPID, 0, -1, true, 0, 5000},
        {false, HOST_FOUND_BY_CPID, 0, 1, true, 0, 5000},
        {false, HOST_FOUND_BY_CPID, 0, -1, true, 1, 5000},
        {true, HOST_FOUND_ALIKE, 0, 0, true, 0, 5000},
        {true, HOST_FOUND_ALIKE, 9, 0, true, 0, 5000},
        {false, HOST_FOUND_ALIKE, 9, 0, true, 2, 5000},
        {true, HOST_FOUND_BY_CPID, 0, -1, false, 0, 5000},
        {false, HOST_FOUND_ALIKE, 9, -1, false, 0, 5000}, /* it cannot list them */
        {false, HOST_FOUND_BY_CPID, 0, -1, true, 0, 1},   /* the same contact twice */
        {false, HOST_FOUND_ALIKE, 9, -1, true, 0, 60},
        {false, HOST_FOUND_ALIKE, 9, -1, true, 0, 600},
        {true, HOST_FOUND_ALIKE, 9, -1, true, 0, 601},
        {false, HOST_FOUND_BY_CPID, 0, -1, true, 0, -5}, /* by a clock that is behind */
        {false, HOST_FOUND_BY_CPID, 0, -1, true, 0, -3600},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct message message = {
            .hostid = cases[i].hostid,
            .allow_multiple_clients = cases[i].multiple,
            .has_other_results = cases[i].has_list,
            .other_result_count = cases[i].listed,
        };

        if (identity_jobs_are_lost(&message, cases[i].found, 100000 - cases[i].age, 100000) !=
            cases[i].lost)
            fail_msg("case %zu", i);
    }
}

/* Walks a table of forwardings (0: the record remains) and answers where it ends, 0 for nowhere. */
static int64_t walk_to_end(const int64_t *forwards, size_t count, int64_t id, size_t *ret_hops)
{
    struct zombie_walk walk = {0};

    *ret_hops = 0;
    while (id > 0 && (size_t)id < count) {
        struct host_row host = {.id = id, .rpc_seqno = forwards[id]};

        if (forwards[id] == 0)
            return id;
        id = identity_next_host(&walk, &host);
        ++*ret_hops;
        assert_true(*ret_hops <= ZOMBIE_HOPS_MAX + 1);
    }
    return 0;
}

static void a_chain_of_merged_records_ends_at_the_last(void **state)
{
    const int64_t forwards[] = {0, 3, 0, 4, 2};
    size_t hops;

    (void)state;
    assert_i64(walk_to_end(forwards, 5, 1, &hops), 2);
    assert_int_equal(hops, 3);
}

static void a_cycle_ends_nowhere(void **state)
{
    const int64_t forwards[] = {0, 2, 3, 1, 4};
    size_t hops;

    (void)state;
    assert_i64(walk_to_end(forwards, 5, 1, &hops), 0);
    assert_i64(walk_to_end(forwards, 5, 4, &hops), 0); /* to itself */
    assert_int_equal(hops, 1);
}

static void every_walk_ends(void **state)
{
    struct random random = {.state = 4};

    (void)state;
    for (int round = 0; round < 2000; round++) {
        int64_t forwards[40];
        size_t hops;
        int64_t end, slow = 1;

        for (size_t i = 0; i < 40; i++)
            forwards[i] = (int64_t)(random_next(&random) % 44) - 2;
        end = walk_to_end(forwards, 40, 1, &hops);
        for (int step = 0; step < ZOMBIE_HOPS_MAX && slow > 0 && slow < 40; step++) {
            if (forwards[slow] == 0)
                break;
            slow = forwards[slow];
        }
        if (slow <= 0 || slow >= 40 || forwards[slow] != 0)
            slow = 0;
        assert_i64(end, slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_account_key_is_strong),
        cmocka_unit_test(a_hash_of_key_and_password_is_weak),
        cmocka_unit_test(a_new_password_ends_a_weak_key),
        cmocka_unit_test(a_weak_key_is_of_one_user),
        cmocka_unit_test(an_account_without_key_is_nobodys),
        cmocka_unit_test(keys_differ_in_case),
        cmocka_unit_test(only_digits_and_a_bar_begin_a_weak_key),
        cmocka_unit_test(the_record_follows_the_table),
        cmocka_unit_test(each_of_five_properties_makes_another_machine),
        cmocka_unit_test(a_cut_name_is_still_the_same),
        cmocka_unit_test(a_byte_that_the_database_replaced_is_the_same),
        cmocka_unit_test(a_cross_project_id_is_32_hexadecimal_digits),
        cmocka_unit_test(a_search_needs_four_names),
        cmocka_unit_test(several_clients_and_exempt_users_are_not_searched),
        cmocka_unit_test(jobs_are_lost_when_nothing_speaks_for_them),
        cmocka_unit_test(a_chain_of_merged_records_ends_at_the_last),
        cmocka_unit_test(a_cycle_ends_nowhere),
        cmocka_unit_test(every_walk_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
