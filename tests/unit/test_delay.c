/* SPDX-License-Identifier: Apache-2.0 */
/* Delays under load: bounds and order of the pure functions, the measuring of a process, and a herd
 * of hosts that returns after an outage. */
#include "config/config.h"
#include "server/base/random.h"
#include "server/process/load_meter.h"
#include "server/rpc/request.h"
#include "server/rpc/request_delay.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HERD = 10000, MINUTES = 8 * 60 };
#define SECOND_NS UINT64_C(1000000000)

static const double nan_value = (double)NAN;

static void nothing_measured_is_no_load(void **state)
{
    (void)state;
    assert_real(load_rate(0, 8, 0.7), 0, 0);
    assert_real(load_rate(0.01, 8, 0), 0, 0);
    assert_real(load_rate(nan_value, 8, 0.7), 0, 0);
    assert_real(load_rate(0.01, 8, 0.5), 400, 1e-9);
    assert_real(load_backlog(100, 1, 0), 0, 0);
    assert_real(load_backlog(nan_value, 0, 10), 0.1, 1e-9);
}

static void a_backlog_drains_with_time_and_is_bounded(void **state)
{
    (void)state;
    assert_real(load_backlog(10, 4, 2), 6.5, 1e-9);
    assert_real(load_backlog(10, 40, 2), 0.5, 1e-9);
    assert_real(load_backlog(10, -40, 2), 10.5, 1e-9); /* a clock was set back */
    assert_real(load_backlog(1e12, 0, 2), 14400, 0);
}

static void a_delay_grows_with_the_load_and_never_shrinks_below_its_base(void **state)
{
    (void)state;
    for (int cause = 0; cause < DELAY_CAUSE_COUNT; cause++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            double before = 0;
            for (double backlog = 0; backlog < 1e6; backlog = backlog * 2 + 1) {
                const struct load load = {.backlog = backlog};
                double least = delay_for((enum delay_cause)cause, 100, &(struct load){0}, 0, seed);
                double delay = delay_for((enum delay_cause)cause, 100, &load, 0.25, seed);
                assert_true(delay >= before && delay >= least);
                assert_true(delay <= (least + 14400) * 1.25 && delay <= 172800);
                before = delay;
            }
        }
    assert_real(delay_spread(0, &(struct load){.backlog = 4}, 1, 3), 0, 0); /* no crowd */
    assert_real(delay_spread(0, &(struct load){.backlog = nan_value}, 0, 3), 0, 0);
    assert_real(delay_spread(60, &(struct load){.backlog = 105}, 0, 3), 160, 1e-9);
}

/* Of a uniform spread over a quarter of the base: mean, and no tenth of it is empty or crowded. */
static void jitter_is_uniform(void **state)
{
    int tenths[10] = {0};
    double sum = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 10000; seed++) {
        double delay = delay_for(DELAY_NO_WORK, 120, &(struct load){0}, 0.25, random_mix(seed, 5));
        sum += delay;
        tenths[(int)((delay - 120) / 3)]++;
    }
    assert_real(sum / 10000, 135, 0.5);
    for (int i = 0; i < 10; i++)
        assert_true(tenths[i] > 850 && tenths[i] < 1150);
}

static void a_process_measures_its_rate(void **state)
{
    struct load_meter meter = {.workers = 4};
    uint64_t now = 1000 * SECOND_NS;

    (void)state;
    assert_real(load_meter_arrival(&meter, 0.5, now).backlog, 0, 0);
    for (int i = 0; i < 1000; i++)
        load_meter_served(&meter, SECOND_NS / 10); /* 40 per second, of which half are wanted */
    assert_real(load_meter_rate(&meter, 0.5), 20, 0.1);
    for (int i = 0; i < 1000; i++)
        load_meter_served(&meter, SECOND_NS / 5);
    assert_real(load_meter_rate(&meter, 0.5), 10, 0.1);
    for (int i = 0; i < 100; i++)
        (void)load_meter_arrival(&meter, 0.5, now);
    assert_real(load_meter_arrival(&meter, 0.5, now).backlog, 10.1, 0.1);
    assert_real(load_meter_arrival(&meter, 0.5, now + 5 * SECOND_NS).backlog, 5.2, 0.1);
    assert_real(load_meter_arrival(&meter, 0.5, now + 60 * SECOND_NS).backlog, 0.1, 0.01);
    assert_real(load_meter_arrival(&meter, 0, now + 60 * SECOND_NS).backlog, 0, 0);
}

