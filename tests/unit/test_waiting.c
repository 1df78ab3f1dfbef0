/* SPDX-License-Identifier: Apache-2.0 */
/* Who is next in the line, and that no account makes another wait. */
#include "server/base/random.h"
#include "server/process/waiting.h"
#include "tests/support/test.h"

#include <malloc.h>
#include <stdlib.h>

static const struct thread_use nothing;

static void reports_go_first(void **state)
{
    struct waiting_line *line = waiting_create(4);
    struct waiting_entry plain = {.account = 1}, reports = {.account = 2, .has_reports = true};

    (void)state;
    assert_true(waiting_add(line, &plain));
    assert_true(waiting_add(line, &reports));
    assert_int_equal(waiting_length(line), 2);
    assert_ptr_equal(waiting_take(line), &reports);
    assert_ptr_equal(waiting_take(line), &plain);
    assert_null(waiting_take(line));
    waiting_finish(line, &plain, nothing);
    waiting_finish(line, &reports, nothing);
    waiting_destroy(line);
}

static void a_report_brings_its_account_forward(void **state)
{
    struct waiting_line *line = waiting_create(4);
    struct waiting_entry first = {.account = 1}, other = {.account = 2},
                         reports = {.account = 1, .has_reports = true};

    (void)state;
    assert_true(waiting_add(line, &other));
    assert_true(waiting_add(line, &first));
    assert_true(waiting_add(line, &reports));
    assert_ptr_equal(waiting_take(line), &reports);
    assert_ptr_equal(waiting_take(line), &other);
    assert_ptr_equal(waiting_take(line), &first);
    waiting_finish(line, &other, nothing);
    waiting_finish(line, &first, nothing);
    waiting_finish(line, &reports, nothing);
    waiting_destroy(line);
}

/* Another request of its own does not put an account behind others, whichever kind they are of. */
static void an_account_keeps_its_turn(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct waiting_line *line = waiting_create(4);
        struct waiting_entry entries[3] = {{.account = 1}, {.account = 2}, {.account = 1}};

        for (size_t i = 0; i < 3; i++) {
            entries[i].has_reports = kind == 1;
            assert_true(waiting_add(line, &entries[i]));
        }
        for (size_t i = 0; i < 3; i++)
            assert_ptr_equal(waiting_take(line), &entries[i]);
        for (size_t i = 0; i < 3; i++)
            waiting_finish(line, &entries[i], nothing);
        waiting_destroy(line);
    }
}

static void accounts_take_turns(void **state)
{
    struct waiting_line *line = waiting_create(100);
    struct waiting_entry many[50], one = {.account = 2};

    (void)state;
    for (size_t i = 0; i < 50; i++) {
        many[i] = (struct waiting_entry){.account = 1};
        assert_true(waiting_add(line, &many[i]));
    }
    assert_true(waiting_add(line, &one));
    assert_ptr_equal(waiting_take(line), &many[0]);
    assert_ptr_equal(waiting_take(line), &one);
    for (size_t i = 1; i < 50; i++)
        assert_ptr_equal(waiting_take(line), &many[i]);
    for (size_t i = 0; i < 50; i++)
        waiting_finish(line, &many[i], nothing);
    waiting_finish(line, &one, nothing);
    waiting_destroy(line);
}

static void an_account_holds_no_more_than_its_share_while_others_wait(void **state)
{
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry greedy[6], others[3];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        greedy[i] = (struct waiting_entry){.account = 7, .has_reports = true};
        assert_true(waiting_add(line, &greedy[i]));
    }
    assert_ptr_equal(waiting_take(line), &greedy[0]);
    assert_ptr_equal(waiting_take(line), &greedy[1]);
    for (size_t i = 0; i < 3; i++) {
        others[i] = (struct waiting_entry){.account = 100 + i};
        assert_true(waiting_add(line, &others[i]));
    }
    for (size_t i = 0; i < 3; i++) /* though they report nothing */
        assert_ptr_equal(waiting_take(line), &others[i]);
    assert_ptr_equal(waiting_take(line), &greedy[2]); /* nobody else waits */
    waiting_finish(line, &greedy[0], nothing);
    waiting_finish(line, &greedy[1], nothing);
    for (size_t i = 3; i < 6; i++)
        assert_ptr_equal(waiting_take(line), &greedy[i]);
    for (size_t i = 2; i < 6; i++)
        waiting_finish(line, &greedy[i], nothing);
    for (size_t i = 0; i < 3; i++)
        waiting_finish(line, &others[i], nothing);
    waiting_destroy(line);
}

