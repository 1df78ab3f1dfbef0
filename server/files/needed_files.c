/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/needed_files.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/sorted.h"
#include "server/policy/disk/document_files.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

struct needed_list {
    struct arena *arena;
    struct text *items;
    size_t count, size;
};

static bool add_names(struct needed_list *list, struct text document)
{
    struct text name;

    while (document_next_name(&document, &name)) {
        if (list->count == list->size) {
            size_t size = list->size == 0 ? 64 : list->size * 2;
            struct text *items = ARENA_ARRAY(list->arena, size, struct text);

            if (items == NULL)
                return false;
            for (size_t i = 0; i < list->count; i++)
                items[i] = list->items[i];
            list->items = items;
            list->size = size;
        }
        list->items[list->count++] = name;
    }
    return true;
}

static bool add_documents(struct needed_list *list, const struct job_documents *documents)
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
    if (status == STATUS_OK && !budget_spend(&request->attempt.budget, listed * BUDGET_ROW))
        return STATUS_NOT_FOUND; /* what cannot be looked up may need any file */
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

static bool add_answer(struct needed_list *list, const struct answer *answer)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (!add_documents(list, &answer->jobs[i].documents))
            return false;
    return true;
}

bool needed_files_of_answer(struct request *request, struct text **ret_names, size_t *ret_count)
{
    struct needed_list list = {.arena = request->arena};

    if (!add_answer(&list, &request->attempt.answer))
        return false;
    sorted_names(list.items, list.count);
    *ret_names = list.items;
    *ret_count = list.count;
    return true;
}

enum status needed_files_names(struct request *request, struct text **ret_names, size_t *ret_count)
{
    struct needed_list list = {.arena = request->arena};
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
    if (!add_answer(&list, &request->attempt.answer))
        return STATUS_NO_MEMORY;
    sorted_names(list.items, list.count);
    *ret_names = list.items;
    *ret_count = list.count;
    return STATUS_OK;
}
