/* SPDX-License-Identifier: Apache-2.0 */
/* The file database follows the requests: the list of a host's sticky files in each of them is
 * compared with its rows, and the difference is written, in a few statements however many files
 * there are. It comes after the commit of the scheduling transaction and never into it.
 *
 * Invariants: nothing that happens here changes what was committed or fails the request; a failure
 * ends the link for a while, is counted, and is logged when it begins and when it ends. A file that
 * its host does not list any more is forgotten, unless the list could not be read as a whole; one
 * that was sent and never seen is forgotten when it would have expired.
 *
 * Orders stand until the file is there (send) or gone (get, delete), so that a lost reply loses
 * none. A file that a job needs is not ordered away, however long the order has stood. */
#include "server/files.h"

#include "config/config.h"
#include "server/answer.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/policy/deletion.h"
#include "server/policy/document_files.h"
#include "server/request.h"
#include "server/select/room.h"

#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

enum {
    STATUS_PRESENT = 1, /* of a file, as clients say it */
    CLIENT_DELETES_FROM = 40600,
    LAST_SEEN_STEP = 3600 /* s */
};

/* Pauses between tries to connect double from the first to the longest, in ns. */
static const uint64_t pause_first_ns = UINT64_C(1000000000);
static const uint64_t pause_longest_ns = UINT64_C(60000000000);

struct files {
    struct files_health *health;
    struct db *db;
    struct config *config; /* that it was opened with */
    int failures;          /* in a row */
    uint64_t not_before_ns;
};

/* --- the link -------------------------------------------------------------------------------- */

struct files *files_create(struct files_health *health)
{
    struct files *files = calloc(1, sizeof(*files));

    if (files != NULL)
        files->health = health;
    return files;
}

static void disconnect(struct files *files)
{
    db_close(files->db);
    files->db = NULL;
    config_release(files->config);
    files->config = NULL;
}

