/* SPDX-License-Identifier: Apache-2.0 */
/* The workload is two lists in order of precedence, coprocessor jobs and CPU jobs, each job with
 * the time until which it may end. A new job disturbs only those behind its place, so loads are
 * kept for every so many places; a question is answered from the nearest one before: lay the new
 * job, then those behind it, and stop at the first that ends too late. What makes it fast beyond
 * that:
 *
 * - Where all CPU jobs take one CPU and coprocessor jobs leave them the CPUs, a new job makes no
 *   other later by more than its own length. If all behind it have that much to spare, none is
 *   looked at.
 * - Coprocessor jobs that leave as many whole CPUs as before leave the CPU jobs as they are.
 * - Jobs refused are remembered; where what is added only makes things worse, anything that is not
 *   easier is refused without a look, until the workload is reset.
 *
 * The work spent on one request is bounded: when it is used up, nothing more is accepted. */
#include "server/policy/edf.h"

#include "server/base/arena.h"
#include "server/policy/edf_load.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define US            1e6  /* in a second */
#define WALL_TIME_MAX 1e9  /* s */
#define DEADLINE_MAX  1e12 /* s */
#define INSTANCES_MAX 1e5
#define CHOSEN_SPARE  1e3       /* us that a new job may end after its deadline */
#define LISTED_SPARE  1e6       /* us by which a listed job may become later */
#define STEPS_MAX     20000000  /* of laying, each some nanoseconds */
#define LEAST_UNKNOWN INT64_MAX /* no such job was laid */

enum {
    SAVED_MAX = 64,   /* loads kept of a group */
    PLACES_MIN = 8,   /* between two of them */
    REFUSED_MAX = 32, /* remembered */
    NOT_LISTED = -1
};

struct entry {
    struct edf_need need;
    double deadline, finish, limit; /* us; limit: until when it may end */
    ptrdiff_t listed;               /* index, or NOT_LISTED */
};

enum { COPROCS, CPUS, GROUPS };
struct group {
    struct entry *entries, *baseline;
    size_t count, baseline_count;
    double *spare;     /* by place: the least that this job or one behind it has left, us */
    ptrdiff_t *before; /* by place: that of the longest listed job up to it, or NOT_LISTED */
    struct edf_load saved[SAVED_MAX + 2]; /* before the places 0, places, 2 * places, ... */
    size_t saved_room[SAVED_MAX + 2];
};

struct refused {
    struct edf_need need;
    double deadline;
    size_t place;
    uint64_t generation;
    bool is_dealt; /* see is_monotone */
    enum edf_verdict verdict;
    struct edf_reason reason;
};

struct edf {
    struct arena *arena;
    struct edf_capacity capacity;
    size_t resource_count;
    const struct edf_job *listed;
    struct group groups[GROUPS];
    size_t room, places;     /* most entries of a group; places between saved loads */
    bool is_plain, is_whole; /* CPU jobs: all take one CPU; all take whole CPUs */
    bool is_lost;            /* no memory, or the workload is beyond the bound */
    struct edf_load work;    /* scratch */
    struct edf_load coprocs; /* of all coprocessor jobs */
    struct refused refused[REFUSED_MAX];
    size_t refused_count, refused_next;
    uint64_t generation; /* how many jobs were taken */
    uint64_t steps;
};

/* --- numbers --------------------------------------------------------------------------------- */

static double between(double value, double low, double high)
{
    if (!(value >= low)) /* NaN too */
        return low;
    return value > high ? high : value;
}

static int64_t millionths(double value)
{
    return (int64_t)round(between(value, 0, INSTANCES_MAX) * EDF_UNIT);
}

static bool can_run(const struct edf *edf, const struct edf_job *job)
{
    return job->resource == RESOURCE_CPU ||
           (job->resource < edf->resource_count && edf->capacity.counts[job->resource - 1] > 0);
}

static struct entry entry_of(const struct edf *edf, const struct edf_job *job)
{
    const struct edf_capacity *capacity = &edf->capacity;
    struct entry entry = {
        .need = {.wall_time = round(between(job->wall_time, 0, WALL_TIME_MAX) * US),
                 .cpus = millionths(job->cpus),
                 .type = job->resource},
        .deadline = isinf(job->deadline) && job->deadline > 0
                        ? INFINITY
                        : round(between(job->deadline, -DEADLINE_MAX, DEADLINE_MAX) * US),
        .listed = NOT_LISTED,
    };

