/* SPDX-License-Identifier: Apache-2.0 */
/* What is learned of a host's presence from its contacts, beside a slow twin that goes through all
 * contacts again. */
#include "server/policy/version/presence.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/parse/message.h"
#include "server/policy/version/estimate.h"
#include "tests/support/test.h"

#include <math.h>

#include "server/base/banned.h"

#define HOUR  3600.0
#define BEGIN 1.7e9 /* epoch */

enum { ARENA_BYTES = 1 << 20, HISTORIES = 300, CONTACTS_MAX = 400 };

static int make_arena(void **state)
{
    *state = arena_create(ARENA_BYTES);
    return *state == NULL;
}

static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct message counting(double active, double gpu_active)
{
    struct message message;

    message_init(&message);
    message.has_total_active_duration = message.has_total_gpu_active_duration = true;
    message.total_active_duration = active;
    message.total_gpu_active_duration = gpu_active;
    return message;
}

static bool meet(struct learned_presence *presence, double now, double active)
{
    struct message message = counting(active, active);

    return presence_contact(presence, now, &message);
}

/* --- the rule --------------------------------------------------------------------------------- */

/* The worked host of policy(7) 5.1. */
static void the_example_of_the_page(void **state)
{
    const struct presence_shares crowd = {.cpu = 0.7, .gpu = 0.7}, reported = {0.5, 0.5};
    struct learned_presence presence = {0};
    struct presence_shares expected;

    (void)state;
    assert_true(meet(&presence, BEGIN, 1000 * HOUR));
    expected = presence_expect(&presence, crowd, reported);
    assert_real(expected.cpu, 0.7, 1e-6);
    assert_false(meet(&presence, BEGIN + 20 * HOUR, 1020 * HOUR));
    assert_real(presence.weight, 0, 0);
    assert_true(meet(&presence, BEGIN + 50 * HOUR, 1040 * HOUR));
    assert_real(presence.weight, 1, 0);
    assert_real(presence.cpu, 0.8, 1e-6);
    assert_true(meet(&presence, BEGIN + 150 * HOUR, 1064 * HOUR));
    assert_real(presence.weight, 1.98, 1e-6);
    assert_real(presence.cpu, 0.6485, 1e-4);
    expected = presence_expect(&presence, crowd, reported);
    assert_real(expected.cpu, 0.6854, 1e-4);
}

/* An observation is closed by the first contact that is old enough, to the second. */
static void a_contact_too_early_closes_nothing(void **state)
{
    struct learned_presence presence = {0};

    (void)state;
    assert_true(meet(&presence, BEGIN, 0));
    assert_false(meet(&presence, BEGIN, 1));
    assert_false(meet(&presence, BEGIN + 48 * HOUR - 1, 48 * HOUR - 1));
    assert_real(presence.weight, 0, 0);
    assert_i64(presence.begun, (int64_t)BEGIN);
    assert_true(meet(&presence, BEGIN + 48 * HOUR, 24 * HOUR));
    assert_real(presence.weight, 1, 0);
    assert_real(presence.cpu, 0.5, 1e-6);
    assert_i64(presence.begun, (int64_t)(BEGIN + 48 * HOUR));
}

