/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own words stand here as they are: names of its applications, platforms and plan
 * classes, its options. Nobody who asked for work is in them. */
#include "server/recording/circumstances.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "server/recording/recorded_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* --- writing ---------------------------------------------------------------------------------- */

static struct circumstances_key key_of(struct text lines)
{
    struct circumstances_key key;

    (void)snprintf(key.text, sizeof key.text, "%016" PRIx64, text_hash(lines));
    return key;
}

static void write_plan_classes(const struct plan_classes *classes, struct buffer *text)
{
    if (classes == NULL || classes->is_builtin)
        return;
    buffer_add_string(text, "<plan_class_spec>");
    record_quote(text, classes->source);
    buffer_add_string(text, "</plan_class_spec>\n");
}

static void write_catalog(const struct catalog *catalog, struct buffer *text)
{
    const struct catalog_rows *rows = &catalog->rows;

    record_row_write(text, &record_benchmarks, &catalog->benchmarks);
    for (size_t i = 0; i < rows->platform_count; i++)
        record_row_write(text, &record_platforms, &rows->platforms[i]);
    for (size_t i = 0; i < rows->app_count; i++)
        record_row_write(text, &record_apps, &rows->apps[i]);
    for (size_t i = 0; i < rows->version_count; i++)
        record_row_write(text, &record_versions, &rows->versions[i]);
    for (size_t i = 0; i < rows->retired_count; i++)
        record_row_write(text, &record_retired, &rows->retired[i]);
}

