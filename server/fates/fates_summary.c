/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fates/fates_summary.h"

#include "server/base/arena.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { HOUR_SECONDS = 3600 };
enum { TELLS = 20, TELLS_IF_ALL = 5 /* results: of fewer a share says little */ };
#define SHARE_ALARMS 0.2

static int compare_versions(const struct fate_version_row *one,
                            const struct fate_version_row *other)
{
    if (one->appid != other->appid)
        return one->appid < other->appid ? -1 : 1;
    return (one->app_version_id > other->app_version_id) -
           (one->app_version_id < other->app_version_id);
}

static int compare_rows(const void *a, const void *b)
{
    return compare_versions(a, b);
}

static int compare_failures(const void *a, const void *b)
{
    const struct fates_summary *one = a, *other = b;

    if (one->failed != other->failed)
        return one->failed > other->failed ? -1 : 1;
    return (one->sent < other->sent) - (one->sent > other->sent);
}

static void add(struct fates_summary *summary, const struct fate_version_row *row)
{
    const struct fate_kind *fate = fate_kind_of(row->fate);

    if (fate == NULL) /* of a later version of the program */
        return;
    summary->by_fate[fate->fate] += row->results;
    if (fate->fate == FATE_SENT)
        summary->sent += row->results;
    if (fate->ends)
        summary->ended += row->results;
    if (fate->fails)
        summary->failed += row->results;
    if (fate->fate == FATE_CLIENT_ERROR && row->results > summary->worst_exits) {
        summary->worst_exit = row->exit_status;
        summary->worst_exits = row->results;
    }
}

struct fates_summary *fates_summarize(struct arena *arena, const struct fate_version_row *rows,
                                      size_t count, size_t *ret_count)
{
    struct fate_version_row *sorted = ARENA_ARRAY(arena, count, struct fate_version_row);
    struct fates_summary *summaries = ARENA_ARRAY(arena, count + 1, struct fates_summary);

    *ret_count = 0;
    if (sorted == NULL || summaries == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sorted[i] = rows[i];
    qsort(sorted, count, sizeof(sorted[0]), compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_versions(&sorted[i - 1], &sorted[i]) != 0)
            summaries[(*ret_count)++] = (struct fates_summary){
                .appid = sorted[i].appid, .app_version_id = sorted[i].app_version_id};
        add(&summaries[*ret_count - 1], &sorted[i]);
    }
    qsort(summaries, *ret_count, sizeof(summaries[0]), compare_failures);
    return summaries;
}

struct fates_summary *fates_summarize_batches(struct arena *arena,
                                              const struct fate_batch_row *rows, size_t count,
                                              size_t *ret_count)
{
    struct fate_version_row *named = ARENA_ARRAY(arena, count, struct fate_version_row);
    struct fates_summary *summaries;

    *ret_count = 0;
    if (named == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        named[i] = (struct fate_version_row){.app_version_id = rows[i].batch, /* for the while */
                                             .fate = rows[i].fate,
                                             .results = rows[i].results};
    summaries = fates_summarize(arena, named, count, ret_count);
    for (size_t i = 0; i < *ret_count; i++) {
        summaries[i].batch = summaries[i].app_version_id;
        summaries[i].app_version_id = 0;
    }
    return summaries;
}

double fates_share(int64_t ended, int64_t failed)
{
    if (failed <= 0)
        return 0;
    return failed >= ended ? 1 : (double)failed / (double)ended;
}

bool fates_alarm(int64_t ended, int64_t failed)
{
    if (ended < TELLS_IF_ALL && failed < TELLS_IF_ALL)
        return false;
    return failed >= ended || (ended >= TELLS && fates_share(ended, failed) > SHARE_ALARMS);
}

int64_t fates_since(int64_t now, int64_t hours)
{
    return now / HOUR_SECONDS - (hours - 1);
}

struct text fates_version_words(struct arena *arena, const struct fates_summary *summary,
                                struct text app, const struct app_version_row *version,
                                struct text platform)
{
    bool has_class = version != NULL && version->plan_class.length > 0;
    struct text name =
        app.length > 0 ? app : text_print(arena, "application %" PRId64, summary->appid);

    if (version == NULL)
        return text_print(arena, TEXT_FORMAT ", %s", TEXT_ARG(name),
                          summary->app_version_id < 0 ? "volunteers' own versions"
                                                      : "a version that is gone");
    return text_print(
        arena, TEXT_FORMAT " %" PRId64 ".%02" PRId64 " " TEXT_FORMAT "%s" TEXT_FORMAT "%s",
        TEXT_ARG(name), version->version_num / 100, version->version_num % 100, TEXT_ARG(platform),
        has_class ? " (" : "", TEXT_ARG(version->plan_class), has_class ? ")" : "");
}

struct text fates_exit_words(struct arena *arena, int64_t exit_status)
{
    const struct exit_status_meaning *meaning = exit_status_meaning_of(exit_status);

    if (meaning == NULL)
        return TEXT("the application's own exit status");
    return text_print(arena, "%s%s%s", meaning->name, meaning->name[0] != '\0' ? ": " : "",
                      meaning->words);
}
