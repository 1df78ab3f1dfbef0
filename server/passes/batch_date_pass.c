/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/batch_date_pass.h"

#include "config/config.h"
#include "db/batch_dates.h"
#include "db/batches.h"
#include "db/fate_rows.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/fates/fates.h"
#include "server/passes/pass_repeat.h"

#include <string.h>

#include "server/base/banned.h"

enum {
    HOUR_SECONDS = 3600,
    OPEN_MOST = 10000,    /* results of a batch that are read one by one */
    RECENT_MOST = 1000,   /* of its app, of each state */
    AHEAD_MOST = 1000000, /* more of each priority are not counted */
    AHEAD_KEPT = 16,      /* priorities */
    APPS_KEPT = 64        /* whose recent results are read once for all their batches */
};

/* Results that go before one of a priority and a number. */
struct ahead {
    bool is_known;
    int64_t priority, before, results;
};

/* The recent results of an app. */
struct app_results {
    int64_t appid;                  /* 0: of none */
    struct recent_result_row *rows; /* room for all that may be; NULL: not yet */
    size_t count;
};

struct batch_dates {
    int64_t now;
    struct hand_out all, week; /* of the project */
    struct ahead ahead[AHEAD_KEPT];
    size_t ahead_next; /* to be replaced */
    struct app_results apps[APPS_KEPT];
    size_t apps_next; /* likewise */
};

static enum status forget(void *subject)
{
    struct pass_owner *owner = subject;
    enum status status = db_batch_dates_forget(owner->db);

    return status == STATUS_OK ? db_commit(owner->db) : status;
}

/* --- what it is estimated from ---------------------------------------------------------------- */

/* What the project has handed out lately. Hours before the first of them may be those before it
 * began. */
static struct hand_out sum_sent(const struct fate_hour_row *rows, size_t count, int64_t now,
                                int64_t span)
{
    int64_t since = (now - span) / HOUR_SECONDS, first = now / HOUR_SECONDS;
    struct hand_out sum = {.sent = 0};

    for (size_t i = 0; i < count; i++) {
        if (rows[i].fate != FATE_SENT || rows[i].results <= 0 || rows[i].hour < since)
            continue;
        sum.sent += rows[i].results;
        first = rows[i].hour < first ? rows[i].hour : first;
    }
    sum.span = now - first * HOUR_SECONDS;
    return sum;
}

static enum status read_hand_out(struct pass_owner *owner, struct batch_dates *dates)
{
    struct arena_mark mark = arena_mark(owner->arena);
    int64_t since = (dates->now - BATCH_DATE_WEEK) / HOUR_SECONDS;
    struct fate_hour_row *rows = NULL;
    size_t count = 0;
    enum status status = db_fates_by_hour(owner->db, owner->arena, since, 0, &rows, &count);

    if (status == STATUS_OK) {
        dates->all = sum_sent(rows, count, dates->now, BATCH_DATE_SPAN);
        dates->week = sum_sent(rows, count, dates->now, BATCH_DATE_WEEK);
    }
    arena_rewind(owner->arena, mark);
    return status;
}

enum status batch_dates_begin(struct pass_owner *owner, int64_t now, struct batch_dates **ret_dates)
{
    struct batch_dates *dates = ARENA_NEW(owner->arena, struct batch_dates);
    enum status status =
        dates != NULL ? repeat_transaction(owner->db, forget, owner) : STATUS_NO_MEMORY;

    *ret_dates = dates;
    if (status == STATUS_OK) {
        dates->now = now;
        status = read_hand_out(owner, dates);
    }
    if (status == STATUS_OK)
        status = db_end(owner->db);
    return pass_failed(owner, status, "dates of batches");
}

/* In a place for an app, which is taken from another if need be. */
static enum status read_recent_into(struct pass_owner *owner, int64_t appid,
                                    struct app_results *place)
{
    struct recent_result_row *rows = NULL;
    struct arena_mark mark;
    enum status status;

