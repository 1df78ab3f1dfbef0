/* SPDX-License-Identifier: Apache-2.0 */
/* A list of rows is counted before it is read, so what a record takes in memory grows with its
 * length alone. Lines of tags that nobody knows are passed over. */
#include "server/recording/recorded_reader.h"

#include "server/base/arena.h"
#include "server/recording/recording.h"
#include "server/reply/answer.h"

#include <string.h>

#include "server/base/banned.h"

/* epoch: by then nobody looks at this recording any more, and sums with it are numbers still */
static const double latest_time = 1e11;

/* --- pieces ----------------------------------------------------------------------------------- */

static enum recorded_piece opened_by(struct text line)
{
    if (text_is(line, "<recorded>"))
        return PIECE_REQUEST;
    return text_is(line, "<circumstances>") ? PIECE_CIRCUMSTANCES : PIECE_END;
}

static const char *end_of(enum recorded_piece kind)
{
    return kind == PIECE_REQUEST ? "</recorded>" : "</circumstances>";
}

/* Up to where the next one begins. */
static void skip_rubbish(struct text *rest)
{
    while (rest->length > 0) {
        struct text after = *rest;

        if (opened_by(text_split(&after, '\n')) != PIECE_END)
            return;
        *rest = after;
    }
}

enum recorded_piece recorded_next(struct text *rest, struct text *ret_lines)
{
    struct text after = *rest;
    enum recorded_piece kind;
    const char *begin;

    *ret_lines = NO_TEXT;
    if (rest->length == 0)
        return PIECE_END;
    kind = opened_by(text_split(&after, '\n'));
    if (kind == PIECE_END) {
        skip_rubbish(rest);
        return PIECE_DAMAGED;
    }
    begin = after.at;
    while (after.length > 0) {
        struct text before = after, line = text_split(&after, '\n');

        if (opened_by(line) != PIECE_END) {
            *rest = before;
            return PIECE_DAMAGED;
        }
        if (!text_is(line, end_of(kind)))
            continue;
        *rest = after;
        *ret_lines = (struct text){.at = begin, .length = (size_t)(line.at - begin)};
        return ret_lines->length <= RECORD_BYTES_MAX ? kind : PIECE_DAMAGED;
    }
    *rest = NO_TEXT;
    return PIECE_DAMAGED;
}

/* --- lists ------------------------------------------------------------------------------------ */

static enum status no_memory(struct failure *failure)
{
    return fail(failure, STATUS_NO_MEMORY, "no memory for a record");
}

static enum status read_rows(const struct record_table *table, struct text lines,
                             struct arena *arena, void *ret_rows, size_t *ret_count,
                             struct failure *failure)
{
    char *rows = arena_alloc_array(arena, record_count_lines(lines, table->tag), table->size);
    struct record_line line;

    *ret_count = 0;
    if (rows == NULL)
        return no_memory(failure);
    memcpy(ret_rows, &rows, sizeof rows);
    while (record_next_line(&lines, &line)) {
        enum status status;

        if (!text_is(line.tag, table->tag))
            continue;
        status =
            record_row_read(table, line.content, arena, rows + *ret_count * table->size, failure);
        if (status != STATUS_OK)
            return status;
        ++*ret_count;
    }
    return STATUS_OK;
}

static enum status read_texts(const char *tag, struct text lines, struct arena *arena,
                              struct text **ret_texts, size_t *ret_count, struct failure *failure)
{
    struct record_line line;

    *ret_count = 0;
    *ret_texts = ARENA_ARRAY(arena, record_count_lines(lines, tag), struct text);
    if (*ret_texts == NULL)
        return no_memory(failure);
    while (record_next_line(&lines, &line))
        if (text_is(line.tag, tag))
            (*ret_texts)[(*ret_count)++] = line.content;
    return STATUS_OK;
}

/* The first of that tag; empty: none. */
static struct text find_line(struct text lines, const char *tag)
{
    struct record_line line;

    while (record_next_line(&lines, &line))
        if (text_is(line.tag, tag))
            return line.content;
    return NO_TEXT;
}

static enum status read_row(const struct record_table *table, struct text lines,
                            struct arena *arena, void *ret_row, struct failure *failure)
{
    return record_row_read(table, find_line(lines, table->tag), arena, ret_row, failure);
}

/* --- a record --------------------------------------------------------------------------------- */

static enum status read_head(struct text lines, struct arena *arena,
                             struct recorded_request *record, struct failure *failure)
{
    struct text under = find_line(lines, "under");
    int64_t format = 0;
    enum status status;

