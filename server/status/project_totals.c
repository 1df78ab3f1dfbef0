/* SPDX-License-Identifier: Apache-2.0 */
/* One "NAME VALUE" a line; "app" and "batch" have several values, in the order of their structs,
 * and a batch's name is the rest of its line. What is known of some batches only has a line behind
 * that of the batch. */
#include "server/status/project_totals.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <inttypes.h>

#include "server/base/banned.h"

static const struct {
    const char *name, *words;
} totals_by_number[TOTAL_COUNT] = {
#define TOTAL_ROW(name, words) {#name, words},
    PROJECT_TOTALS(TOTAL_ROW)
#undef TOTAL_ROW
};

const char *project_total_name(enum project_total total)
{
    return totals_by_number[total].name;
}

const char *project_total_words(enum project_total total)
{
    return totals_by_number[total].words;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_app(const struct project_app *app, struct buffer *words)
{
    buffer_print(words, "app %" PRId64 " %" PRId64 " %" PRId64 " %.2f %.2f %.2f %" PRId64 "\n",
                 app->id, app->unsent, app->in_progress, app->avg_runtime, app->min_runtime,
                 app->max_runtime, app->users);
}

static void write_batch(const struct project_batch *batch, struct buffer *words)
{
    buffer_print(words,
                 "batch %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                 " %" PRId64 " %" PRId64 " ",
                 batch->id, batch->appid, batch->jobs, batch->looked_at, batch->done, batch->failed,
                 batch->cancelled, batch->created);
    for (size_t i = 0; i < batch->name.length; i++) /* the line ends behind the name */
        buffer_add_char(words, batch->name.at[i] == '\n' ? ' ' : batch->name.at[i]);
    buffer_add_char(words, '\n');
    if (batch->half != 0)
        buffer_print(words, "batch_done %" PRId64 " %" PRId64 "\n", batch->half, batch->most);
    if (batch->hurry)
        buffer_print(words, "batch_hurry %" PRId64 " %" PRId64 "\n", batch->copies, batch->within);
}

void project_totals_write(const struct project_totals *totals, bool has_lists,
                          struct buffer *ret_words)
{
    buffer_print(ret_words, "at %" PRId64 "\nseconds %.3f\n", totals->at, totals->seconds);
    for (int i = 0; i < TOTAL_COUNT; i++)
        buffer_print(ret_words, "%s %.17g\n", totals_by_number[i].name, totals->values[i]);
    for (size_t i = 0; has_lists && i < totals->app_count && i < PROJECT_APPS_MOST; i++)
        write_app(&totals->apps[i], ret_words);
    for (size_t i = 0; has_lists && i < totals->batch_count && i < PROJECT_BATCHES_MOST; i++)
        write_batch(&totals->batches[i], ret_words);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_integers(struct text *rest, int64_t *const *ret_numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!text_to_i64(text_split(rest, ' '), ret_numbers[i]))
            return false;
    return true;
}

static bool read_app(struct text rest, struct project_app *app)
{
    int64_t *const first[] = {&app->id, &app->unsent, &app->in_progress}, *const last = &app->users;

    return read_integers(&rest, first, 3) &&
           text_to_real(text_split(&rest, ' '), &app->avg_runtime) &&
           text_to_real(text_split(&rest, ' '), &app->min_runtime) &&
           text_to_real(text_split(&rest, ' '), &app->max_runtime) &&
           read_integers(&rest, &last, 1);
}

static bool read_batch(struct text rest, struct project_batch *batch)
{
    int64_t *const numbers[] = {&batch->id,   &batch->appid,  &batch->jobs,      &batch->looked_at,
                                &batch->done, &batch->failed, &batch->cancelled, &batch->created};

    if (!read_integers(&rest, numbers, sizeof(numbers) / sizeof(numbers[0])))
        return false;
    batch->name = rest;
    batch->half = batch->most = batch->copies = batch->within = 0;
    batch->hurry = false;
    return true;
}

/* Whose line is the one before. */
static struct project_batch *last_batch(struct project_totals *totals, struct project_batch *unused)
{
    return totals->batch_count > 0 ? &totals->batches[totals->batch_count - 1] : unused;
}

static void read_dates(struct text rest, struct project_totals *totals)
{
    struct project_batch unused, *batch = last_batch(totals, &unused);
    int64_t *const dates[] = {&batch->half, &batch->most};

    if (!read_integers(&rest, dates, 2))
        batch->half = batch->most = 0;
}

static void read_hurry(struct text rest, struct project_totals *totals)
{
    struct project_batch unused, *batch = last_batch(totals, &unused);
    int64_t *const numbers[] = {&batch->copies, &batch->within};

    batch->hurry = read_integers(&rest, numbers, 2);
}

static void read_line(struct arena *arena, struct text line, struct project_totals *totals)
{
    struct text rest = line, name = text_split(&rest, ' ');
    struct project_app app;
    struct project_batch batch;

    if (text_is(name, "at")) {
        if (!text_to_i64(rest, &totals->at))
            totals->at = 0;
    } else if (text_is(name, "seconds")) {
        if (!text_to_real(rest, &totals->seconds))
            totals->seconds = 0;
    } else if (text_is(name, "app")) {
        if (totals->app_count < PROJECT_APPS_MOST && read_app(rest, &app))
            totals->apps[totals->app_count++] = app;
    } else if (text_is(name, "batch")) {
        if (totals->batch_count < PROJECT_BATCHES_MOST && read_batch(rest, &batch)) {
            batch.name = text_copy(arena, batch.name);
            totals->batches[totals->batch_count++] = batch;
        }
    } else if (text_is(name, "batch_done")) {
        read_dates(rest, totals);
    } else if (text_is(name, "batch_hurry")) {
        read_hurry(rest, totals);
    } else {
        for (int i = 0; i < TOTAL_COUNT; i++)
            if (text_is(name, totals_by_number[i].name) && !text_to_real(rest, &totals->values[i]))
                totals->values[i] = 0;
    }
}

/* How many lines begin so. */
static size_t lines_of(struct text words, struct text prefix)
{
    size_t count = 0;

    while (words.length > 0)
        count += text_starts(text_split(&words, '\n'), prefix);
    return count;
}

bool project_totals_read(struct arena *arena, struct text words, struct project_totals *ret_totals)
{
    size_t apps = lines_of(words, TEXT("app ")), batches = lines_of(words, TEXT("batch "));

    *ret_totals = (struct project_totals){
        .apps = ARENA_ARRAY(arena, apps, struct project_app),
        .batches = ARENA_ARRAY(arena, batches, struct project_batch),
    };
    if (ret_totals->apps == NULL || ret_totals->batches == NULL)
        return false;
    while (words.length > 0)
        read_line(arena, text_split(&words, '\n'), ret_totals);
    return !arena_overflowed(arena);
}
