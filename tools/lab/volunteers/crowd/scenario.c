/* SPDX-License-Identifier: Apache-2.0 */
/* Each name is a row of a table below, with its range. The last line of a name counts, so that
 * lines may be appended to a file of somebody else. */
#include "tools/lab/volunteers/crowd/scenario.h"

#include "tools/lab/volunteers/host/habits.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define OF(field) offsetof(struct scenario, field)
enum { NAME_SHOWN_MAX = 40 };

static const struct scenario_row {
    const char *name;
    size_t offset;
    double least, most;
} rows[] = {
    {"hosts", OF(hosts), 1, 1e6},
    {"days", OF(days), 0, 36500},
    {"seed", OF(seed), 0, 1e15},
    {"begin", OF(begin), 1e9, 4e9},
    {"arrival_days", OF(arrival_days), 0, 36500},
    {"sample_hours", OF(sample_hours), 0.01, 1e6},
    {"rpc_minutes", OF(rpc_minutes), 1, 1e6},
    {"transition_hours", OF(transition_hours), 0.01, 1e6},
    {"outage_begin_days", OF(outage_begin_days), 0, 36500},
    {"outage_hours", OF(outage_hours), 0, 1e6},
    {"window", OF(window), 0, 86400},
    {"cpus_min", OF(cpus_min), 1, 1024},
    {"cpus_max", OF(cpus_max), 1, 1024},
    {"always_on", OF(always_on), 0, 1},
    {"cpus_percent", OF(population.cpus_percent), 1, 100},
    {"leave_in_memory", OF(leave_in_memory), 0, 1},
    {"sleeps", OF(sleeps), 0, 1},
    {"drops_unstarted", OF(drops_unstarted), 0, 1},
    {"flops_mean", OF(population.flops_mean), 1, 1e18},
    {"flops_min", OF(population.flops_min), 1, 1e18},
    {"flops_max", OF(population.flops_max), 1, 1e18},
    {"on_shape", OF(population.on_shape), 0.05, 100},
    {"on_scale", OF(population.on_scale), 1, 1e9},
    {"off_mu", OF(population.off_mu), -100, 100},
    {"off_sigma", OF(population.off_sigma), 0, 20},
    {"off_max", OF(population.off_max), 1, 1e9},
    {"presence_sigma", OF(population.presence_sigma), 0, 5},
    {"office_part", OF(population.office_part), 0, 1},
    {"history_days", OF(population.history_days), 0, 36500},
    {"error_rate", OF(population.error_rate), 0, 1},
    {"abandon_rate", OF(population.abandon_rate), 0, 1},
    {"estimate_sigma", OF(population.estimate_sigma), 0, 5},
    {"workunit_sigma", OF(population.workunit_sigma), 0, 5},
    {"host_sigma", OF(population.host_sigma), 0, 5},
    {"memory_per_cpu", OF(population.memory_per_cpu), 1, 1e15},
    {"disk_min", OF(population.disk_min), 0, 1e18},
    {"disk_max", OF(population.disk_max), 0, 1e18},
    {"buffer_min_days", OF(population.buffer_min_days), 0, 100},
    {"buffer_max_days", OF(population.buffer_max_days), 0, 100},
    {"buffer_extra_days", OF(population.buffer_extra_days), 0, 100},
    {"gpu_nvidia", OF(population.gpu_parts[0]), 0, 1},
    {"gpu_ati", OF(population.gpu_parts[1]), 0, 1},
    {"gpu_intel", OF(population.gpu_parts[2]), 0, 1},
    {"gpu_count_max", OF(population.gpu_count_max), 1, 64},
    {"gpu_speed_min", OF(population.gpu_speed_min), 1e-3, 1e9},
    {"gpu_speed_max", OF(population.gpu_speed_max), 1e-3, 1e9},
    {"gpu_efficiency", OF(population.gpu_efficiency), 1e-6, 1},
    {"windows_part", OF(population.windows_part), 0, 1},
    {"containers_part", OF(population.containers_part), 0, 1},
    {"wsl_gpu_part", OF(population.wsl_gpu_part), 0, 1},
    {"projects_min", OF(population.projects_min), 1, CLIENT_PROJECTS_MAX},
    {"projects_max", OF(population.projects_max), 1, CLIENT_PROJECTS_MAX},
    {"share_min", OF(population.share_min), 1e-3, 1e9},
    {"share_max", OF(population.share_max), 1e-3, 1e9},
    {"later_shares_days", OF(population.later_shares_days), 0, 36500},
    {"job_bytes_min", OF(population.job_bytes_min), 0, 1e15},
    {"job_bytes_max", OF(population.job_bytes_max), 0, 1e15},
    {"job_sticky", OF(population.job_sticky), 0, 1},
    {"disk_swing", OF(population.disk_swing), 0, 1},
    {"network_min", OF(population.network_min), 0, 1e12},
    {"network_max", OF(population.network_max), 0, 1e12},
    {"leave_days", OF(population.leave_days), 0, 36500},
    {"period", OF(population.period), 60, 86400},
    {"checkpoint", OF(population.checkpoint), 1, 86400},
    {"restart", OF(population.restart), 0, 86400},
    {"oracle_operations", OF(oracle_operations), 0, 1e30},
    {"oracle_batch_jobs", OF(oracle_batch_jobs), 0, 1e9},
    {"oracle_batch_days", OF(oracle_batch_days), 0, 36500},
};

