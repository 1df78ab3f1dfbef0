/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/project/version_rows.h"

#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <inttypes.h>

#include "server/base/banned.h"

/* "1.03" */
struct text version_number_words(struct arena *arena, int64_t version_num)
{
    return text_print(arena, "%" PRId64 ".%02" PRId64, version_num / 100, version_num % 100);
}

/* "demo 1.03 x86_64-pc-linux-gnu (mt)" */
struct text version_title(struct arena *arena, const struct version_entry_row *entry)
{
    struct text class = entry->app_version.plan_class;

    return text_print(arena, TEXT_FORMAT " " TEXT_FORMAT " " TEXT_FORMAT "%s" TEXT_FORMAT "%s",
                      TEXT_ARG(entry->app),
                      TEXT_ARG(version_number_words(arena, entry->app_version.version_num)),
                      TEXT_ARG(entry->platform), class.length > 0 ? " (" : "", TEXT_ARG(class),
                      class.length > 0 ? ")" : "");
}

static enum status lock_row(struct db *db, struct arena *arena, int64_t id, void *ret_row)
{
    return db_admin_version_settings_lock(db, arena, id, ret_row);
}

static enum status save_row(struct db *db, const void *row)
{
    return db_admin_version_settings_save(db, row);
}

static enum status check_row(const void *row, struct failure *failure)
{
    return version_settings_check(row, failure);
}

const struct setting_rows version_rows = {&version_settings, lock_row, save_row, check_row};

enum status version_find_platform(struct session *session, const char *name, int64_t *ret_id)
{
    struct catalog_rows rows = {0};
    struct text *known;
    enum status status = db_admin_platform_find(session->db, text_from(name), ret_id);

    if (status != STATUS_NOT_FOUND)
        return session_db_failed(session, status, "platform");
    status = session_db_failed(session, db_catalog(session->db, session->arena, &rows), "platform");
    known = ARENA_ARRAY(session->arena, rows.platform_count, struct text);
    if (status != STATUS_OK || known == NULL)
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    for (size_t i = 0; i < rows.platform_count; i++)
        known[i] = rows.platforms[i].name;
    return session_unknown(session, "platform", name, known, rows.platform_count,
                           "qmctl platform add");
}

enum status version_insert(struct session *session, const struct version_document *version,
                           const struct version_place *place, const struct setting_values *values,
                           int64_t *ret_id)
{
    struct buffer document = buffer_in(session->arena);
    struct text number = version_number_words(session->arena, version->version_num);
    enum status status = version_document_write(version, &document, &session->failure);
    if (status != STATUS_OK)
        return status;
    const struct new_version row = {.appid = place->appid,
                                    .version_num = version->version_num,
                                    .platformid = place->platformid,
                                    .plan_class = place->plan_class,
                                    .xml_doc = buffer_text(&document),
                                    .now = session->now};
    status = session_db_failed(
        session, db_admin_version_add(session->db, &row, ret_id),
        text_string(session->arena,
                    text_print(session->arena,
                               "version " TEXT_FORMAT " of " TEXT_FORMAT " for " TEXT_FORMAT,
                               TEXT_ARG(number), TEXT_ARG(version->app_name),
                               TEXT_ARG(place->platform))));
    if (status == STATUS_OK)
        status = setting_apply(session, &version_rows, *ret_id, values);
    return status == STATUS_OK ? session_commit_version(session, *ret_id) : status;
}
