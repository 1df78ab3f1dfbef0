/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/page_words.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

static bool is_fit_for_page(struct text character, bool fit)
{
    if (text_equal(character, TEXT("\xef\xbf\xbe")) || text_equal(character, TEXT("\xef\xbf\xbf")))
        return false;
    return fit || character.at[0] == '\n' || character.at[0] == '\t';
}

static void add_character(struct buffer *page, struct text character)
{
    switch (character.at[0]) {
    case '&':
        buffer_add_string(page, "&amp;");
        break;
    case '<':
        buffer_add_string(page, "&lt;");
        break;
    case '>':
        buffer_add_string(page, "&gt;");
        break;
    case '"':
        buffer_add_string(page, "&quot;");
        break;
    case '\'':
        buffer_add_string(page, "&#39;");
        break;
    default:
        buffer_add(page, character);
    }
}

void page_text(struct buffer *page, struct text text)
{
    bool fit;

    while (text.length > 0) {
        struct text character = shown_next(&text, &fit);

        if (is_fit_for_page(character, fit))
            add_character(page, character);
        else
            buffer_add_string(page, "\xef\xbf\xbd");
    }
}

void page_count(struct buffer *page, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer_add_char(page, ',');
        buffer_add_char(page, digits[i]);
    }
}

void page_number(struct buffer *page, double number)
{
    if (!isfinite(number))
        buffer_add_string(page, "-");
    else if (number >= 99.5 && number < 1e18)
        page_count(page, (uint64_t)(number + 0.5));
    else if (number >= 9.95)
        buffer_print(page, "%.0f", number);
    else if (number >= 0.095)
        buffer_print(page, "%.1f", number);
    else if (number >= 0.00095)
        buffer_print(page, "%.3f", number);
    else
        buffer_print(page, "%.2g", number);
}

void page_duration(struct buffer *page, double seconds)
{
    static const struct {
        double below, unit;
        const char *word;
    } units[] = {
        {0.9995e-3, 1e-6, "µs"}, {0.9995, 1e-3, "ms"}, {120, 1, "s"},
        {7200, 60, "min"},       {172800, 3600, "h"},  {INFINITY, 86400, "days"},
    };

    if (!isfinite(seconds)) {
        buffer_add_string(page, "-");
        return;
    }
    if (!(seconds > 0)) {
        buffer_add_string(page, "0 s");
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (seconds < units[i].below) {
            page_number(page, seconds / units[i].unit);
            buffer_print(page, " %s", units[i].word);
            return;
        }
}

void page_bytes(struct buffer *page, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes;
    size_t unit = 0;

    while (number >= 1024 && unit < 4) {
        number /= 1024;
        unit++;
    }
    page_number(page, number);
    buffer_print(page, " %s", units[unit]);
}

/* False: the time is beyond what a calendar has. */
static bool break_down(int64_t epoch, struct tm *ret_time)
{
    time_t seconds = (time_t)epoch;

    return gmtime_r(&seconds, ret_time) != NULL;
}

void page_time(struct buffer *page, int64_t epoch)
{
    char words[64] = "-";
    struct tm time;

    if (break_down(epoch, &time))
        (void)strftime(words, sizeof(words), "%Y-%m-%d %H:%M:%S UTC", &time);
    buffer_add_string(page, words);
}

void page_date(struct buffer *page, int64_t epoch)
{
    char words[64] = "-";
    struct tm time;

    if (break_down(epoch, &time))
        (void)strftime(words, sizeof(words), "%m-%d", &time);
    buffer_add_string(page, words);
}

void page_time_of_day(struct buffer *page, int64_t epoch)
{
    char words[64] = "-";
    struct tm time;

    if (break_down(epoch, &time))
        (void)strftime(words, sizeof(words), "%H:%M", &time);
    buffer_add_string(page, words);
}
