/* SPDX-License-Identifier: Apache-2.0 */
/* Of the rows of the database only the figures of these tables are written: what decisions look at
 * and the request does not say. Of a host neither its age nor its credit: by these it could be
 * found in the statistics that projects publish. Texts are either the project's own words or
 * replaced before they come here. */
#include "server/recording/recorded_rows.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/version/estimate.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

/* Whole numbers that a double holds too: sums of a few of them are numbers still. */
#define INTEGER_MOST (INT64_C(1) << 53)

#define COLUMN(record, field)                                \
    {                                                        \
#field, offsetof(struct record, field),              \
            _Generic(((struct record *)NULL)->field, int64_t \
                     : COLUMN_INTEGER, double                \
                     : COLUMN_REAL, bool                     \
                     : COLUMN_FLAG, struct text              \
                     : COLUMN_TEXT)                          \
    }
#define TABLE(name, tag, record)                                                          \
    const struct record_table name = {tag, name##_columns,                                \
                                      sizeof(name##_columns) / sizeof(name##_columns[0]), \
                                      sizeof(struct record)}

static const struct record_column record_heads_columns[] = {
    COLUMN(record_head, now),
    COLUMN(record_head, seed_high),
    COLUMN(record_head, seed_low),
    COLUMN(record_head, backlog),
    COLUMN(record_head, stop_work),
    COLUMN(record_head, host_is_new),
    COLUMN(record_head, is_new_day),
    COLUMN(record_head, only_assigned),
    COLUMN(record_head, reads_in_progress),
    COLUMN(record_head, reads_workunits),
    COLUMN(record_head, has_supply),
    COLUMN(record_head, supply_is_cut),
    COLUMN(record_head, kind),
    COLUMN(record_head, request_delay),
    COLUMN(record_head, reports_booked),
    COLUMN(record_head, presence_cpu),
    COLUMN(record_head, presence_gpu),
};
TABLE(record_heads, "head", record_head);

static const struct record_column record_hosts_columns[] = {
    COLUMN(host_row, rpc_seqno),      COLUMN(host_row, rpc_time),
    COLUMN(host_row, on_frac),        COLUMN(host_row, connected_frac),
    COLUMN(host_row, active_frac),    COLUMN(host_row, gpu_active_frac),
    COLUMN(host_row, avg_turnaround), COLUMN(host_row, duration_correction_factor),
    COLUMN(host_row, error_rate),     COLUMN(host_row, max_results_day),
};
TABLE(record_hosts, "host_row", host_row);

static const struct record_column record_host_versions_columns[] = {
    COLUMN(host_app_version_row, app_version_id), COLUMN(host_app_version_row, pfc_n),
    COLUMN(host_app_version_row, pfc_avg),        COLUMN(host_app_version_row, et_n),
    COLUMN(host_app_version_row, et_avg),         COLUMN(host_app_version_row, max_jobs_per_day),
    COLUMN(host_app_version_row, n_jobs_today),   COLUMN(host_app_version_row, turnaround_n),
    COLUMN(host_app_version_row, turnaround_avg), COLUMN(host_app_version_row, consecutive_valid),
};
TABLE(record_host_versions, "host_app_version", host_app_version_row);

static const struct record_column record_version_changes_columns[] = {
    COLUMN(host_app_version_change, app_version_id),
    COLUMN(host_app_version_change, sets_max_jobs_per_day),
    COLUMN(host_app_version_change, max_jobs_per_day),
    COLUMN(host_app_version_change, resets_consecutive_valid),
};
TABLE(record_version_changes, "version_change", host_app_version_change);

static const struct record_column record_globals_columns[] = {
    COLUMN(global_preferences, disk_max_used_gb),
    COLUMN(global_preferences, disk_max_used_pct),
    COLUMN(global_preferences, disk_min_free_gb),
    COLUMN(global_preferences, work_buf_min_days),
    COLUMN(global_preferences, ram_max_used_busy_fraction),
    COLUMN(global_preferences, ram_max_used_idle_fraction),
    COLUMN(global_preferences, max_ncpus_pct),
    COLUMN(global_preferences, max_cpus),
};
TABLE(record_globals, "global_preferences_in_force", global_preferences);

static const struct record_column record_projects_columns[] = {
    COLUMN(project_preferences, resource_share),
    COLUMN(project_preferences, allow_non_preferred_apps),
    COLUMN(project_preferences, allow_beta_work),
    COLUMN(project_preferences, no_cpu),
    COLUMN(project_preferences, no_gpus),
    COLUMN(project_preferences, max_cpus),
    COLUMN(project_preferences, max_jobs),
};
TABLE(record_projects, "project_preferences", project_preferences);

static const struct record_column record_in_progress_columns[] = {
    COLUMN(host_job, result.appid),
    COLUMN(host_job, result.app_version_id),
    COLUMN(host_job, result.sent_time),
    COLUMN(host_job, result.report_deadline),
    COLUMN(host_job, result.name),
    COLUMN(host_job, workunit.id),
    COLUMN(host_job, workunit.rsc_fpops_est),
    COLUMN(host_job, workunit.rsc_memory_bound),
};
TABLE(record_in_progress, "job_in_progress", host_job);

static const struct record_column record_memory_peaks_columns[] = {
    COLUMN(memory_peak, appid),
    COLUMN(memory_peak, app_version_id),
    COLUMN(memory_peak, bytes),
};
TABLE(record_memory_peaks, "memory_peak", memory_peak);

static const struct record_column record_jobs_columns[] = {
    COLUMN(record_job, appid),          COLUMN(record_job, app_version_id),
    COLUMN(record_job, is_resent),      COLUMN(record_job, is_assigned),
    COLUMN(record_job, place),          COLUMN(record_job, coproc_type),
    COLUMN(record_job, avg_ncpus),      COLUMN(record_job, coproc_count),
    COLUMN(record_job, wall_time),      COLUMN(record_job, rsc_memory_bound),
    COLUMN(record_job, rsc_disk_bound), COLUMN(record_job, report_deadline),
};
TABLE(record_jobs, "job", record_job);

static const struct record_column record_unsent_jobs_columns[] = {
    COLUMN(record_unsent, order),
    COLUMN(record_unsent, jobs),
    COLUMN(record_unsent, workunits),
    COLUMN(record_unsent, priority),
    COLUMN(record_unsent, workunit.appid),
    COLUMN(record_unsent, workunit.batch),
    COLUMN(record_unsent, workunit.rsc_fpops_est),
    COLUMN(record_unsent, workunit.rsc_fpops_bound),
    COLUMN(record_unsent, workunit.rsc_memory_bound),
    COLUMN(record_unsent, workunit.rsc_disk_bound),
    COLUMN(record_unsent, workunit.rsc_bandwidth_bound),
    COLUMN(record_unsent, workunit.delay_bound),
    COLUMN(record_unsent, workunit.hr_class),
    COLUMN(record_unsent, workunit.min_quorum),
    COLUMN(record_unsent, workunit.target_nresults),
    COLUMN(record_unsent, workunit.priority),
    COLUMN(record_unsent, workunit.app_version_id),
    COLUMN(record_unsent, workunit.app_version_num),
    COLUMN(record_unsent, workunit.size_class),
    COLUMN(record_unsent, workunit.keywords),
};
TABLE(record_unsent_jobs, "unsent", record_unsent);

static const struct record_column record_benchmarks_columns[] = {
    COLUMN(benchmarks, median),
    COLUMN(benchmarks, most),
};
TABLE(record_benchmarks, "benchmarks", benchmarks);

static const struct record_column record_apps_columns[] = {
    COLUMN(app_row, id),
    COLUMN(app_row, name),
    COLUMN(app_row, min_version),
    COLUMN(app_row, deprecated),
    COLUMN(app_row, homogeneous_redundancy),
    COLUMN(app_row, weight),
    COLUMN(app_row, beta),
    COLUMN(app_row, target_nresults),
    COLUMN(app_row, homogeneous_app_version),
    COLUMN(app_row, non_cpu_intensive),
    COLUMN(app_row, locality_scheduling),
    COLUMN(app_row, n_size_classes),
};
TABLE(record_apps, "app", app_row);

static const struct record_column record_platforms_columns[] = {
    COLUMN(platform_row, id),
    COLUMN(platform_row, name),
};
TABLE(record_platforms, "platform", platform_row);

static const struct record_column record_versions_columns[] = {
    COLUMN(app_version_row, id),
    COLUMN(app_version_row, appid),
    COLUMN(app_version_row, version_num),
    COLUMN(app_version_row, platformid),
    COLUMN(app_version_row, min_core_version),
    COLUMN(app_version_row, max_core_version),
    COLUMN(app_version_row, deprecated),
    COLUMN(app_version_row, plan_class),
    COLUMN(app_version_row, pfc_n),
    COLUMN(app_version_row, pfc_avg),
    COLUMN(app_version_row, pfc_scale),
    COLUMN(app_version_row, beta),
};
TABLE(record_versions, "app_version", app_version_row);

static const struct record_column record_retired_columns[] = {
    COLUMN(retired_version_row, id),
    COLUMN(retired_version_row, appid),
    COLUMN(retired_version_row, platformid),
    COLUMN(retired_version_row, version_num),
};
TABLE(record_retired, "retired_version", retired_version_row);

/* --- texts ------------------------------------------------------------------------------------ */

static bool is_plain(char character)
{
    return character > ' ' && character < 0x7f && character != '%' && character != '<' &&
           character != '>' && character != '&';
}

/* An empty one is a mark alone, or it would not be seen. */
void record_quote(struct buffer *text, struct text plain)
{
    if (plain.length == 0)
        buffer_add_char(text, '%');
    for (size_t i = 0; i < plain.length; i++) {
        if (is_plain(plain.at[i]))
            buffer_add_char(text, plain.at[i]);
        else
            buffer_print(text, "%%%02x", (unsigned)(unsigned char)plain.at[i]);
    }
}

bool record_unquote(struct text quoted, struct arena *arena, struct text *ret_plain)
{
    char *plain;
    size_t length = 0;

    *ret_plain = NO_TEXT;
    if (text_is(quoted, "%"))
        return true;
    plain = ARENA_ARRAY(arena, quoted.length, char);
    if (quoted.length == 0 || plain == NULL)
        return false;
    for (size_t i = 0; i < quoted.length; i++) {
        int high, low;

        if (quoted.at[i] != '%') {
            plain[length++] = quoted.at[i];
            continue;
        }
        if (quoted.length - i < 3)
            return false;
        high = text_hex_digit(quoted.at[i + 1]);
        low = text_hex_digit(quoted.at[i + 2]);
        if (high < 0 || low < 0)
            return false;
        plain[length++] = (char)(high * 16 + low);
        i += 2;
    }
    *ret_plain = (struct text){.at = plain, .length = length};
    return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void write_figure(struct buffer *text, const struct record_column *column, const void *row)
{
    const char *field = (const char *)row + column->offset;
    struct text words;
    int64_t integer;
    double real;
    bool flag;

    switch (column->type) {
    case COLUMN_INTEGER:
        memcpy(&integer, field, sizeof integer);
        buffer_print(text, "%" PRId64, integer);
        return;
    case COLUMN_REAL:
        memcpy(&real, field, sizeof real);
        buffer_print(text, "%.17g", real);
        return;
    case COLUMN_FLAG:
        memcpy(&flag, field, sizeof flag);
        buffer_add_char(text, flag ? '1' : '0');
        return;
    case COLUMN_TEXT:
        memcpy(&words, field, sizeof words);
        record_quote(text, words);
        return;
    }
}

void record_row_write(struct buffer *text, const struct record_table *table, const void *row)
{
    buffer_print(text, "<%s>", table->tag);
    for (size_t i = 0; i < table->count; i++) {
        if (i > 0)
            buffer_add_char(text, ' ');
        write_figure(text, &table->columns[i], row);
    }
    buffer_print(text, "</%s>\n", table->tag);
}

static bool read_figure(const struct record_column *column, struct text figure, struct arena *arena,
                        void *row)
{
    char *field = (char *)row + column->offset;
    struct text words;
    int64_t integer;
    double real;
    bool flag = text_is(figure, "1");

    switch (column->type) {
    case COLUMN_INTEGER:
        if (!text_to_i64(figure, &integer) || integer > INTEGER_MOST || integer < -INTEGER_MOST)
            return false;
        memcpy(field, &integer, sizeof integer);
        return true;
    case COLUMN_REAL:
        if (!text_to_real(figure, &real))
            return false;
        memcpy(field, &real, sizeof real);
        return true;
    case COLUMN_FLAG:
        memcpy(field, &flag, sizeof flag);
        return flag || text_is(figure, "0");
    case COLUMN_TEXT:
        if (!record_unquote(figure, arena, &words))
            return false;
        memcpy(field, &words, sizeof words);
        return true;
    }
    return false;
}

enum status record_row_read(const struct record_table *table, struct text line, struct arena *arena,
                            void *ret_row, struct failure *failure)
{
    for (size_t i = 0; i < table->count; i++) {
        struct text figure = text_split(&line, ' ');

        if (!read_figure(&table->columns[i], figure, arena, ret_row))
            return fail(failure, STATUS_INVALID, "<%s>: %s is no such figure", table->tag,
                        table->columns[i].name);
    }
    if (line.length > 0)
        return fail(failure, STATUS_INVALID, "<%s>: too many figures", table->tag);
    return STATUS_OK;
}

/* --- lines ------------------------------------------------------------------------------------ */

bool record_next_line(struct text *rest, struct record_line *ret_line)
{
    struct text line, tag;
    size_t opened, closed;

    *ret_line = (struct record_line){0};
    if (rest->length == 0)
        return false;
    line = text_split(rest, '\n');
    if (line.length < 3 || line.at[0] != '<')
        return true;
    opened = text_find(line, TEXT(">"));
    tag = (struct text){.at = line.at + 1, .length = opened - 1};
    if (opened == line.length)
        return true;
    ret_line->tag = tag;
    closed = opened + 1 + tag.length + 3; /* with </> around the tag */
    if (line.length < closed || !text_ends(line, TEXT(">")) ||
        memcmp(line.at + line.length - 1 - tag.length, tag.at, tag.length) != 0 ||
        memcmp(line.at + line.length - 3 - tag.length, "</", 2) != 0)
        return true;
    ret_line->content = (struct text){.at = line.at + opened + 1, .length = line.length - closed};
    return true;
}

size_t record_count_lines(struct text text, const char *tag)
{
    struct record_line line;
    size_t count = 0;

    while (record_next_line(&text, &line))
        count += text_is(line.tag, tag);
    return count;
}
