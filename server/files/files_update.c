/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the file database after one request: the list of the request, and the files that the
 * answer's jobs bring or use, against the rows of the file database; written in a few statements
 * however many files there are.
 *
 * A file that its host does not list any more is forgotten, unless the list could not be read as a
 * whole; one that was sent and never listed is forgotten when it would have expired.
 *
 * Clients before 4.30 send no list, but those of summer 2004 (before 4.06) send one in the request
 * after a reply that asks for it: so they are asked while nothing is known, or what is known is
 * old. */
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/files/file_lists.h"
#include "server/files/file_orders.h"
#include "server/files/host_files.h"
#include "server/parse/client_age.h"
#include "server/policy/disk/deletion.h"
#include "server/policy/disk/document_files.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum {
    LIST_KEPT = 86400,    /* s */
    LAST_SEEN_STEP = 3600 /* s */
};

struct files_update {
    struct request *request;
    int64_t hostid, now;
    struct host_files known;
    struct listed_files listed;
    bool has_list, list_is_whole; /* what is not on a whole list is not there */
    struct host_file_row *saves;
    size_t save_count, save_size;
    struct text *gone;
    size_t gone_count;
    struct order_changes orders;
};

static bool read_list(struct files_update *update)
{
    const struct message *message = &update->request->message;

    update->has_list = update->request->client_version >= CLIENT_LISTS_FILES ||
                       message->has_file_list || message->file_count > 0;
    update->list_is_whole = update->has_list && message->elements_dropped == 0 &&
                            message->file_count < MESSAGE_FILES_MAX;
    return listed_files_read(update->request, &update->listed);
}

static bool save(struct files_update *update, struct host_file_row row)
{
    if (update->save_count == update->save_size) {
        size_t size = update->save_size == 0 ? 64 : update->save_size * 2;
        struct host_file_row *rows =
            ARENA_ARRAY(update->request->arena, size, struct host_file_row);

        if (rows == NULL)
            return false;
        for (size_t i = 0; i < update->save_count; i++)
            rows[i] = update->saves[i];
        update->saves = rows;
        update->save_size = size;
    }
    update->saves[update->save_count++] = row;
    return true;
}

static bool save_listed(struct files_update *update)
{
    for (size_t i = 0; i < update->listed.count; i++) {
        const struct host_file *file = &update->listed.files[i];
        const struct host_file_row *row = host_files_find(&update->known, file->name);

        if (row != NULL && row->first_seen > 0 && row->nbytes == file->nbytes &&
            row->status == file->status)
            continue;
        if (!budget_spend(&update->request->attempt.budget, BUDGET_ROW))
            return true; /* the others are as new with the next request */
        if (!save(update,
                  (struct host_file_row){
                      .hostid = update->hostid,
                      .name = file->name,
                      .nbytes = file->nbytes,
                      .status = file->status,
                      .priority = FILE_PRIORITY_LOW,
                      .expiry = row != NULL ? row->expiry
                                            : file_expiry(update->request->now, FILE_EXPIRY_DAYS),
                      .first_seen = update->now,
                      .last_seen = update->now,
                      .last_used = row != NULL ? row->last_used : update->now}))
            return false;
    }
    return true;
}

/* Files that the jobs of the answer bring, or use where they are. */
static bool save_sent(struct files_update *update, struct text document)
{
    struct document_file file;

    while (document_next_file(&document, &file)) {
        const struct host_file *listed = listed_files_find(&update->listed, file.name);

        if (file.name.length > DB_FILE_NAME_MOST || (!file.is_sticky && listed == NULL))
            continue;
        if (!save(update, (struct host_file_row){
                              .hostid = update->hostid,
                              .name = file.name,
                              .nbytes = listed != NULL ? listed->nbytes : file.nbytes,
                              .status = listed != NULL ? listed->status : 0,
                              .priority = file.priority,
                              .expiry = file_expiry(update->request->now, file.lifetime_days),
                              .first_seen = listed != NULL ? update->now : 0,
                              .last_seen = listed != NULL ? update->now : 0,
                              .last_used = update->now}))
            return false;
    }
    return true;
}