/* Rows that must be whole numbers: counts, and yes or no. */
static const char *const wholes[] = {"hosts",         "seed",
                                     "cpus_min",      "cpus_max",
                                     "always_on",     "leave_in_memory",
                                     "sleeps",        "drops_unstarted",
                                     "gpu_count_max", "projects_min",
                                     "projects_max",  "oracle_batch_jobs"};

/* Ends of one range. (cpus_min may be above cpus_max: then all hosts have cpus_min.) */
static const struct {
    const char *least, *most;
} ranges[] = {
    {"flops_min", "flops_max"},
    {"disk_min", "disk_max"},
    {"buffer_min_days", "buffer_max_days"},
    {"gpu_speed_min", "gpu_speed_max"},
    {"projects_min", "projects_max"},
    {"share_min", "share_max"},
    {"job_bytes_min", "job_bytes_max"},
};

/* A number for each project of the crowd, by their order, and the deadlines of the oracle. */
static const struct scenario_list {
    const char *name;
    size_t offset, count_offset;
    double least, most;
} lists[] = {
    {"shares", OF(population.shares), OF(population.share_count), 0, 1e9},
    {"later_shares", OF(population.later_shares), OF(population.later_share_count), 0, 1e9},
    {"attach_days", OF(population.attach_days), OF(population.attach_count), 0, 36500},
    {"oracle_bounds", OF(oracle_bounds), OF(oracle_bound_count), 1, 1e9},
    {"file_scales", OF(population.file_scales), OF(population.file_scale_count), 0, 1e9},
};

/* What clients do: each is a word of a table in host/habits.h. */
static const size_t habits[HABITS] = {
    [HABIT_RUN] = OF(population.habits.run),
    [HABIT_FETCH] = OF(population.habits.fetch),
    [HABIT_ESTIMATE] = OF(population.habits.estimate),
    [HABIT_REQUEST] = OF(population.habits.request),
    [HABIT_DISK] = OF(population.habits.disk),
};

static enum status set_habit(struct scenario *scenario, const struct habit_table *table,
                             size_t offset, struct text value, int line, struct failure *failure)
{
    size_t index = habit_find(table, text_trim(value));
    char words[128] = "";
    size_t length = 0;

    if (index < table->count) {
        *(size_t *)(void *)((char *)scenario + offset) = index;
        return STATUS_OK;
    }
    for (size_t i = 0; i < table->count && length < sizeof(words); i++)
        length += (size_t)snprintf(words + length, sizeof(words) - length, "%s%s",
                                   i > 0 ? ", " : "", habit_word(table, i));
    return fail(failure, STATUS_INVALID, "line %d: %s is one of %s", line, table->name, words);
}

/* Returns what is before the first blank, and leaves the rest. */
static struct text first_word(struct text *rest)
{
    size_t length = 0;
    struct text word;

    while (length < rest->length && rest->at[length] != ' ' && rest->at[length] != '\t')
        length++;
    word = text_first(*rest, length);
    *rest = length < rest->length
                ? (struct text){.at = rest->at + length, .length = rest->length - length}
                : NO_TEXT;
    return word;
}

static enum status set_list(struct scenario *scenario, const struct scenario_list *list,
                            struct text value, int line, struct failure *failure)
{
    double *items = (double *)(void *)((char *)scenario + list->offset);
    size_t *count = (size_t *)(void *)((char *)scenario + list->count_offset);

