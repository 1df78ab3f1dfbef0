/* SPDX-License-Identifier: Apache-2.0 */
/* Each project may use its share of the space that projects may use together, and what others
 * leave unused. Only sticky files that no result refers to are ever deleted for space: first
 * those of offenders, which use more than their share, down to their share, priority by priority;
 * then the project's own.
 *
 * Within a project expired files go first, if it deletes by expiry; then those of the lowest
 * priority; of equals the one that came first, if it deletes by priority, else the least recently
 * used one.
 *
 * Where BOINC's description of 2004 leaves a choice open, this is what is done here:
 * - Least recently used means that the file goes whose last use is longest ago.
 * - Priorities always count, step by step; deleting "by priority" decides only among equals.
 * - The project that needs room is passed over among the offenders: its own files come last, in a
 *   step of their own.
 * - An offender is emptied down to its limit even if less would do.
 * - The project's own files must make room together with what is free already. If all of them
 *   would not do, none of them is deleted.
 * - The third amount of a request, with the project's own files deleted, counts every own file
 *   that no result needs, of any priority.
 * - The second amount counts of each offender what exceeds its limit, up to the end of the file
 *   that crosses it: the offender would not have to delete more.
 * - Of the results that must be dropped, the newest goes first. */
#include "tools/lab/volunteers/client/storage.h"

#include <math.h>

#include "server/base/banned.h"

struct storage_file storage_new_file(size_t project, double bytes, double now)
{
    return (struct storage_file){.project = project,
                                 .bytes = bytes,
                                 .priority = STORAGE_LOW,
                                 .last_used = now,
                                 .expires = now + STORAGE_LIFE,
                                 .sticky = true};
}

double storage_usage(const struct storage *storage, size_t project)
{
    double bytes = 0;

    for (size_t i = 0; i < storage->file_count; i++)
        if (!storage->files[i].deleted && storage->files[i].project == project)
            bytes += storage->files[i].bytes;
    return bytes;
}

static double projects_limit(const struct storage *storage)
{
    return fmax(0, storage->total_limit - storage->core_usage);
}

double storage_limit(const struct storage *storage, size_t project)
{
    double shares = 0;

    for (size_t p = 0; p < storage->project_count; p++)
        shares += storage->projects[p].share;
    return shares > 0 ? projects_limit(storage) * storage->projects[project].share / shares : 0;
}

double storage_free(const struct storage *storage)
{
    double bytes = storage->total_limit - storage->core_usage;

    for (size_t p = 0; p < storage->project_count; p++)
        bytes -= storage_usage(storage, p);
    return bytes;
}

static double excess(const struct storage *storage, size_t project)
{
    return storage_usage(storage, project) - storage_limit(storage, project);
}

size_t storage_greatest_offender(const struct storage *storage)
{
    size_t best = storage->project_count;
    double most = 0;

    for (size_t p = 0; p < storage->project_count; p++)
        if (!storage->projects[p].checked && excess(storage, p) > most) {
            most = excess(storage, p);
            best = p;
        }
    return best;
}

static bool is_deletable(const struct storage_file *file)
{
    return !file->deleted && file->sticky && file->references == 0;
}

static bool is_expired(const struct storage *storage, const struct storage_file *file, double now)
{
    return storage->projects[file->project].by_expiry && file->expires < now;
}

/* Files of one project; a came before b. */
static bool goes_before(const struct storage *storage, const struct storage_file *a,
                        const struct storage_file *b, double now)
{
    if (is_expired(storage, a, now) != is_expired(storage, b, now))
        return is_expired(storage, a, now);
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return storage->projects[a->project].by_priority || a->last_used <= b->last_used;
}

size_t storage_next_file(const struct storage *storage, size_t project, int priority, double now)
{
    size_t best = storage->file_count;

    for (size_t i = 0; i < storage->file_count; i++) {
        const struct storage_file *file = &storage->files[i];

        if (file->project == project && is_deletable(file) &&
            (file->priority <= priority || is_expired(storage, file, now)) &&
            (best == storage->file_count ||
             !goes_before(storage, &storage->files[best], file, now)))
            best = i;
    }
    return best;
}

static bool delete_one(struct storage *storage, size_t project, int priority, double now)
{
    size_t file = storage_next_file(storage, project, priority, now);

    if (file == storage->file_count)
        return false;
    storage->files[file].deleted = true;
    return true;
}

static void uncheck_all(struct storage *storage)
{
    for (size_t p = 0; p < storage->project_count; p++)
        storage->projects[p].checked = false;
}