struct circumstances_key circumstances_write(const struct config *config,
                                             const struct plan_classes *plan_classes,
                                             const struct catalog *catalog, struct buffer *ret_text)
{
    struct buffer lines = buffer_on_heap(ret_text->length_max);
    struct circumstances_key key;

    buffer_print(&lines, "<format>%d</format>\n", (int)RECORD_FORMAT);
    write_plan_classes(plan_classes, &lines);
    write_catalog(catalog, &lines);
    config_write_deciding(config, &lines);
    key = key_of(buffer_text(&lines));
    buffer_print(ret_text, "<circumstances>\n<key>%s</key>\n", key.text);
    buffer_add(ret_text, buffer_text(&lines));
    buffer_add_string(ret_text, "</circumstances>\n");
    ret_text->overflowed = ret_text->overflowed || lines.overflowed;
    buffer_free(&lines);
    return key;
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum status read_config(struct text document, struct arena *arena,
                               struct config **ret_config, struct failure *failure)
{
    struct config_findings findings;

    return config_read(document, TEXT("recorded options"), arena, ret_config, &findings, failure);
}

/* Rows by rising id, as look-ups want them. */
struct row_list {
    const struct record_table *table;
    char *rows;
    size_t count;
    int64_t last;
};

static struct row_list list_of(const struct record_table *table, struct text lines,
                               struct arena *arena)
{
    return (struct row_list){
        .table = table,
        .rows = arena_alloc_array(arena, record_count_lines(lines, table->tag), table->size),
        .last = INT64_MIN};
}

static enum status add_row(struct row_list *list, struct text content, struct arena *arena,
                           struct failure *failure)
{
    char *row;
    int64_t id;
    enum status status;

    if (list->rows == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    row = list->rows + list->count * list->table->size;
    status = record_row_read(list->table, content, arena, row, failure);
    if (status != STATUS_OK)
        return status;
    memcpy(&id, row, sizeof id); /* all kinds of rows begin with it */
    if (id <= list->last)
        return fail(failure, STATUS_INVALID, "<%s>: not by rising number", list->table->tag);
    list->last = id;
    list->count++;
    return STATUS_OK;
}

static enum status read_catalog(struct text lines, struct catalog *catalog, struct failure *failure)
{
    struct row_list lists[] = {list_of(&record_apps, lines, catalog->arena),
                               list_of(&record_platforms, lines, catalog->arena),
                               list_of(&record_versions, lines, catalog->arena),
                               list_of(&record_retired, lines, catalog->arena)};
    const size_t list_count = sizeof lists / sizeof lists[0];
    struct record_line line;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && record_next_line(&lines, &line)) {
        if (text_is(line.tag, record_benchmarks.tag))
            status = record_row_read(&record_benchmarks, line.content, catalog->arena,
                                     &catalog->benchmarks, failure);
        for (size_t i = 0; i < list_count && status == STATUS_OK; i++)
            if (text_is(line.tag, lists[i].table->tag))
                status = add_row(&lists[i], line.content, catalog->arena, failure);
    }
    if (status != STATUS_OK)
        return status;
    catalog->rows.apps = (void *)lists[0].rows;
    catalog->rows.app_count = lists[0].count;
    catalog->rows.platforms = (void *)lists[1].rows;
    catalog->rows.platform_count = lists[1].count;
    catalog->rows.versions = (void *)lists[2].rows;
    catalog->rows.version_count = lists[2].count;
    catalog->rows.retired = (void *)lists[3].rows;
    catalog->rows.retired_count = lists[3].count;
    for (size_t i = 0; i < catalog->rows.app_count; i++)
        catalog->rows.apps[i].user_friendly_name = catalog->rows.apps[i].name;
    return catalog_finish(catalog);
}

static enum status read_plan_classes(struct text lines, struct arena *arena,
                                     struct plan_classes *ret_classes, struct failure *failure)
{
    struct record_line line;
    struct text source;

    *ret_classes = plan_classes_builtin();
    while (record_next_line(&lines, &line)) {
        if (!text_is(line.tag, "plan_class_spec"))
            continue;
        if (!record_unquote(line.content, arena, &source))
            return fail(failure, STATUS_INVALID, "<plan_class_spec>: it is damaged");
        *ret_classes = (struct plan_classes){0}; /* what a file that cannot be read leaves */
        return source.length == 0 ? STATUS_OK : plan_classes_parse(source, ret_classes, failure);
    }
    return STATUS_OK;
}

/* The line <key>, and that it is the key of what follows; and the format. */
static enum status check_key(struct text *lines, struct circumstances_key *ret_key,
                             struct failure *failure)
{
    struct record_line line;
    struct text rest;
    int64_t format = 0;

    (void)record_next_line(lines, &line);
    *ret_key = key_of(*lines);
    if (!text_is(line.tag, "key") || !text_is(line.content, ret_key->text))
        return fail(failure, STATUS_INVALID, "the circumstances are damaged");
    rest = *lines;
    (void)record_next_line(&rest, &line);
    if (!text_is(line.tag, "format") || !text_to_i64(line.content, &format) ||
        format != RECORD_FORMAT)
        return fail(failure, STATUS_INVALID, "recorded in another format, %lld instead of %d",
                    (long long)format, (int)RECORD_FORMAT);
    return STATUS_OK;
}

enum status circumstances_read(struct text lines, struct arena *arena,
                               struct circumstances *ret_circumstances, struct failure *failure)
{
    struct circumstances *made = ret_circumstances;
    enum status status;
    size_t at;

    *made = (struct circumstances){0};
    status = check_key(&lines, &made->key, failure);
    if (status != STATUS_OK)
        return status;
    at = text_find(lines, TEXT("<config>\n"));
    made->deciding =
        text_copy(arena, (struct text){.at = lines.at + at, .length = lines.length - at});
    lines.length = at;
    status = read_config(made->deciding, arena, &made->config, failure);
    if (status == STATUS_OK)
        status = read_plan_classes(lines, arena, &made->plan_classes, failure);
    if (status == STATUS_OK)
        status = catalog_begin(&made->catalog);
    if (status == STATUS_OK)
        status = read_catalog(lines, made->catalog, failure);
    if (status != STATUS_OK)
        circumstances_free(made);
    return status;
}

void circumstances_free(struct circumstances *circumstances)
{
    config_release(circumstances->config);
    catalog_release(circumstances->catalog);
    plan_classes_free(&circumstances->plan_classes);
    *circumstances = (struct circumstances){0};
}
