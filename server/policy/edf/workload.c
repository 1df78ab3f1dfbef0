/* SPDX-License-Identifier: Apache-2.0 */
/* From what a client says to the jobs of the simulation. Three generations of clients say it
 * differently (protocol(7) 2.15, policy(7) 8.1): before 6.11 a list without CPUs and coprocessors,
 * later one with them but only after it was asked for, and never a word of generic or Apple
 * coprocessors. What is missing of this project's own jobs comes from the database. A list that is
 * not there is no empty list: own jobs stand in for it, and what the client says of its busy
 * processors in all. */
#include "server/policy/edf/workload.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/sorted.h"
#include "server/parse/client_age.h"
#include "server/policy/edf/deadline.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { FILLERS_MAX = 4096 };

enum { JOB_COST = 50 /* units of the budget */ };

struct making {
    struct arena *arena;
    bool uses_list; /* of the client */
    const struct workload_sources *sources;
    struct edf_job *jobs;
    struct text *names;
    size_t count;
    const struct own_job **own; /* by name */
    struct text *listed;        /* this project's names by the client, sorted */
    size_t listed_count;        /* 0 where they are not asked about, or cost too much */
    struct text *aborted;       /* likewise */
};

bool workload_needs_own(const struct message *message, bool has_always_on_apps)
{
    bool tells_coprocs = message_client_version(message) >= CLIENT_LISTS_QUEUE_IF_ASKED;

    if (!message->has_ip_results)
        return true;
    if (message->ip_result_count == 0)
        return false;
    for (size_t i = 0; i < message->coproc_count; i++)
        if (!tells_coprocs || message->coprocs[i].is_generic ||
            text_is(message->coprocs[i].type, "apple_gpu"))
            return true;
    return has_always_on_apps;
}

/* --- names ----------------------------------------------------------------------------------- */

static int compare_own(const void *a, const void *b)
{
    const struct own_job *one = *(const struct own_job *const *)a;
    const struct own_job *other = *(const struct own_job *const *)b;

    return text_compare(one->name, other->name);
}

/* Where the list is not simulated, the names bind no more than the delay (longest_by_list), so a
 * job is not refused because they cost too much. */
static bool may_sort_listed(const struct making *making)
{
    const struct message *message = making->sources->message;

    return making->uses_list ||
           (message->ip_result_count > 0 &&
            budget_spend_half(
                making->sources->budget,
                budget_of_sorting_names(message->other_result_count + message->ip_result_count)));
}

static bool sort_names(struct making *making)
{
    const struct workload_sources *sources = making->sources;
    size_t listed_count = may_sort_listed(making) ? sources->message->other_result_count : 0;

    making->own = ARENA_ARRAY(making->arena, sources->own_count, const struct own_job *);
    making->listed = ARENA_ARRAY(making->arena, listed_count, struct text);
    making->aborted = ARENA_ARRAY(making->arena, sources->aborted_count, struct text);
    if (making->own == NULL || making->listed == NULL || making->aborted == NULL)
        return false;
    for (size_t i = 0; i < sources->own_count; i++)
        making->own[i] = &sources->own[i];
    for (size_t i = 0; i < listed_count; i++)
        making->listed[i] = sources->message->other_results[i].name;
    for (size_t i = 0; i < sources->aborted_count; i++)
        making->aborted[i] = sources->aborted[i];
    if (sources->own_count > 0)
        qsort(making->own, sources->own_count, sizeof(making->own[0]), compare_own);
    making->listed_count = listed_count;
    sorted_names(making->listed, listed_count);
    sorted_names(making->aborted, sources->aborted_count);
    return true;
}

static const struct own_job *own_by_name(const struct making *making, struct text name)
{
    const struct own_job key = {.name = name}, *key_at = &key;
    const struct own_job **found = NULL;

    if (making->sources->own_count > 0)
        found = bsearch(&key_at, making->own, making->sources->own_count, sizeof(making->own[0]),
                        compare_own);
    return found != NULL ? *found : NULL;
}

static bool is_ours(const struct making *making, struct text name)
{
    return sorted_has_name(making->listed, making->listed_count, name);
}

static bool is_aborted(const struct making *making, struct text name)
{
    return sorted_has_name(making->aborted, making->sources->aborted_count, name);
}

/* --- jobs ------------------------------------------------------------------------------------ */

static void add(struct making *making, const struct edf_job *job, struct text name)
{
    making->jobs[making->count] = *job;
    making->names[making->count++] = name;
}

/* What the list itself tells of coprocessors. */
static struct edf_job job_of_listed(const struct amounts *asked, const struct ip_result *listed)
{
    struct edf_job job = {.cpus = listed->avg_ncpus};
    const struct {
        double count;
        struct text type;
    } kinds[] = {{listed->ncudas, TEXT("NVIDIA")},
                 {listed->natis, TEXT("ATI")},
                 {listed->nintel_gpus, TEXT("intel_gpu")}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].count > 0) {
            job.resource = amounts_resource(asked, kinds[i].type);
            job.instances = kinds[i].count;
        }
    }
    return job;
}

