/* SPDX-License-Identifier: Apache-2.0 */
/* Each sample becomes a line of figures.csv at once, so that a run can be watched, and one that is
 * ended early leaves the lines until then. Arrivals and the trace are written at the end. */
#include "tools/lab/volunteers/figures/run_report.h"

#include "server/base/buffer.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/figures/arrivals.h"
#include "tools/lab/volunteers/figures/merit.h"
#include "tools/lab/volunteers/figures/no_work_reasons.h"
#include "tools/lab/volunteers/figures/plot.h"
#include "tools/lab/volunteers/figures/trace.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum { FILE_BYTES_MAX = 256 << 20, PATH_BYTES = 4096 };
#define DAY 86400.0

static const char *const resource_names[] = {"CPU", "NVIDIA", "AMD", "Intel GPU"};

/* The figures over time, where the user wants them, and for pictures. */
struct over_time {
    FILE *file; /* NULL: not wanted */
    char path[PATH_BYTES];
    int error; /* errno of the write that failed; 0: none did */
};
enum { USERS_CSV, PLOT_CSV, CSVS };

struct run_report {
    const struct command_line *options;
    const struct scenario *scenario;
    struct merit before, now;
    struct merit_projects projects; /* since the beginning */
    struct no_work_reasons reasons;
    struct arrivals arrivals;
    struct trace trace;
    struct over_time csvs[CSVS];
};

/* --- figures --------------------------------------------------------------------------------- */

static void add_host(struct merit *figures, struct merit_projects *sums,
                     const struct volunteer *volunteer)
{
    const struct tally_project *projects[CLIENT_PROJECTS_MAX];
    double shares[CLIENT_PROJECTS_MAX];

    for (size_t p = 0; p < volunteer->project_count; p++) {
        projects[p] = &volunteer->projects[p].tally;
        shares[p] = volunteer->fetch.projects[p].share;
        merit_add_project(sums, volunteer->projects[p].which, projects[p]);
    }
    merit_add_host(figures, &volunteer->tally, projects, shares, volunteer->project_count,
                   volunteer->population->period);
}

static void gather(struct run_report *report, const struct sample *sample)
{
    report->before = report->now;
    report->now = (struct merit){.days = (sample->time - report->scenario->begin) / DAY};
    report->projects = (struct merit_projects){.count = sample->project_count};
    for (size_t i = 0; i < sample->count; i++)
        add_host(&report->now, &report->projects, &sample->volunteers[i]);
}

/* When the disk is full, this file ends there, but the run goes on. */
static void write_line(struct run_report *report, const struct buffer *line)
{
    for (size_t i = 0; i < CSVS; i++) {
        struct over_time *csv = &report->csvs[i];

        if (csv->file == NULL || csv->error != 0 ||
            (fwrite(line->at, 1, line->length, csv->file) == line->length &&
             fflush(csv->file) == 0))
            continue;
        csv->error = errno != 0 ? errno : EIO;
        fprintf(stderr, "qmvolunteers: %s: %s; the run continues without it\n", csv->path,
                strerror(csv->error));
    }
}

static void write_sample(struct run_report *report, bool is_first)
{
    struct buffer line = buffer_on_heap(FILE_BYTES_MAX);
    struct merit since = merit_since(&report->before, &report->now);

    if (is_first) {
        buffer_add_string(&line, "until_day,");
        merit_write_names(&line);
        merit_write_project_names(&report->projects, &line);
    } else {
        buffer_print(&line, "%.6g,", report->now.days);
        merit_write_values(&since, &line);
        merit_write_project_values(&report->projects, &line);
    }
    for (size_t i = 0; i < report->reasons.count; i++) {
        const struct no_work_reason *reason = &report->reasons.items[i];

        if (is_first)
            buffer_print(&line, ",reason_%s", reason->word);
        else
            buffer_print(&line, ",%.0f", no_work_latest(reason));
    }
    buffer_add_string(&line, "\n");
    write_line(report, &line);
    buffer_free(&line);
}