    if (entry.need.cpus > capacity->cpus)
        entry.need.cpus = capacity->cpus;
    if (job->resource != RESOURCE_CPU) {
        entry.need.count = millionths(job->instances);
        if (entry.need.count > capacity->counts[job->resource - 1])
            entry.need.count = capacity->counts[job->resource - 1];
    }
    entry.limit = entry.deadline + CHOSEN_SPARE;
    return entry;
}

static struct group *group_of(struct edf *edf, const struct entry *entry)
{
    return &edf->groups[entry->need.type == RESOURCE_CPU ? CPUS : COPROCS];
}

/* Behind all jobs of the same or an earlier deadline. */
static size_t place_of(const struct group *group, double deadline)
{
    size_t low = 0, high = group->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->entries[middle].deadline <= deadline)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- loads ----------------------------------------------------------------------------------- */

static bool load_alloc(struct edf *edf, struct edf_load *load, size_t segments, size_t types)
{
    size_t cpus = (size_t)(edf->capacity.cpus / EDF_UNIT);

    load->free_at = ARENA_ARRAY(edf->arena, cpus, double);
    load->segments = ARENA_ARRAY(edf->arena, segments, struct edf_segment);
    load->used = ARENA_ARRAY(edf->arena, segments * types, int64_t);
    return load->free_at != NULL && load->segments != NULL && load->used != NULL;
}

static bool save(struct edf *edf, struct group *group, size_t index)
{
    struct edf_load *saved = &group->saved[index];

    if (group->saved_room[index] == 0 ||
        (!edf->work.is_plain && edf->work.count > group->saved_room[index])) {
        group->saved_room[index] = edf->work.is_plain ? 1 : edf->work.count * 2 + 8;
        if (!load_alloc(edf, saved, group->saved_room[index],
                        group == &edf->groups[COPROCS] ? edf->capacity.types : 0))
            return false;
    }
    edf_load_copy(saved, &edf->work);
    return true;
}

/* Makes of a load of all coprocessor jobs the one that CPU jobs are laid onto. */
static void begin_cpu_jobs(const struct edf *edf, struct edf_load *load)
{
    load->types = 0;
    load->full_until[RESOURCE_CPU] = 0;
    if (edf->is_plain && edf_load_leaves_all(load, &edf->capacity)) {
        load->is_plain = true;
        edf_load_clear(load, &edf->capacity);
    }
}

/* --- simulating ------------------------------------------------------------------------------ */

static double lay(struct edf *edf, const struct entry *entry)
{
    return edf_load_add(&edf->work, &edf->capacity, &entry->need, &edf->steps);
}

/* The load before a place, into `work`. */
static void work_before(struct edf *edf, const struct group *group, size_t place)
{
    size_t index = place / edf->places;

    edf_load_copy(&edf->work, &group->saved[index]);
    for (size_t i = index * edf->places; i < place; i++)
        (void)lay(edf, &group->entries[i]);
}

/* What short cuts and explanations need to know by place. */
static void survey(struct group *group)
{
    ptrdiff_t longest = NOT_LISTED;

    for (size_t i = 0; i < group->count; i++) {
        const struct entry *entry = &group->entries[i];
        if (entry->listed != NOT_LISTED &&
            (longest == NOT_LISTED ||
             entry->need.wall_time > group->entries[longest].need.wall_time))
            longest = (ptrdiff_t)i;
        group->before[i] = longest;
    }
    group->spare[group->count] = INFINITY;
    for (size_t i = group->count; i-- > 0;) {
        const struct entry *entry = &group->entries[i];
        group->spare[i] = fmin(group->spare[i + 1], entry->limit - entry->finish);
    }
}

/* When each job from a place on is done; saves the loads on the way. False: out of bounds. */
static bool simulate(struct edf *edf, struct group *group, size_t from)
{
    work_before(edf, group, from);
    for (size_t i = from; i < group->count; i++) {
        if (i % edf->places == 0 && !save(edf, group, i / edf->places))
            return false;
        group->entries[i].finish = lay(edf, &group->entries[i]);
        if (edf->steps > STEPS_MAX)
            return false;
    }
    if (group->count % edf->places == 0 && !save(edf, group, group->count / edf->places))
        return false;
    survey(group);
    return true;
}

static bool simulate_cpus(struct edf *edf)
{
    struct group *cpus = &edf->groups[CPUS];

    edf_load_copy(&edf->work, &edf->coprocs);
    begin_cpu_jobs(edf, &edf->work);
    return save(edf, cpus, 0) && simulate(edf, cpus, 0);
}

