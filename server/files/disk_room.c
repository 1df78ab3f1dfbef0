/* SPDX-License-Identifier: Apache-2.0 */
/* Room. Which files a host holds it says itself; what they are worth is in the file database; what
 * jobs need is in their documents. Invariants: a file that a job on the host or in the answer
 * refers to is never named, nor one that somebody waits for; where one of the three cannot be
 * asked, nothing is deleted. */
#include "server/files/disk_room.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/files/host_files.h"
#include "server/policy/disk/disk.h"
#include "server/policy/disk/document_files.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum {
    CLIENT_DELETES_FROM = 40600,
    STATUS_PRESENT = 1,   /* of a file, as clients say it */
    NAME_BYTES_MAX = 200, /* fits a line of a reply */
};

bool room_is_ordered(const struct request *request)
{
    return request->config->delete_from_self && request->files != NULL &&
           request->client_version >= CLIENT_DELETES_FROM && !disk_is_told(&request->message);
}

/* A name that would have to be escaped is not worth the trouble: no file of ours has one. */
static bool can_be_named(struct text name)
{
    for (size_t i = 0; i < name.length; i++)
        if ((unsigned char)name.at[i] <= ' ' || (unsigned char)name.at[i] > '~' ||
            name.at[i] == '<' || name.at[i] == '>' || name.at[i] == '&')
            return false;
    return name.length > 0 && name.length <= NAME_BYTES_MAX;
}

static bool is_held(const struct host_file *file)
{
    return file->status == STATUS_PRESENT && file->nbytes > 0 && can_be_named(file->name);
}

double room_bound(const struct request *request)
{
    const struct message *message = &request->message;
    double bytes = 0;

    if (!room_is_ordered(request))
        return 0;
    for (size_t i = 0; i < message->file_count; i++)
        if (is_held(&message->files[i]))
            bytes += message->files[i].nbytes;
    return bytes;
}

/* --- what jobs need -------------------------------------------------------------------------- */

struct name_list {
    struct arena *arena;
    struct text *items;
    size_t count, room;
};

static bool add_names(struct name_list *list, struct text document)
{
    struct text name;

    while (document_next_name(&document, &name)) {
        if (list->count == list->room) {
            size_t room = list->room == 0 ? 64 : list->room * 2;
            struct text *items = ARENA_ARRAY(list->arena, room, struct text);

            if (items == NULL)
                return false;
            for (size_t i = 0; i < list->count; i++)
                items[i] = list->items[i];
            list->items = items;
            list->room = room;
        }
        list->items[list->count++] = name;
    }
    return true;
}

static bool add_documents(struct name_list *list, const struct job_documents *documents)
{
    return add_names(list, documents->workunit_xml) && add_names(list, documents->result_xml);
}

static int compare_results(const void *a, const void *b)
{
    return text_compare(((const struct result_row *)a)->name, ((const struct result_row *)b)->name);
}

static bool is_result_named(const struct result_row *rows, size_t count, struct text name)
{
    const struct result_row key = {.name = name};

    return count > 0 && bsearch(&key, rows, count, sizeof(rows[0]), compare_results) != NULL;
}

/* The results that the host works on: those of the database and those that the client lists. */
static enum status find_results(struct request *request, int64_t **ret_ids, size_t *ret_count)
{
    const struct message *message = &request->message;
    size_t listed = message->other_result_count, row_count = 0, own_count = 0, count = 0;
    struct text *names = ARENA_ARRAY(request->arena, listed, struct text);
    const struct result_row *own = NULL;
    struct result_row *rows = NULL;
    enum status status = results_in_progress(request, &own, &own_count);
    int64_t *ids;

    if (status == STATUS_OK && names == NULL)
        status = STATUS_NO_MEMORY;
    for (size_t i = 0; status == STATUS_OK && i < listed; i++)
        names[i] = message->other_results[i].name;
    if (status == STATUS_OK && listed > 0)
        status = db_results_by_name(request->db, request->arena, names, listed, &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    if (row_count > 1)
        qsort(rows, row_count, sizeof(rows[0]), compare_results);
    for (size_t i = 0; i < listed; i++)
        if (!is_result_named(rows, row_count, names[i]))
            return STATUS_NOT_FOUND;
    ids = ARENA_ARRAY(request->arena, own_count + row_count, int64_t);
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < own_count; i++)
        ids[count++] = own[i].id;
    for (size_t i = 0; i < row_count; i++)
        ids[count++] = rows[i].id;
    *ret_ids = ids;
    *ret_count = count;
    return STATUS_OK;
}

enum status room_needed_names(struct request *request, struct text **ret_names, size_t *ret_count)
{
    const struct answer *answer = &request->visit.answer;
    struct name_list list = {.arena = request->arena};
    struct job_documents *documents;
    int64_t *ids = NULL;
    size_t count = 0;
    enum status status = find_results(request, &ids, &count);

