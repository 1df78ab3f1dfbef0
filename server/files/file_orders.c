/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was uploaded stays on the host as today's clients keep it: that it has arrived is
 * seen in upload_dir, when all bytes that the host lists are there. */
#include "server/files/file_orders.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/files/needed_files.h"
#include "server/parse/client_age.h"
#include "server/project/hierarchy.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum { DAY = 86400 };

struct order_update {
    struct request *request;
    int64_t now;
    struct host_files *known;
    const struct listed_files *listed;
    bool is_whole; /* what is not listed is not there */
    struct order_changes *changes;
};

/* It was in as many replies as it ever will be, long ago; or it is as old as any order gets. */
static bool is_hopeless(const struct file_order_row *order, int64_t now)
{
    return order->created < now - (int64_t)FILE_ORDER_DAYS * DAY ||
           (order->tries >= FILE_ORDER_TRIES &&
            order->delivered < now - (int64_t)FILE_ORDER_TOLD_DAYS * DAY);
}

static bool has_order(const struct order_update *update, struct text name, enum file_action action)
{
    for (size_t i = 0; i < update->known->order_count; i++)
        if (update->known->orders[i].action == action &&
            text_equal(update->known->orders[i].name, name))
            return true;
    return false;
}

/* A deletion that this answer orders is an order until it is done. */
static bool keep_deletions(struct order_update *update)
{
    const struct text_items *files = &update->request->attempt.answer.delete_files;
    struct order_changes *changes = update->changes;

    changes->added = ARENA_ARRAY(update->request->arena, files->count, struct file_order_row);
    if (changes->added == NULL)
        return false;
    for (const struct text_item *item = files->first; item != NULL; item = item->next)
        changes->added[changes->added_count++] =
            (struct file_order_row){.hostid = update->request->attempt.host.id,
                                    .name = item->text,
                                    .action = FILE_DELETE,
                                    .created = update->now,
                                    .delivered = update->now,
                                    .tries = 1};
    return true;
}

static bool has_arrived(const struct order_update *update, const struct file_order_row *order,
                        const struct host_file *file)
{
    const struct config *config = update->request->config;
    double nbytes = file != NULL ? file->nbytes : order->nbytes;

    return config->upload_dir.length > 0 &&
           hierarchy_has_file(update->request->arena, config->upload_dir, order->name,
                              config->uldl_dir_fanout, nbytes);
}

static enum file_outcome outcome_of(const struct order_update *update,
                                    const struct file_order_row *order)
{
    const struct host_file *file = listed_files_find(update->listed, order->name);
    bool is_gone = file == NULL && update->is_whole;
    int64_t client_version = update->request->client_version;

    switch (order->action) {
    case FILE_SEND:
        if (file != NULL && file->status == FILE_STATUS_PRESENT)
            return FILE_OUTCOME_DONE;
        if (file != NULL && file->status < 0)
            return FILE_OUTCOME_FAILED;
        break;
    case FILE_GET:
        if (has_arrived(update, order, file))
            return FILE_OUTCOME_DONE;
        if (is_gone && order->delivered > 0)
            return FILE_OUTCOME_FAILED;
        break;
    case FILE_DELETE:
    default:
        /* A file that was there and is not any more; one that never was may still come. */
        if (is_gone &&
            (order->delivered > 0 || host_files_find(update->known, order->name) != NULL))
            return FILE_OUTCOME_DONE;
        if (client_version > 0 && client_version < CLIENT_DELETES_FILES)
            return FILE_OUTCOME_UNSUPPORTED;
        break;
    }
    return is_hopeless(order, update->now) ? FILE_OUTCOME_EXPIRED : FILE_OUTCOME_OPEN;
}

static bool is_in_answer(const struct answer *answer, struct text name)
{
    for (const struct text_item *item = answer->delete_files.first; item != NULL; item = item->next)
        if (text_equal(item->text, name))
            return true;
    return false;
}

/* Adds an open order to the answer, if it is time for it. */
static void add_to_answer(struct order_update *update, const struct file_order_row *order,
                          const struct text *needed, size_t needed_count)
{
    struct request *request = update->request;
    struct answer *answer = &request->attempt.answer;
    bool is_listed = listed_files_find(update->listed, order->name) != NULL;
    struct order_changes *changes = update->changes;
    struct file_order_row *changed = &changes->changed[changes->changed_count];

    if (order->tries >= FILE_ORDER_TRIES)
        return;
    if (order->action != FILE_DELETE) {
        if (is_listed == (order->action == FILE_SEND)) /* already coming, or not there yet */
            return;
        text_items_add(request->arena, &answer->host_messages, order->xml);
    } else {
        if (!is_listed || is_in_answer(answer, order->name) ||
            sorted_has_name(needed, needed_count, order->name) ||
            has_order(update, order->name, FILE_GET) ||
            request->client_version < CLIENT_DELETES_FILES)
            return;
        text_items_add(request->arena, &answer->delete_files, order->name);
    }
    *changed = *order;
    changed->tries++;
    if (changed->delivered == 0)
        changed->delivered = update->now;
    changes->changed_count++;
}

static bool end_orders(struct order_update *update, bool *ret_some_deletions)
{
    size_t count = update->known->order_count, open = 0;
    struct order_changes *changes = update->changes;

    changes->changed = ARENA_ARRAY(update->request->arena, count, struct file_order_row);
    if (changes->changed == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct file_order_row order = update->known->orders[i];

        order.outcome = outcome_of(update, &order);
        if (order.outcome != FILE_OUTCOME_OPEN) {
            order.ended = update->now;
            changes->changed[changes->changed_count++] = order;
            continue;
        }
        *ret_some_deletions = *ret_some_deletions || order.action == FILE_DELETE;
        update->known->orders[open++] = order;
    }
    update->known->order_count = open;
    return true;
}

bool file_orders_update(struct request *request, struct host_files *known,
                        const struct listed_files *listed, bool is_whole,
                        struct order_changes *ret_changes)
{
    struct order_update update = {.request = request,
                                  .now = (int64_t)request->now,
                                  .known = known,
                                  .listed = listed,
                                  .is_whole = is_whole,
                                  .changes = ret_changes};
    struct text *needed = NULL;
    size_t needed_count = 0;
    bool some_deletions = false, deletions_allowed = true;

    *ret_changes = (struct order_changes){0};
    if (!keep_deletions(&update) || !end_orders(&update, &some_deletions))
        return false;
    if (some_deletions) {
        deletions_allowed = needed_files_names(request, &needed, &needed_count) == STATUS_OK;
        (void)db_rollback(request->db);
    }
    for (size_t i = 0; i < known->order_count; i++) {
        const struct file_order_row *order = &known->orders[i];

        if (order->action != FILE_DELETE || deletions_allowed)
            add_to_answer(&update, order, needed, needed_count);
    }
    return true;
}
