/* SPDX-License-Identifier: Apache-2.0 */
/* Streams share by weight, whatever the sizes of their jobs, and those that had nothing to give do
 * not take over when they have. */
#include "server/policy/dispatch/stream.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "tests/support/test.h"

#include <math.h>

static struct config *config;
static struct arena *arena;

static int make_config(void **state)
{
    (void)state;
    assert_status(STATUS_OK, config_defaults(&config));
    arena = arena_create(1 << 20);
    return arena == NULL;
}

static int release_config(void **state)
{
    (void)state;
    config_release(config);
    arena_destroy(arena);
    return 0;
}

/* Returns how many of the lines are refused. */
static size_t read_again(struct streams *ret_streams)
{
    size_t bad = 0;

    assert_true(streams_read(config, arena, ret_streams, &bad));
    return bad;
}

static size_t read_lines(const char *const *lines, size_t count, struct streams *ret_streams)
{
    release_config(NULL);
    make_config(NULL);
    for (size_t i = 0; i < count; i++)
        assert_status(STATUS_OK, config_set(config, TEXT("stream"), text_from(lines[i]), NULL));
    return read_again(ret_streams);
}

static void read_streams(struct streams *ret_streams)
{
    static const char *const lines[] = {"app rocket 3", " user  17  6 ", "batch 5 0.5",
                                        "rest 2",       "app rocket",    "user x 1",
                                        "app rocket 0", "team 4 1",      "batch 5 1 and more"};

    assert_int_equal(read_lines(lines, sizeof(lines) / sizeof(lines[0]), ret_streams), 5);
}

enum { ROCKET = 31, BOAT = 32 };

static struct stream find(const struct streams *streams, int64_t appid, int64_t batch,
                          int64_t ownerid, double owner_weight)
{
    const struct stream_subject subject = {.app_name =
                                               appid == ROCKET ? TEXT("rocket") : TEXT("boat"),
                                           .appid = appid,
                                           .batch = batch,
                                           .ownerid = ownerid,
                                           .owner_weight = owner_weight};

    return stream_of(streams, &subject);
}

static void assert_stream(struct stream stream, enum stream_kind kind, int64_t id, double weight)
{
    assert_i64(stream.key.kind, kind);
    assert_i64(stream.key.id, id);
    assert_real(stream.weight, weight, 0);
}

static void streams_are_read_and_found(void **state)
{
    struct streams streams;

    (void)state;
    read_streams(&streams);
    assert_stream(find(&streams, ROCKET, 5, 17, -1), STREAM_APP, ROCKET,
                  3); /* the first that fits */
    assert_stream(find(&streams, BOAT, 5, 17, 0), STREAM_USER, 17, 6);
    assert_stream(find(&streams, BOAT, 5, 18, 0), STREAM_BATCH, 5, 0.5);
    assert_stream(find(&streams, BOAT, 0, 0, 0), STREAM_REST, 0, 2);
    assert_stream(find(&streams, BOAT, 6, 18, 9), STREAM_REST, 0, 2);
    assert_int_equal(read_lines(NULL, 0, &streams), 0);
    assert_stream(find(&streams, BOAT, 5, 17, 0), STREAM_REST, 0, 1);
}

/* With submitter_streams, whom no line means. */
static void each_owner_has_a_stream(void **state)
{
    static const char *const lines[] = {"user 17 6"};
    struct streams streams;

    (void)state;
    assert_int_equal(read_lines(lines, 1, &streams), 0);
    assert_true(streams_exist(config));
    assert_int_equal(config_set(config, TEXT("submitter_streams"), TEXT("1"), NULL), STATUS_OK);
    assert_int_equal(read_again(&streams), 0);
    assert_stream(find(&streams, BOAT, 5, 17, 2), STREAM_USER, 17, 6);
    assert_stream(find(&streams, BOAT, 5, 18, 2), STREAM_USER, 18, 2);
    assert_stream(find(&streams, BOAT, 5, 18, -1), STREAM_USER, 18, 1); /* no submitter */
    assert_stream(find(&streams, BOAT, 5, 18, 0), STREAM_USER, 18, 1e-6);
    assert_stream(find(&streams, BOAT, 5, 18, 1e9), STREAM_USER, 18, 1e6);
    assert_stream(find(&streams, BOAT, 5, 0, 0), STREAM_REST, 0, 1);
}

static void the_digest_is_of_all_options(void **state)
{
    struct streams streams;
    uint64_t without, with_owners;

    (void)state;
    assert_int_equal(read_lines(NULL, 0, &streams), 0);
    assert_false(streams_exist(config));
    without = streams_digest(config);
    assert_int_equal(config_set(config, TEXT("submitter_streams"), TEXT("1"), NULL), STATUS_OK);
    assert_true(streams_exist(config));
    with_owners = streams_digest(config);
    assert_true(with_owners != without);
    assert_int_equal(config_set(config, TEXT("stream"), TEXT("rest 2"), NULL), STATUS_OK);
    assert_true(streams_digest(config) != with_owners);
}

