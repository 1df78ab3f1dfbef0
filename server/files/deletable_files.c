/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a host holds is in its request; their priority and age are in the file database; what
 * jobs need is in their documents. Where one of the three cannot be read, nothing is deleted. */
#include "server/files/deletable_files.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/files/file_lists.h"
#include "server/files/host_files.h"
#include "server/files/needed_files.h"
#include "server/parse/client_age.h"
#include "server/policy/disk/disk.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { NAME_BYTES_MAX = 200 }; /* fits a line of a reply */

bool deletion_can_be_ordered(const struct request *request)
{
    return request->config->delete_from_self && request->files != NULL &&
           request->client_version >= CLIENT_DELETES_FILES && !disk_is_reported(&request->message);
}

/* A file whose name would have to be escaped stays: no file of a project has such a name. */
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
    return file->status == FILE_STATUS_PRESENT && file->nbytes > 0 && can_be_named(file->name);
}

double deletable_bytes_bound(const struct request *request)
{
    const struct message *message = &request->message;
    double bytes = 0;

    if (!deletion_can_be_ordered(request))
        return 0;
    for (size_t i = 0; i < message->file_count; i++)
        if (is_held(&message->files[i]))
            bytes += message->files[i].nbytes;
    return bytes;
}

/* --- what the host holds --------------------------------------------------------------------- */

static struct stored_file describe(const struct request *request, const struct host_file *file,
                                   const struct host_files *known)
{
    const struct host_file_row *row = host_files_find(known, file->name);
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

enum status deletable_files_find(struct request *request, struct deletable_files *ret_deletable)
{
    const struct message *message = &request->message;
    struct host_files known;
    struct deletable_files deletable = {0};
    struct text *needed = NULL;
    size_t needed_count = 0, kept = 0;
    enum status status;

    if (!deletion_can_be_ordered(request) || !listed_files_charge(request) ||
        !files_read(request, &known))
        return STATUS_NOT_FOUND;
    status = needed_files_names(request, &needed, &needed_count);
    if (status != STATUS_OK)
        return status;
    deletable.files = ARENA_ARRAY(request->arena, message->file_count, struct stored_file);
    if (deletable.files == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < message->file_count; i++)
        if (is_held(&message->files[i]))
            deletable.files[deletable.count++] = describe(request, &message->files[i], &known);
    /* A file listed twice is there once. */
    if (deletable.count > 1)
        qsort(deletable.files, deletable.count, sizeof(deletable.files[0]), compare_stored);
    for (size_t i = 0; i < deletable.count; i++) {
        if (kept > 0 && text_equal(deletable.files[kept - 1].name, deletable.files[i].name))
            continue;
        deletable.files[kept] = deletable.files[i];
        if (sorted_has_name(needed, needed_count, deletable.files[kept].name))
            deletable.files[kept].is_needed = true;
        kept++;
    }
    deletable.count = kept;
    *ret_deletable = deletable;
    return STATUS_OK;
}

static double space_now(const struct request *request)
{
    return disk_by_preferences(&request->message, &request->attempt.prefs,
                               request->config->default_disk_min_free_gb);
}

double deletable_files_space(const struct request *request, const struct deletable_files *deletable)
{
    return space_now(request) + deletion_possible(deletable->files, deletable->count);
}

static double bytes_sent(const struct answer *answer)
{
    double bytes = 0;

    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].rsc_disk_bound > 0)
            bytes += answer->jobs[i].rsc_disk_bound;
    return bytes;
}

bool deletable_files_order(struct request *request, struct deletable_files *deletable)
{
    struct answer *answer = &request->attempt.answer;
    const struct deletion_policy policy = {
        .by_priority = request->config->deletion_policy_priority,
        .by_expiry = request->config->deletion_policy_expire,
    };
    struct text *used = NULL;
    size_t used_count = 0;
    double bytes = bytes_sent(answer) - space_now(request);

    if (!needed_files_of_answer(request, &used, &used_count))
        return false;
    for (size_t i = 0; i < deletable->count; i++)
        if (sorted_has_name(used, used_count, deletable->files[i].name))
            deletable->files[i].is_needed = true;
    if (!deletion_choose(policy, (int64_t)request->now, bytes, deletable->files, deletable->count))
        return false;
    for (size_t i = 0; i < deletable->count; i++)
        if (deletable->files[i].is_chosen)
            text_items_add(request->arena, &answer->delete_files, deletable->files[i].name);
    return true;
}

enum status deletable_files_order_for_resent(struct request *request)
{
    const struct answer *answer = &request->attempt.answer;
    struct deletable_files deletable;
    enum status status;

    if (request->attempt.resent == 0 || answer->delete_files.count > 0 ||
        !deletion_can_be_ordered(request) || bytes_sent(answer) <= space_now(request))
        return STATUS_OK;
    status = deletable_files_find(request, &deletable);
    if (status == STATUS_OK)
        (void)deletable_files_order(request, &deletable);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
