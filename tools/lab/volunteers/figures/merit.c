/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of merit are those of BOINC's simulator of clients, which knows one host. For a
 * crowd, amounts are added up first and divided then, so that a fast host counts for more than a
 * slow one: idle and wasted are fractions of all that the crowd could have computed. Share
 * violation is that of each host, weighted by what it computed; monotony has no amount to weight it
 * by, so it is a mean over hosts. Both are of hosts with several projects only. */
#include "tools/lab/volunteers/figures/merit.h"

#include "server/base/buffer.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { FIGURES_A_LINE = 5, AS_GIVEN = -1 };

void merit_add_host(struct merit *figures, const struct host_tally *tally,
                    const struct tally_project *const *projects, const double *shares,
                    size_t project_count, double period)
{
    double used = 0;

    figures->hosts++;
    tally_add(&figures->sum, tally);
    for (size_t p = 0; p < project_count; p++)
        used += projects[p]->flops_used;
    if (project_count < 2 || used <= 0)
        return;
    figures->shared_hosts++;
    figures->shared_flops += used;
    figures->off_flops += used * tally_share_violation(projects, shares, project_count);
    figures->monotony += tally_monotony(projects, project_count, period);
}

struct merit merit_since(const struct merit *before, const struct merit *now)
{
    struct merit since = *now;

    since.days -= before->days;
    since.sum.flops_total -= before->sum.flops_total;
    since.sum.flops_used -= before->sum.flops_used;
    since.sum.flops_wasted -= before->sum.flops_wasted;
    since.sum.flops_lost -= before->sum.flops_lost;
    for (size_t r = 0; r < CLIENT_RESOURCES; r++) {
        since.sum.resources[r].present -= before->sum.resources[r].present;
        since.sum.resources[r].used -= before->sum.resources[r].used;
        since.sum.resources[r].starved -= before->sum.resources[r].starved;
    }
#define SINCE(name) since.sum.name -= before->sum.name;
    TALLY_COUNTS(SINCE)
#undef SINCE
    return since;
}

/* --- the table ------------------------------------------------------------------------------- */

static double hosts(const struct merit *figures)
{
    return (double)figures->hosts;
}

static double days(const struct merit *figures)
{
    return figures->days;
}

static double cpu_seconds(const struct merit *figures)
{
    return figures->sum.resources[CLIENT_CPU].present;
}

static double flops_total(const struct merit *figures)
{
    return figures->sum.flops_total;
}

static double cpu_starved_seconds(const struct merit *figures)
{
    return figures->sum.resources[CLIENT_CPU].starved;
}

static double gpu_seconds(const struct merit *figures)
{
    double sum = 0;

    for (size_t r = CLIENT_CPU + 1; r < CLIENT_RESOURCES; r++)
        sum += figures->sum.resources[r].present;
    return sum;
}

static double gpu_starved_seconds(const struct merit *figures)
{
    double sum = 0;

    for (size_t r = CLIENT_CPU + 1; r < CLIENT_RESOURCES; r++)
        sum += figures->sum.resources[r].starved;
    return sum;
}

static double idle_fraction(const struct merit *figures)
{
    return tally_idle_fraction(&figures->sum);
}

static double wasted_fraction(const struct merit *figures)
{
    return tally_wasted_fraction(&figures->sum);
}

static double lost_fraction(const struct merit *figures)
{
    return tally_lost_fraction(&figures->sum);
}

static double useful_fraction(const struct merit *figures)
{
    return figures->sum.flops_total > 0 ? 1 - idle_fraction(figures) - wasted_fraction(figures) : 0;
}

static double share_violation(const struct merit *figures)
{
    return figures->shared_flops > 0 ? figures->off_flops / figures->shared_flops : 0;
}

static double monotony(const struct merit *figures)
{
    return figures->shared_hosts > 0 ? figures->monotony / (double)figures->shared_hosts : 0;
}

static double rpcs_per_job(const struct merit *figures)
{
    return figures->sum.jobs > 0 ? (double)figures->sum.rpcs / (2 * (double)figures->sum.jobs) : 0;
}

static double rpcs_per_day(const struct merit *figures)
{
    double host_days = (double)figures->hosts * figures->days;

    return host_days > 0 ? (double)figures->sum.rpcs / host_days : 0;
}

#define COUNT_VALUE(name)                           \
    static double name(const struct merit *figures) \
    {                                               \
        return (double)figures->sum.name;           \
    }
TALLY_COUNTS(COUNT_VALUE)
#undef COUNT_VALUE

#define ROW(name, format, label)   \
    {                              \
#name, name, format, label \
    }