static void add_listed(struct making *making, const struct ip_result *listed)
{
    const struct workload_sources *sources = making->sources;
    const struct own_job *own = own_by_name(making, listed->name);
    struct edf_job job = job_of_listed(sources->asked, listed);

    if ((own != NULL && own->is_always_on) || is_aborted(making, listed->name))
        return;
    if (own != NULL && own->job.resource != RESOURCE_CPU && job.resource == RESOURCE_CPU) {
        job.resource = own->job.resource;
        job.instances = own->job.instances;
        if (message_client_version(sources->message) < CLIENT_LISTS_QUEUE_IF_ASKED)
            job.cpus = own->job.cpus;
    }
    if (own != NULL)
        job.memory = own->job.memory;
    job.wall_time =
        listed->time_remaining /
        (job.resource == RESOURCE_CPU ? sources->availability.cpu : sources->availability.gpu);
    job.deadline = listed->has_report_deadline ? listed->report_deadline - sources->now : INFINITY;
    if (job.deadline >= -sources->ignore_overdue)
        add(making, &job, listed->name);
}

/* Own jobs in the place of a list; and processors busy for as long as the client says, where that
 * is longer. */
static void stand_in(struct making *making)
{
    const struct workload_sources *sources = making->sources;
    double busy[RESOURCES_MAX] = {0}; /* instance-seconds */

    for (size_t i = 0; i < sources->own_count; i++) {
        const struct own_job *own = &sources->own[i];
        if (own->is_always_on || is_aborted(making, own->name) ||
            own->job.deadline < -sources->ignore_overdue)
            continue;
        add(making, &own->job, own->name);
        if (own->job.resource < sources->asked->resource_count)
            busy[own->job.resource] +=
                own->job.wall_time *
                (own->job.resource == RESOURCE_CPU ? own->job.cpus : own->job.instances);
    }
    for (size_t i = 0; i < sources->asked->resource_count; i++) {
        const struct resource *resource = &sources->asked->resources[i];
        double count = fmin(fmax(floor(resource->count), 1), FILLERS_MAX);
        struct edf_job filler = {.wall_time = resource->estimated_delay - busy[i] / count,
                                 .deadline = -INFINITY,
                                 .resource = i,
                                 .cpus = i == RESOURCE_CPU ? 1 : 0,
                                 .instances = 1};

        for (size_t j = 0; j < (size_t)count && filler.wall_time > 0; j++)
            add(making, &filler, NO_TEXT);
    }
}

static size_t room_for(const struct making *making)
{
    const struct workload_sources *sources = making->sources;
    size_t room = sources->own_count + sources->resent_count;

    if (making->uses_list)
        room += sources->message->ip_result_count;

    for (size_t i = 0; i < sources->asked->resource_count; i++)
        room += (size_t)fmin(fmax(sources->asked->resources[i].count, 0) + 1, FILLERS_MAX);
    return room;
}

/* What it costs to make so many jobs: names are sorted, and each job is looked for among them. */
static uint64_t cost_of(const struct making *making, size_t room)
{
    const struct workload_sources *sources = making->sources;
    size_t named = sources->own_count + sources->aborted_count;

    if (making->uses_list)
        named += sources->message->other_result_count;
    return room * JOB_COST + budget_of_sorting_names(named) +
           budget_of_searching_names(room, named);
}

static bool is_own(const struct making *making, size_t index)
{
    const struct workload_sources *sources = making->sources;

    return index >= making->count - sources->resent_count ||
           (!making->uses_list && making->names[index].length > 0) ||
           is_ours(making, making->names[index]) ||
           own_by_name(making, making->names[index]) != NULL;
}

/* What this project's listed jobs allow where the list is not simulated: each is taken to be done
 * after its own remaining time. */
static double longest_by_list(const struct making *making)
{
    const struct workload_sources *sources = making->sources;
    double longest = DEADLINE_RETRY_MAX;

    for (size_t i = 0; i < sources->message->ip_result_count; i++) {
        const struct ip_result *job = &sources->message->ip_results[i];

        if (job->has_report_deadline && is_ours(making, job->name))
            longest = fmin(longest,
                           deadline_allows_delay(job->report_deadline - sources->now,
                                                 job->time_remaining / sources->availability.cpu));
    }
    return longest;
}

/* The longest delay that makes none of this project's jobs late. */
static double longest_delay(const struct making *making, const double *finishes)
{
    double longest = making->uses_list ? DEADLINE_RETRY_MAX : longest_by_list(making);

    for (size_t i = 0; i < making->count; i++)
        if (is_own(making, i))
            longest = fmin(longest, deadline_allows_delay(making->jobs[i].deadline, finishes[i]));
    return longest;
}

