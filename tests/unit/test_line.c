/* SPDX-License-Identifier: Apache-2.0 */
/* Who is next in the line, and that no account makes another wait. */
#include "server/base/random.h"
#include "server/process/line.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void reports_go_first(void **state)
{
    struct waiting_line *line = line_create(4);
    struct line_entry plain = {.account = 1}, reports = {.account = 2, .has_reports = true};

    (void)state;
    assert_true(line_add(line, &plain));
    assert_true(line_add(line, &reports));
    assert_int_equal(line_length(line), 2);
    assert_ptr_equal(line_take(line), &reports);
    assert_ptr_equal(line_take(line), &plain);
    assert_null(line_take(line));
    line_finish(line, &plain);
    line_finish(line, &reports);
    line_destroy(line);
}

static void a_report_brings_its_account_forward(void **state)
{
    struct waiting_line *line = line_create(4);
    struct line_entry first = {.account = 1}, other = {.account = 2},
                      reports = {.account = 1, .has_reports = true};

    (void)state;
    assert_true(line_add(line, &other));
    assert_true(line_add(line, &first));
    assert_true(line_add(line, &reports));
    assert_ptr_equal(line_take(line), &reports);
    assert_ptr_equal(line_take(line), &other);
    assert_ptr_equal(line_take(line), &first);
    line_finish(line, &other);
    line_finish(line, &first);
    line_finish(line, &reports);
    line_destroy(line);
}

static void accounts_take_turns(void **state)
{
    struct waiting_line *line = line_create(100);
    struct line_entry many[50], one = {.account = 2};

    (void)state;
    for (size_t i = 0; i < 50; i++) {
        many[i] = (struct line_entry){.account = 1};
        assert_true(line_add(line, &many[i]));
    }
    assert_true(line_add(line, &one));
    assert_ptr_equal(line_take(line), &many[0]);
    assert_ptr_equal(line_take(line), &one);
    for (size_t i = 1; i < 50; i++)
        assert_ptr_equal(line_take(line), &many[i]);
    for (size_t i = 0; i < 50; i++)
        line_finish(line, &many[i]);
    line_finish(line, &one);
    line_destroy(line);
}

static void an_account_holds_no_more_than_its_share_while_others_wait(void **state)
{
    struct waiting_line *line = line_create(2);
    struct line_entry greedy[6], others[3];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        greedy[i] = (struct line_entry){.account = 7, .has_reports = true};
        assert_true(line_add(line, &greedy[i]));
    }
    assert_ptr_equal(line_take(line), &greedy[0]);
    assert_ptr_equal(line_take(line), &greedy[1]);
    for (size_t i = 0; i < 3; i++) {
        others[i] = (struct line_entry){.account = 100 + i};
        assert_true(line_add(line, &others[i]));
    }
    for (size_t i = 0; i < 3; i++) /* though they report nothing */
        assert_ptr_equal(line_take(line), &others[i]);
    assert_ptr_equal(line_take(line), &greedy[2]); /* nobody else waits */
    line_finish(line, &greedy[0]);
    line_finish(line, &greedy[1]);
    for (size_t i = 3; i < 6; i++)
        assert_ptr_equal(line_take(line), &greedy[i]);
    for (size_t i = 2; i < 6; i++)
        line_finish(line, &greedy[i]);
    for (size_t i = 0; i < 3; i++)
        line_finish(line, &others[i]);
    line_destroy(line);
}

