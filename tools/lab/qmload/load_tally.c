/* SPDX-License-Identifier: Apache-2.0 */
/* Every latency is kept, so that percentiles are exact; a million of them is 8 MB. */
#include "tools/lab/qmload/load_tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

void tally_latency(struct load_tally *tally, double seconds)
{
    if (tally->latency_count == tally->latency_capacity) {
        tally->latency_capacity = tally->latency_capacity == 0 ? 4096 : tally->latency_capacity * 2;
        tally->latencies =
            realloc(tally->latencies, tally->latency_capacity * sizeof(*tally->latencies));
        if (tally->latencies == NULL)
            abort();
    }
    tally->latencies[tally->latency_count++] = seconds;
}

static struct job_owner *find(struct job_owner *jobs, size_t capacity, struct text name)
{
    for (size_t at = (size_t)text_hash(name) % capacity;; at = (at + 1) % capacity) {
        if (jobs[at].name == NULL || text_is(name, jobs[at].name))
            return &jobs[at];
    }
}

/* Kept at most half full. */
static void make_room(struct load_tally *tally)
{
    size_t capacity = tally->job_capacity == 0 ? 8192 : tally->job_capacity * 2;
    struct job_owner *jobs;

    if (tally->job_capacity > 0 && tally->job_count < tally->job_capacity / 2)
        return;
    jobs = calloc(capacity, sizeof(*jobs));
    if (jobs == NULL)
        abort();
    for (size_t i = 0; i < tally->job_capacity; i++) {
        if (tally->jobs[i].name != NULL)
            *find(jobs, capacity, text_from(tally->jobs[i].name)) = tally->jobs[i];
    }
    free(tally->jobs);
    tally->jobs = jobs;
    tally->job_capacity = capacity;
}

void tally_job(struct load_tally *tally, struct text name, size_t host)
{
    struct job_owner *job;

    make_room(tally);
    job = find(tally->jobs, tally->job_capacity, name);
    if (job->name == NULL) {
        job->name = text_keep(name);
        if (job->name == NULL)
            abort();
        job->host = host;
        tally->job_count++;
    } else if (job->host == host) {
        tally->jobs_again++;
    } else {
        tally->jobs_duplicate++;
    }
}

void tally_clear(struct load_tally *tally)
{
    for (size_t i = 0; i < tally->job_capacity; i++)
        free(tally->jobs[i].name);
    free(tally->jobs);
    free(tally->latencies);
    *tally = (struct load_tally){0};
}

static int compare_reals(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

double tally_percentile(struct load_tally *tally, double fraction)
{
    size_t at;

    if (tally->latency_count == 0)
        return 0;
    qsort(tally->latencies, tally->latency_count, sizeof(*tally->latencies), compare_reals);
    at = (size_t)(fraction * (double)tally->latency_count);
    return tally->latencies[at < tally->latency_count ? at : tally->latency_count - 1];
}

/* The rows of every format, in one list: name, unit, value. */
struct load_figure {
    const char *name, *unit;
    double value;
};
enum { FIGURE_COUNT = 21 };

static double per_second(const struct load_tally *tally, double count)
{
    return tally->elapsed > 0 ? count / tally->elapsed : 0;
}

static void list_figures(struct load_tally *tally, struct load_figure ret_figures[FIGURE_COUNT])
{
    const struct load_figure figures[FIGURE_COUNT] = {
        {"requests", "", (double)tally->requests},
        {"elapsed", "s", tally->elapsed},
        {"requests_per_second", "1/s", per_second(tally, (double)tally->requests)},
        {"jobs", "", (double)tally->job_count},
        {"jobs_per_second", "1/s", per_second(tally, (double)tally->job_count)},
        {"p50", "ms", 1e3 * tally_percentile(tally, 0.50)},
        {"p95", "ms", 1e3 * tally_percentile(tally, 0.95)},
        {"p99", "ms", 1e3 * tally_percentile(tally, 0.99)},
        {"p999", "ms", 1e3 * tally_percentile(tally, 0.999)},
        {"longest", "ms", 1e3 * tally_percentile(tally, 1)},
        {"acked", "", (double)tally->acked},
        {"missing_acks", "", (double)tally->missing_acks},
        {"uploads", "", (double)tally->uploads},
        {"empty", "", (double)tally->empty},
        {"jobs_again", "", (double)tally->jobs_again},
        {"jobs_duplicate", "", (double)tally->jobs_duplicate},
        {"failed", "", (double)tally->failed},
        {"down", "", (double)tally->down},
        {"later", "", (double)tally->later},
        {"bytes_out", "bytes", (double)tally->bytes_out},
        {"bytes_in", "bytes", (double)tally->bytes_in},
    };

    memcpy(ret_figures, figures, sizeof(figures));
}

void tally_print(struct load_tally *tally, enum tally_format format, FILE *stream)
{
    struct load_figure figures[FIGURE_COUNT];

    list_figures(tally, figures);
    if (format == TALLY_CSV) {
        for (int i = 0; i < FIGURE_COUNT; i++)
            fprintf(stream, "%s%s", i > 0 ? "," : "", figures[i].name);
        for (int i = 0; i < FIGURE_COUNT; i++)
            fprintf(stream, "%s%.12g", i > 0 ? "," : "\n", figures[i].value);
        fputc('\n', stream);
    } else if (format == TALLY_JSON) {
        for (int i = 0; i < FIGURE_COUNT; i++)
            fprintf(stream, "%s\"%s\": %.12g", i > 0 ? ", " : "{", figures[i].name,
                    figures[i].value);
        fputs("}\n", stream);
    } else {
        for (int i = 0; i < FIGURE_COUNT; i++)
            fprintf(stream, "%-20s %14.10g %s\n", figures[i].name, figures[i].value,
                    figures[i].unit);
    }
}

void tally_print_jobs(const struct load_tally *tally, FILE *stream)
{
    for (size_t i = 0; i < tally->job_capacity; i++) {
        if (tally->jobs[i].name != NULL)
            fprintf(stream, "%s %zu\n", tally->jobs[i].name, tally->jobs[i].host);
    }
}

bool tally_is_clean(const struct load_tally *tally)
{
    return tally->jobs_duplicate == 0 && tally->failed == 0 && tally->missing_acks == 0 &&
           tally->down == 0 && tally->later == 0;
}