/* Up to three days the gain is that of the age, behind that of two days. */
static void a_long_absence_counts_as_two_days(void **state)
{
    const struct {
        double age, gain, share;
    } cases[] = {{72, 36, 0.5}, {72 + 1.0 / 3600, 36, 0.75}, {400, 24, 0.5}, {400, 300, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct learned_presence presence = {0};

        assert_true(meet(&presence, BEGIN, 0));
        assert_true(meet(&presence, BEGIN + cases[i].age * HOUR, cases[i].gain * HOUR));
        assert_real(presence.cpu, cases[i].share, 1e-5);
    }
}

static void coprocessors_have_a_count_of_their_own(void **state)
{
    struct learned_presence presence = {0};
    struct message message = counting(0, 0);

    (void)state;
    assert_true(presence_contact(&presence, BEGIN, &message));
    message = counting(24 * HOUR, 12 * HOUR);
    assert_true(presence_contact(&presence, BEGIN + 48 * HOUR, &message));
    assert_real(presence.cpu, 0.5, 1e-6);
    assert_real(presence.gpu, 0.25, 1e-6);
    /* A client without one. */
    message.has_total_gpu_active_duration = false;
    presence = (struct learned_presence){0};
    assert_true(presence_contact(&presence, BEGIN, &message));
    message.total_active_duration += 24 * HOUR;
    assert_true(presence_contact(&presence, BEGIN + 48 * HOUR, &message));
    assert_real(presence.gpu, 0.5, 1e-6);
}

static void clients_that_do_not_count_are_told_by_what_they_report(void **state)
{
    struct learned_presence presence = {0};
    struct presence_shares expected;
    struct message message;

    (void)state;
    message_init(&message);
    assert_false(presence_contact(&presence, BEGIN, &message));
    expected = presence_expect(&presence, (struct presence_shares){0.7, 0.7},
                               (struct presence_shares){0.5, 0.5});
    assert_real(expected.cpu, 0, 0);
    assert_real(expected.gpu, 0, 0);
}

static void without_a_crowd_the_clients_own_word_goes_first(void **state)
{
    struct learned_presence presence = {0};
    struct presence_shares expected;

    (void)state;
    assert_true(meet(&presence, BEGIN, 0));
    assert_true(meet(&presence, BEGIN + 48 * HOUR, 48 * HOUR));
    expected =
        presence_expect(&presence, (struct presence_shares){0}, (struct presence_shares){0.4, 0.1});
    assert_real(expected.cpu, (1 + 5 * 0.4) / 6, 1e-6);
    assert_real(expected.gpu, (1 + 5 * 0.1) / 6, 1e-6);
}

/* Of coprocessors, or of CPUs. */
static void a_crowd_may_compute_with_one_kind_alone(void **state)
{
    struct learned_presence presence = {0};
    const struct presence_shares reported = {0.9, 0.9};
    struct presence_shares expected;

    (void)state;
    assert_true(meet(&presence, BEGIN, 0));
    expected = presence_expect(&presence, (struct presence_shares){0.5, 0}, reported);
    assert_real(expected.cpu, 0.5, 1e-6);
    assert_real(expected.gpu, 0, 0);
    expected = presence_expect(&presence, (struct presence_shares){0, 0.5}, reported);
    assert_real(expected.cpu, 0, 0);
    assert_real(expected.gpu, 0.5, 1e-6);
}

static void who_computed_nothing_was_observed(void **state)
{
    struct learned_presence presence = {0};

    (void)state;
    assert_true(meet(&presence, BEGIN, 7 * HOUR));
    assert_true(meet(&presence, BEGIN + 48 * HOUR, 7 * HOUR));
    assert_real(presence.weight, 1, 0);
    assert_real(presence.cpu, 0, 0);
}

static void processors_that_are_partly_used_count_as_before(void **state)
{
    struct message message;
    struct availability availability;

    (void)state;
    message_init(&message);
    message.has_cpu_efficiency = true;
    message.cpu_efficiency = 0.5;
    availability = availability_of(&message, (struct presence_shares){0.8, 0.6});
    assert_real(availability.cpu, 0.4, 1e-9);
    assert_real(availability.gpu, 0.6, 1e-9);
}

/* --- what clients may say --------------------------------------------------------------------- */

static void counts_that_are_none_change_nothing(void **state)
{
    static const double none[] = {NAN, INFINITY, -INFINITY, -1, 4294967295.0, 1e300};
    struct learned_presence presence = {0};

    (void)state;
    assert_true(meet(&presence, BEGIN, 5));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct message message = counting(10, none[i]);

        assert_false(meet(&presence, BEGIN + 1000 * HOUR, none[i]));
        assert_false(presence_contact(&presence, BEGIN + 1000 * HOUR, &message));
        if (none[i] != -1)
            assert_false(meet(&presence, none[i], 10));
    }
    assert_false(meet(&presence, 0, 10));
    assert_real(presence.weight, 0, 0);
}

/* What was begun before the fall is not closed, and begun anew. */
static void what_falls_begins_anew(void **state)
{
    const struct {
        double now, active, gpu_active;
    } falls[] = {
        {BEGIN + 100 * HOUR, 999, 2000}, {BEGIN + 100 * HOUR, 2000, 999}, {BEGIN - 1, 2000, 2000}};

    (void)state;
    for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
        struct learned_presence presence = {0};
        struct message message = counting(falls[i].active, falls[i].gpu_active);

        assert_true(meet(&presence, BEGIN - 48 * HOUR, 0));
        assert_true(meet(&presence, BEGIN, 1000));
        assert_real(presence.weight, 1, 0);
        assert_true(presence_contact(&presence, falls[i].now, &message));
        assert_real(presence.weight, 1, 0);
        assert_i64(presence.begun, (int64_t)falls[i].now);
    }
}

