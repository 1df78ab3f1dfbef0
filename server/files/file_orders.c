/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts are to do with files. An order is told with each reply until it is done, so that a
 * lost reply loses none; but no more than FILE_ORDER_TRIES times, as a client that has not begun by
 * then never will. FILE_ORDER_TOLD_DAYS after that, or after FILE_ORDER_DAYS, it ends as it is. A
 * file that a job needs is not ordered away, however long the order has stood, and none that is
 * still to be fetched.
 *
 * A file that was fetched stays on the host as today's clients keep it: that it has arrived is seen
 * in upload_dir, when all bytes that the host lists are there. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/files/disk_room.h"
#include "server/files/files_update.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"
#include "server/submit/hierarchy.h"

#include "server/base/banned.h"

enum { CLIENT_DELETES_FROM = 40600, DAY = 86400 };

/* It was told as often as it ever will be, long ago; or it is as old as any order gets. */
static bool is_hopeless(const struct file_order *order, int64_t now)
{
    return order->created < now - (int64_t)FILE_ORDER_DAYS * DAY ||
           (order->tries >= FILE_ORDER_TRIES &&
            order->delivered < now - (int64_t)FILE_ORDER_TOLD_DAYS * DAY);
}

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

    update->added = ARENA_ARRAY(update->request->arena, files->count, struct file_order);
    if (update->added == NULL)
        return false;
    for (const struct text_item *item = files->first; item != NULL; item = item->next)
        update->added[update->added_count++] = (struct file_order){.hostid = update->hostid,
                                                                   .name = item->text,
                                                                   .action = FILE_DELETE,
                                                                   .created = update->now,
                                                                   .delivered = update->now,
                                                                   .tries = 1};
    return true;
}

static bool has_arrived(const struct update *update, const struct file_order *order,
                        const struct host_file *file)
{
    const struct config *config = update->request->config;
    double nbytes = file != NULL ? file->nbytes : order->nbytes;

    return config->upload_dir.length > 0 &&
           hierarchy_has_file(update->request->arena, config->upload_dir, order->name,
                              config->uldl_dir_fanout, nbytes);
}

static enum file_outcome outcome_of(const struct update *update, const struct file_order *order)
{
    const struct host_file *file = update_find_listed(update, order->name);
    bool is_gone = file == NULL && update->list_is_whole;
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
        if (is_gone && (order->delivered > 0 || update_find_row(update, order->name) != NULL))
            return FILE_OUTCOME_DONE;
        if (client_version > 0 && client_version < CLIENT_DELETES_FROM)
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
static void give(struct update *update, const struct file_order *order, const struct text *needed,
                 size_t needed_count)
{
    struct request *request = update->request;
    struct answer *answer = &request->visit.answer;
    bool is_listed = update_find_listed(update, order->name) != NULL;
    struct file_order *told = &update->changed[update->changed_count];

    if (order->tries >= FILE_ORDER_TRIES)
        return;
    if (order->action != FILE_DELETE) {
        if (is_listed == (order->action == FILE_SEND)) /* it comes already; it is not there yet */
            return;
        text_items_add(request->arena, &answer->host_messages, order->xml);
    } else {
        if (!is_listed || is_in_answer(answer, order->name) ||
            sorted_has_name(needed, needed_count, order->name) ||
            has_order(update, order->name, FILE_GET) ||
            request->client_version < CLIENT_DELETES_FROM)
            return;
        text_items_add(request->arena, &answer->delete_files, order->name);
    }
    *told = *order;
    told->tries++;
    if (told->delivered == 0)
        told->delivered = update->now;
    update->changed_count++;
}

static bool end_orders(struct update *update, bool *ret_some_deletions)
{
    size_t count = update->known.order_count, open = 0;

    update->changed = ARENA_ARRAY(update->request->arena, count, struct file_order);
    if (update->changed == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct file_order order = update->known.orders[i];

        order.outcome = outcome_of(update, &order);
        if (order.outcome != FILE_OUTCOME_OPEN) {
            order.ended = update->now;
            update->changed[update->changed_count++] = order;
            continue;
        }
        *ret_some_deletions = *ret_some_deletions || order.action == FILE_DELETE;
        update->known.orders[open++] = order;
    }
    update->known.order_count = open;
    return true;
}

bool update_give_orders(struct update *update)
{
    struct request *request = update->request;
    struct text *needed = NULL;
    size_t needed_count = 0;
    bool some_deletions = false, deletions_allowed = true;

    if (!keep_deletions(update) || !end_orders(update, &some_deletions))
        return false;
    if (some_deletions) {
        /* The scheduling transaction is over; this only reads. */
        deletions_allowed = room_needed_names(request, &needed, &needed_count) == STATUS_OK;
        (void)db_rollback(request->db);
    }
    for (size_t i = 0; i < update->known.order_count; i++) {
        const struct file_order *order = &update->known.orders[i];

        if (order->action != FILE_DELETE || deletions_allowed)
            give(update, order, needed, needed_count);
    }
    return true;
}