/* What one account has waiting is not ahead of another: that one's turn comes. */
static void an_account_waits_for_turns_and_not_for_a_line(void **state)
{
    struct waiting_line *line = line_create(2);
    struct line_entry many[50], others[3], newcomer = {.account = 9}, reporter = {.account = 9};

    (void)state;
    reporter.has_reports = true;
    assert_int_equal(line_ahead(line, &newcomer), 0);
    for (size_t i = 0; i < 50; i++) {
        many[i] = (struct line_entry){.account = 1};
        assert_int_equal(line_ahead(line, &many[i]), i);
        assert_true(line_add(line, &many[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        others[i] = (struct line_entry){.account = 2 + i, .has_reports = i == 0};
        assert_true(line_add(line, &others[i]));
    }
    assert_int_equal(line_ahead(line, &newcomer), 1 + 4);
    assert_int_equal(line_ahead(line, &reporter), 1);
    assert_int_equal(line_ahead(line, &many[0]), 53);
    while (line_length(line) > 0)
        line_finish(line, line_take(line));
    assert_int_equal(line_ahead(line, &newcomer), 0);
    line_destroy(line);
}

static void the_age_of_the_oldest_is_known(void **state)
{
    struct waiting_line *line = line_create(2);
    struct line_entry entries[] = {{.account = 1, .arrived_ns = 50},
                                   {.account = 1, .arrived_ns = 60},
                                   {.account = 2, .arrived_ns = 70}};

    (void)state;
    assert_int_equal(line_oldest_ns(line), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(line_add(line, &entries[i]));
    assert_int_equal(line_oldest_ns(line), 50);
    assert_ptr_equal(line_take(line), &entries[0]);
    assert_int_equal(line_oldest_ns(line), 60); /* though the other account has its turn now */
    assert_ptr_equal(line_take(line), &entries[2]);
    assert_int_equal(line_oldest_ns(line), 60);
    assert_ptr_equal(line_take(line), &entries[1]);
    for (size_t i = 0; i < 3; i++)
        line_finish(line, &entries[i]);
    line_destroy(line);
}

/* Against the rule itself, looked up the slow way: who is taken reports if anyone may who does, and
 * is within the share unless all that wait are beyond it. */
static void any_history_keeps_the_rules(void **state)
{
    enum { ENTRIES = 400, ACCOUNTS = 9, SHARE = 3 };
    struct line_entry entries[ENTRIES] = {0};
    enum { NEW, WAITS, SERVED } stage[ENTRIES] = {0};
    struct random random = {.state = 7};
    struct waiting_line *line = line_create(SHARE);
    size_t served[ACCOUNTS] = {0}, taken = 0;

    (void)state;
    while (taken < ENTRIES) {
        size_t i = random_next(&random) % ENTRIES;

        if (stage[i] == NEW) {
            entries[i] = (struct line_entry){.account = random_next(&random) % ACCOUNTS,
                                             .has_reports = random_next(&random) % 3 == 0};
            assert_true(line_add(line, &entries[i]));
            stage[i] = WAITS;
        } else if (stage[i] == SERVED && entries[i].of != NULL) {
            line_finish(line, &entries[i]);
            served[entries[i].account]--;
        }
        if (random_next(&random) % 2 == 0) {
            bool within = false, reports_within = false;
            struct line_entry *entry;

            for (size_t j = 0; j < ENTRIES; j++)
                if (stage[j] == WAITS && served[entries[j].account] < SHARE) {
                    within = true;
                    reports_within = reports_within || entries[j].has_reports;
                }
            entry = line_take(line);
            if (entry == NULL)
                continue;
            assert_int_equal(stage[entry - entries], WAITS);
            assert_true(!within || served[entry->account] < SHARE);
            assert_true(!reports_within || entry->has_reports);
            stage[entry - entries] = SERVED;
            served[entry->account]++;
            taken++;
        }
    }
    assert_int_equal(line_length(line), 0);
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].of != NULL)
            line_finish(line, &entries[i]);
    line_destroy(line);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(reports_go_first),
        cmocka_unit_test(a_report_brings_its_account_forward),
        cmocka_unit_test(accounts_take_turns),
        cmocka_unit_test(an_account_holds_no_more_than_its_share_while_others_wait),
        cmocka_unit_test(an_account_waits_for_turns_and_not_for_a_line),
        cmocka_unit_test(the_age_of_the_oldest_is_known),
        cmocka_unit_test(any_history_keeps_the_rules),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
