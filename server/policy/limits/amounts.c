/* SPDX-License-Identifier: Apache-2.0 */
/* The amounts of a request. Whether it is counted per resource or as one number is decided by the
 * presence of any per-resource element, never by the scalar, which present-day clients fill with
 * the CPU request. Instances count by themselves: a client with an idle processor and a full
 * buffer wants a job. Everything that a client may have got wrong is bounded here, once. */
#include "server/policy/limits/amounts.h"

#include "server/base/between.h"

#include "server/base/banned.h"

#define SECONDS_MAX 2419200.0 /* 28 days */
#define COUNT_MAX   4096.0
#define DELAY_MAX   31536000.0 /* a year: no job can wait longer anyway */
#define SHARE_MIN   1e-6
/* Less than this is what rounding leaves of a request that was served; no request is smaller. */
#define NOTHING_LEFT 1e-6
#define REQUEST_MIN  1e-3

static double positive(double value, double high)
{
    return value > 0 ? between(value, REQUEST_MIN, high) : 0;
}

bool message_wants_work(const struct message *message)
{
    if (message->dont_send_work)
        return false;
    if (!message->has_resource_request)
        return message->work_req_seconds > 0;
    if (message->cpu_req_seconds > 0 || message->cpu_req_instances > 0)
        return true;
    for (size_t i = 0; i < message->coproc_count; i++) {
        const struct coproc *coproc = &message->coprocs[i];
        if (coproc->count > 0 && (coproc->req_seconds > 0 || coproc->req_instances > 0))
            return true;
    }
    return false;
}

size_t amounts_resource(const struct amounts *amounts, struct text type)
{
    if (type.length == 0)
        return RESOURCE_CPU;
    for (size_t i = 1; i < amounts->resource_count; i++)
        if (text_equal(amounts->resources[i].type, type))
            return i;
    return amounts->resource_count;
}

static void add_coproc(const struct message *message, const struct coproc *coproc,
                       struct amounts *amounts)
{
    size_t at = amounts_resource(amounts, coproc->type);
    struct resource *resource = &amounts->resources[at];

    /* A generic coprocessor named after the CPU would be taken for it. */
    if (!(coproc->count > 0) || coproc->type.length == 0 || text_is(coproc->type, "CPU") ||
        at >= RESOURCES_MAX)
        return;
    if (at == amounts->resource_count) {
        *resource = (struct resource){.type = coproc->type};
        amounts->resource_count++;
    }
    resource->count = between(resource->count + coproc->count, 0, COUNT_MAX);
    resource->seconds += positive(coproc->req_seconds, SECONDS_MAX);
    resource->instances = between(resource->instances + positive(coproc->req_instances, COUNT_MAX),
                                  0, resource->count);
    resource->tells_idle = resource->tells_idle || coproc->has_req_instances;
    resource->estimated_delay =
        between(coproc->has_estimated_delay ? coproc->estimated_delay : message->estimated_delay, 0,
                DELAY_MAX);
}

void amounts_read(const struct message *message, struct cpus cpus, bool share_in_scalar,
                  struct amounts *ret_amounts)
{
    struct amounts *amounts = ret_amounts;

    *amounts = (struct amounts){.resource_count = 1, .our_cpus = cpus.ours, .share = 1};
    amounts->resources[RESOURCE_CPU] = (struct resource){
        .type = TEXT("CPU"),
        .count = cpus.usable,
        .seconds = positive(message->cpu_req_seconds, SECONDS_MAX),
        .instances = positive(message->cpu_req_instances, cpus.usable),
        .tells_idle = message->has_cpu_req_instances,
        .estimated_delay = between(message->estimated_delay, 0, DELAY_MAX),
    };
    for (size_t i = 0; i < message->coproc_count; i++)
        add_coproc(message, &message->coprocs[i], amounts);

    if (!message->has_resource_request) {
        amounts->is_scalar = true;
        amounts->scalar_seconds = positive(message->work_req_seconds, SECONDS_MAX);
        if (share_in_scalar)
            amounts->share = between(message->has_prrs_fraction ? message->prrs_fraction
                                                                : message->resource_share_fraction,
                                     SHARE_MIN, 1);
    }
    if (message->dont_send_work) {
        amounts->scalar_seconds = 0;
        for (size_t i = 0; i < amounts->resource_count; i++)
            amounts->resources[i].seconds = amounts->resources[i].instances = 0;
    }
}

bool amounts_wants(const struct amounts *amounts, size_t resource)
{
    if (resource >= amounts->resource_count)
        return false;
    if (amounts->is_scalar)
        return amounts->scalar_seconds > NOTHING_LEFT;
    return amounts->resources[resource].seconds > NOTHING_LEFT ||
           amounts->resources[resource].instances > NOTHING_LEFT;
}

bool amounts_wants_instances(const struct amounts *amounts, size_t resource)
{
    return amounts->resources[resource].instances > NOTHING_LEFT;
}

bool amounts_fits(const struct amounts *amounts, const struct amount_use *use)
{
    if (amounts->is_scalar)
        return use->wall_time / amounts->share <= amounts->scalar_seconds + NOTHING_LEFT;
    return use->wall_time * use->instances <=
           amounts->resources[use->resource].seconds + NOTHING_LEFT;
}

void amounts_take(struct amounts *amounts, const struct amount_use *use)
{
    struct resource *resource = &amounts->resources[use->resource];

    if (amounts->is_scalar) {
        amounts->scalar_seconds -= use->wall_time / amounts->share;
        return;
    }
    resource->seconds -= use->wall_time * use->instances;
    resource->instances -= use->instances;
    if (use->resource != RESOURCE_CPU && use->cpus >= 1) {
        amounts->resources[RESOURCE_CPU].seconds -= use->wall_time * use->cpus;
        amounts->resources[RESOURCE_CPU].instances -= use->cpus;
    }
}

void amounts_occupy(double occupied[RESOURCES_MAX], const struct amount_use *use)
{
    occupied[use->resource] += use->instances;
    if (use->resource != RESOURCE_CPU && use->cpus >= 1)
        occupied[RESOURCE_CPU] += use->cpus;
}