/* The rest is one of them. */
static void there_are_64_lines_at_most(void **state)
{
    enum { LINES = STREAMS_MAX + 2 };
    char words[LINES][24];
    const char *lines[LINES];
    struct streams streams;

    (void)state;
    for (int i = 0; i < LINES; i++) {
        snprintf(words[i], sizeof(words[i]), "user %d 1", i + 1);
        lines[i] = words[i];
    }
    assert_int_equal(read_lines(lines, LINES, &streams), 3);
    assert_int_equal(streams.count, STREAMS_MAX);
    assert_stream(find(&streams, BOAT, 1, STREAMS_MAX - 1, 0), STREAM_USER, STREAMS_MAX - 1, 1);
    assert_stream(find(&streams, BOAT, 1, STREAMS_MAX, 0), STREAM_REST, 0, 1);
}

static void weights_are_a_millionth_to_a_million(void **state)
{
    static const struct {
        const char *line;
        bool is_good;
    } rows[] = {{"rest 1e-6", true}, {"rest 9e-7", false}, {"rest 1e6", true}, {"rest 2e6", false}};
    struct streams streams;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(read_lines(&rows[i].line, 1, &streams), rows[i].is_good ? 0 : 1);
}

enum { SHARERS = 4 };
static const double weights[SHARERS] = {2, 3, 6, 0.5};

/* The stream that is behind, of those that have something. */
static size_t behind(const double *clocks, const bool *has_jobs)
{
    size_t best = SHARERS;

    for (size_t i = 0; i < SHARERS; i++)
        if (has_jobs[i] && (best == SHARERS || clocks[i] < clocks[best]))
            best = i;
    return best;
}

static double charge(struct stream_pace *pace, double clock, double weight, double flops)
{
    struct stream stream = {.weight = weight, .clock = clock};

    stream_charge(pace, &stream, flops);
    return stream.clock;
}

static double sum(const double *values)
{
    return values[0] + values[1] + values[2] + values[3];
}

static void capacity_is_shared_by_weight(void **state)
{
    static const double sizes[] = {1e12, 2e13, 3e11, 8e12};
    const bool has_jobs[] = {true, true, true, true};
    struct random random = {.state = 7};
    struct stream_pace pace = {0};
    double given[SHARERS] = {0}, clocks[SHARERS] = {0};

    (void)state;
    for (int i = 0; i < 10000; i++) {
        size_t stream = behind(clocks, has_jobs);
        double flops = sizes[stream] * (0.5 + random_unit(&random));

        clocks[stream] = charge(&pace, clocks[stream], weights[stream], flops);
        given[stream] += flops;
    }
    for (size_t i = 0; i < SHARERS; i++)
        assert_true(fabs(given[i] / sum(given) - weights[i] / sum(weights)) < 0.03);
}

/* After 10,000 jobs without it, a stream of the same weight gets 500 in a row, not 10,000. */
static void an_idle_stream_saves_little(void **state)
{
    struct stream_pace pace = {0};
    double busy = 0, idle = 0;
    int in_a_row = 0;

    (void)state;
    for (int i = 0; i < 10000; i++)
        busy = charge(&pace, busy, 1, 1e12);
    while (stream_clock(&pace, idle, 1) < busy) {
        idle = charge(&pace, idle, 1, 1e12);
        in_a_row++;
    }
    assert_in_range(in_a_row, STREAM_BACKLOG_JOBS - 2, STREAM_BACKLOG_JOBS + 2);
}

/* Without a memory between requests each first job is drawn by weight. */
static void shares_are_drawn_by_weight(void **state)
{
    const bool has_jobs[] = {true, true, true, true};
    double first[SHARERS] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 10000; seed++) {
        double clocks[SHARERS];

        for (int64_t i = 0; i < SHARERS; i++)
            clocks[i] =
                stream_clock_drawn(seed, (struct stream_key){STREAM_USER, i + 1}, weights[i]);
        first[behind(clocks, has_jobs)]++;
    }
    for (size_t i = 0; i < SHARERS; i++)
        assert_true(fabs(first[i] / 10000 - weights[i] / sum(weights)) < 0.02);
}

static void the_mean_is_the_first_job_and_follows_the_others(void **state)
{
    struct stream_pace pace = {0};

    (void)state;
    (void)charge(&pace, 0, 1, 1000);
    assert_real(pace.mean, 1000, 0);
    (void)charge(&pace, 0, 1, 2000);
    assert_real(pace.mean, 1010, 1e-9);
}

/* One that is far ahead, as only its jobs suit who comes, does not fall back when another is
 * served. */
static void the_front_does_not_go_back(void **state)
{
    struct stream_pace pace = {0};

    (void)state;
    (void)charge(&pace, 1e6, 1, 1);
    (void)charge(&pace, 1e6 - 10, 1, 1);
    assert_real(pace.front, 1e6, 0);
}

static void a_job_counts_something(void **state)
{
    (void)state;
    assert_real(stream_flops(2e12), 2e12, 0);
    assert_real(stream_flops(0), 1, 0);
    assert_real(stream_flops(-1), 1, 0);
    assert_real(stream_flops(NAN), 1, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_config, release_config)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(streams_are_read_and_found),
        CASE(each_owner_has_a_stream),
        CASE(the_digest_is_of_all_options),
        CASE(there_are_64_lines_at_most),
        CASE(weights_are_a_millionth_to_a_million),
        CASE(capacity_is_shared_by_weight),
        CASE(an_idle_stream_saves_little),
        CASE(shares_are_drawn_by_weight),
        CASE(the_mean_is_the_first_job_and_follows_the_others),
        CASE(the_front_does_not_go_back),
        CASE(a_job_counts_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