    place->appid = 0;
    if (place->rows == NULL)
        place->rows = ARENA_ARRAY(owner->arena, 2 * RECENT_MOST, struct recent_result_row);
    if (place->rows == NULL)
        return STATUS_NO_MEMORY;
    mark = arena_mark(owner->arena);
    status = db_recent_results(owner->db, owner->arena, appid, RECENT_MOST, &rows, &place->count);
    if (status == STATUS_OK) {
        memcpy(place->rows, rows, place->count * sizeof(rows[0]));
        place->appid = appid;
    }
    arena_rewind(owner->arena, mark);
    return status;
}

/* Batches of an app are estimated from the same results. They stay in the owner's arena, so nothing
 * may be rewound behind which they are read. */
static enum status read_recent(struct pass_owner *owner, struct batch_dates *dates, int64_t appid,
                               struct batch_date_facts *facts)
{
    struct app_results *place = NULL;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < APPS_KEPT && place == NULL; i++)
        if (dates->apps[i].appid == appid)
            place = &dates->apps[i];
    if (place == NULL) {
        place = &dates->apps[dates->apps_next++ % APPS_KEPT];
        status = read_recent_into(owner, appid, place);
    }
    facts->recent = place->rows;
    facts->recent_count = place->count;
    facts->recent_most = RECENT_MOST;
    return status;
}

/* The place for what goes before results of a priority: what is known of it, or that of another. */
static struct ahead *ahead_of(struct batch_dates *dates, int64_t priority)
{
    struct ahead *place;

    for (size_t i = 0; i < AHEAD_KEPT; i++)
        if (dates->ahead[i].is_known && dates->ahead[i].priority == priority)
            return &dates->ahead[i];
    place = &dates->ahead[dates->ahead_next++ % AHEAD_KEPT];
    *place = (struct ahead){.priority = priority};
    return place;
}

/* A project may have millions of unsent results, and many batches that wait: each result is counted
 * once for all of them. */
static enum status count_ahead(struct pass_owner *owner, struct batch_dates *dates,
                               int64_t priority, int64_t before, int64_t *ret_results)
{
    struct ahead *known = ahead_of(dates, priority);
    bool goes_on = known->is_known && known->before <= before;
    int64_t more = 0;
    enum status status = db_results_ahead(owner->db, priority, goes_on ? known->before : 0, before,
                                          AHEAD_MOST, &more);

    if (status != STATUS_OK)
        return status;
    known->results = (goes_on ? known->results : 0) + more;
    known->before = before;
    known->is_known = true;
    *ret_results = known->results;
    return STATUS_OK;
}

static void count_read(struct batch_date_facts *facts, const struct batch_hand_out_row *counts)
{
    facts->more_unsent = facts->more_sent = 0;
    if (facts->open_count < OPEN_MOST)
        return;
    facts->more_unsent = counts->unsent;
    facts->more_sent = counts->in_progress;
    for (size_t i = 0; i < facts->open_count; i++)
        if (facts->open[i].server_state == RESULT_UNSENT)
            facts->more_unsent--;
        else if (facts->open[i].server_state == RESULT_IN_PROGRESS)
            facts->more_sent--;
}

static enum status read_batch(struct pass_owner *owner, struct batch_dates *dates, int64_t batch,
                              struct batch_date_facts *facts)
{
    struct lacking_result_row *open = NULL;
    struct batch_hand_out_row counts = {.sent = 0};
    int64_t since = facts->now - BATCH_DATE_SPAN;
    bool is_sent = true; /* all of it */
    enum status status =
        db_batch_lacking(owner->db, owner->arena, batch, OPEN_MOST, &open, &facts->open_count);

