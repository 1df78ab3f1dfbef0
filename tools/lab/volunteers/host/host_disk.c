/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of client/storage.h see files and results as arrays and mark what is to go; here they
 * are lists of the host, and marked files leave them. Files of one name are one file. A job whose
 * files find no room fails at once, as a failed download does; its output has its full size from
 * the beginning. When even dropping jobs does not help, nothing runs until something has gone:
 * files of other programs, a result that was acknowledged, or a file that the server ordered
 * deleted. */
#include "tools/lab/volunteers/host/host_disk.h"

#include "tools/lab/volunteers/client/storage.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/job_end.h"
#include "tools/lab/volunteers/host/rpc_messages.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define CORE_BYTES 1e6 /* of the client itself */

static bool is_kept(const struct volunteer *volunteer)
{
    return disk_policies[volunteer->population->habits.disk].keeps_files;
}

/* --- the rules of client/storage.h --------------------------------------------------------- */

struct workplace {
    struct storage storage;
    struct storage_project projects[CLIENT_PROJECTS_MAX];
    struct storage_file files[DISK_FILES_MAX];
};

static void set_up(const struct volunteer *volunteer, struct workplace *work)
{
    const struct host_disk *disk = &volunteer->disk;

    work->storage = (struct storage){
        .total_limit = fmax(0, volunteer->machine.disk - disk->others),
        .core_usage = CORE_BYTES,
        .projects = work->projects,
        .project_count = volunteer->project_count,
        .files = work->files,
        .file_count = disk->count,
    };
    for (size_t p = 0; p < volunteer->project_count; p++)
        work->projects[p] = (struct storage_project){
            .share = volunteer->fetch.projects[p].share,
            .by_priority = volunteer->projects[p].deletes_by_priority,
            .by_expiry = volunteer->projects[p].deletes_by_expiry,
        };
    for (size_t i = 0; i < disk->count; i++) {
        const struct disk_file *file = disk->files[i];

        work->files[i] = (struct storage_file){.project = file->project,
                                               .bytes = file->bytes,
                                               .priority = file->priority,
                                               .last_used = file->last_used,
                                               .expires = file->expires,
                                               .sticky = file->sticky,
                                               .references = file->references};
    }
}

static void free_file(struct disk_file *file)
{
    free(file->name);
    free(file);
}

/* Files that were marked as deleted leave the list. */
static void clear_up(struct volunteer *volunteer, const struct workplace *work)
{
    struct host_disk *disk = &volunteer->disk;
    size_t kept = 0;

    for (size_t i = 0; i < work->storage.file_count; i++)
        if (work->files[i].deleted) {
            volunteer->tally.disk_deletions++;
            free_file(disk->files[i]);
        } else {
            disk->files[kept++] = disk->files[i];
        }
    disk->count = kept;
}

/* --- files --------------------------------------------------------------------------------- */

static struct disk_file *find(const struct volunteer *volunteer, size_t project, struct text name)
{
    for (size_t i = 0; i < volunteer->disk.count; i++) {
        struct disk_file *file = volunteer->disk.files[i];

        if (file->project == project && file->name != NULL && text_is(name, file->name))
            return file;
    }
    return NULL;
}

static void remove_file(struct volunteer *volunteer, struct disk_file *file)
{
    struct host_disk *disk = &volunteer->disk;
    size_t i = 0;

    while (disk->files[i] != file)
        i++;
    disk->count--;
    memmove(&disk->files[i], &disk->files[i + 1], (disk->count - i) * sizeof(*disk->files));
    free_file(file);
}

static bool grow(struct host_disk *disk)
{
    size_t capacity = disk->capacity == 0 ? 8 : disk->capacity * 2;
    void *grown;

    if (disk->count >= DISK_FILES_MAX)
        return false;
    if (disk->count < disk->capacity)
        return true;
    grown = realloc(disk->files, capacity * sizeof(*disk->files));
    if (grown == NULL)
        return false;
    disk->files = grown;
    disk->capacity = capacity;
    return true;
}

/* The server's word goes before the attributes that files have by default. */
static struct disk_file describe(struct storage_file file, const struct incoming_file *incoming)
{
    return (struct disk_file){
        .project = file.project,
        .bytes = file.bytes,
        .priority = incoming->priority > 0 ? incoming->priority : file.priority,
        .last_used = file.last_used,
        .expires = incoming->life > 0 ? file.last_used + incoming->life : file.expires,
        .sticky = incoming->sticky,
    };
}

