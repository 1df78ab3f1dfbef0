/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/page_words.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

static void add_character(struct buffer *page, struct text character)
{
    unsigned char first = (unsigned char)character.at[0];

    if (first == '&')
        buffer_add_string(page, "&amp;");
    else if (first == '<')
        buffer_add_string(page, "&lt;");
    else if (first == '>')
        buffer_add_string(page, "&gt;");
    else if (first == '"')
        buffer_add_string(page, "&quot;");
    else if (first == '\'')
        buffer_add_string(page, "&#39;");
    else if ((first < ' ' && first != '\n' && first != '\t') || first == 0x7f ||
             text_equal(character, TEXT("\xef\xbf\xbe")) ||
             text_equal(character, TEXT("\xef\xbf\xbf")))
        buffer_add_string(page, "\xef\xbf\xbd");
    else
        buffer_add(page, character);
}

void page_text(struct buffer *page, struct text text)
{
    while (text.length > 0) {
        size_t length = text_character(text);

        if (length == 0) {
            buffer_add_string(page, "\xef\xbf\xbd");
            length = 1;
        } else {
            add_character(page, text_first(text, length));
        }
        text = (struct text){text.at + length, text.length - length};
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
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    double number = (double)bytes;
    size_t unit = 0;

    while (number >= 1024 && unit < 3) {
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

void page_time_of_day(struct buffer *page, int64_t epoch)
{
    char words[64] = "-";
    struct tm time;

    if (break_down(epoch, &time))
        (void)strftime(words, sizeof(words), "%H:%M", &time);
    buffer_add_string(page, words);
}