static bool find_gone(struct files_update *update)
{
    update->gone = ARENA_ARRAY(update->request->arena, update->known.row_count, struct text);
    if (update->gone == NULL)
        return false;
    for (size_t i = 0; i < update->known.row_count; i++) {
        const struct host_file_row *row = &update->known.rows[i];

        if (listed_files_find(&update->listed, row->name) == NULL &&
            (row->first_seen > 0 ? update->list_is_whole : row->expiry < update->now))
            update->gone[update->gone_count++] = row->name;
    }
    return true;
}

static bool list_is_wanted(const struct files_update *update)
{
    for (size_t i = 0; i < update->known.row_count; i++)
        if (update->known.rows[i].last_seen >= update->now - LIST_KEPT)
            return false;
    return !update->has_list;
}

static bool compare_files(struct files_update *update)
{
    struct answer *answer = &update->request->attempt.answer;

    if (!read_list(update) || !find_gone(update) || !save_listed(update))
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        if (!save_sent(update, answer->jobs[i].documents.workunit_xml) ||
            !save_sent(update, answer->jobs[i].documents.result_xml))
            return false;
    answer->asks_file_list = list_is_wanted(update);
    return true;
}

/* last_seen is exact to an hour, so that a host that comes often is not written each time. */
static bool is_seen_again(const struct files_update *update)
{
    for (size_t i = 0; update->has_list && i < update->known.row_count; i++)
        if (update->known.rows[i].first_seen > 0 &&
            update->known.rows[i].last_seen < update->now - LAST_SEEN_STEP)
            return true;
    return false;
}

static enum status write_changes(const struct files_update *update)
{
    struct db *db = files_connection(update->request->files);
    struct arena *arena = update->request->arena;
    const struct order_changes *orders = &update->orders;
    bool is_seen = is_seen_again(update);
    enum status status = STATUS_OK;

    if (update->gone_count > 0)
        status = db_files_forget(db, update->hostid, update->gone, update->gone_count);
    if (status == STATUS_OK && update->save_count > 0)
        status = db_files_save(db, arena, update->saves, update->save_count);
    if (status == STATUS_OK && is_seen)
        status = db_files_seen(db, update->hostid, update->now);
    if (status == STATUS_OK && is_seen)
        status = db_file_orders_clean_host(db, update->hostid, update->now);
    if (status == STATUS_OK && orders->added_count > 0)
        status = db_file_orders_add(db, arena, orders->added, orders->added_count);
    if (status == STATUS_OK && orders->changed_count > 0)
        status = db_file_orders_save(db, arena, orders->changed, orders->changed_count);
    return status;
}

static enum status follow(struct files_update *update)
{
    if (!compare_files(update) ||
        !file_orders_update(update->request, &update->known, &update->listed, update->list_is_whole,
                            &update->orders))
        return STATUS_NO_MEMORY;
    return write_changes(update);
}

void files_update(struct request *request)
{
    struct files_update update = {
        .request = request, .hostid = request->attempt.host.id, .now = (int64_t)request->now};
    struct answer *answer = &request->attempt.answer;
    struct text_items deletions = answer->delete_files, messages = answer->host_messages;
    struct arena_mark mark = arena_mark(request->arena);
    enum status status;

    if (request->files == NULL || answer->kind != ANSWER_FULL || update.hostid <= 0 ||
        !listed_files_charge(request))
        return;
    status = files_begin(request, &update.known);
    if (status == STATUS_OK)
        status = follow(&update);
    (void)files_end(request, status);
    if (arena_overflowed(request->arena)) { /* the reply needs it more */
        arena_rewind(request->arena, mark);
        answer->delete_files = deletions;
        answer->host_messages = messages;
    }
}