    if (status != STATUS_OK)
        return status;
    documents = ARENA_ARRAY(request->arena, count, struct job_documents);
    if (documents == NULL)
        return STATUS_NO_MEMORY;
    if (count > 0)
        status = db_job_documents(request->db, request->arena, ids, count, documents);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (!add_documents(&list, &documents[i]))
            return STATUS_NO_MEMORY;
    for (size_t i = 0; i < answer->job_count; i++)
        if (!add_documents(&list, &answer->jobs[i].documents))
            return STATUS_NO_MEMORY;
    sorted_names(list.items, list.count);
    *ret_names = list.items;
    *ret_count = list.count;
    return STATUS_OK;
}

/* --- what the host holds --------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    return text_compare(((const struct host_file_row *)a)->name,
                        ((const struct host_file_row *)b)->name);
}

static struct stored_file describe(const struct request *request, const struct host_file *file,
                                   const struct host_files *known)
{
    const struct host_file_row key = {.name = file->name};
    const struct host_file_row *row =
        known->row_count == 0
            ? NULL
            : bsearch(&key, known->rows, known->row_count, sizeof(known->rows[0]), compare_rows);
    struct stored_file stored = {.name = file->name,
                                 .bytes = file->nbytes,
                                 .priority = FILE_PRIORITY_LOW,
                                 .expiry = file_expiry(request->now, FILE_EXPIRY_DAYS),
                                 .first_seen = (int64_t)request->now,
                                 .last_used = (int64_t)request->now};

    if (row != NULL) {
        stored.priority = row->priority;
        stored.expiry = row->expiry;
        stored.last_used = row->last_used;
        if (row->first_seen > 0)
            stored.first_seen = row->first_seen;
    }
    for (size_t i = 0; i < known->order_count; i++)
        if (known->orders[i].action == FILE_GET && text_equal(known->orders[i].name, file->name))
            stored.is_needed = true;
    return stored;
}

static int compare_stored(const void *a, const void *b)
{
    return text_compare(((const struct stored_file *)a)->name,
                        ((const struct stored_file *)b)->name);
}

enum status room_look(struct request *request, struct room *ret_room)
{
    const struct message *message = &request->message;
    struct host_files known;
    struct room room = {0};
    struct text *needed = NULL;
    size_t needed_count = 0, kept = 0;
    enum status status;

    if (!room_is_ordered(request) || !files_read(request, &known))
        return STATUS_NOT_FOUND;
    status = room_needed_names(request, &needed, &needed_count);
    if (status != STATUS_OK)
        return status;
    room.files = ARENA_ARRAY(request->arena, message->file_count, struct stored_file);
    if (room.files == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < message->file_count; i++)
        if (is_held(&message->files[i]))
            room.files[room.count++] = describe(request, &message->files[i], &known);
    /* A file listed twice is there once. */
    if (room.count > 1)
        qsort(room.files, room.count, sizeof(room.files[0]), compare_stored);
    for (size_t i = 0; i < room.count; i++) {
        if (kept > 0 && text_equal(room.files[kept - 1].name, room.files[i].name))
            continue;
        room.files[kept] = room.files[i];
        if (sorted_has_name(needed, needed_count, room.files[kept].name))
            room.files[kept].is_needed = true;
        kept++;
    }
    room.count = kept;
    *ret_room = room;
    return STATUS_OK;
}

static double space_now(const struct request *request)
{
    return disk_by_preferences(&request->message, &request->visit.prefs,
                               request->config->default_disk_min_free_gb);
}

double room_space(const struct request *request, const struct room *room)
{
    return space_now(request) + deletion_possible(room->files, room->count);
}

static double bytes_sent(const struct answer *answer)
{
    double bytes = 0;

    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].rsc_disk_bound > 0)
            bytes += answer->jobs[i].rsc_disk_bound;
    return bytes;
}

bool room_order(struct request *request, struct room *room)
{
    struct answer *answer = &request->visit.answer;
    const struct deletion_policy policy = {
        .by_priority = request->config->deletion_policy_priority,
        .by_expiry = request->config->deletion_policy_expire,
    };
    struct name_list used = {.arena = request->arena};
    double bytes = bytes_sent(answer) - space_now(request);

    for (size_t i = 0; i < answer->job_count; i++)
        if (!add_documents(&used, &answer->jobs[i].documents))
            return false;
    sorted_names(used.items, used.count);
    for (size_t i = 0; i < room->count; i++)
        if (sorted_has_name(used.items, used.count, room->files[i].name))
            room->files[i].is_needed = true;
    if (!deletion_choose(policy, (int64_t)request->now, bytes, room->files, room->count))
        return false;
    for (size_t i = 0; i < room->count; i++)
        if (room->files[i].is_chosen)
            text_items_add(request->arena, &answer->delete_files, room->files[i].name);
    return true;
}

enum status room_order_for_resent(struct request *request)
{
    const struct answer *answer = &request->visit.answer;
    struct room room;
    enum status status;

    if (request->visit.resent == 0 || answer->delete_files.count > 0 || !room_is_ordered(request) ||
        bytes_sent(answer) <= space_now(request))
        return STATUS_OK;
    status = room_look(request, &room);
    if (status == STATUS_OK)
        (void)room_order(request, &room);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