static void on_sample(void *context, const struct sample *sample)
{
    struct run_report *report = context;

    gather(report, sample);
    if (sample->metrics != NULL)
        no_work_read(&report->reasons, sample->metrics, sample->project_count);
    /* A last sample at the time of the one before would be an empty row. */
    if (sample->is_first || report->now.days > report->before.days)
        write_sample(report, sample->is_first);
}

static enum status print_figures(const struct run_report *report, struct failure *failure)
{
    struct buffer buffer = buffer_on_heap(FILE_BYTES_MAX);
    bool good;

    merit_write_json(&report->now, &buffer);
    merit_write_project_json(&report->projects, &buffer);
    for (size_t i = 0; i < report->reasons.count; i++)
        if (no_work_total(&report->reasons.items[i]) > 0)
            buffer_print(&buffer, ",\n \"reason_%s\": %.0f", report->reasons.items[i].word,
                         no_work_total(&report->reasons.items[i]));
    good =
        printf("{" TEXT_FORMAT "}\n", TEXT_ARG(buffer_text(&buffer))) >= 0 && fflush(stdout) == 0;
    buffer_free(&buffer);
    return good ? STATUS_OK
                : fail(failure, STATUS_IO, "the figures cannot be written to standard output: %s",
                       strerror(errno));
}

/* --- one host -------------------------------------------------------------------------------- */

static void begin_trace(struct run_report *report, const struct volunteer *volunteer)
{
    size_t instances[CLIENT_RESOURCES];

    for (size_t r = 0; r < volunteer->fetch.resource_count; r++)
        instances[r] = (size_t)volunteer->fetch.resources[r].count;
    trace_init(&report->trace, instances, volunteer->fetch.resource_count);
}

static void on_interval(void *context, size_t host, const struct volunteer *volunteer, double until)
{
    struct run_report *report = context;
    struct trace_job jobs[TRACE_SLOTS_MAX];
    size_t count = 0;

    if (host != report->options->trace)
        return;
    if (report->trace.slot_count == 0)
        begin_trace(report, volunteer);
    for (size_t i = 0; i < volunteer->job_count && count < TRACE_SLOTS_MAX; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        struct trace_job running = {.id = job->number,
                                    .project = volunteer->projects[job->project].which};

        if (!job->running)
            continue;
        running.uses[CLIENT_CPU] = job->cpus;
        if (job->coproc != CLIENT_CPU)
            running.uses[job->coproc] = job->coprocs;
        jobs[count++] = running;
    }
    if (volunteer->is_on)
        trace_run(&report->trace, volunteer->now, until, jobs, count);
    else
        trace_off(&report->trace, volunteer->now, until);
}

/* --- pictures -------------------------------------------------------------------------------- */

/* FOLDER/NAME.csv or .gp. The buffer is freed. */
static enum status write_file(const char *folder, const char *name, const char *ending,
                              struct buffer *buffer, struct failure *failure)
{
    char path[PATH_BYTES];
    FILE *file;
    bool good;

    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, ending);
    file = fopen(path, "w");
    good = file != NULL && !buffer->overflowed &&
           fwrite(buffer->at, 1, buffer->length, file) == buffer->length;
    if (file != NULL && fclose(file) != 0)
        good = false;
    buffer_free(buffer);
    *buffer = buffer_on_heap(FILE_BYTES_MAX);
    return good ? STATUS_OK
                : fail(failure, STATUS_IO, "%s cannot be written: %s", path, strerror(errno));
}

static enum status draw(struct run_report *report, struct failure *failure)
{
    const char *folder = report->options->plot;
    struct buffer buffer = buffer_on_heap(FILE_BYTES_MAX);
    bool has_trace = report->options->has_trace;
    enum status status;

