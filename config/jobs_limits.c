/* SPDX-License-Identifier: Apache-2.0 */
/* max_jobs_in_progress, the one option that is not plain text:
 *
 *   <max_jobs_in_progress>
 *     <project>  <total_limit><jobs>10</jobs></total_limit>  </project>
 *     <app>      <app_name>x</app_name>
 *                <cpu_limit><jobs>2</jobs><per_proc/></cpu_limit>
 *                <gpu_limit><jobs>1</jobs></gpu_limit>  </app>
 *   </max_jobs_in_progress>
 *
 * A later element of the same app stands beside the earlier one: the smaller limit counts. */
#include "config/internal.h"

#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

enum { LIMITS_MAX = 1000, JOBS_MAX = 1000000 };
enum { DEPTH_SCOPE = 1, DEPTH_LIMIT = 2, DEPTH_FIGURE = 3 };

static struct jobs_limit *limit_of(struct jobs_in_progress *limits, struct text name)
{
    if (text_is(name, "total_limit"))
        return &limits->total;
    if (text_is(name, "cpu_limit"))
        return &limits->cpu;
    return text_is(name, "gpu_limit") ? &limits->gpu : NULL;
}

const char *config_limits_start(struct limits_reader *reader, struct text name)
{
    bool is_known = false;

    reader->depth++;
    if (reader->depth == DEPTH_SCOPE) {
        reader->is_app = text_is(name, "app");
        reader->open = (struct jobs_in_progress){0};
        is_known = reader->is_app || text_is(name, "project");
    } else if (reader->depth == DEPTH_LIMIT) {
        reader->limit = limit_of(&reader->open, name);
        is_known = reader->limit != NULL || (reader->is_app && text_is(name, "app_name"));
    } else if (reader->depth == DEPTH_FIGURE) {
        is_known = reader->limit != NULL && (text_is(name, "jobs") || text_is(name, "per_proc"));
    }
    return is_known ? NULL : "unknown element in max_jobs_in_progress";
}

static const char *add(struct config *config, const struct jobs_in_progress *limits)
{
    struct jobs_in_progress *items;

    if (config->jobs_in_progress_count >= LIMITS_MAX)
        return "too many limits in max_jobs_in_progress";
    items = ARENA_ARRAY(config->arena, config->jobs_in_progress_count + 1, struct jobs_in_progress);
    if (items == NULL)
        return "no memory for max_jobs_in_progress";
    if (config->jobs_in_progress_count > 0)
        memcpy(items, config->jobs_in_progress, config->jobs_in_progress_count * sizeof(items[0]));
    items[config->jobs_in_progress_count++] = *limits;
    config->jobs_in_progress = items;
    return NULL;
}

const char *config_limits_end(struct limits_reader *reader, struct config *config, struct text name,
                              struct text value, bool *ret_is_error)
{
    size_t depth = reader->depth--;
    int64_t number = 1;

    *ret_is_error = true;
    if (depth == DEPTH_LIMIT && text_is(name, "app_name"))
        reader->open.app_name = text_copy(config->arena, value);
    if (depth == DEPTH_FIGURE && reader->limit != NULL) {
        if ((value.length > 0 || text_is(name, "jobs")) &&
            (!text_to_whole(value, &number) || number < 0 || number > JOBS_MAX))
            return "a limit in max_jobs_in_progress is not a number from 0 to 1000000";
        if (text_is(name, "jobs"))
            reader->limit->jobs = number;
        else
            reader->limit->per_processor = number != 0;
    }
    if (depth != DEPTH_SCOPE)
        return NULL;
    if (reader->is_app && reader->open.app_name.length == 0) {
        *ret_is_error = false;
        return "an app in max_jobs_in_progress has no app_name and is ignored";
    }
    return add(config, &reader->open);
}