    *count = 0;
    for (value = text_trim(value); value.length > 0; value = text_trim(value)) {
        double number;

        if (*count == CLIENT_PROJECTS_MAX || !text_to_real(first_word(&value), &number) ||
            number < list->least || number > list->most)
            return fail(failure, STATUS_INVALID, "line %d: %s are up to %d numbers from %g to %g",
                        line, list->name, CLIENT_PROJECTS_MAX, list->least, list->most);
        items[(*count)++] = number;
    }
    return STATUS_OK;
}

static bool is_whole(const char *name)
{
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
        if (strcmp(wholes[i], name) == 0)
            return true;
    return false;
}

static enum status set(struct scenario *scenario, struct text name, struct text value, int line,
                       struct failure *failure)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double number;

        if (!text_is(name, rows[i].name))
            continue;
        if (!text_to_real(value, &number) || number < rows[i].least || number > rows[i].most ||
            (is_whole(rows[i].name) && number != floor(number)))
            return fail(failure, STATUS_INVALID, "line %d: %s is a %snumber from %g to %g", line,
                        rows[i].name, is_whole(rows[i].name) ? "whole " : "", rows[i].least,
                        rows[i].most);
        *(double *)(void *)((char *)scenario + rows[i].offset) = number;
        return STATUS_OK;
    }
    for (size_t i = 0; i < HABITS; i++)
        if (text_is(name, habit_tables[i].name))
            return set_habit(scenario, &habit_tables[i], habits[i], value, line, failure);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (text_is(name, lists[i].name))
            return set_list(scenario, &lists[i], value, line, failure);
    return fail(failure, STATUS_INVALID, "line %d: there is no \"" TEXT_FORMAT "\"", line,
                TEXT_ARG(text_first(name, NAME_SHOWN_MAX)));
}

static double value_of(const struct scenario *scenario, const char *name)
{
    size_t i = 0;

    while (strcmp(rows[i].name, name) != 0)
        must(++i < sizeof(rows) / sizeof(rows[0]));
    return *(const double *)(const void *)((const char *)scenario + rows[i].offset);
}

/* Checked at the end of the file, because one end of a range may keep its default. */
static enum status check_ranges(const struct scenario *scenario, struct failure *failure)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        double least = value_of(scenario, ranges[i].least);
        double most = value_of(scenario, ranges[i].most);

        if (least > most)
            return fail(failure, STATUS_INVALID, "%s (%g) is above %s (%g)", ranges[i].least, least,
                        ranges[i].most, most);
    }
    return STATUS_OK;
}

double scenario_arrival(const struct scenario *scenario, size_t host)
{
    return scenario->begin +
           scenario->arrival_days * 86400 * (double)host / fmax(scenario->hosts, 1);
}

bool scenario_is_out(const struct scenario *scenario, double time)
{
    double begin = scenario->begin + scenario->outage_begin_days * 86400;

    return time >= begin && time < begin + scenario->outage_hours * 3600;
}

enum status scenario_read(struct text file, struct scenario *ret_scenario, struct failure *failure)
{
    struct scenario scenario = {.hosts = 10,
                                .days = 10,
                                .seed = 1,
                                .begin = 1767225600, /* 2026-01-01 */
                                .sample_hours = 24,
                                .rpc_minutes = 60,
                                .transition_hours = 6,
                                .window = 60,
                                .population = population_measured()};
    enum status status;
    int line = 0;

    scenario.cpus_min = (double)scenario.population.cpus_min;
    scenario.cpus_max = (double)scenario.population.cpus_max;
    while (file.length > 0) {
        struct text rest = text_split(&file, '\n');
        struct text words = text_trim(text_split(&rest, '#'));
        struct text name = first_word(&words);

        line++;
        if (name.length == 0)
            continue;
        status = set(&scenario, name, words, line, failure);
        if (status != STATUS_OK)
            return status;
    }
    status = check_ranges(&scenario, failure);
    if (status != STATUS_OK)
        return status;
    if ((scenario.oracle_operations > 0) != (scenario.oracle_bound_count > 0))
        return fail(failure, STATUS_INVALID, "oracle_operations and oracle_bounds go together");
    scenario.population.cpus_min = (int64_t)scenario.cpus_min;
    scenario.population.cpus_max = (int64_t)scenario.cpus_max;
    scenario.population.always_on = scenario.always_on > 0;
    scenario.population.leave_in_memory = scenario.leave_in_memory > 0;
    scenario.population.sleeps = scenario.sleeps > 0;
    scenario.population.drops_unstarted = scenario.drops_unstarted > 0;
    *ret_scenario = scenario;
    return STATUS_OK;
}