static const struct merit_figure table[] = {
    ROW(hosts, 0, "hosts"),
    ROW(days, AS_GIVEN, "days"),
    ROW(cpu_seconds, 0, "time of CPUs (s)"),
    ROW(gpu_seconds, 0, "time of GPUs (s)"),
    ROW(idle_fraction, 6, "idle (part of the crowd's speed)"),
    ROW(wasted_fraction, 6, "wasted (part of the crowd's speed)"),
    ROW(lost_fraction, 6, "lost (part of the crowd's speed)"),
    ROW(useful_fraction, 6, "useful (part of the crowd's speed)"),
    ROW(share_violation, 6, "share violation (0 to 2)"),
    ROW(monotony, 6, "monotony (0 to 1)"),
    ROW(rpcs_per_job, 4, "RPCs / (2 x jobs)"),
    ROW(rpcs_per_day, 4, "RPCs per host and day"),
    ROW(cpu_starved_seconds, 0, "starved time of CPUs (s)"),
    ROW(gpu_starved_seconds, 0, "starved time of GPUs (s)"),
    ROW(flops_total, 0, "operations that could be done"),
#define COUNT_ROW(name) {#name, name, 0, NULL},
    TALLY_COUNTS(COUNT_ROW)
#undef COUNT_ROW
};
#undef ROW

size_t merit_count(void)
{
    return sizeof(table) / sizeof(table[0]);
}

const struct merit_figure *merit_at(size_t which)
{
    return &table[which];
}

const struct merit_figure *merit_find(const char *name)
{
    for (size_t i = 0; i < merit_count(); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_value(const struct merit *figures, const struct merit_figure *figure,
                        struct buffer *buffer)
{
    char number[64];
    double value = figure->value(figures);

    /* No figure is below 0; what rounding leaves there would be printed as -0. */
    value = value > 0 ? value : 0;
    if (figure->digits == AS_GIVEN)
        snprintf(number, sizeof(number), "%.10g", value);
    else
        snprintf(number, sizeof(number), "%.*f", figure->digits, value);
    buffer_add(buffer, text_from(number));
}

void merit_write_json(const struct merit *figures, struct buffer *buffer)
{
    for (size_t i = 0; i < merit_count(); i++) {
        if (i > 0)
            buffer_add(buffer, i % FIGURES_A_LINE == 0 ? TEXT(",\n ") : TEXT(", "));
        buffer_print(buffer, "\"%s\": ", table[i].name);
        write_value(figures, &table[i], buffer);
    }
}

void merit_write_names(struct buffer *buffer)
{
    for (size_t i = 0; i < merit_count(); i++)
        buffer_print(buffer, "%s%s", i > 0 ? "," : "", table[i].name);
}

void merit_write_values(const struct merit *figures, struct buffer *buffer)
{
    for (size_t i = 0; i < merit_count(); i++) {
        if (i > 0)
            buffer_add(buffer, TEXT(","));
        write_value(figures, &table[i], buffer);
    }
}

/* --- projects -------------------------------------------------------------------------------- */

enum { CPU, GPU, FLOPS, AMOUNTS };
static const char *const names[AMOUNTS] = {"cpu", "gpu", "flops"};

void merit_add_project(struct merit_projects *sums, size_t project,
                       const struct tally_project *tally)
{
    struct merit_project *one;

    if (project >= CLIENT_PROJECTS_MAX)
        return;
    if (project >= sums->count)
        sums->count = project + 1;
    one = &sums->projects[project];
    one->cpu += tally->used[CLIENT_CPU];
    for (size_t r = CLIENT_CPU + 1; r < CLIENT_RESOURCES; r++)
        one->gpu += tally->used[r];
    one->flops += tally->flops_used;
}

static double amount(const struct merit_project *one, int kind)
{
    return kind == CPU ? one->cpu : kind == GPU ? one->gpu : one->flops;
}

static double fraction(const struct merit_projects *sums, size_t project, int kind)
{
    double sum = 0;

    for (size_t p = 0; p < sums->count; p++)
        sum += amount(&sums->projects[p], kind);
    return sum > 0 ? amount(&sums->projects[project], kind) / sum : 0;
}

static void write(const struct merit_projects *sums, bool has_names, bool has_values,
                  struct buffer *buffer)
{
    bool is_json = has_names && has_values;

    for (size_t p = 0; sums->count > 1 && p < sums->count; p++) {
        if (is_json)
            buffer_add_string(buffer, ",\n ");
        for (int kind = 0; kind < AMOUNTS; kind++) {
            if (!is_json || kind > 0)
                buffer_add_string(buffer, is_json ? ", " : ",");
            if (has_names)
                buffer_print(buffer, is_json ? "\"p%zu_%s_fraction\": " : "p%zu_%s_fraction", p + 1,
                             names[kind]);
            if (has_values)
                buffer_print(buffer, "%.6f", fraction(sums, p, kind));
        }
    }
}

void merit_write_project_names(const struct merit_projects *sums, struct buffer *buffer)
{
    write(sums, true, false, buffer);
}

void merit_write_project_values(const struct merit_projects *sums, struct buffer *buffer)
{
    write(sums, false, true, buffer);
}

void merit_write_project_json(const struct merit_projects *sums, struct buffer *buffer)
{
    write(sums, true, true, buffer);
}