/* One that took no time that the clock can tell is a measure all the same: the next one is not
 * taken whole. */
static void a_request_of_no_time_is_measured(void **state)
{
    struct load_meter meter = {.workers = 1};

    (void)state;
    load_meter_served(&meter, 0);
    load_meter_served(&meter, 32 * SECOND_NS);
    assert_real(load_meter_rate(&meter, 1), 1, 1e-6);
}

static void a_crowd_alone_delays_too(void **state)
{
    const struct config config = {.delay_jitter = 0};
    struct request request = {.config = &config};

    (void)state;
    delay_by_load(&request);
    assert_real(request.attempt.answer.request_delay, 0, 0);
    request.load.backlog = 105;
    delay_by_load(&request);
    assert_real(request.attempt.answer.request_delay, 100, 1e-9);
}

/* --- the herd --------------------------------------------------------------------------------- */

struct host {
    double at; /* s: its next request */
    int id;
};

/* Puts the root of a heap, whose time has grown, where it belongs. */
static void sink(struct host *heap)
{
    for (int i = 0, child; (child = 2 * i + 1) < HERD; i = child) {
        if (child + 1 < HERD && heap[child + 1].at < heap[child].at)
            child++;
        if (heap[i].at <= heap[child].at)
            return;
        struct host host = heap[i];
        heap[i] = heap[child];
        heap[child] = host;
    }
}

/* The server was away; in the minutes before its return each host has asked once and was told that
 * it is down. For hours they come for work that there is none of. Hosts ask again as soon as they
 * may. Returns the busiest minute after the first hour. */
static int busiest_minute(double target, const char *name)
{
    static int arrivals[MINUTES];
    struct host *hosts = calloc(HERD, sizeof(*hosts));
    struct load_meter meter = {.workers = 1, .service_ns = SECOND_NS / 5}; /* 300 a minute */
    int busiest = 0, shown = 0;

    assert_non_null(hosts);
    memset(arrivals, 0, sizeof(arrivals));
    for (int i = 0; i < HERD; i++)
        hosts[i] = (struct host){.at = 300.0 * i / HERD, .id = i};
    while (hosts[0].at < MINUTES * 60) {
        uint64_t seed = random_mix((uint64_t)hosts[0].id, (uint64_t)hosts[0].at);
        uint64_t now = (uint64_t)(hosts[0].at * 1e9) + SECOND_NS;
        struct load load = load_meter_arrival(&meter, target, now);

        arrivals[(int)(hosts[0].at / 60)]++;
        hosts[0].at += hosts[0].at < 300 ? delay_for(DELAY_DOWN, 3600, &load, 0.25, seed)
                                         : delay_for(DELAY_NO_WORK, 3000, &load, 0.25, seed);
        sink(hosts);
    }
    printf("%s, requests per minute from the 60th on:", name);
    for (int minute = 60; minute < MINUTES; minute++) {
        busiest = arrivals[minute] > busiest ? arrivals[minute] : busiest;
        if (minute % 15 == 5 && shown++ < 28)
            printf(" %d", arrivals[minute]);
    }
    printf("; at most %d\n", busiest);
    free(hosts);
    return busiest;
}

/* The server can serve 300 requests a minute, and is to be asked for 210. */
static void a_herd_comes_back_at_a_rate_that_can_be_served(void **state)
{
    int without = busiest_minute(0, "load term off"), with = busiest_minute(0.7, "load term on ");

    (void)state;
    assert_true(without > 600);
    assert_true(with <= 260);
}