/* What one account has waiting is not ahead of another: that one's turn comes. */
static void an_account_waits_for_turns_and_not_for_a_line(void **state)
{
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry many[50], others[3], newcomer = {.account = 9}, reporter = {.account = 9};

    (void)state;
    reporter.has_reports = true;
    assert_int_equal(waiting_ahead(line, &newcomer), 0);
    for (size_t i = 0; i < 50; i++) {
        many[i] = (struct waiting_entry){.account = 1};
        assert_int_equal(waiting_ahead(line, &many[i]), i);
        assert_true(waiting_add(line, &many[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        others[i] = (struct waiting_entry){.account = 2 + i, .has_reports = i == 0};
        assert_true(waiting_add(line, &others[i]));
    }
    assert_int_equal(waiting_ahead(line, &newcomer), 1 + 4);
    assert_int_equal(waiting_ahead(line, &reporter), 1);
    assert_int_equal(waiting_ahead(line, &many[0]), 53);
    while (waiting_length(line) > 0)
        waiting_finish(line, waiting_take(line), nothing);
    assert_int_equal(waiting_ahead(line, &newcomer), 0);
    waiting_destroy(line);
}

static void the_age_of_the_oldest_is_known(void **state)
{
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry entries[] = {{.account = 1, .arrived_ns = 50},
                                      {.account = 1, .arrived_ns = 60},
                                      {.account = 2, .arrived_ns = 70}};

    (void)state;
    assert_int_equal(waiting_oldest_ns(line), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(waiting_add(line, &entries[i]));
    assert_int_equal(waiting_oldest_ns(line), 50);
    assert_ptr_equal(waiting_take(line), &entries[0]);
    assert_int_equal(waiting_oldest_ns(line), 60); /* though the other account has its turn now */
    assert_ptr_equal(waiting_take(line), &entries[2]);
    assert_int_equal(waiting_oldest_ns(line), 60);
    assert_ptr_equal(waiting_take(line), &entries[1]);
    for (size_t i = 0; i < 3; i++)
        waiting_finish(line, &entries[i], nothing);
    waiting_destroy(line);
}

/* Else those without reports would wait for ever where all threads are busy with reports. */
static void one_turn_of_four_is_for_those_without_reports(void **state)
{
    (void)state;
    for (uint64_t others_account = 1; others_account <= 2; others_account++) {
        struct waiting_line *line = waiting_create(100);
        struct waiting_entry reports[30], others[5];

        for (size_t i = 0; i < 30; i++) {
            reports[i] = (struct waiting_entry){.account = 1, .has_reports = true};
            assert_true(waiting_add(line, &reports[i]));
        }
        for (size_t i = 0; i < 5; i++) {
            others[i] = (struct waiting_entry){.account = others_account};
            assert_true(waiting_add(line, &others[i]));
        }
        for (size_t i = 0; i < 20; i++)
            assert_ptr_equal(waiting_take(line), i % 4 == 3 ? &others[i / 4] : &reports[i - i / 4]);
        for (size_t i = 15; i < 30; i++)
            assert_ptr_equal(waiting_take(line), &reports[i]);
        for (size_t i = 0; i < 30; i++)
            waiting_finish(line, &reports[i], nothing);
        for (size_t i = 0; i < 5; i++)
            waiting_finish(line, &others[i], nothing);
        waiting_destroy(line);
    }
}

static void add_all(struct waiting_line *line, struct waiting_entry *entries, size_t count,
                    uint64_t account, uint64_t now_ns)
{
    for (size_t i = 0; i < count; i++) {
        entries[i] = (struct waiting_entry){.account = account, .arrived_ns = now_ns};
        assert_true(waiting_add(line, &entries[i]));
    }
}

/* Also where nobody else waits: whoever comes next shall find a thread and a CPU. */
static void a_dear_account_gets_one_thread_for_a_while(void **state)
{
    struct waiting_line *line = waiting_create(4);
    struct waiting_entry entries[8], late, other = {.account = 2};
    const struct thread_use dear = {.now_ns = 100, .cpu_ns = WAITING_DEAR_NS};
    const struct thread_use cheap = {.now_ns = 200, .cpu_ns = WAITING_DEAR_NS - 1};

    (void)state;
    add_all(line, entries, 7, 1, 50);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(waiting_take(line), &entries[i]);
    waiting_finish(line, &entries[0], dear);
    assert_null(waiting_take(line)); /* two are still served */
    assert_true(waiting_add(line, &other));
    assert_ptr_equal(waiting_take(line), &other);
    waiting_finish(line, &other, cheap);
    waiting_finish(line, &entries[1], cheap);
    assert_null(waiting_take(line));
    waiting_finish(line, &entries[2], cheap);
    assert_ptr_equal(waiting_take(line), &entries[3]);
    assert_null(waiting_take(line));

    late = (struct waiting_entry){.account = 1, .arrived_ns = 100 + WAITING_MEMORY_NS - 1};
    assert_true(waiting_add(line, &late));
    assert_null(waiting_take(line));
    add_all(line, &entries[7], 1, 1, 100 + WAITING_MEMORY_NS);
    for (size_t i = 4; i < 7; i++)
        assert_ptr_equal(waiting_take(line), &entries[i]);
    assert_ptr_equal(waiting_take(line), &late);
    assert_ptr_equal(waiting_take(line), &entries[7]);
    for (size_t i = 3; i < 8; i++)
        waiting_finish(line, &entries[i], nothing);
    waiting_finish(line, &late, nothing);
    waiting_destroy(line);
}

/* One that waits for the database, say. It is remembered while nothing of it waits or is served. */
static void a_slow_account_keeps_to_its_share_for_a_while(void **state)
{
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry first, entries[4];
    const struct thread_use slow = {.now_ns = 100, .held_ns = WAITING_LONG_NS};

    (void)state;
    add_all(line, &first, 1, 1, 50);
    assert_ptr_equal(waiting_take(line), &first);
    waiting_finish(line, &first, slow);
    add_all(line, entries, 4, 1, 200);
    assert_ptr_equal(waiting_take(line), &entries[0]);
    assert_ptr_equal(waiting_take(line), &entries[1]);
    assert_null(waiting_take(line));
    waiting_finish(line, &entries[0], nothing);
    assert_ptr_equal(waiting_take(line), &entries[2]);
    assert_null(waiting_take(line));
    waiting_finish(line, &entries[1], nothing);
    waiting_finish(line, &entries[2], nothing);
    waiting_finish(line, waiting_take(line), nothing);
    waiting_destroy(line);
}

/* Who sends requests chooses the keys. */
static void an_account_that_has_nothing_takes_no_memory(void **state)
{
    enum { MANY = 10000, OF_FEW = 64 * 1024 /* bytes */ };
    struct waiting_line *line = waiting_create(4);
    size_t before = mallinfo2().uordblks;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        struct waiting_entry entry = {.account = i, .has_reports = i % 2 == 0};

        assert_true(waiting_add(line, &entry));
        assert_ptr_equal(waiting_take(line), &entry);
        waiting_finish(line, &entry, nothing);
    }
    assert_true(mallinfo2().uordblks < before + OF_FEW);
    waiting_destroy(line);
}

/* Whoever sends requests chooses the keys. The first of too many are forgotten. */
static void as_many_dear_accounts_as_one_likes(void **state)
{
    enum { ACCOUNTS = 3000, REMEMBERED = 1024 };
    struct waiting_line *line = waiting_create(4);
    struct waiting_entry entries[2];

    (void)state;
    for (uint64_t account = 1; account <= ACCOUNTS; account++) {
        const struct thread_use dear = {.now_ns = account, .cpu_ns = WAITING_DEAR_NS};

        add_all(line, entries, 1, account, account);
        waiting_finish(line, waiting_take(line), dear);
    }
    for (uint64_t account = 1; account <= ACCOUNTS; account++) {
        bool is_bound;

        add_all(line, entries, 2, account, ACCOUNTS);
        assert_ptr_equal(waiting_take(line), &entries[0]);
        is_bound = waiting_take(line) == NULL;
        assert_int_equal(is_bound, account > ACCOUNTS - REMEMBERED);
        waiting_finish(line, &entries[0], nothing);
        if (is_bound)
            assert_ptr_equal(waiting_take(line), &entries[1]);
        waiting_finish(line, &entries[1], nothing);
    }
    waiting_destroy(line);
}

/* Whoever has another key in each request: strangers together have one turn of four. */
static void strangers_share_one_line(void **state)
{
    struct waiting_line *line = waiting_create(100);
    struct waiting_entry strangers[40], known[8];

    (void)state;
    add_all(line, strangers, 40, WAITING_STRANGERS, 1);
    for (size_t i = 0; i < 8; i++)
        add_all(line, &known[i], 1, 10 + i, 1);
    for (size_t i = 0; i < 10; i++) /* known, known, known, stranger */
        assert_ptr_equal(waiting_take(line), i % 4 == 3 ? &strangers[i / 4] : &known[i - i / 4]);
    for (size_t i = 2; i < 40; i++) /* nobody else waits */
        assert_ptr_equal(waiting_take(line), &strangers[i]);
    for (size_t i = 0; i < 40; i++)
        waiting_finish(line, &strangers[i], nothing);
    for (size_t i = 0; i < 8; i++)
        waiting_finish(line, &known[i], nothing);
    waiting_destroy(line);
}

/* However many they are: those who come for the first time are served, too. */
static void known_accounts_do_not_starve_strangers(void **state)
{
    enum { KNOWN = 400 };
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry stranger, known[KNOWN];
    size_t before = 0;

    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        add_all(line, &known[i], 1, 10 + i, 1);
        known[i].has_reports = i % 2 == 0;
    }
    add_all(line, &stranger, 1, WAITING_STRANGERS, 1);
    for (struct waiting_entry *entry = waiting_take(line); entry != &stranger;
         entry = waiting_take(line)) {
        waiting_finish(line, entry, nothing);
        before++;
    }
    assert_int_equal(before, 3);
    waiting_finish(line, &stranger, nothing);
    while (waiting_length(line) > 0)
        waiting_finish(line, waiting_take(line), nothing);
    waiting_destroy(line);
}

/* One of them holds a thread for long, and another's key turns out to be right. */
static void what_a_stranger_took_is_held_against_no_other(void **state)
{
    struct waiting_line *line = waiting_create(2);
    struct waiting_entry entries[8], own[2];
    const struct thread_use dear = {
        .now_ns = 100, .cpu_ns = WAITING_DEAR_NS, .held_ns = WAITING_LONG_NS};

    (void)state;
    add_all(line, entries, 8, WAITING_STRANGERS, 50);
    for (size_t i = 0; i < 2; i++)
        assert_ptr_equal(waiting_take(line), &entries[i]);
    waiting_finish(line, &entries[0], dear);
    entries[1].account = 17; /* found */
    waiting_finish(line, &entries[1], dear);
    for (size_t i = 2; i < 8; i++) /* all threads: nobody else waits */
        assert_ptr_equal(waiting_take(line), &entries[i]);
    add_all(line, own, 2, 17, 60);
    assert_ptr_equal(waiting_take(line), &own[0]);
    assert_null(waiting_take(line));
    waiting_finish(line, &own[0], nothing);
    assert_ptr_equal(waiting_take(line), &own[1]);
    waiting_finish(line, &own[1], nothing);
    for (size_t i = 2; i < 8; i++)
        waiting_finish(line, &entries[i], nothing);
    waiting_destroy(line);
}

/* How many are served before a newcomer, by the estimate and by trying. */
static void strangers_are_counted_for_one_turn_of_four(void **state)
{
    struct waiting_entry strangers[60], known[30], mine;

    (void)state;
    for (int is_stranger = 0; is_stranger < 2; is_stranger++) {
        struct waiting_line *line = waiting_create(100);
        size_t ahead, before = 0;

        for (size_t i = 0; i < 30; i++)
            add_all(line, &known[i], 1, 10 + i, 1);
        add_all(line, strangers, is_stranger ? 5 : 60, WAITING_STRANGERS, 1);
        mine = (struct waiting_entry){.account = is_stranger ? WAITING_STRANGERS : 9};
        ahead = waiting_ahead(line, &mine);
        assert_true(waiting_add(line, &mine));
        for (struct waiting_entry *entry = waiting_take(line); entry != &mine;
             entry = waiting_take(line)) {
            waiting_finish(line, entry, nothing);
            before++;
        }
        assert_int_equal(before, is_stranger ? 5 + 18 : 30 + 10);
        assert_int_equal(ahead, before);
        waiting_finish(line, &mine, nothing);
        while (waiting_length(line) > 0)
            waiting_finish(line, waiting_take(line), nothing);
        waiting_destroy(line);
    }
}

/* The rules once more, looked up the slow way. */
struct slow_account {
    size_t served, at_most;
    uint64_t until_ns;
    size_t in_a_row; /* its reports that were taken, one after the other */
};

static size_t slow_share(const struct slow_account *account, size_t share)
{
    return account->at_most > 0 ? account->at_most : share;
}

static struct thread_use any_use(struct random *random, uint64_t now_ns)
{
    struct thread_use use = {.now_ns = now_ns};

    if (random_next(random) % 4 == 0)
        use.cpu_ns = WAITING_DEAR_NS;
    else if (random_next(random) % 3 == 0)
        use.held_ns = WAITING_LONG_NS;
    return use;
}

static void slow_charge(struct slow_account *account, struct thread_use use, size_t share)
{
    size_t at_most = use.cpu_ns > 0 ? 1 : use.held_ns > 0 ? share : 0;

    if (at_most == 0)
        return;
    account->at_most =
        account->at_most > 0 && account->at_most < at_most ? account->at_most : at_most;
    account->until_ns = use.now_ns + WAITING_MEMORY_NS;
}

/* The first of the slow accounts is that of strangers. */
static size_t slow_index(uint64_t account)
{
    return account == WAITING_STRANGERS ? 0 : (size_t)account;
}

/* Who is taken reports if anyone may who does, but for one turn of four of the line or
 * of his account, and is within the share
 * unless all that wait are beyond it; one that is bound is always within it; nobody is passed over
 * who may be served. Strangers have one turn of four where others wait, and are charged only under
 * the account that they turn out to be. */
static struct slow_counts {
    size_t held_back, passed_over, strangers_taken; /* the last: while others wait */
} counts;

static void keep_the_rules(uint64_t seed)
{
    enum { ENTRIES = 1000, ACCOUNTS = 20, SHARE = 3 };
    struct waiting_entry entries[ENTRIES] = {0};
    enum { NEW, WAITS, SERVED } stage[ENTRIES] = {0};
    struct random random = {.state = seed};
    struct waiting_line *line = waiting_create(SHARE);
    struct slow_account accounts[ACCOUNTS] = {0};
    uint64_t now_ns = 1;
    size_t taken = 0, in_a_row = 0;
    size_t known_in_a_row = 0; /* while both wait */

    while (taken < ENTRIES) {
        size_t i = random_next(&random) % ENTRIES;

        now_ns += WAITING_MEMORY_NS / 40;
        if (stage[i] == NEW) {
            size_t account = random_next(&random) % 4 == 0 ? 0 : random_next(&random) % ACCOUNTS;

            entries[i] =
                (struct waiting_entry){.account = account == 0 ? WAITING_STRANGERS : account,
                                       .has_reports = random_next(&random) % 3 > 0,
                                       .arrived_ns = now_ns};
            assert_true(waiting_add(line, &entries[i]));
            stage[i] = WAITS;
            for (size_t a = 0; a < ACCOUNTS; a++)
                if (accounts[a].until_ns <= now_ns)
                    accounts[a].at_most = 0;
        } else if (stage[i] == SERVED && entries[i].of != NULL) {
            struct thread_use use = any_use(&random, now_ns);

            accounts[slow_index(entries[i].account)].served--;
            if (entries[i].account == WAITING_STRANGERS && random_next(&random) % 2 == 0)
                entries[i].account = 1 + random_next(&random) % (ACCOUNTS - 1);
            waiting_finish(line, &entries[i], use);
            if (entries[i].account != WAITING_STRANGERS)
                slow_charge(&accounts[entries[i].account], use, SHARE);
        }
        if (random_next(&random) % 2 == 0) {
            bool known_within = false, strangers_within = false, any = false;
            bool reports_within[2] = {false, false}; /* of known ones, of strangers */
            struct waiting_entry *entry;
            struct slow_account *of;
            bool is_stranger;

            for (size_t j = 0; j < ENTRIES; j++) {
                const struct slow_account *account = &accounts[slow_index(entries[j].account)];
                bool is_within = account->served < slow_share(account, SHARE);
                bool is_strange = entries[j].account == WAITING_STRANGERS;

                if (stage[j] != WAITS)
                    continue;
                known_within = known_within || (is_within && !is_strange);
                strangers_within = strangers_within || (is_within && is_strange);
                reports_within[is_strange] =
                    reports_within[is_strange] || (is_within && entries[j].has_reports);
                any = any || is_within || account->at_most == 0;
                counts.held_back += !is_within && account->at_most > 0;
            }
            entry = waiting_take(line);
            assert_int_equal(entry != NULL, any);
            if (entry == NULL)
                continue;
            assert_int_equal(stage[entry - entries], WAITS);
            of = &accounts[slow_index(entry->account)];
            is_stranger = entry->account == WAITING_STRANGERS;
            if (known_within || strangers_within || of->at_most > 0)
                assert_true(of->served < slow_share(of, SHARE));
            if (known_within && strangers_within) {
                assert_int_equal(is_stranger, known_in_a_row == 3);
                counts.strangers_taken += is_stranger;
                known_in_a_row = is_stranger ? 0 : known_in_a_row + 1;
            } else {
                known_in_a_row = 0;
            }
            if (reports_within[is_stranger] && !entry->has_reports) {
                assert_true((!is_stranger && in_a_row >= 3) || of->in_a_row >= 3);
                counts.passed_over++;
            }
            if (!is_stranger)
                in_a_row = entry->has_reports ? in_a_row + 1 : 0;
            of->in_a_row = entry->has_reports ? of->in_a_row + 1 : 0;
            stage[entry - entries] = SERVED;
            of->served++;
            taken++;
        }
    }
    assert_int_equal(waiting_length(line), 0);
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].of != NULL)
            waiting_finish(line, &entries[i], nothing);
    waiting_destroy(line);
}

