/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of an hour, a day and a week: what is drawn where, and the words that stand for it. */
#include "server/status/picture.h"

#include "server/base/buffer.h"
#include "tests/support/test.h"

#include <math.h>

enum { MIDNIGHT = 1767225600 };

static struct picture picture;
static struct buffer page;

static int setup(void **state)
{
    (void)state;
    picture = (struct picture){.span = PICTURE_DAY,
                               .id = "it",
                               .title = "Jobs",
                               .unit = "per minute",
                               .is_stacked = true,
                               .count = 2};
    picture.series[0].words = "first";
    picture.series[1].words = "second";
    for (size_t i = 0; i < PICTURE_VALUES_MAX; i++)
        picture.series[0].values[i] = picture.series[1].values[i] = NAN;
    page = buffer_on_heap(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buffer_free(&page);
    return 0;
}

static void put(size_t slot, double first, double second)
{
    picture.series[0].values[slot] = first;
    picture.series[1].values[slot] = second;
}

static void assert_has(const char *words)
{
    if (!text_contains(buffer_text(&page), text_from(words)))
        fail_msg("\"%s\" is not in " TEXT_FORMAT, words, TEXT_ARG(buffer_text(&page)));
}

/* Of 12 at most the scale is 16; the sum lies behind the first. Where nothing is known is a gap. */
static void areas_are_stacked(void **state)
{
    (void)state;
    put(0, 8, 0);
    put(1, 8, 4);
    put(2, 0, 4);
    put(5, 4, 4);
    put(287, 4, 0);
    picture_write(&picture, MIDNIGHT, &page);
    assert_has(
        "d=\"M0 100V50H1V25H2V75H3V100ZM5 100V50H6V100ZM287 100V75H288V100Z\"/>\n"
        "<path class=\"area s1\" d=\"M0 100V50H2V100H3V100ZM5 100V75H6V100ZM287 100V75H288V100Z\"");
    assert_has("<span class=\"top\">16 per minute</span><span class=\"middle\">8.0</span>");
    assert_has("<desc id=\"day-it-words\">Highest 12 per minute at 00:05 UTC, mean 7.2 per minute, "
               "last 4.0 per minute.</desc>");
    assert_has("<title>00:00 to 01:00 UTC; first: 5.0 per minute; second: 3.0 per minute</title>");
    assert_has("<title>01:00 to 02:00 UTC; first: - per minute; second: - per minute</title>");
    assert_has("<div class=\"times\"><span>00:00</span><span>06:00</span><span>12:00</span>"
               "<span>18:00</span><span>00:00</span></div>");
}

static void lines_stand_for_themselves(void **state)
{
    (void)state;
    picture.is_stacked = false;
    put(0, 1, 2);
    put(1, 2, NAN);
    picture_write(&picture, MIDNIGHT, &page);
    assert_has(
        "<path class=\"line s1\" d=\"M0 50H1V0H2\"/>\n<path class=\"line s2\" d=\"M0 0H1\"/>");
    assert_has("Highest 2.0 per minute at 00:00 UTC");
}

static void nothing_and_little_have_a_scale(void **state)
{
    static const struct {
        double value;
        const char *scale;
    } cases[] = {
        {0, "1.0 "},   {0.0013, "0.002 "}, {1, "1.0 "},      {1.01, "1.6 "},
        {4.4, "5.0 "}, {99, "100 "},       {7000, "8,000 "}, {1e15, "1,000,000,000,000,000 "}};
    struct buffer words = buffer_on_heap(100);

    (void)state;
    picture_write(&picture, MIDNIGHT, &page);
    assert_has("Nothing is known yet.");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(7, cases[i].value, 0);
        page.length = words.length = 0;
        picture_write(&picture, MIDNIGHT, &page);
        buffer_print(&words, "<span class=\"top\">%sper minute", cases[i].scale);
        buffer_add_char(&words, '\0');
        assert_has(buffer_text(&words).at);
    }
    buffer_free(&words);
}

static void other_spans_have_their_own_steps_and_times(void **state)
{
    (void)state;
    picture.span = PICTURE_HOUR;
    put(59, 5, 0);
    picture_write(&picture, MIDNIGHT, &page);
    assert_has("viewBox=\"0 0 60 100\"");
    assert_has("<figcaption>Jobs, last hour</figcaption>");
    assert_has("d=\"M0 0.5H60M0 50H60M0 99.5H60M15 0V100M30 0V100M45 0V100\"");
    assert_has("Highest 5.0 per minute at 00:59 UTC");
    assert_has("<title>00:55 to 01:00 UTC; first: 5.0 per minute;");
    assert_has("<span>00:00</span><span>00:15</span><span>00:30</span><span>00:45</span>"
               "<span>01:00</span>");
    page.length = 0;
    picture.span = PICTURE_WEEK;
    put(59, NAN, NAN);
    put(167, 5, 0);
    picture_write(&picture, MIDNIGHT, &page);
    assert_has("viewBox=\"0 0 168 100\"");
    assert_has("<title id=\"week-it-title\">Jobs, last 7 days</title>");
    assert_has("M24 0V100M48 0V100");
    assert_has("Highest 5.0 per minute at 01-07 23:00 UTC");
    assert_has("<title>01-07 18:00 to 00:00 UTC; first: 5.0 per minute;");
    assert_has("<span>01-01</span><span>01-02</span>");
    assert_has("<span>01-07</span><span>01-08</span></div>");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(areas_are_stacked),
        CASE(lines_stand_for_themselves),
        CASE(nothing_and_little_have_a_scale),
        CASE(other_spans_have_their_own_steps_and_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
