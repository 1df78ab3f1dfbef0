/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/public_page.h"

#include "server/base/buffer.h"
#include "server/status/page_words.h"

#include <inttypes.h>

#include "server/base/banned.h"

static void write_text(struct buffer *page, const char *name, struct text text)
{
    buffer_print(page, "<%s>", name);
    page_text(page, text);
    buffer_print(page, "</%s>\n", name);
}

static void write_daemon(const struct public_figures *figures, struct text name, bool runs,
                         struct buffer *page)
{
    buffer_add_string(page, "<daemon>\n");
    write_text(page, "host", figures->host);
    write_text(page, "command", name);
    write_text(page, "status", runs ? TEXT("running") : TEXT("not running"));
    buffer_add_string(page, "</daemon>\n");
}

/* Those that this server knows of, in the order of BOINC's page. */
static void write_daemons(const struct public_figures *figures, struct buffer *page)
{
    buffer_add_string(page, "<daemon_status>\n");
    if (figures->has_uploads)
        write_daemon(figures, TEXT("Upload server"), figures->uploads_are_taken, page);
    write_daemon(figures, TEXT("Scheduler"), figures->scheduler_serves, page);
    buffer_add_string(page, "</daemon_status>\n");
}

static void write_app(const struct public_figures *figures, const struct project_app *app,
                      struct buffer *page)
{
    const struct app_row *row = NULL;

    for (size_t i = 0; i < figures->app_count; i++)
        if (figures->apps[i].id == app->id)
            row = &figures->apps[i];
    if (row == NULL || row->deprecated != 0)
        return;
    buffer_print(page, "<app>\n<id>%" PRId64 "</id>\n", app->id);
    write_text(page, "name", row->name);
    buffer_print(page,
                 "<unsent>%" PRId64 "</unsent>\n<in_progress>%" PRId64 "</in_progress>\n"
                 "<avg_runtime>%.10g</avg_runtime>\n<min_runtime>%.10g</min_runtime>\n"
                 "<max_runtime>%.10g</max_runtime>\n<users>%" PRId64 "</users>\n</app>\n",
                 app->unsent, app->in_progress, app->avg_runtime, app->min_runtime,
                 app->max_runtime, app->users);
}

void public_page_write(const struct public_figures *figures, struct buffer *ret_page)
{
    const struct project_totals *totals = figures->totals;

    buffer_add_string(ret_page, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<server_status>\n");
    write_daemons(figures, ret_page);
    buffer_add_string(ret_page, "<database_file_states>\n");
    for (int i = 0; i < TOTAL_PUBLIC_COUNT; i++) {
        const char *name = project_total_name((enum project_total)i);

        buffer_print(ret_page, "<%s>%.15g</%s>\n", name, totals->values[i], name);
    }
    buffer_add_string(ret_page, "<tasks_by_app>\n");
    for (size_t i = 0; i < totals->app_count; i++)
        write_app(figures, &totals->apps[i], ret_page);
    buffer_add_string(ret_page, "</tasks_by_app>\n</database_file_states>\n</server_status>\n");
}

/* Names of the elements, which are not those of the page. */
void public_counts_write(const struct project_totals *totals, struct buffer *ret_page)
{
    static const struct {
        const char *name;
        enum project_total total;
    } counts[] = {{"results_ready_to_send", TOTAL_results_ready_to_send},
                  {"results_in_progress", TOTAL_results_in_progress},
                  {"results_need_file_delete", TOTAL_results_waiting_for_deletion},
                  {"wus_need_validate", TOTAL_workunits_waiting_for_validation},
                  {"wus_need_assimilate", TOTAL_workunits_waiting_for_assimilation},
                  {"wus_need_file_delete", TOTAL_workunits_waiting_for_deletion}};

    buffer_add_string(ret_page, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<job_counts>\n");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        buffer_print(ret_page, "<%s>%.15g</%s>\n", counts[i].name, totals->values[counts[i].total],
                     counts[i].name);
    buffer_add_string(ret_page, "</job_counts>\n");
}