static void any_history_keeps_the_rules(void **state)
{
    (void)state;
    counts = (struct slow_counts){0};
    for (uint64_t seed = 1; seed <= 10; seed++)
        keep_the_rules(seed);
    assert_true(counts.held_back > 100);
    assert_true(counts.passed_over > 10);
    assert_true(counts.strangers_taken > 10);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(reports_go_first),
        cmocka_unit_test(a_report_brings_its_account_forward),
        cmocka_unit_test(an_account_keeps_its_turn),
        cmocka_unit_test(accounts_take_turns),
        cmocka_unit_test(an_account_holds_no_more_than_its_share_while_others_wait),
        cmocka_unit_test(an_account_waits_for_turns_and_not_for_a_line),
        cmocka_unit_test(the_age_of_the_oldest_is_known),
        cmocka_unit_test(one_turn_of_four_is_for_those_without_reports),
        cmocka_unit_test(a_dear_account_gets_one_thread_for_a_while),
        cmocka_unit_test(a_slow_account_keeps_to_its_share_for_a_while),
        cmocka_unit_test(an_account_that_has_nothing_takes_no_memory),
        cmocka_unit_test(as_many_dear_accounts_as_one_likes),
        cmocka_unit_test(strangers_share_one_line),
        cmocka_unit_test(known_accounts_do_not_starve_strangers),
        cmocka_unit_test(what_a_stranger_took_is_held_against_no_other),
        cmocka_unit_test(strangers_are_counted_for_one_turn_of_four),
        cmocka_unit_test(any_history_keeps_the_rules),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