/* Offenders other than `project` give back what exceeds their limits, until there is room. */
static bool ask_offenders(struct storage *storage, size_t project, double bytes, double now)
{
    for (int priority = STORAGE_LOW; priority <= STORAGE_HIGH; priority++) {
        size_t offender;

        uncheck_all(storage);
        if (project < storage->project_count)
            storage->projects[project].checked = true;
        while (storage_free(storage) < bytes &&
               (offender = storage_greatest_offender(storage)) < storage->project_count) {
            storage->projects[offender].checked = true;
            while (excess(storage, offender) > 0 && delete_one(storage, offender, priority, now))
                continue;
        }
    }
    uncheck_all(storage);
    return storage_free(storage) >= bytes;
}

static double deletable(const struct storage *storage, size_t project)
{
    double bytes = 0;

    for (size_t i = 0; i < storage->file_count; i++)
        if (storage->files[i].project == project && is_deletable(&storage->files[i]))
            bytes += storage->files[i].bytes;
    return bytes;
}

bool storage_make_room(struct storage *storage, size_t project, double bytes, double now)
{
    if (storage_free(storage) >= bytes || ask_offenders(storage, project, bytes, now))
        return true;
    if (storage_free(storage) + deletable(storage, project) < bytes)
        return false;
    while (storage_free(storage) < bytes && delete_one(storage, project, STORAGE_HIGH, now))
        continue;
    return storage_free(storage) >= bytes;
}

/* Files that nothing refers to and nothing keeps are gone at once. */
static void drop_result(struct storage *storage, struct storage_result *result)
{
    result->dropped = true;
    for (size_t i = 0; i < result->file_count; i++) {
        struct storage_file *file = &storage->files[result->files[i]];

        if (file->references > 0)
            file->references--;
        if (file->references == 0 && !file->sticky)
            file->deleted = true;
    }
}

static bool drop_newest(struct storage *storage, size_t project, double now)
{
    for (size_t i = storage->result_count; i-- > 0;) {
        struct storage_result *result = &storage->results[i];

        if (result->project != project || result->dropped || result->running ||
            result->waits_for_ack)
            continue;
        drop_result(storage, result);
        while (storage_free(storage) < 0 && delete_one(storage, project, STORAGE_HIGH, now))
            continue;
        return true;
    }
    return false;
}

/* One from each project in turn, until enough is free or no project has any. */
static void cycle(struct storage *storage, bool results, double now)
{
    bool any = true;

    while (any && storage_free(storage) < 0) {
        any = false;
        for (size_t p = 0; p < storage->project_count && storage_free(storage) < 0; p++)
            any |=
                results ? drop_newest(storage, p, now) : delete_one(storage, p, STORAGE_HIGH, now);
    }
}

bool storage_enforce(struct storage *storage, double now)
{
    if (storage_free(storage) >= 0)
        return false;
    if (ask_offenders(storage, storage->project_count, 0, now))
        return false;
    cycle(storage, false, now);
    cycle(storage, true, now);
    return storage_free(storage) < 0;
}

static bool precedes(const struct storage *storage, size_t a, size_t b, double now)
{
    const struct storage_file *files = storage->files;

    return a < b ? goes_before(storage, &files[a], &files[b], now)
                 : !goes_before(storage, &files[b], &files[a], now);
}

/* What an offender would give back: files in their order until its excess is covered. */
static double given_back(const struct storage *storage, size_t project, double now)
{
    double over = excess(storage, project), bytes = 0;

    for (size_t i = 0; i < storage->file_count; i++) {
        double before = 0;

        if (storage->files[i].project != project || !is_deletable(&storage->files[i]))
            continue;
        for (size_t j = 0; j < storage->file_count; j++)
            if (j != i && storage->files[j].project == project &&
                is_deletable(&storage->files[j]) && precedes(storage, j, i, now))
                before += storage->files[j].bytes;
        bytes += before < over ? storage->files[i].bytes : 0;
    }
    return bytes;
}

struct storage_amounts storage_tell_amounts(const struct storage *storage, size_t project,
                                            double now)
{
    double offenders = 0, unused = storage_free(storage);

    for (size_t p = 0; p < storage->project_count; p++)
        if (p != project && excess(storage, p) > 0)
            offenders += given_back(storage, p, now);
    return (struct storage_amounts){
        .free = fmax(0, unused),
        .with_offenders = fmax(0, unused + offenders),
        .with_self = fmax(0, unused + offenders + deletable(storage, project)),
    };
}