/* A job that never runs, for lack of its coprocessor, occupies nothing. */
static void count_occupied(const struct making *making, double ret_occupied[RESOURCES_MAX])
{
    for (size_t i = 0; i < making->count; i++) {
        const struct edf_job *job = &making->jobs[i];
        struct amount_use use = {.resource = job->resource,
                                 .instances =
                                     job->resource == RESOURCE_CPU ? job->cpus : job->instances,
                                 .cpus = job->cpus};

        if (job->resource < making->sources->asked->resource_count)
            amounts_occupy(ret_occupied, &use);
    }
}

static bool list_jobs(struct making *making)
{
    const struct workload_sources *sources = making->sources;

    if (!sort_names(making))
        return false;
    for (size_t i = 0; i < sources->message->ip_result_count && making->uses_list; i++)
        add_listed(making, &sources->message->ip_results[i]);
    if (!making->uses_list)
        stand_in(making);
    for (size_t i = 0; i < sources->resent_count; i++)
        add(making, &sources->resent[i], NO_TEXT);
    return true;
}

struct workload *workload_make(struct arena *arena, const struct workload_sources *sources)
{
    struct making making = {.arena = arena,
                            .sources = sources,
                            .uses_list =
                                sources->message->has_ip_results && !sources->ignores_list};
    struct workload *workload = ARENA_NEW(arena, struct workload);
    struct edf_host host = {.resource_count = sources->asked->resource_count};
    size_t room = room_for(&making);
    double *finishes;
    /* Without a budget, the simulation too says of every job that the queue is too large. */
    bool is_listed = budget_spend(sources->budget, cost_of(&making, room));

    making.jobs = ARENA_ARRAY(arena, room, struct edf_job);
    making.names = ARENA_ARRAY(arena, room, struct text);
    if (workload == NULL || making.jobs == NULL || making.names == NULL ||
        (is_listed && !list_jobs(&making)))
        return NULL;
    if (making.count <= WORKLOAD_MEMORY_MAX)
        host.memory = sources->memory;
    for (size_t i = 0; i < host.resource_count; i++)
        host.counts[i] = sources->asked->resources[i].count;
    *workload = (struct workload){
        .edf =
            edf_create(arena, &host, making.jobs, making.count, sources->jobs_max, sources->budget),
        .jobs = making.jobs,
        .names = making.names,
        .count = is_listed ? making.count : sources->message->ip_result_count,
        .connection_period = sources->connection_period,
    };
    for (size_t i = 0; i < RESOURCES_MAX; i++)
        workload->occupied[i] = is_listed ? 0 : INFINITY;
    count_occupied(&making, workload->occupied);
    finishes = ARENA_ARRAY(arena, making.count, double);
    if (workload->edf == NULL || finishes == NULL)
        return NULL;
    edf_finishes(workload->edf, finishes, making.count);
    workload->first_done = edf_first_done(workload->edf);
    workload->longest_delay = is_listed ? longest_delay(&making, finishes) : DEADLINE_RETRY_MAX;
    return workload;
}

/* --- questions ------------------------------------------------------------------------------- */

double workload_time(const struct amount_use *use, const struct availability *stretch)
{
    return use->wall_time * (use->resource == RESOURCE_CPU ? stretch->cpu : stretch->gpu);
}

struct edf_job workload_job(const struct amount_use *use, const struct availability *stretch,
                            double deadline, double memory)
{
    return (struct edf_job){.wall_time = workload_time(use, stretch),
                            .deadline = deadline,
                            .resource = use->resource,
                            .cpus = use->cpus,
                            .instances = use->resource == RESOURCE_CPU ? 0 : use->instances,
                            .memory = memory};
}

enum workload_answer workload_try(struct workload *workload, const struct edf_job *job,
                                  bool skips_connection, struct edf_reason *ret_reason)
{
    *ret_reason = (struct edf_reason){0};
    if (!skips_connection && job->deadline < workload->connection_period)
        return WORKLOAD_CONNECTION;
    switch (edf_try(workload->edf, job, ret_reason)) {
    case EDF_IN_TIME:
        return WORKLOAD_IN_TIME;
    case EDF_DELAYS:
        return WORKLOAD_DELAYS;
    case EDF_TOO_LARGE:
        return WORKLOAD_UNKNOWN;
    case EDF_LATE:
        break;
    }
    return WORKLOAD_LATE;
}

double workload_retry_longest(const struct workload *workload)
{
    return workload->longest_delay;
}

double workload_retry_delay(const struct workload *workload)
{
    return fmin(fmax(workload->first_done, DEADLINE_RETRY_MIN), workload->longest_delay);
}