static void more_than_all_the_time_is_all_the_time(void **state)
{
    struct learned_presence presence = {0};

    (void)state;
    assert_true(meet(&presence, BEGIN, 0));
    assert_true(meet(&presence, BEGIN + 48 * HOUR, 4e9));
    assert_real(presence.cpu, 1, 0);
}

/* --- as it is kept ---------------------------------------------------------------------------- */

static void what_is_written_is_read(void **state)
{
    struct learned_presence presence = {0}, read;
    struct message message = counting(38 * HOUR, 18 * HOUR);
    struct text text;

    assert_true(meet(&presence, BEGIN, 77));
    assert_true(presence_contact(&presence, BEGIN + 50 * HOUR, &message));
    assert_true(presence.cpu > presence.gpu);
    text = presence_write(&presence, *state);
    assert_i64((int64_t)text.length, 24);
    read = presence_read(text);
    assert_memory_equal(&read, &presence, sizeof(read));
    assert_i64((unsigned char)text.at[0], (int64_t)(BEGIN + 50 * HOUR) % 256);
}

/* As no server writes them. */
static void where_nothing_was_begun_nothing_is_known(void **state)
{
    const struct learned_presence odd = {.weight = 3, .cpu = 0.5F, .gpu = 0.5F};
    struct learned_presence read = presence_read(presence_write(&odd, *state));

    assert_real(read.weight, 0, 0);
    assert_real(read.cpu, 0, 0);
    read = odd;
    read.begun = 1;
    read = presence_read(presence_write(&read, *state));
    assert_real(read.weight, 3, 0);
}

static void bytes_of_somebody_else_are_bounded(void **state)
{
    struct random random = {.state = 7};
    char bytes[24];

    (void)state;
    assert_i64(presence_read(TEXT("abc")).begun, 0);
    for (int turn = 0; turn < 2000; turn++) {
        struct learned_presence presence;
        struct presence_shares expected;

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)random_next(&random);
        if (turn % 2 == 0) /* not a number */
            memset(bytes + 12, 0xff, 12);
        presence = presence_read((struct text){bytes, sizeof(bytes)});
        (void)meet(&presence, BEGIN, 1e9);
        expected = presence_expect(&presence, (struct presence_shares){0.5, 0.5},
                                   (struct presence_shares){0.5, 0.5});
        assert_true(expected.cpu >= 0 && expected.cpu <= 1 && expected.gpu >= 0 &&
                    expected.gpu <= 1);
    }
}

/* --- the crowd -------------------------------------------------------------------------------- */

static void a_crowd_is_ten_hosts_with_observations(void **state)
{
    struct text stored[30];
    struct presence_shares crowd;

    for (size_t i = 0; i < 30; i++) {
        struct learned_presence presence = {0};
        double share = i < 5 ? 1 : 0.4;

        assert_true(meet(&presence, BEGIN, 0));
        if (i < 10)
            assert_true(meet(&presence, BEGIN + 48 * HOUR, share * 48 * HOUR));
        if (i == 0) /* twice, of which the first counts .98 */
            assert_true(meet(&presence, BEGIN + 96 * HOUR, share * 96 * HOUR));
        stored[i] = presence_write(&presence, *state);
    }
    crowd = presence_of_crowd(stored, 30);
    assert_real(crowd.cpu, (5.98 + 5 * 0.4) / 10.98, 1e-5);
    assert_real(crowd.gpu, crowd.cpu, 1e-9);
    crowd = presence_of_crowd(stored + 1, 29);
    assert_real(crowd.cpu, 0, 0);
    crowd = presence_of_crowd(NULL, 0);
    assert_real(crowd.cpu, 0, 0);
}

/* --- the slow twin ---------------------------------------------------------------------------- */

struct met {
    double now, active, gpu;
    bool counts;
};

static bool is_count(double value, double least)
{
    return isfinite(value) && value >= least && value < 4294967295.0;
}

/* Whole seconds, as they are kept. */
static double share_slowly(double gain, double age)
{
    double share = age > 72 * HOUR ? gain / (48 * HOUR) : gain / age;

    return share > 1 ? 1 : share;
}

/* All that was closed, each with .98 of the weight of the next. */
static struct presence_shares learn_slowly(const struct met *met, size_t count, double *ret_weight)
{
    double weights = 0, cpu = 0, gpu = 0;
    const struct met *open = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct met *now = &met[i];
        double age;