static void a_delay_is_as_long_as_the_outage(void **state)
{
    static const double rows[][3] = {/* away for, maintenance_delay, delay */
                                     {0, 3600, 60},    {59, 3600, 60},     {61, 3600, 61},
                                     {600, 3600, 600}, {3601, 3600, 3600}, {-1, 3600, 3600},
                                     {0, 10, 10},      {700, 10, 10}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_real(delay_of_outage(rows[i][0], rows[i][1]), rows[i][2], 0);
    assert_real(delay_of_outage(nan_value, 3600), 3600, 0);
}

/* Two hosts a second come by themselves, and again when they were told to. After an outage they are
 * served, and not seen again. */
static void the_return_of_a_database_is_met_by_a_ramp(void **state)
{
    enum { OUTAGE = 3000, END = 3 * OUTAGE, RATE = 2 };
    static int arrivals[END * 3];
    int busiest = 0, asked = 0;

    (void)state;
    for (int second = 0; second < OUTAGE; second++) {
        arrivals[second] += RATE;
        for (int i = 0; i < arrivals[second]; i++) {
            uint64_t seed = random_mix((uint64_t)second, (uint64_t)i);
            double delay = delay_for(DELAY_AWAY, delay_of_outage(second, 3600),
                                     &(struct load){.backlog = 0}, 0.25, seed);

            arrivals[second + (int)delay]++;
            asked++;
        }
    }
    for (int begin = OUTAGE; begin + 60 < END; begin += 60) {
        int in_minute = 60 * RATE;

        for (int second = begin; second < begin + 60; second++)
            in_minute += arrivals[second];
        busiest = in_minute > busiest ? in_minute : busiest;
    }
    printf("a minute brings %d hosts, after the outage at most %d\n", 60 * RATE, busiest);
    assert_in_range(busiest, 60 * RATE, 60 * RATE * 2 + 40);
    assert_in_range(asked, OUTAGE * RATE, OUTAGE * RATE * 2); /* each host about twice */
}

static void hosts_are_to_return_as_fast_as_was_served(void **state)
{
    (void)state;
    assert_real(load_return_rate(575, 1150, 0.7), 402.5, 1e-9);
    assert_real(load_return_rate(0, 800, 0.7), 400, 1e-9);
    assert_real(load_return_rate(0, 0, 0.7), 100, 0);
    assert_real(load_return_rate(575, 1150, 0), 0, 0);
    assert_real(load_return_rate(nan_value, nan_value, 0.7), 100, 0);
}

/* Looks ten times a second at a process that serves so many, for so long. */
static uint64_t look(struct load_meter *meter, uint64_t now, int seconds, int rate, bool waits)
{
    for (int i = 0; i < seconds * 10; i++) {
        for (int j = 0; j < rate / 10; j++)
            load_meter_served(meter, SECOND_NS / 1000);
        now += SECOND_NS / 10;
        load_meter_look(meter, now, waits);
    }
    return now;
}

/* What is served while nobody waits is what came, and while nothing can be served it is nothing. */
static void what_can_be_served_is_known_from_when_others_waited(void **state)
{
    struct load_meter meter = {.workers = 4};
    uint64_t now = look(&meter, SECOND_NS, 60, 100, false);

    (void)state;
    assert_real(meter.served, 0, 0);
    now = look(&meter, now, 4, 570, true);
    assert_real(meter.served, 0, 0); /* too short */
    now = look(&meter, now, 2, 570, true);
    assert_real(meter.served, 570, 12);
    now = look(&meter, now, 60, 50, false);
    atomic_store(&meter.is_away, true);
    now = look(&meter, now, 60, 0, true);
    assert_real(meter.served, 570, 12);
    atomic_store(&meter.is_away, false);
    now = look(&meter, now, 61, 300, true); /* the machine has become slower */
    assert_real(meter.served, 300, 20);
    assert_true(now > 0);
}

/* The database is away, and so many hosts come in so many seconds, each once; when it is back the
 * server serves so many a second. */
enum { WAITING = 19500, COME_IN_S = 17, SERVED = 575 };

struct return_of_herd {
    double busiest;      /* a second, in the busiest ten */
    double late;         /* part of the hosts that wait for more than 5 s */
    double longest, end; /* s: waited; until all are served */
};

static struct return_of_herd return_after(struct load_meter *meter)
{
    enum { MOST_S = 1200, WINDOW = 10 };
    static int comes[MOST_S];
    struct return_of_herd returned = {0};
    double queue = 0;
    int late = 0;

    memset(comes, 0, sizeof(comes));
    for (int i = 0; i < WAITING; i++) {
        double at = (double)COME_IN_S * i / WAITING;
        struct load load = load_meter_arrival(meter, 0.7, (uint64_t)((1000 + at) * 1e9));
        double delay = delay_for(DELAY_AWAY, delay_of_outage(at, 3600), &load, 0.25,
                                 random_mix(5, (uint64_t)i));

        comes[(int)(at + delay)]++;
    }
    for (int second = 0; second < MOST_S; second++) {
        double in_window = 0;

        for (int i = second; i > second - WINDOW && i >= 0; i--)
            in_window += comes[i];
        returned.busiest = fmax(returned.busiest, in_window / WINDOW);
        queue = fmax(0, queue + comes[second] - SERVED);
        if (queue / SERVED > 5)
            late += comes[second];
        returned.longest = fmax(returned.longest, queue / SERVED);
        if (comes[second] > 0)
            returned.end = second + queue / SERVED;
    }
    returned.late = (double)late / WAITING;
    return returned;
}

/* Of 19,500 hosts none is to wait for long, or hear once more that it shall come later. */
static void a_herd_that_was_sent_away_comes_back_at_a_rate_that_can_be_served(void **state)
{
    struct {
        const char *what;
        struct load_meter meter;
    } rows[] = {
        {"nothing spreads them", {.workers = 4}},
        {"by the time of a request", {.workers = 4, .service_ns = 2450000}},
        {"half of that, away", {.workers = 4, .service_ns = 2450000, .is_away = true}},
        {"served while others waited",
         {.workers = 4, .service_ns = 2450000, .served = SERVED, .is_away = true}},
        {"after a restart", {.workers = 4, .is_away = true}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct return_of_herd herd = return_after(&rows[i].meter);

        printf("%-28s %5.0f a second, %4.1f %% wait for more than 5 s, longest %4.1f s, "
               "all served after %4.0f s\n",
               rows[i].what, herd.busiest, 100 * herd.late, herd.longest, herd.end);
        if (i < 2) {
            assert_true(herd.busiest > 1.5 * SERVED && herd.late > 0.3);
        } else {
            assert_true(herd.late == 0 && herd.longest < 2);
            assert_true(i == 2 || herd.busiest < SERVED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_measured_is_no_load),
        cmocka_unit_test(a_backlog_drains_with_time_and_is_bounded),
        cmocka_unit_test(a_delay_grows_with_the_load_and_never_shrinks_below_its_base),
        cmocka_unit_test(jitter_is_uniform),
        cmocka_unit_test(a_process_measures_its_rate),
        cmocka_unit_test(a_request_of_no_time_is_measured),
        cmocka_unit_test(a_crowd_alone_delays_too),
        cmocka_unit_test(a_delay_is_as_long_as_the_outage),
        cmocka_unit_test(the_return_of_a_database_is_met_by_a_ramp),
        cmocka_unit_test(a_herd_comes_back_at_a_rate_that_can_be_served),
        cmocka_unit_test(hosts_are_to_return_as_fast_as_was_served),
        cmocka_unit_test(what_can_be_served_is_known_from_when_others_waited),
        cmocka_unit_test(a_herd_that_was_sent_away_comes_back_at_a_rate_that_can_be_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