/* NULL: no room, or no memory. */
static struct disk_file *add_file(struct volunteer *volunteer, size_t project,
                                  const struct incoming_file *incoming)
{
    struct workplace work;
    struct disk_file *file;
    bool fits;

    if (!grow(&volunteer->disk))
        return NULL;
    set_up(volunteer, &work);
    fits = storage_make_room(&work.storage, project, incoming->bytes, volunteer->now);
    clear_up(volunteer, &work);
    file = fits ? calloc(1, sizeof(*file)) : NULL;
    if (file == NULL)
        return NULL;
    *file = describe(storage_new_file(project, incoming->bytes, volunteer->now), incoming);
    if (incoming->name.length > 0)
        file->name = text_keep(incoming->name);
    if (incoming->name.length > 0 && file->name == NULL) {
        free(file);
        return NULL;
    }
    volunteer->disk.files[volunteer->disk.count++] = file;
    return file;
}

static bool use_file(struct volunteer *volunteer, struct volunteer_job *job,
                     const struct incoming_file *incoming, double *bytes)
{
    struct disk_file *file =
        incoming->name.length > 0 ? find(volunteer, job->project, incoming->name) : NULL;

    if (file == NULL) {
        file = add_file(volunteer, job->project, incoming);
        *bytes += incoming->bytes;
    } else { /* told again, priority and life rise but never fall */
        struct disk_file again =
            describe(storage_new_file(job->project, file->bytes, volunteer->now), incoming);

        file->priority = again.priority > file->priority ? again.priority : file->priority;
        file->expires = fmax(file->expires, again.expires);
    }
    if (file == NULL)
        return false;
    file->references++;
    file->last_used = volunteer->now;
    job->files[job->file_count++] = file;
    return true;
}

/* A file whose size servers do not tell: the job's output, if the reply has a name for it. */
static struct incoming_file draw_own(struct volunteer *volunteer, const struct volunteer_job *job,
                                     const struct incoming_file *output)
{
    const struct population *population = volunteer->population;
    double part = random_unit(&volunteer->random);
    struct incoming_file own = *output;

    own.bytes = volunteer->projects[job->project].file_scale *
                (population->job_bytes_min +
                 part * fmax(0, population->job_bytes_max - population->job_bytes_min));
    own.sticky = random_unit(&volunteer->random) < population->job_sticky || output->sticky;
    return own;
}

bool host_disk_admit(struct volunteer *volunteer, struct volunteer_job *job,
                     const struct incoming_job *incoming, double *ret_bytes)
{
    struct incoming_file own;
    double written = 0; /* outputs do not come over the network */
    bool fits = true;

    *ret_bytes = 0;
    if (!is_kept(volunteer)) {
        for (size_t i = 0; i < incoming->file_count; i++)
            *ret_bytes += incoming->files[i].bytes;
        return true;
    }
    own = draw_own(volunteer, job, &incoming->output);
    job->files = calloc(DISK_JOB_FILES_MAX + 1, sizeof(*job->files));
    if (job->files == NULL)
        return false;
    for (size_t i = 0; fits && i < incoming->file_count && i < DISK_JOB_FILES_MAX; i++)
        fits = use_file(volunteer, job, &incoming->files[i], ret_bytes);
    if (fits && own.bytes > 0)
        fits = use_file(volunteer, job, &own, own.name.length > 0 ? &written : ret_bytes);
    if (!fits) {
        volunteer->tally.disk_refusals++;
        host_disk_release(volunteer, job);
    }
    return fits;
}

void host_disk_release(struct volunteer *volunteer, struct volunteer_job *job)
{
    for (size_t i = 0; i < job->file_count; i++) {
        struct disk_file *file = job->files[i];

        must(file != NULL);
        file->references--;
        file->last_used = volunteer->now;
        if (file->references == 0 && !file->sticky)
            remove_file(volunteer, file);
    }
    free(job->files);
    job->files = NULL;
    job->file_count = 0;
}

void host_disk_free(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->disk.count; i++)
        free_file(volunteer->disk.files[i]);
    free(volunteer->disk.files);
    volunteer->disk = (struct host_disk){.files = NULL};
}

/* --- orders and violations ----------------------------------------------------------------- */

void host_disk_obey(struct volunteer *volunteer, size_t project, const struct incoming *incoming)
{
    volunteer->projects[project].deletes_by_priority = incoming->deletes_by_priority;
    volunteer->projects[project].deletes_by_expiry = incoming->deletes_by_expiry;
    for (size_t i = 0; i < incoming->deletion_count; i++) {
        struct disk_file *file = find(volunteer, project, incoming->deletions[i]);

        if (file == NULL)
            continue;
        file->sticky = false;
        if (file->references > 0)
            continue;
        volunteer->tally.disk_deletions++;
        remove_file(volunteer, file);
    }
}