static bool simulate_all(struct edf *edf)
{
    struct group *coprocs = &edf->groups[COPROCS];

    edf->work.is_plain = false;
    edf->work.types = edf->capacity.types;
    edf_load_clear(&edf->work, &edf->capacity);
    if (!save(edf, coprocs, 0) || !simulate(edf, coprocs, 0))
        return false;
    edf_load_copy(&edf->coprocs, &edf->work);
    return simulate_cpus(edf);
}

/* What the short cuts rest on; true when the job is of a shape that they did not reckon with. */
static bool note_shape(struct edf *edf, const struct entry *entry)
{
    const struct edf_need *need = &entry->need;
    bool was_plain = edf->is_plain, was_whole = edf->is_whole;
    int64_t *least_cpus = &edf->capacity.least_cpus[need->type];
    int64_t *least_count = &edf->capacity.least_count[need->type];
    bool is_less =
        *least_cpus != LEAST_UNKNOWN && (need->cpus < *least_cpus || need->count < *least_count);

    if (need->cpus < *least_cpus)
        *least_cpus = need->cpus;
    if (need->count < *least_count)
        *least_count = need->count;
    if (need->type == RESOURCE_CPU) {
        edf->is_plain = edf->is_plain && edf_need_is_plain(need);
        edf->is_whole = edf->is_whole && need->cpus % EDF_UNIT == 0;
    }
    return is_less || was_plain != edf->is_plain || was_whole != edf->is_whole;
}

/* --- the baseline ---------------------------------------------------------------------------- */

static bool add_listed(struct edf *edf)
{
    /* A stable merge sort of each group by deadline: listing order decides between equals. */
    for (int g = 0; g < GROUPS; g++) {
        struct group *group = &edf->groups[g];
        struct entry *from = group->entries, *to = group->baseline;

        for (size_t width = 1; width < group->count; width *= 2) {
            for (size_t start = 0; start < group->count; start += 2 * width) {
                size_t middle = start + width < group->count ? start + width : group->count;
                size_t end = middle + width < group->count ? middle + width : group->count;
                size_t i = start, j = middle;

                for (size_t at = start; at < end; at++)
                    to[at] = j >= end || (i < middle && from[i].deadline <= from[j].deadline)
                                 ? from[i++]
                                 : from[j++];
            }
            struct entry *swap = from;
            from = to;
            to = swap;
        }
        group->entries = from;
        group->baseline = to;
    }
    return simulate_all(edf);
}

static bool alloc_all(struct edf *edf)
{
    for (int g = 0; g < GROUPS; g++) {
        struct group *group = &edf->groups[g];
        group->entries = ARENA_ARRAY(edf->arena, edf->room, struct entry);
        group->baseline = ARENA_ARRAY(edf->arena, edf->room, struct entry);
        group->spare = ARENA_ARRAY(edf->arena, edf->room + 1, double);
        group->before = ARENA_ARRAY(edf->arena, edf->room + 1, ptrdiff_t);
        if (group->entries == NULL || group->baseline == NULL || group->spare == NULL ||
            group->before == NULL)
            return false;
    }
    return load_alloc(edf, &edf->work, edf->room + 3, edf->capacity.types) &&
           load_alloc(edf, &edf->coprocs, edf->room + 3, edf->capacity.types);
}

struct edf *edf_create(struct arena *arena, const struct edf_host *host,
                       const struct edf_job *listed, size_t count, size_t room)
{
    struct edf *edf = ARENA_NEW(arena, struct edf);

    if (edf == NULL)
        return NULL;
    edf->arena = arena;
    edf->listed = listed;
    edf->room = count + room + 1;
    edf->places = edf->room / SAVED_MAX + 1 > PLACES_MIN ? edf->room / SAVED_MAX + 1 : PLACES_MIN;
    edf->is_plain = edf->is_whole = true;
    edf->resource_count =
        host->resource_count < RESOURCES_MAX ? host->resource_count : RESOURCES_MAX;
    edf->capacity.cpus = millionths(floor(between(host->counts[RESOURCE_CPU], 1, INSTANCES_MAX)));
    for (size_t i = 1; i < edf->resource_count; i++)
        edf->capacity.counts[edf->capacity.types++] = millionths(host->counts[i]);
    for (size_t i = 0; i < RESOURCES_MAX; i++)
        edf->capacity.least_cpus[i] = edf->capacity.least_count[i] = LEAST_UNKNOWN;
    if (!alloc_all(edf))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct entry entry;
        struct group *group;

        if (!can_run(edf, &listed[i]))
            continue;
        entry = entry_of(edf, &listed[i]);
        entry.listed = (ptrdiff_t)i;
        group = group_of(edf, &entry);
        (void)note_shape(edf, &entry);
        group->entries[group->count++] = entry;
    }
    edf->is_lost = !add_listed(edf);
    for (int g = 0; g < GROUPS; g++) {
        struct group *group = &edf->groups[g];
        for (size_t i = 0; i < group->count; i++) {
            struct entry *entry = &group->entries[i]; /* becomes part of the baseline */
            entry->limit = fmax(entry->deadline, entry->finish) + LISTED_SPARE;
            group->baseline[i] = *entry;
        }
        group->baseline_count = group->count;
        survey(group);
    }
    return edf;
}

