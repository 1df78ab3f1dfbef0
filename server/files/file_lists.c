/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/file_lists.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int compare_rows(const void *a, const void *b)
{
    return text_compare(((const struct host_file_row *)a)->name,
                        ((const struct host_file_row *)b)->name);
}

const struct host_file_row *host_files_find(const struct host_files *files, struct text name)
{
    const struct host_file_row key = {.name = name};

    return files->row_count == 0
               ? NULL
               : bsearch(&key, files->rows, files->row_count, sizeof(files->rows[0]), compare_rows);
}

static int compare_listed(const void *a, const void *b)
{
    return text_compare(((const struct host_file *)a)->name, ((const struct host_file *)b)->name);
}

enum { FILE_COST = 100 /* units of the budget, beside sorting and searching */ };

bool listed_files_charge(struct request *request)
{
    size_t count = request->message.file_count;

    return budget_spend(&request->attempt.budget,
                        count * FILE_COST + budget_of_sorting_names(count));
}

bool listed_files_read(struct request *request, struct listed_files *ret_listed)
{
    const struct message *message = &request->message;
    struct listed_files all = {
        .files = ARENA_ARRAY(request->arena, message->file_count, struct host_file)};
    size_t kept = 0;

    if (all.files == NULL)
        return false;
    for (size_t i = 0; i < message->file_count; i++)
        if (message->files[i].name.length > 0 && message->files[i].name.length <= DB_FILE_NAME_MOST)
            all.files[all.count++] = message->files[i];
    if (all.count > 1)
        qsort(all.files, all.count, sizeof(all.files[0]), compare_listed);
    for (size_t i = 0; i < all.count; i++)
        if (kept == 0 || !text_equal(all.files[kept - 1].name, all.files[i].name))
            all.files[kept++] = all.files[i];
    all.count = kept;
    *ret_listed = all;
    return true;
}

const struct host_file *listed_files_find(const struct listed_files *listed, struct text name)
{
    const struct host_file key = {.name = name};

    return listed->count == 0 ? NULL
                              : bsearch(&key, listed->files, listed->count,
                                        sizeof(listed->files[0]), compare_listed);
}
