/* SPDX-License-Identifier: Apache-2.0 */
/* What the database says of reported names. Most reports are about jobs that the host has in
 * progress; where a later step would read all of those anyway, they are read now, and only names
 * that are not among them are looked up, all by one query. */
#include "server/request/report_entries.h"

#include "server/base/arena.h"
#include "server/policy/host/bounds.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int compare_entries(const void *left, const void *right)
{
    const struct entry *const *a = left;
    const struct entry *const *b = right;
    int order = text_compare((*a)->reported->name, (*b)->reported->name);

    if (order != 0)
        return order;
    return *a < *b ? -1 : *a > *b;
}

static int compare_name(const void *key, const void *member)
{
    const struct result_row *row = key;
    const struct entry *const *entry = member;

    return text_compare(row->name, (*entry)->reported->name);
}

/* Of equal names bsearch may find any. */
struct entry *report_find_entry(const struct booking *booking, const struct result_row *row)
{
    struct entry **found =
        bsearch(row, booking->by_name, booking->count, sizeof(*booking->by_name), compare_name);

    if (found == NULL)
        return NULL;
    while (!(*found)->is_first)
        found--;
    return *found;
}

bool report_prepare_entries(struct booking *booking)
{
    const struct message *message = &booking->request->message;
    struct arena *arena = booking->request->arena;

    booking->count = message->result_count;
    booking->entries = ARENA_ARRAY(arena, booking->count, struct entry);
    booking->by_name = ARENA_ARRAY(arena, booking->count, struct entry *);
    booking->names = ARENA_ARRAY(arena, booking->count, struct text);
    if (booking->entries == NULL || booking->by_name == NULL || booking->names == NULL)
        return false;
    for (size_t i = 0; i < booking->count; i++) {
        booking->entries[i].reported = &message->results[i];
        booking->by_name[i] = &booking->entries[i];
    }
    qsort(booking->by_name, booking->count, sizeof(*booking->by_name), compare_entries);
    for (size_t i = 0; i < booking->count; i++) {
        struct entry *entry = booking->by_name[i];
        struct text name = entry->reported->name;

        entry->is_first = i == 0 || !text_equal(name, booking->by_name[i - 1]->reported->name);
        entry->is_looked_up = entry->is_first && name.length > 0 && name.length <= BOUND_STRING;
    }
    return true;
}

/* Owners of the rows' hosts, where they matter: owners[i] belongs to rows[i]. */
static enum status look_up_owners(struct booking *booking, const struct result_row *rows,
                                  size_t count, int64_t *ret_owners)
{
    struct request *request = booking->request;
    int64_t *hostids = ARENA_ARRAY(request->arena, count, int64_t);
    int64_t *owners = ARENA_ARRAY(request->arena, count, int64_t);
    size_t wanted = 0;
    enum status status;

    if (hostids == NULL || owners == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        ret_owners[i] = -1;
        if (report_needs_owner(&rows[i], request->attempt.host.id))
            hostids[wanted++] = rows[i].hostid;
    }
    if (wanted == 0)
        return STATUS_OK;
    status = db_host_owners(request->db, request->arena, hostids, wanted, owners);
    if (status != STATUS_OK)
        return status;
    wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (report_needs_owner(&rows[i], request->attempt.host.id))
            ret_owners[i] = owners[wanted++];
    }
    return STATUS_OK;
}

/* Finds rows of entries among what the host has in progress, which most reports are about. */
static enum status look_in_progress(struct booking *booking)
{
    struct request *request = booking->request;
    const struct attempt *attempt = &request->attempt;
    const struct result_row *rows = NULL;
    size_t count = 0;
    enum status status;

    if (!attempt->plan.reads_in_progress)
        return STATUS_OK;
    status = results_in_progress(request, &rows, &count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct entry *entry = report_find_entry(booking, &rows[i]);

        if (entry == NULL)
            continue;
        entry->row = &rows[i];
        entry->found = report_judge(&rows[i], attempt->host.id, attempt->user.id, -1);
    }
    return status;
}

enum status report_look_up(struct booking *booking, bool again)
{
    struct request *request = booking->request;
    const struct attempt *attempt = &request->attempt;
    struct result_row *rows = NULL;
    int64_t *owners;
    size_t count = 0;
    enum status status;

    for (size_t i = 0; i < booking->count; i++) {
        struct entry *entry = booking->by_name[i];

        if (entry->is_looked_up) {
            entry->row = NULL;
            entry->found = REPORT_UNKNOWN;
        }
    }
    status = again ? STATUS_OK : look_in_progress(booking);
    if (status != STATUS_OK)
        return status;
    booking->name_count = 0;
    for (size_t i = 0; i < booking->count; i++)
        if (booking->by_name[i]->is_looked_up && booking->by_name[i]->row == NULL)
            booking->names[booking->name_count++] = booking->by_name[i]->reported->name;
    if (booking->name_count == 0)
        return STATUS_OK;
    status = db_results_by_name(request->db, request->arena, booking->names, booking->name_count,
                                &rows, &count);
    if (status != STATUS_OK)
        return status;
    owners = ARENA_ARRAY(request->arena, count, int64_t);
    if (owners == NULL)
        return STATUS_TOO_LARGE;
    status = look_up_owners(booking, rows, count, owners);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = report_find_entry(booking, &rows[i]);

        if (entry == NULL)
            continue; /* a name that only the database thinks equal */
        entry->row = &rows[i];
        entry->found = report_judge(&rows[i], attempt->host.id, attempt->user.id, owners[i]);
    }
    return STATUS_OK;
}