void edf_reset(struct edf *edf)
{
    if (edf->is_lost || edf->generation == 0)
        return;
    for (int g = 0; g < GROUPS; g++) {
        struct group *group = &edf->groups[g];
        group->count = group->baseline_count;
        memcpy(group->entries, group->baseline, group->count * sizeof(struct entry));
    }
    edf->generation = edf->refused_count = edf->refused_next = 0;
    edf->is_lost = !simulate_all(edf);
}

/* --- one job more ---------------------------------------------------------------------------- */

/* Where jobs of one CPU are dealt to CPUs that nobody else uses, every job that is added or longer
 * makes all others the same or later. With threads and coprocessors it may happen that one more
 * job lets another start earlier. */
static bool is_monotone(const struct edf *edf, const struct entry *entry)
{
    return edf_need_is_plain(&entry->need) && edf->groups[CPUS].saved[0].is_plain;
}

/* Whether an answer of before holds for this job too: the same question, or one that is not easier
 * than what was refused. */
static bool is_refused_before(const struct edf *edf, const struct entry *entry, size_t place,
                              enum edf_verdict *ret_verdict, struct edf_reason *ret_reason)
{
    bool is_dealt = is_monotone(edf, entry);

    for (size_t i = 0; i < edf->refused_count; i++) {
        const struct refused *refused = &edf->refused[i];
        bool is_longer = entry->need.wall_time >= refused->need.wall_time;
        bool is_now = edf->generation == refused->generation;
        bool holds;

        if (refused->need.type != entry->need.type || refused->need.cpus != entry->need.cpus ||
            refused->need.count != entry->need.count)
            continue;
        if (is_dealt && refused->is_dealt)
            holds = is_longer &&
                    (entry->deadline == refused->deadline ||
                     (is_now && entry->deadline < refused->deadline && place == refused->place));
        else
            holds = is_now && entry->deadline == refused->deadline &&
                    entry->need.wall_time == refused->need.wall_time;
        if (holds) {
            *ret_verdict = refused->verdict;
            *ret_reason = refused->reason;
            return true;
        }
    }
    return false;
}

static void remember(struct edf *edf, const struct entry *entry, size_t place,
                     enum edf_verdict verdict, const struct edf_reason *reason)
{
    edf->refused[edf->refused_next] = (struct refused){.need = entry->need,
                                                       .deadline = entry->deadline,
                                                       .place = place,
                                                       .generation = edf->generation,
                                                       .is_dealt = is_monotone(edf, entry),
                                                       .verdict = verdict,
                                                       .reason = *reason};
    edf->refused_next = (edf->refused_next + 1) % REFUSED_MAX;
    if (edf->refused_count < REFUSED_MAX)
        edf->refused_count++;
}

/* The longest listed job that goes before. */
static void blame(const struct edf *edf, const struct group *group, size_t place,
                  struct edf_reason *reason)
{
    ptrdiff_t longest = place > 0 ? group->before[place - 1] : NOT_LISTED;
    const struct entry *entry;

    if (longest == NOT_LISTED && group == &edf->groups[CPUS] && edf->groups[COPROCS].count > 0) {
        group = &edf->groups[COPROCS];
        longest = group->before[group->count - 1];
    }
    if (longest == NOT_LISTED)
        return;
    entry = &group->entries[longest];
    reason->has_listed = true;
    reason->listed = (size_t)entry->listed;
    reason->lateness_before = reason->lateness_after =
        fmax(0, entry->finish - entry->deadline) / US;
}

