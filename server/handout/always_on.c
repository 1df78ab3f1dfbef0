/* SPDX-License-Identifier: Apache-2.0 */
/* Always-on apps (non_cpu_intensive) have one job each on a host, whatever else it is given. Which
 * of them have theirs the database says: the client's list gives names only. */
#include "server/base/arena.h"
#include "server/handout/claim.h"
#include "server/handout/select_parts.h"
#include "server/project/catalog.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

bool always_on_is_lacking(const struct request *request, struct id_list has_job)
{
    const struct catalog_rows *rows = &request->catalog->rows;

    for (size_t i = 0; i < rows->app_count; i++) {
        bool has_one = false;

        if (rows->apps[i].non_cpu_intensive == 0 || rows->apps[i].deprecated != 0)
            continue;
        for (size_t j = 0; j < has_job.count; j++)
            has_one = has_one || has_job.ids[j] == rows->apps[i].id;
        if (!has_one)
            return true;
    }
    return false;
}

enum status always_on_find(struct selection *selection)
{
    struct request *request = selection->request;
    const struct result_row *rows = NULL;
    size_t count = 0;
    int64_t *ids;
    enum status status = results_in_progress(request, &rows, &count);

    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(request->arena, count, int64_t);
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    selection->has_job = (struct id_list){.ids = ids};
    for (size_t i = 0; i < count; i++) {
        const struct app_row *app = catalog_app(request->catalog, rows[i].appid);
        if (app != NULL && app->non_cpu_intensive != 0 &&
            rows[i].report_deadline >= (int64_t)request->now)
            ids[selection->has_job.count++] = app->id;
    }
    selection->serves_always_on = always_on_is_lacking(request, selection->has_job);
    return STATUS_OK;
}

bool always_on_note(struct selection *selection, const struct claimed *claimed)
{
    struct id_list *list = &selection->has_job;
    int64_t *ids = ARENA_ARRAY(selection->request->arena, list->count + claimed->count, int64_t);

    if (ids == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++)
        ids[i] = list->ids[i];
    for (size_t i = 0; i < claimed->count; i++)
        if (claimed->jobs[i].app->non_cpu_intensive != 0)
            ids[list->count++] = claimed->jobs[i].appid;
    list->ids = ids;
    return true;
}