        if (!now->counts || !is_count(now->active, 0) || !is_count(now->gpu, 0) ||
            !is_count(now->now, 1))
            continue;
        if (open == NULL || floor(now->now) < floor(open->now) ||
            floor(now->active) < floor(open->active) || floor(now->gpu) < floor(open->gpu)) {
            open = now;
            continue;
        }
        age = floor(now->now) - floor(open->now);
        if (age < 48 * HOUR)
            continue;
        weights = 0.98 * weights + 1;
        cpu = 0.98 * cpu + share_slowly(floor(now->active) - floor(open->active), age);
        gpu = 0.98 * gpu + share_slowly(floor(now->gpu) - floor(open->gpu), age);
        open = now;
    }
    *ret_weight = weights;
    return weights > 0 ? (struct presence_shares){cpu / weights, gpu / weights}
                       : (struct presence_shares){0};
}

static double strange(struct random *random)
{
    static const double values[] = {NAN, INFINITY, -5, 0, 1e300, 4294967294.0, 4294967295.0, 0.5};

    return values[random_next(random) % (sizeof(values) / sizeof(values[0]))];
}

static struct met next_contact(struct random *random, const struct met *last, bool is_hostile)
{
    struct met met = *last;
    double pause = exp(-8 + 14 * random_unit(random)) * HOUR, gain = pause * random_unit(random);

    met.counts = random_unit(random) < 0.95;
    met.now += pause;
    met.active += gain;
    met.gpu += gain * random_unit(random);
    if (random_unit(random) < 0.01)
        met.active = met.gpu = 0;
    if (is_hostile && random_unit(random) < 0.2)
        met.active = strange(random);
    if (is_hostile && random_unit(random) < 0.1)
        met.gpu = strange(random);
    if (is_hostile && random_unit(random) < 0.1)
        met.now -= 100 * HOUR * random_unit(random);
    return met;
}

static void agrees_with_its_slow_twin(void **state)
{
    struct random random = {.state = 34};
    struct met met[CONTACTS_MAX];
    size_t closed = 0;

    (void)state;
    for (int history = 0; history < HISTORIES; history++) {
        struct learned_presence presence = {0};
        struct met last = {.now = BEGIN + 0.7, .active = 1e5 * random_unit(&random)};
        size_t count = 1 + random_next(&random) % CONTACTS_MAX;
        struct presence_shares slow;
        double weight;

        for (size_t i = 0; i < count; i++) {
            struct message message;

            met[i] = next_contact(&random, &last, history % 2 == 1);
            if (isfinite(met[i].active) && isfinite(met[i].gpu) && met[i].active < 1e9)
                last = met[i];
            message = counting(met[i].active, met[i].gpu);
            message.has_total_active_duration = met[i].counts;
            (void)presence_contact(&presence, met[i].now, &message);
        }
        slow = learn_slowly(met, count, &weight);
        assert_real(presence.weight, weight, 1e-4);
        assert_real(presence.cpu, slow.cpu, 1e-4);
        assert_real(presence.gpu, slow.gpu, 1e-4);
        closed += weight > 0;
    }
    assert_true(closed > HISTORIES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_page),
        cmocka_unit_test(a_contact_too_early_closes_nothing),
        cmocka_unit_test(a_long_absence_counts_as_two_days),
        cmocka_unit_test(coprocessors_have_a_count_of_their_own),
        cmocka_unit_test(clients_that_do_not_count_are_told_by_what_they_report),
        cmocka_unit_test(without_a_crowd_the_clients_own_word_goes_first),
        cmocka_unit_test(a_crowd_may_compute_with_one_kind_alone),
        cmocka_unit_test(who_computed_nothing_was_observed),
        cmocka_unit_test(processors_that_are_partly_used_count_as_before),
        cmocka_unit_test(counts_that_are_none_change_nothing),
        cmocka_unit_test(what_falls_begins_anew),
        cmocka_unit_test(more_than_all_the_time_is_all_the_time),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(where_nothing_was_begun_nothing_is_known, make_arena,
                                        drop_arena),
        cmocka_unit_test(bytes_of_somebody_else_are_bounded),
        cmocka_unit_test_setup_teardown(a_crowd_is_ten_hosts_with_observations, make_arena,
                                        drop_arena),
        cmocka_unit_test(agrees_with_its_slow_twin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
