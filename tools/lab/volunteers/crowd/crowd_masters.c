/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts know schedulers by number, so that each of thousands may have a list of its own. All
 * master pages are read once before the first host lives: a crowd that finds no scheduler would
 * only wait. */
#include "server/base/arena.h"
#include "server/base/master_page.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/crowd_parts.h"

#include <string.h>

#include "server/base/banned.h"

static size_t find(const struct schedulers *schedulers, const char *url)
{
    size_t i = 0;

    while (i < schedulers->count && strcmp(schedulers->urls[i], url) != 0)
        i++;
    return i;
}

size_t crowd_number_schedulers(struct crowd *crowd, size_t project, const struct master_page *page,
                               uint8_t *ret_numbers)
{
    struct schedulers *schedulers = &crowd->schedulers[project];
    size_t count = 0;

    for (size_t i = 0; i < page->count; i++) {
        size_t number = find(schedulers, page->schedulers[i]);

        if (number == CROWD_SCHEDULERS_MAX)
            continue;
        if (number == schedulers->count)
            schedulers->urls[schedulers->count++] =
                text_string(crowd->arena, text_from(page->schedulers[i]));
        ret_numbers[count++] = (uint8_t)number;
    }
    return count;
}

static enum status read_master(struct crowd *crowd, size_t project, struct failure *failure)
{
    const char *url = crowd->options->urls[project];
    struct buffer text = buffer_on_heap(MASTER_PAGE_MAX);
    uint8_t numbers[MASTER_SCHEDULERS_MAX];
    enum status status = STATUS_OK;
    struct master_page page;

    if (!http_get(crowd->http, url, &text))
        status = fail(failure, STATUS_IO, "%s: the master page cannot be read", url);
    master_read(buffer_text(&text), &page);
    buffer_free(&text);
    if (status == STATUS_OK && crowd_number_schedulers(crowd, project, &page, numbers) == 0)
        status = fail(failure, STATUS_INVALID, "%s: this page names no scheduler", url);
    return status;
}

enum status crowd_read_masters(struct crowd *crowd, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t p = 0; p < crowd->options->project_count && status == STATUS_OK; p++)
        if (crowd->options->has_masters)
            status = read_master(crowd, p, failure);
        else
            crowd->schedulers[p] =
                (struct schedulers){.urls = {crowd->options->urls[p]}, .count = 1};
    return status;
}
