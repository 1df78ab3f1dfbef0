/* SPDX-License-Identifier: Apache-2.0 */
/* Streams share by weight, whatever the sizes of their jobs, and those that had nothing to give do
 * not take over when they have. */
#include "server/policy/dispatch/stream.h"

#include "server/base/random.h"
#include "tests/support/test.h"

#include <math.h>

static void read_streams(struct streams *ret_streams)
{
    static const struct text lines[] = {
        {.at = "app rocket 3", .length = 12},       {.at = " user  17  6 ", .length = 13},
        {.at = "batch 5 0.5", .length = 11},        {.at = "rest 2", .length = 6},
        {.at = "app rocket", .length = 10},         {.at = "user x 1", .length = 8},
        {.at = "app rocket 0", .length = 12},       {.at = "team 4 1", .length = 8},
        {.at = "batch 5 1 and more", .length = 18},
    };

    assert_int_equal(streams_read((struct text_list){.items = lines, .count = 9}, ret_streams), 5);
}

static void streams_are_read_and_found(void **state)
{
    struct streams streams;

    (void)state;
    read_streams(&streams);
    assert_int_equal(streams.count, 4);
    assert_true(streams.items[0].weight == 2);
    assert_int_equal(stream_of(&streams, TEXT("rocket"), 5, 17), 1); /* the first that fits */
    assert_int_equal(stream_of(&streams, TEXT("boat"), 5, 17), 2);
    assert_int_equal(stream_of(&streams, TEXT("boat"), 5, 18), 3);
    assert_int_equal(stream_of(&streams, TEXT("boat"), 0, 0), 0);
    assert_int_equal(streams_read((struct text_list){0}, &streams), 0);
    assert_int_equal(streams.count, 1);
}

/* The rest is one of them. */
static void there_are_64_streams_at_most(void **state)
{
    enum { LINES = STREAMS_MAX + 2 };
    char words[LINES][24];
    struct text lines[LINES];
    struct streams streams;

    (void)state;
    for (int i = 0; i < LINES; i++) {
        snprintf(words[i], sizeof(words[i]), "user %d 1", i + 1);
        lines[i] = text_from(words[i]);
    }
    assert_int_equal(streams_read((struct text_list){.items = lines, .count = LINES}, &streams), 3);
    assert_int_equal(streams.count, STREAMS_MAX);
    assert_int_equal(stream_of(&streams, TEXT("app"), 0, STREAMS_MAX - 1), STREAMS_MAX - 1);
    assert_int_equal(stream_of(&streams, TEXT("app"), 0, STREAMS_MAX), 0);
}

static void weights_are_a_millionth_to_a_million(void **state)
{
    static const struct {
        const char *line;
        bool is_good;
    } rows[] = {{"rest 1e-6", true}, {"rest 9e-7", false}, {"rest 1e6", true}, {"rest 2e6", false}};
    struct streams streams;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct text line = text_from(rows[i].line);

        assert_int_equal(streams_read((struct text_list){.items = &line, .count = 1}, &streams),
                         rows[i].is_good ? 0 : 1);
    }
}

/* The stream that is behind, of those that have something. */
static size_t behind(const struct streams *streams, const struct stream_shares *shares,
                     const bool *has_jobs)
{
    size_t best = STREAMS_MAX;

    for (size_t i = 0; i < streams->count; i++)
        if (has_jobs[i] && (best == STREAMS_MAX || shares->used[i] < shares->used[best]))
            best = i;
    return best;
}

static void capacity_is_shared_by_weight(void **state)
{
    static const double sizes[] = {1e12, 2e13, 3e11, 8e12};
    const bool has_jobs[] = {true, true, true, true};
    struct random random = {.state = 7};
    struct stream_shares shares = {0};
    struct streams streams;
    double given[4] = {0}, all = 0, weights = 0;

    (void)state;
    read_streams(&streams);
    for (int i = 0; i < 10000; i++) {
        size_t stream = behind(&streams, &shares, has_jobs);
        double flops = sizes[stream] * (0.5 + random_unit(&random));

        stream_charge(&streams, &shares, stream, flops);
        given[stream] += flops;
        all += flops;
    }
    for (size_t i = 0; i < 4; i++)
        weights += streams.items[i].weight;
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(given[i] / all - streams.items[i].weight / weights) < 0.03);
}

/* After 10,000 jobs without it, a stream of the same weight gets 500 in a row, not 10,000. */
static void an_idle_stream_saves_little(void **state)
{
    bool has_jobs[] = {true, false};
    static const struct text line = {.at = "app rocket 1", .length = 12};
    struct stream_shares shares = {0};
    struct streams streams;
    int in_a_row = 0;

    (void)state;
    assert_int_equal(streams_read((struct text_list){.items = &line, .count = 1}, &streams), 0);
    for (int i = 0; i < 10000; i++)
        stream_charge(&streams, &shares, behind(&streams, &shares, has_jobs), 1e12);
    has_jobs[1] = true;
    while (behind(&streams, &shares, has_jobs) == 1) {
        stream_charge(&streams, &shares, 1, 1e12);
        in_a_row++;
    }
    assert_in_range(in_a_row, STREAM_BACKLOG_JOBS - 2, STREAM_BACKLOG_JOBS + 2);
}

/* Without a memory between requests each first job is drawn by weight. */
static void shares_are_drawn_by_weight(void **state)
{
    const bool has_jobs[] = {true, true, true, true};
    struct random random = {.state = 11};
    struct streams streams;
    double first[4] = {0}, weights = 0;

    (void)state;
    read_streams(&streams);
    for (int i = 0; i < 10000; i++) {
        double chances[STREAMS_MAX];
        struct stream_shares shares;

        for (int j = 0; j < STREAMS_MAX; j++)
            chances[j] = 1 - random_unit(&random);
        stream_shares_draw(&streams, chances, &shares);
        first[behind(&streams, &shares, has_jobs)]++;
    }
    for (size_t i = 0; i < 4; i++)
        weights += streams.items[i].weight;
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(first[i] / 10000 - streams.items[i].weight / weights) < 0.02);
}

static void the_mean_is_the_first_job_and_follows_the_others(void **state)
{
    struct stream_shares shares = {0};
    struct streams streams;

    (void)state;
    read_streams(&streams);
    stream_charge(&streams, &shares, 2, 1000);
    assert_real(shares.mean, 1000, 0);
    stream_charge(&streams, &shares, 1, 2000);
    assert_real(shares.mean, 1010, 1e-9);
}

static void odd_figures_do_no_harm(void **state)
{
    struct stream_shares shares = {0};
    struct streams streams;

    (void)state;
    read_streams(&streams);
    stream_charge(&streams, &shares, 1, NAN);
    stream_charge(&streams, &shares, 1, -1);
    assert_true(isfinite(shares.used[1]) && shares.used[1] > 0 && isfinite(shares.mean));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_read_and_found),
        cmocka_unit_test(there_are_64_streams_at_most),
        cmocka_unit_test(weights_are_a_millionth_to_a_million),
        cmocka_unit_test(capacity_is_shared_by_weight),
        cmocka_unit_test(an_idle_stream_saves_little),
        cmocka_unit_test(shares_are_drawn_by_weight),
        cmocka_unit_test(the_mean_is_the_first_job_and_follows_the_others),
        cmocka_unit_test(odd_figures_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