    if (!text_to_i64(find_line(lines, "format"), &format) || format != RECORD_FORMAT)
        return fail(failure, STATUS_INVALID, "recorded in another format than %d",
                    (int)RECORD_FORMAT);
    if (under.at == NULL || !text_is_lower_hex(under, CIRCUMSTANCES_KEY_SIZE - 1))
        return fail(failure, STATUS_INVALID, "<under>: no key");
    memcpy(record->under.text, under.at, under.length);
    record->host = find_line(lines, "host");
    record->user = find_line(lines, "user");
    status = read_row(&record_heads, lines, arena, &record->head, failure);
    if (status != STATUS_OK)
        return status;
    if (!(record->head.now >= 0 && record->head.now < latest_time) || record->head.backlog < 0)
        return fail(failure, STATUS_INVALID, "<head>: no time of ours");
    return STATUS_OK;
}

static enum status read_preferences(struct text lines, struct arena *arena,
                                    struct recorded_request *record, struct failure *failure)
{
    struct project_preferences *project = &record->project_prefs;
    struct text *apps = NULL, *resources = NULL;
    size_t count = 0;
    int64_t *ids;
    enum status status = read_row(&record_globals, lines, arena, &record->prefs, failure);

    if (status == STATUS_OK)
        status = read_row(&record_projects, lines, arena, project, failure);
    if (status == STATUS_OK)
        status = read_texts("selected_appid", lines, arena, &apps, &count, failure);
    if (status == STATUS_OK)
        status = read_texts("no_resource", lines, arena, &resources, &project->no_resource_count,
                            failure);
    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(arena, count, int64_t);
    if (ids == NULL)
        return no_memory(failure);
    for (size_t i = 0; i < count; i++)
        if (!text_to_i64(apps[i], &ids[i]))
            return fail(failure, STATUS_INVALID, "<selected_appid>: no number");
    project->app_ids = ids;
    project->app_id_count = count;
    project->no_resources = resources;
    return STATUS_OK;
}

static enum status read_known(struct text lines, struct arena *arena,
                              struct recorded_request *record, struct failure *failure)
{
    enum status status = read_row(&record_hosts, lines, arena, &record->stored, failure);

    if (status == STATUS_OK)
        status = read_rows(&record_host_versions, lines, arena, &record->versions,
                           &record->version_count, failure);
    if (status == STATUS_OK)
        status = read_rows(&record_version_changes, lines, arena, &record->changes,
                           &record->change_count, failure);
    if (status == STATUS_OK)
        status = read_preferences(lines, arena, record, failure);
    if (status == STATUS_OK)
        status = read_rows(&record_in_progress, lines, arena, &record->in_progress,
                           &record->in_progress_count, failure);
    if (status == STATUS_OK)
        status = read_rows(&record_memory_peaks, lines, arena, &record->memory_peaks,
                           &record->memory_peak_count, failure);
    if (status == STATUS_OK)
        status = read_texts("abort", lines, arena, &record->aborts, &record->abort_count, failure);
    if (status == STATUS_OK)
        status = read_rows(&record_unsent_jobs, lines, arena, &record->unsent,
                           &record->unsent_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < record->in_progress_count; i++)
        record->in_progress[i].result.id = (int64_t)i + 1;
    return status;
}

static bool is_sound(const struct record_unsent *unsent)
{
    return unsent->order > 0 && unsent->jobs > 0 && unsent->workunits > 0 &&
           unsent->workunits <= unsent->jobs;
}

enum status recorded_request_read(struct text lines, struct arena *arena,
                                  struct recorded_request *ret_request, struct failure *failure)
{
    struct recorded_request *record = ret_request;
    size_t at = text_find(lines, TEXT("\n<scheduler_request>\n"));
    struct text known = text_first(lines, at + 1);
    enum status status;

    *record = (struct recorded_request){0};
    if (at == lines.length)
        return fail(failure, STATUS_INVALID, "no <scheduler_request>");
    record->request =
        (struct text){.at = lines.at + known.length, .length = lines.length - known.length};
    status = read_head(known, arena, record, failure);
    if (status == STATUS_OK && record->head.kind == (int64_t)ANSWER_FULL)
        status = read_known(known, arena, record, failure);
    if (status == STATUS_OK)
        status = read_rows(&record_jobs, known, arena, &record->jobs, &record->job_count, failure);
    if (status == STATUS_OK)
        status =
            read_texts("reason", known, arena, &record->reasons, &record->reason_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < record->unsent_count; i++)
        if (!is_sound(&record->unsent[i]))
            status = fail(failure, STATUS_INVALID, "<unsent>: no such jobs");
    return status;
}