    if (status == STATUS_OK)
        status = db_batch_hand_out(owner->db, batch, since, &counts);
    for (size_t i = 0; status == STATUS_OK && i < facts->open_count; i++)
        is_sent = is_sent && open[i].server_state == RESULT_IN_PROGRESS;
    if (status == STATUS_OK && !is_sent)
        status = count_ahead(owner, dates, counts.priority,
                             counts.unsent > 0 ? counts.first_unsent : INT64_MAX, &facts->ahead);
    if (status != STATUS_OK)
        return status;
    facts->open = open;
    for (size_t i = 0; i < facts->open_count; i++)
        if (open[i].delay_bound > facts->delay_bound)
            facts->delay_bound = open[i].delay_bound;
    facts->own.sent = counts.sent;
    facts->own.span = facts->now - (counts.first_sent > since ? counts.first_sent : since);
    count_read(facts, &counts);
    return STATUS_OK;
}

/* Ends the reading. */
static enum status decide(struct pass_owner *owner, const struct batch_dates *dates,
                          struct batch_date_facts *facts, struct batch_date *ret_date)
{
    enum status status = db_end(owner->db);

    facts->all = dates->all;
    facts->week = dates->week;
    return status == STATUS_OK ? batch_date_decide(facts, owner->arena, ret_date) : status;
}

/* --- one batch -------------------------------------------------------------------------------- */

struct date_work {
    struct db *db;
    struct batch_date_note note;
};

static enum status write_date(void *subject)
{
    struct date_work *work = subject;
    enum status status = db_batch_date_note(work->db, &work->note);

    return status == STATUS_OK ? db_commit(work->db) : status;
}

static enum status find_app(struct pass_owner *owner, int64_t batch, int64_t *ret_appid)
{
    struct arena_mark mark = arena_mark(owner->arena);
    struct batch_entry_row entry;
    enum status status = db_batch_find(owner->db, owner->arena, batch, NO_TEXT, &entry);

    if (status == STATUS_OK)
        *ret_appid = entry.app_id;
    arena_rewind(owner->arena, mark);
    return status;
}

enum status batch_date_batch(struct pass_owner *owner, struct batch_dates *dates, int64_t batch,
                             bool hurry)
{
    struct batch_date_facts facts = {.now = dates->now, .hurry = hurry};
    struct arena_mark mark;
    struct batch_date date;
    int64_t appid;
    enum status status = find_app(owner, batch, &appid);

    if (status == STATUS_OK)
        status = read_recent(owner, dates, appid, &facts);
    mark = arena_mark(owner->arena);
    if (status == STATUS_OK)
        status = read_batch(owner, dates, batch, &facts);
    if (status == STATUS_OK)
        status = decide(owner, dates, &facts, &date);
    if (status == STATUS_OK) {
        struct date_work work = {.db = owner->db,
                                 .note = {.batch = batch,
                                          .half = date.half,
                                          .most = date.most,
                                          .ahead = facts.ahead,
                                          .now = dates->now}};

        status = repeat_transaction(owner->db, write_date, &work);
    }
    arena_rewind(owner->arena, mark);
    return pass_failed(owner, status == STATUS_NOT_FOUND ? STATUS_OK : status, "date of a batch");
}

enum status batch_date_of_planned(struct pass_owner *owner, const struct jobs_planned *planned,
                                  int64_t now, struct batch_date *ret_date)
{
    struct arena_mark mark = arena_mark(owner->arena);
    struct batch_date_facts facts = {.now = now,
                                     .more_unsent = planned->count,
                                     .delay_bound = planned->delay_bound,
                                     .hurry = config_hurries(owner->config, false)};
    struct batch_dates dates = {.now = now};
    enum status status = read_hand_out(owner, &dates);

    if (status == STATUS_OK)
        status = count_ahead(owner, &dates, planned->priority, INT64_MAX, &facts.ahead);
    if (status == STATUS_OK)
        status = read_recent(owner, &dates, planned->appid, &facts);
    if (status == STATUS_OK)
        status = decide(owner, &dates, &facts, ret_date);
    arena_rewind(owner->arena, mark);
    return pass_failed(owner, status, "date of a batch");
}