struct violation {
    struct workplace work;
    struct volunteer_job *jobs[VOLUNTEER_JOBS_MAX]; /* in the order in which they came */
    struct storage_result results[VOLUNTEER_JOBS_MAX];
    size_t files[VOLUNTEER_JOBS_MAX][DISK_JOB_FILES_MAX + 1];
};

static int compare_numbers(const void *a, const void *b)
{
    const struct volunteer_job *const *one = a, *const *other = b;

    return ((*one)->number > (*other)->number) - ((*one)->number < (*other)->number);
}

/* The rules have taken the files from the jobs that they dropped. */
static void end_dropped(struct volunteer *volunteer, const struct violation *violation)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = violation->jobs[i];

        if (!violation->results[i].dropped)
            continue;
        free(job->files);
        job->files = NULL;
        job->file_count = 0;
        job->aborted = true;
        job_end(volunteer, job);
    }
    for (size_t f = 0; f < violation->work.storage.file_count; f++)
        volunteer->disk.files[f]->references = violation->work.files[f].references;
}

static bool mend(struct volunteer *volunteer, struct violation *violation)
{
    bool is_stuck;

    set_up(volunteer, &violation->work);
    for (size_t i = 0; i < volunteer->disk.count; i++)
        volunteer->disk.files[i]->index = i;
    for (size_t i = 0; i < volunteer->job_count; i++)
        violation->jobs[i] = &volunteer->jobs[i];
    qsort(violation->jobs, volunteer->job_count, sizeof(violation->jobs[0]), compare_numbers);
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = violation->jobs[i];

        violation->results[i] = (struct storage_result){.project = job->project,
                                                        .running = job->begun,
                                                        .waits_for_ack = job->done,
                                                        .files = violation->files[i],
                                                        .file_count = job->file_count};
        for (size_t f = 0; f < job->file_count; f++)
            violation->files[i][f] = job->files[f]->index;
    }
    violation->work.storage.results = violation->results;
    violation->work.storage.result_count = volunteer->job_count;
    is_stuck = storage_enforce(&violation->work.storage, volunteer->now);
    end_dropped(volunteer, violation);
    clear_up(volunteer, &violation->work);
    return is_stuck;
}

static void check(struct volunteer *volunteer)
{
    struct violation *violation = calloc(1, sizeof(*violation));
    bool was_stuck = volunteer->is_stuck;

    if (violation == NULL)
        return;
    volunteer->is_stuck = mend(volunteer, violation);
    volunteer->stale = volunteer->stale || volunteer->is_stuck != was_stuck;
    free(violation);
}

void host_disk_change_others(struct volunteer *volunteer)
{
    const struct population *population = volunteer->population;

    if (!is_kept(volunteer) || population->disk_swing <= 0)
        return;
    volunteer->disk.others =
        volunteer->machine.disk * population->disk_swing * random_unit(&volunteer->presence);
    check(volunteer);
}

void host_disk_poll(struct volunteer *volunteer)
{
    if (volunteer->is_stuck)
        check(volunteer);
}

/* --- what a request says ------------------------------------------------------------------- */

void host_disk_tell(const struct volunteer *volunteer, size_t project,
                    struct outgoing_disk *ret_outgoing)
{
    const struct disk_policy *policy = &disk_policies[volunteer->population->habits.disk];
    struct storage_amounts amounts;
    struct workplace work;

    *ret_outgoing = (struct outgoing_disk){.free = volunteer->machine.disk,
                                           .used = CORE_BYTES,
                                           .used_by_project = CORE_BYTES,
                                           .share = volunteer->machine.disk / 2};
    if (!policy->keeps_files)
        return;
    set_up(volunteer, &work);
    amounts = storage_tell_amounts(&work.storage, project, volunteer->now);
    ret_outgoing->used_by_project = storage_usage(&work.storage, project);
    for (size_t p = 0; p < volunteer->project_count; p++)
        ret_outgoing->used += storage_usage(&work.storage, p);
    ret_outgoing->free = fmax(0, work.storage.total_limit - ret_outgoing->used);
    ret_outgoing->share = storage_limit(&work.storage, project);
    ret_outgoing->tells_amounts = policy->tells_amounts;
    ret_outgoing->amounts[0] = amounts.free;
    ret_outgoing->amounts[1] = policy->tells_free_alone ? amounts.free : amounts.with_offenders;
    ret_outgoing->amounts[2] = policy->tells_free_alone ? amounts.free : amounts.with_self;
}
