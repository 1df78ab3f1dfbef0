/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/project/setting_change.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/shown.h"
#include "server/passes/pass_repeat.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

size_t setting_values_given(const struct session *session, const struct catalog_settings *settings,
                            struct setting_values *ret_values)
{
    size_t given = 0;

    must(settings->count <= SETTINGS_MAX);
    for (size_t i = 0; i < settings->count; i++) {
        ret_values->typed[i] = option_value(session, settings->items[i].name);
        given += ret_values->typed[i] != NULL;
    }
    return given;
}

enum status setting_values_need(struct session *session, const struct catalog_settings *settings,
                                struct setting_values *ret_values)
{
    struct buffer names = buffer_in(session->arena);

    if (setting_values_given(session, settings, ret_values) > 0)
        return STATUS_OK;
    for (size_t i = 0; i < settings->count; i++)
        buffer_print(&names, "%s--%s", i == 0 ? "" : ", ", settings->items[i].name);
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID, "%s needs one of " TEXT_FORMAT,
                session->command->name, TEXT_ARG(buffer_text(&names)));
}

void setting_values_add(struct setting_values *values, const struct catalog_settings *settings,
                        const char *name, const char *typed)
{
    size_t i = 0;

    while (strcmp(settings->items[i].name, name) != 0)
        must(++i < settings->count);
    values->typed[i] = typed;
}

struct change {
    struct session *session;
    const struct setting_rows *rows;
    int64_t id;
    const struct setting_values *values;
    void *before, *after;
};

static enum status take_values(struct change *change)
{
    const struct catalog_settings *settings = change->rows->settings;
    struct session *session = change->session;
    enum status status = STATUS_OK;

    memcpy(change->after, change->before, settings->row_size);
    for (size_t i = 0; i < settings->count && status == STATUS_OK; i++)
        if (change->values->typed[i] != NULL)
            status = catalog_setting_read(&settings->items[i], text_from(change->values->typed[i]),
                                          change->after, &session->failure);
    if (status == STATUS_OK)
        status = change->rows->check(change->after, &session->failure);
    if (status != STATUS_OK)
        session->is_usage = true;
    return status;
}

/* A database of former years may lack a column. */
static enum status compare(struct change *change)
{
    const struct catalog_settings *settings = change->rows->settings;
    struct session *session = change->session;
    void *saved = arena_alloc_array(session->arena, 1, settings->row_size);
    enum status status = saved == NULL
                             ? STATUS_NO_MEMORY
                             : change->rows->lock(session->db, session->arena, change->id, saved);

    for (size_t i = 0; i < settings->count && status == STATUS_OK; i++) {
        const struct catalog_setting *setting = &settings->items[i];

        if (change->values->typed[i] != NULL &&
            !text_equal(catalog_setting_words(session->arena, setting, change->after),
                        catalog_setting_words(session->arena, setting, saved)))
            status = fail(&session->failure, STATUS_INVALID,
                          "--%s: the database has no column of that name, or cannot hold the value",
                          setting->name);
    }
    return status;
}

static enum status change_row(struct change *change)
{
    struct session *session = change->session;
    enum status status =
        change->rows->lock(session->db, session->arena, change->id, change->before);

    if (status == STATUS_OK)
        status = take_values(change);
    if (status == STATUS_OK)
        status = change->rows->save(session->db, change->after);
    return status == STATUS_OK ? compare(change) : status;
}

enum status setting_apply(struct session *session, const struct setting_rows *rows, int64_t id,
                          const struct setting_values *values)
{
    size_t size = rows->settings->row_size;
    struct change change = {.session = session,
                            .rows = rows,
                            .id = id,
                            .values = values,
                            .before = arena_alloc_array(session->arena, 1, size),
                            .after = arena_alloc_array(session->arena, 1, size)};

    if (change.before == NULL || change.after == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    return session_db_failed(session, change_row(&change), session->command->name);
}

/* One transaction. */
static enum status change_and_commit(void *subject)
{
    struct change *change = subject;
    enum status status = change_row(change);

    return status == STATUS_OK ? db_commit(change->session->db) : status;
}

enum status setting_change(struct session *session, const struct setting_rows *rows, int64_t id,
                           const struct setting_values *values, void *ret_before, void *ret_after)
{
    struct change change = {.session = session,
                            .rows = rows,
                            .id = id,
                            .values = values,
                            .before = ret_before,
                            .after = ret_after};
    enum status status =
        session_db_failed(session, repeat_transaction(session->db, change_and_commit, &change),
                          session->command->name);

    if (status == STATUS_OK)
        session_catalog_changed(session);
    return status;
}

void setting_change_print(struct session *session, const struct setting_rows *rows,
                          const struct setting_values *values, const char *what, struct text name,
                          const void *before, const void *after)
{
    const char *const titles[] = {what, "setting", "was", "is"};
    struct output_table table = TABLE_BEGIN(session, "settings", titles);

    for (size_t i = 0; i < rows->settings->count; i++) {
        const struct catalog_setting *setting = &rows->settings->items[i];

        if (values->typed[i] == NULL)
            continue;
        table_text(&table, name);
        table_text(&table, text_from(setting->name));
        table_text(&table, catalog_setting_words(session->arena, setting, before));
        table_text(&table, catalog_setting_words(session->arena, setting, after));
    }
    table_print(&table);
    if (session->form == FORM_TEXT)
        shown_line(stderr,
                   "running servers use this within a second; those that do not see this folder "
                   "within %.0f s (catalog_refresh)",
                   session->config->catalog_refresh);
}

struct text setting_change_unusual(struct arena *arena, const struct catalog_settings *settings,
                                   const void *row)
{
    struct buffer words = buffer_in(arena);

    for (size_t i = 0; i < settings->count; i++) {
        const struct catalog_setting *setting = &settings->items[i];
        struct text value = catalog_setting_words(arena, setting, row);

        if (!text_is(value, setting->usual))
            buffer_print(&words, "%s%s " TEXT_FORMAT, words.length == 0 ? "" : ", ", setting->name,
                         TEXT_ARG(value));
    }
    return buffer_text(&words);
}
