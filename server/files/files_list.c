/* SPDX-License-Identifier: Apache-2.0 */
/* What changed of a host's files: the list of the request, and the files that the answer's jobs
 * bring or use, against the rows of the file database.
 *
 * A file that its host does not list any more is forgotten, unless the list could not be read as a
 * whole; one that was sent and never seen is forgotten when it would have expired.
 *
 * Clients before 4.30 send no list, those of summer 2004 (before 4.06) send one in the request
 * after a reply that asks for it: so they are asked while nothing is known, or what is known is
 * old. */
#include "server/base/arena.h"
#include "server/files/files_update.h"
#include "server/policy/disk/deletion.h"
#include "server/policy/disk/document_files.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { CLIENT_LISTS_FROM = 43000, LIST_KEPT = 86400 /* s */ };

static int compare_listed(const void *a, const void *b)
{
    return text_compare(((const struct host_file *)a)->name, ((const struct host_file *)b)->name);
}

static int compare_rows(const void *a, const void *b)
{
    return text_compare(((const struct host_file_row *)a)->name,
                        ((const struct host_file_row *)b)->name);
}

const struct host_file *update_find_listed(const struct update *update, struct text name)
{
    const struct host_file key = {.name = name};

    return update->listed_count == 0 ? NULL
                                     : bsearch(&key, update->listed, update->listed_count,
                                               sizeof(update->listed[0]), compare_listed);
}

const struct host_file_row *update_find_row(const struct update *update, struct text name)
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
    update->has_list = update->request->client_version >= CLIENT_LISTS_FROM ||
                       message->has_file_list || message->file_count > 0;
    update->list_is_whole = update->has_list && message->elements_dropped == 0 &&
                            message->file_count < MESSAGE_FILES_MAX;
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
        const struct host_file_row *row = update_find_row(update, file->name);

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
        const struct host_file *listed = update_find_listed(update, file.name);

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
    update->gone = ARENA_ARRAY(update->request->arena, update->known.row_count, struct text);
    if (update->gone == NULL)
        return false;
    for (size_t i = 0; i < update->known.row_count; i++) {
        const struct host_file_row *row = &update->known.rows[i];

        if (update_find_listed(update, row->name) == NULL &&
            (row->first_seen > 0 ? update->list_is_whole : row->expiry < update->now))
            update->gone[update->gone_count++] = row->name;
    }
    return true;
}

static bool list_is_missed(const struct update *update)
{
    for (size_t i = 0; i < update->known.row_count; i++)
        if (update->known.rows[i].last_seen >= update->now - LIST_KEPT)
            return false;
    return !update->has_list;
}

bool update_compare_files(struct update *update)
{
    struct answer *answer = &update->request->visit.answer;

    if (!sort_listed(update) || !find_gone(update) || !save_listed(update))
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        if (!save_sent(update, answer->jobs[i].documents.workunit_xml) ||
            !save_sent(update, answer->jobs[i].documents.result_xml))
            return false;
    answer->asks_file_list = list_is_missed(update);
    return true;
}