    plot_write_figures(report->options->project_count > 1, &buffer);
    status = write_file(folder, "figures", "gp", &buffer, failure);
    plot_write_arrivals(report->arrivals.width / 60, &buffer);
    if (status == STATUS_OK)
        status = write_file(folder, "arrivals", "gp", &buffer, failure);
    arrivals_write(&report->arrivals, &buffer);
    if (status == STATUS_OK)
        status = write_file(folder, "arrivals", "csv", &buffer, failure);
    if (status == STATUS_OK && has_trace) {
        plot_write_trace(&report->trace, resource_names, report->options->project_count,
                         report->options->trace, &buffer);
        status = write_file(folder, "trace", "gp", &buffer, failure);
        trace_write(&report->trace, resource_names, report->scenario->begin, &buffer);
        if (status == STATUS_OK)
            status = write_file(folder, "trace", "csv", &buffer, failure);
    }
    buffer_free(&buffer);
    if (status == STATUS_OK)
        status = plot_draw(folder, "figures", failure);
    if (status == STATUS_OK)
        status = plot_draw(folder, "arrivals", failure);
    return status == STATUS_OK && has_trace ? plot_draw(folder, "trace", failure) : status;
}

/* --- life ------------------------------------------------------------------------------------ */

static enum status open_file(struct over_time *csv, struct failure *failure)
{
    csv->file = fopen(csv->path, "w");
    return csv->file != NULL
               ? STATUS_OK
               : fail(failure, STATUS_IO, "%s cannot be written: %s", csv->path, strerror(errno));
}

static enum status open_files(struct run_report *report, struct failure *failure)
{
    const struct command_line *options = report->options;
    struct over_time *users = &report->csvs[USERS_CSV], *plot = &report->csvs[PLOT_CSV];
    enum status status = STATUS_OK;

    if (options->csv != NULL) {
        snprintf(users->path, sizeof(users->path), "%s", options->csv);
        status = open_file(users, failure);
    }
    if (status != STATUS_OK || options->plot == NULL)
        return status;
    if (mkdir(options->plot, 0777) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", options->plot, strerror(errno));
    snprintf(plot->path, sizeof(plot->path), "%s/figures.csv", options->plot);
    return open_file(plot, failure);
}

enum status run_report_create(const struct command_line *options, const struct scenario *scenario,
                              struct run_report **ret_report, struct failure *failure)
{
    struct run_report *report = calloc(1, sizeof(*report));
    enum status status;

    if (report == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    report->options = options;
    report->scenario = scenario;
    if (options->has_trace && (double)options->trace >= scenario->hosts)
        status = fail(failure, STATUS_INVALID, "--trace %zu: the hosts are 0 to %.0f",
                      options->trace, scenario->hosts - 1);
    else if (arrivals_init(&report->arrivals, scenario->begin,
                           scenario->begin + scenario->days * DAY, scenario->rpc_minutes * 60))
        status = open_files(report, failure);
    else
        status = fail(failure, STATUS_NO_MEMORY, "no memory");
    if (status == STATUS_OK)
        *ret_report = report;
    else
        run_report_destroy(report);
    return status;
}

void run_report_destroy(struct run_report *report)
{
    if (report == NULL)
        return;
    for (size_t i = 0; i < CSVS; i++)
        if (report->csvs[i].file != NULL)
            fclose(report->csvs[i].file);
    arrivals_free(&report->arrivals);
    trace_free(&report->trace);
    free(report);
}

size_t run_report_observers(struct run_report *report,
                            struct observer ret_observers[CROWD_OBSERVERS_MAX])
{
    ret_observers[0] =
        (struct observer){.context = report,
                          .sample = on_sample,
                          .interval = report->options->has_trace ? on_interval : NULL};
    ret_observers[1] = arrivals_observer(&report->arrivals);
    return 2;
}

/* Figures and pictures are each tried even if the other failed. */
enum status run_report_finish(struct run_report *report, struct failure *failure)
{
    enum status status = print_figures(report, failure), drawn = STATUS_OK;

    for (size_t i = 0; i < CSVS; i++)
        if (report->csvs[i].error != 0)
            status = fail(failure, STATUS_IO, "%s is not whole: %s", report->csvs[i].path,
                          strerror(report->csvs[i].error));
    if (report->options->plot != NULL)
        drawn = draw(report, failure);
    return status == STATUS_OK ? drawn : status;
}