void files_destroy(struct files *files)
{
    if (files == NULL)
        return;
    disconnect(files);
    free(files);
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void link_failed(struct files *files, const char *why, uint64_t now_ns)
{
    uint64_t pause = pause_first_ns;

    counter_add(COUNTER_files_failures, 1);
    if (!atomic_exchange(&files->health->is_away, true))
        log_event(LOG_LEVEL_WARNING, "file_database_away", text_from(why));
    disconnect(files);
    for (int i = 0; i < files->failures && pause < pause_longest_ns; i++)
        pause *= 2;
    files->failures++;
    files->not_before_ns = now_ns + pause;
}

static void link_works(struct files *files)
{
    files->failures = 0;
    if (atomic_load(&files->health->is_away) && atomic_exchange(&files->health->is_away, false))
        log_line(LOG_LEVEL_WARNING, "event=file_database_back");
}

struct files *files_ready(struct files *files, struct config *config, uint64_t now_ns)
{
    struct failure failure = {0};

    if (files == NULL)
        return NULL;
    if (files->db != NULL && files->config != config)
        disconnect(files);
    if (config->files_db_name.length == 0)
        return NULL;
    if (files->db != NULL)
        return files;
    if (now_ns < files->not_before_ns)
        return NULL;
    if (db_files_open(config, &files->db, &failure) != STATUS_OK) {
        files->db = NULL;
        link_failed(files, failure.text, now_ns);
        return NULL;
    }
    files->config = config_hold(config);
    return files;
}

/* Ends what was asked, and judges the link by how it went. */
static bool finish(struct request *request, enum status status)
{
    struct files *files = request->files;

    if (status == STATUS_OK)
        status = db_commit(files->db);
    if (status == STATUS_OK) {
        link_works(files);
        return true;
    }
    if (status == STATUS_DB_RETRY || status == STATUS_TOO_LARGE || status == STATUS_NO_MEMORY) {
        counter_add(COUNTER_files_failures, 1);
        if (db_rollback(files->db) == STATUS_OK)
            return false; /* the next request of the host says the same */
    }
    link_failed(files, db_error(files->db), clock_ns());
    request->files = NULL;
    return false;
}

static enum status read_rows(struct request *request, struct host_files *ret_files)
{
    struct db *db = request->files->db;
    struct arena *arena = request->arena;
    int64_t hostid = request->visit.host.id;
    enum status status =
        db_files_of_host(db, arena, hostid, &ret_files->rows, &ret_files->row_count);

    if (status == STATUS_OK)
        status = db_file_orders(db, arena, hostid, 0, &ret_files->orders, &ret_files->order_count);
    return status;
}

bool files_read(struct request *request, struct host_files *ret_files)
{
    *ret_files = (struct host_files){0};
    return request->files != NULL && finish(request, read_rows(request, ret_files));
}

/* --- what changed ---------------------------------------------------------------------------- */

struct update {
    struct request *request;
    int64_t hostid, now;
    struct host_files known;
    struct host_file *listed; /* by name, each once */
    size_t listed_count;
    struct host_file_row *saves;
    size_t save_count, save_room;
    struct text *gone;
    size_t gone_count;
    struct file_order *added, *removed;
    size_t added_count, removed_count;
};

static int compare_listed(const void *a, const void *b)
{
    return text_compare(((const struct host_file *)a)->name, ((const struct host_file *)b)->name);
}

static int compare_rows(const void *a, const void *b)
{
    return text_compare(((const struct host_file_row *)a)->name,
                        ((const struct host_file_row *)b)->name);
}

static const struct host_file *find_listed(const struct update *update, struct text name)
{
    const struct host_file key = {.name = name};

    return update->listed_count == 0 ? NULL
                                     : bsearch(&key, update->listed, update->listed_count,
                                               sizeof(update->listed[0]), compare_listed);
}

static const struct host_file_row *find_row(const struct update *update, struct text name)
{
    const struct host_file_row key = {.name = name};

    return update->known.row_count == 0 ? NULL
                                        : bsearch(&key, update->known.rows, update->known.row_count,
                                                  sizeof(update->known.rows[0]), compare_rows);
}

/* The files of the list that can be kept, each once. */
static bool sort_listed(struct update *update)
{
    const struct message *message = &update->request->message;
    size_t kept = 0;

    update->listed = ARENA_ARRAY(update->request->arena, message->file_count, struct host_file);
    if (update->listed == NULL)
        return false;
    for (size_t i = 0; i < message->file_count; i++)
        if (message->files[i].name.length > 0 && message->files[i].name.length <= DB_FILE_NAME_MOST)
            update->listed[update->listed_count++] = message->files[i];
    if (update->listed_count > 1)
        qsort(update->listed, update->listed_count, sizeof(update->listed[0]), compare_listed);
    for (size_t i = 0; i < update->listed_count; i++)
        if (kept == 0 || !text_equal(update->listed[kept - 1].name, update->listed[i].name))
            update->listed[kept++] = update->listed[i];
    update->listed_count = kept;
    return true;
}

static bool save(struct update *update, struct host_file_row row)
{
    if (update->save_count == update->save_room) {
        size_t room = update->save_room == 0 ? 64 : update->save_room * 2;
        struct host_file_row *rows =
            ARENA_ARRAY(update->request->arena, room, struct host_file_row);

        if (rows == NULL)
            return false;
        for (size_t i = 0; i < update->save_count; i++)
            rows[i] = update->saves[i];
        update->saves = rows;
        update->save_room = room;
    }
    update->saves[update->save_count++] = row;
    return true;
}

static bool save_listed(struct update *update)
{
    for (size_t i = 0; i < update->listed_count; i++) {
        const struct host_file *file = &update->listed[i];
        const struct host_file_row *row = find_row(update, file->name);

        if (row != NULL && row->first_seen > 0 && row->nbytes == file->nbytes &&
            row->status == file->status)
            continue;
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
static bool save_sent(struct update *update, struct text document)
{
    struct document_file file;

    while (document_next_file(&document, &file)) {
        const struct host_file *listed = find_listed(update, file.name);

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

static bool find_gone(struct update *update)
{
    const struct message *message = &update->request->message;
    bool is_whole = message->elements_dropped == 0 && message->file_count < MESSAGE_FILES_MAX;

    update->gone = ARENA_ARRAY(update->request->arena, update->known.row_count, struct text);
    if (update->gone == NULL)
        return false;
    for (size_t i = 0; i < update->known.row_count; i++) {
        const struct host_file_row *row = &update->known.rows[i];

        if (find_listed(update, row->name) == NULL &&
            (row->first_seen > 0 ? is_whole : row->expiry < update->now))
            update->gone[update->gone_count++] = row->name;
    }
    return true;
}

/* --- orders ---------------------------------------------------------------------------------- */

static bool has_order(const struct update *update, struct text name, enum file_action action)
{
    for (size_t i = 0; i < update->known.order_count; i++)
        if (update->known.orders[i].action == action &&
            text_equal(update->known.orders[i].name, name))
            return true;
    return false;
}

/* What this answer orders already stands until it is done. */
static bool keep_deletions(struct update *update)
{
    const struct text_items *files = &update->request->visit.answer.delete_files;

    update->added = ARENA_ARRAY(update->request->arena, files->count + update->known.order_count,
                                struct file_order);
    if (update->added == NULL)
        return false;
    for (const struct text_item *item = files->first; item != NULL; item = item->next)
        update->added[update->added_count++] = (struct file_order){.hostid = update->hostid,
                                                                   .name = item->text,
                                                                   .action = FILE_DELETE,
                                                                   .created = update->now,
                                                                   .delivered = update->now};
    return true;
}

static bool is_done(const struct update *update, const struct file_order *order)
{
    const struct host_file *file = find_listed(update, order->name);

    if (order->action == FILE_SEND)
        return file != NULL && file->status == STATUS_PRESENT;
    /* A file that was there and is not any more; one that never was may still come. */
    return file == NULL && (order->delivered > 0 || find_row(update, order->name) != NULL) &&
           update->request->message.elements_dropped == 0;
}

static bool is_in_answer(const struct answer *answer, struct text name)
{
    for (const struct text_item *item = answer->delete_files.first; item != NULL; item = item->next)
        if (text_equal(item->text, name))
            return true;
    return false;
}

/* Adds a pending order to the answer, if it is time for it. */
static void give(struct update *update, const struct file_order *order, const struct text *needed,
                 size_t needed_count)
{
    struct request *request = update->request;
    struct answer *answer = &request->visit.answer;

    if (order->action != FILE_DELETE) {
        if (order->action == FILE_GET && find_listed(update, order->name) == NULL)
            return;
        text_items_add(request->arena, &answer->host_messages, order->xml);
    } else {
        if (find_listed(update, order->name) == NULL || is_in_answer(answer, order->name) ||
            room_name_is_among(order->name, needed, needed_count) ||
            has_order(update, order->name, FILE_GET) ||
            request->client_version < CLIENT_DELETES_FROM)
            return;
        text_items_add(request->arena, &answer->delete_files, order->name);
    }
    if (order->delivered == 0) {
        update->added[update->added_count] = *order;
        update->added[update->added_count++].delivered = update->now;
    }
}

static bool give_orders(struct update *update)
{
    struct request *request = update->request;
    struct text *needed = NULL;
    size_t needed_count = 0;
    bool some_deletions = false, deletions_allowed = true;

    update->removed = ARENA_ARRAY(request->arena, update->known.order_count, struct file_order);
    if (update->removed == NULL)
        return false;
    for (size_t i = 0; i < update->known.order_count; i++)
        some_deletions = some_deletions || (update->known.orders[i].action == FILE_DELETE &&
                                            !is_done(update, &update->known.orders[i]));
    if (some_deletions) {
        /* The scheduling transaction is over; this only reads. */
        deletions_allowed = room_needed_names(request, &needed, &needed_count) == STATUS_OK;
        (void)db_rollback(request->db);
    }
    for (size_t i = 0; i < update->known.order_count; i++) {
        const struct file_order *order = &update->known.orders[i];

        if (is_done(update, order))
            update->removed[update->removed_count++] = *order;
        else if (order->action != FILE_DELETE || deletions_allowed)
            give(update, order, needed, needed_count);
    }
    return true;
}

/* --- the update ------------------------------------------------------------------------------ */

static bool compare(struct update *update)
{
    const struct answer *answer = &update->request->visit.answer;

    if (!sort_listed(update) || !find_gone(update) || !save_listed(update))
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        if (!save_sent(update, answer->jobs[i].documents.workunit_xml) ||
            !save_sent(update, answer->jobs[i].documents.result_xml))
            return false;
    return keep_deletions(update) && give_orders(update);
}

/* last_seen is exact to an hour, so that a host that comes often is not written down each time. */
static bool is_seen_anew(const struct update *update)
{
    for (size_t i = 0; i < update->known.row_count; i++)
        if (update->known.rows[i].first_seen > 0 &&
            update->known.rows[i].last_seen < update->now - LAST_SEEN_STEP)
            return true;
    return false;
}

static enum status write(struct update *update)
{
    struct db *db = update->request->files->db;
    struct arena *arena = update->request->arena;
    enum status status = STATUS_OK;

    if (update->gone_count > 0)
        status = db_files_forget(db, update->hostid, update->gone, update->gone_count);
    if (status == STATUS_OK && update->save_count > 0)
        status = db_files_save(db, arena, update->saves, update->save_count);
    if (status == STATUS_OK && is_seen_anew(update))
        status = db_files_seen(db, update->hostid, update->now);
    if (status == STATUS_OK && update->added_count > 0)
        status = db_file_orders_add(db, arena, update->added, update->added_count);
    if (status == STATUS_OK && update->removed_count > 0)
        status = db_file_orders_remove(db, arena, update->removed, update->removed_count);
    return status;
}

void files_update(struct request *request)
{
    struct update update = {
        .request = request, .hostid = request->visit.host.id, .now = (int64_t)request->now};
    struct answer *answer = &request->visit.answer;
    struct text_items deletions = answer->delete_files, messages = answer->host_messages;
    struct arena_mark mark = arena_mark(request->arena);
    enum status status;

    if (request->files == NULL || answer->kind != ANSWER_FULL || update.hostid <= 0)
        return;
    status = read_rows(request, &update.known);
    if (status == STATUS_OK)
        status = compare(&update) ? write(&update) : STATUS_NO_MEMORY;
    (void)finish(request, status);
    if (arena_overflowed(request->arena)) { /* the reply needs it more */
        arena_rewind(request->arena, mark);
        answer->delete_files = deletions;
        answer->host_messages = messages;
    }
}