/* Lays the jobs of a group from a place on, onto `work`. */
static enum edf_verdict lay_rest(struct edf *edf, const struct group *group, size_t from,
                                 struct edf_reason *reason)
{
    for (size_t i = from; i < group->count; i++) {
        const struct entry *entry = &group->entries[i];
        double finish = lay(edf, entry);

        if (edf->steps > STEPS_MAX)
            return EDF_TOO_LARGE;
        if (finish <= entry->limit)
            continue;
        if (entry->listed == NOT_LISTED) {
            blame(edf, group, i, reason);
            return EDF_DELAYS;
        }
        reason->has_listed = true;
        reason->listed = (size_t)entry->listed;
        reason->lateness_before = (entry->limit - LISTED_SPARE - entry->deadline) / US;
        reason->lateness_after = (finish - entry->deadline) / US;
        return EDF_DELAYS;
    }
    return EDF_IN_TIME;
}

static enum edf_verdict judge(struct edf *edf, const struct entry *entry, size_t place,
                              struct edf_reason *reason)
{
    const struct group *group = group_of(edf, entry);
    enum edf_verdict verdict;
    double finish;

    work_before(edf, group, place);
    finish = lay(edf, entry);
    reason->finish = finish / US;
    if (finish > entry->limit) {
        blame(edf, group, place, reason);
        return EDF_LATE;
    }
    if (edf->work.is_plain && entry->need.wall_time <= group->spare[place])
        return EDF_IN_TIME;
    verdict = lay_rest(edf, group, place, reason);
    if (verdict != EDF_IN_TIME || group == &edf->groups[CPUS] ||
        (edf->is_whole && edf_load_leaves_same(&edf->work, &edf->coprocs, &edf->capacity)))
        return verdict;
    begin_cpu_jobs(edf, &edf->work);
    return lay_rest(edf, &edf->groups[CPUS], 0, reason);
}

enum edf_verdict edf_try(struct edf *edf, const struct edf_job *job, struct edf_reason *ret_reason)
{
    enum edf_verdict verdict;
    struct entry entry;
    size_t place;

    *ret_reason = (struct edf_reason){0};
    if (!can_run(edf, job))
        return EDF_LATE;
    entry = entry_of(edf, job);
    if (!edf->is_lost && note_shape(edf, &entry))
        edf->is_lost = !simulate_all(edf);
    if (edf->is_lost || edf->steps > STEPS_MAX)
        return EDF_TOO_LARGE;
    place = place_of(group_of(edf, &entry), entry.deadline);
    if (is_refused_before(edf, &entry, place, &verdict, ret_reason))
        return verdict;
    verdict = judge(edf, &entry, place, ret_reason);
    if (verdict != EDF_IN_TIME)
        remember(edf, &entry, place, verdict, ret_reason);
    return verdict;
}

void edf_take(struct edf *edf, const struct edf_job *job)
{
    struct group *group;
    struct entry entry;
    size_t place;

    if (edf->is_lost || !can_run(edf, job))
        return;
    entry = entry_of(edf, job);
    if (note_shape(edf, &entry))
        edf->is_lost = !simulate_all(edf);
    group = group_of(edf, &entry);
    if (edf->is_lost || group->count + 1 >= edf->room) {
        edf->is_lost = true;
        return;
    }
    place = place_of(group, entry.deadline);
    memmove(group->entries + place + 1, group->entries + place,
            (group->count - place) * sizeof(struct entry));
    group->entries[place] = entry;
    group->count++;
    edf->generation++;
    edf->is_lost = !simulate(edf, group, place);
    if (edf->is_lost || group == &edf->groups[CPUS])
        return;
    if (!edf->is_whole || !edf_load_leaves_same(&edf->work, &edf->coprocs, &edf->capacity)) {
        edf_load_copy(&edf->coprocs, &edf->work);
        edf->is_lost = !simulate_cpus(edf);
    } else {
        edf_load_copy(&edf->coprocs, &edf->work);
    }
}

double edf_lateness(const struct edf *edf, size_t listed)
{
    for (int g = 0; g < GROUPS; g++) {
        const struct group *group = &edf->groups[g];
        for (size_t i = 0; i < group->count; i++)
            if (group->entries[i].listed == (ptrdiff_t)listed)
                return fmax(0, group->entries[i].finish - group->entries[i].deadline) / US;
    }
    return isinf(edf->listed[listed].deadline) ? 0 : INFINITY;
}

double edf_first_done(const struct edf *edf)
{
    double first = INFINITY;

    for (int g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < edf->groups[g].baseline_count; i++)
            if (edf->groups[g].baseline[i].finish > 0)
                first = fmin(first, edf->groups[g].baseline[i].finish);
    return first / US;
}
