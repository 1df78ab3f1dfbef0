/* SPDX-License-Identifier: Apache-2.0 */
/* One lock guards the day and the events. While a page is written from them it is held, for about a
 * millisecond: the watcher may wait for it, and no request does. */
#include "server/process/status_keeper.h"

#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/process/metrics.h"
#include "server/request/reason_counts.h"
#include "server/status/status_page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum { EVENTS = 16, WORDS_BYTES = 600, WHAT_BYTES = 40 };

struct kept_event {
    int64_t at;
    bool is_refused;
    char what[WHAT_BYTES];
    char words[WORDS_BYTES];
    size_t length;
};

struct status_keeper {
    pthread_mutex_t lock;
    struct day_ring *day;
    struct kept_event events[EVENTS]; /* a ring */
    size_t noted;                     /* events, so far */
};

static double time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct status_keeper *status_keeper_create(void)
{
    struct status_keeper *keeper = calloc(1, sizeof(*keeper));

    if (keeper == NULL)
        return NULL;
    keeper->day = day_ring_create(STATUS_TOTALS, time_of_day(), clock_seconds());
    if (keeper->day == NULL) {
        free(keeper);
        return NULL;
    }
    pthread_mutex_init(&keeper->lock, NULL);
    return keeper;
}

void status_keeper_destroy(struct status_keeper *keeper)
{
    if (keeper == NULL)
        return;
    day_ring_destroy(keeper->day);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

/* --- the past --------------------------------------------------------------------------------- */

/* As much of the words as there is room for, whole characters, and a sign where something is
 * missing. */
static size_t keep_words(char *kept, struct text words)
{
    static const char more[] = " ...";
    struct text rest = words;
    size_t length = 0;

    if (words.length <= WORDS_BYTES) {
        if (words.length > 0)
            memcpy(kept, words.at, words.length);
        return words.length;
    }
    for (;;) {
        size_t next = text_character(rest);

        next = next == 0 ? 1 : next;
        if (length + next > WORDS_BYTES - (sizeof(more) - 1))
            break;
        length += next;
        rest = (struct text){rest.at + next, rest.length - next};
    }
    memcpy(kept, words.at, length);
    memcpy(kept + length, more, sizeof(more) - 1);
    return length + sizeof(more) - 1;
}

void status_keeper_note(struct status_keeper *keeper, const char *what, bool is_refused,
                        struct text words)
{
    struct kept_event *event;

    pthread_mutex_lock(&keeper->lock);
    event = &keeper->events[keeper->noted++ % EVENTS];
    *event = (struct kept_event){.at = (int64_t)time(NULL), .is_refused = is_refused};
    memcpy(event->what, what, strnlen(what, WHAT_BYTES - 1));
    event->length = keep_words(event->words, words);
    pthread_mutex_unlock(&keeper->lock);
}

static void take_totals(uint64_t ret_totals[STATUS_TOTALS])
{
#define TAKE_COUNTER(name, words) ret_totals[STATUS_##name] = counter_value(COUNTER_##name);
    STATUS_TRAFFIC(TAKE_COUNTER)
    STATUS_DATABASE(TAKE_COUNTER)
#undef TAKE_COUNTER
    for (int i = 0; i < REASON_COUNT; i++)
        ret_totals[STATUS_REASONS + i] = reason_count((enum reason)i);
    metrics_take_totals(ret_totals);
}

void status_keeper_add(struct status_keeper *keeper, const double levels[DAY_LEVELS])
{
    uint64_t totals[STATUS_TOTALS];

    take_totals(totals);
    pthread_mutex_lock(&keeper->lock);
    day_ring_add(keeper->day, time_of_day(), clock_seconds(), totals, levels);
    pthread_mutex_unlock(&keeper->lock);
}

/* --- the page --------------------------------------------------------------------------------- */

/* Under the lock. */
static void take_events(const struct status_keeper *keeper, struct status_event events[EVENTS],
                        struct status_figures *figures)
{
    size_t count = keeper->noted < EVENTS ? keeper->noted : EVENTS;

    for (size_t i = 0; i < count; i++) {
        const struct kept_event *event = &keeper->events[(keeper->noted - 1 - i) % EVENTS];

        events[i] = (struct status_event){.at = event->at,
                                          .is_refused = event->is_refused,
                                          .what = text_from(event->what),
                                          .words = {event->words, event->length}};
    }
    figures->events = events;
    figures->event_count = count;
}

void status_keeper_write(struct status_keeper *keeper, struct status_figures *figures,
                         struct buffer *ret_page)
{
    struct status_event events[EVENTS];
    uint64_t totals[STATUS_TOTALS];

    pthread_mutex_lock(&keeper->lock);
    take_totals(totals);
    take_events(keeper, events, figures);
    figures->totals = totals;
    figures->day = keeper->day;
    status_page_write(figures, ret_page);
    pthread_mutex_unlock(&keeper->lock);
}
