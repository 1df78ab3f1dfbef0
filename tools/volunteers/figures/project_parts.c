/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/volunteers/figures/project_parts.h"

#include "server/base/buffer.h"
#include "tools/volunteers/host/host_tally.h"

#include <stdbool.h>

#include "server/base/banned.h"

enum { CPU, GPU, FLOPS, KINDS };
static const char *const names[KINDS] = {"cpu", "gpu", "flops"};

void parts_add(struct parts *parts, size_t project, const struct tally_project *tally)
{
    struct part *part;

    if (project >= PARTS_PROJECTS_MAX)
        return;
    if (project >= parts->count)
        parts->count = project + 1;
    part = &parts->projects[project];
    part->cpu += tally->used[TALLY_CPU];
    for (size_t r = TALLY_CPU + 1; r < TALLY_RESOURCES; r++)
        part->gpu += tally->used[r];
    part->flops += tally->flops_used;
}

static double amount(const struct part *part, int kind)
{
    return kind == CPU ? part->cpu : kind == GPU ? part->gpu : part->flops;
}

static double fraction(const struct parts *parts, size_t project, int kind)
{
    double sum = 0;

    for (size_t p = 0; p < parts->count; p++)
        sum += amount(&parts->projects[p], kind);
    return sum > 0 ? amount(&parts->projects[project], kind) / sum : 0;
}

static void write(const struct parts *parts, bool has_names, bool has_values, struct buffer *buffer)
{
    bool is_json = has_names && has_values;

    for (size_t p = 0; parts->count > 1 && p < parts->count; p++) {
        if (is_json)
            buffer_add_string(buffer, ",\n ");
        for (int kind = 0; kind < KINDS; kind++) {
            if (!is_json || kind > 0)
                buffer_add_string(buffer, is_json ? ", " : ",");
            if (has_names)
                buffer_print(buffer, is_json ? "\"p%zu_%s_fraction\": " : "p%zu_%s_fraction", p + 1,
                             names[kind]);
            if (has_values)
                buffer_print(buffer, "%.6f", fraction(parts, p, kind));
        }
    }
}

void parts_write_names(const struct parts *parts, struct buffer *buffer)
{
    write(parts, true, false, buffer);
}

void parts_write_values(const struct parts *parts, struct buffer *buffer)
{
    write(parts, false, true, buffer);
}

void parts_write_json(const struct parts *parts, struct buffer *buffer)
{
    write(parts, true, true, buffer);
}
