/* SPDX-License-Identifier: Apache-2.0 */
/* A new file is begun each day and whenever the open one is full; then old ones are removed. The
 * thread that does this holds the locks for the exchange alone. A record goes out in one write to a
 * file opened for appending. Who writes holds `writing`, for which nobody waits before his reply is
 * sent; `lock`, which requests take before, is held while nothing is written or read.
 *
 * The bound of bytes holds at every moment, for all processes together: no file grows beyond its
 * share; each process keeps its open file locked, and whoever begins one counts the locked files of
 * others as if they were full, and finds no place where that is too much. One lock on the folder
 * keeps two of them from finding the same place.
 *
 * Invariant: nothing that happens here fails a request or changes its reply. */
#include "server/recording/recording.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/recording/recorded_request.h"
#include "server/rpc/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { SECONDS_A_DAY = 86400, SHARES = 8, NAME_BYTES = 80 };

static const char folder_name[] = "recorded_requests";
static const char suffix[] = ".recorded";

void recording_init(struct recording *recording)
{
    *recording = (struct recording){.file = {.descriptor = -1},
                                    .world = {.text = buffer_on_heap(RECORD_BYTES_MAX)}};
    pthread_mutex_init(&recording->lock, NULL);
    pthread_mutex_init(&recording->writing, NULL);
}

static void close_file(const struct recording_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
}

void recording_clear(struct recording *recording)
{
    close_file(&recording->file);
    buffer_free(&recording->world.text);
    pthread_mutex_destroy(&recording->lock);
    pthread_mutex_destroy(&recording->writing);
}

static uint64_t bytes_max(const struct config *config)
{
    return (uint64_t)config->record_max_mb << 20;
}

static uint64_t share_of(const struct config *config)
{
    return bytes_max(config) / SHARES;
}

/* --- old files -------------------------------------------------------------------------------- */

/* What the files take or may take, and the oldest of those that nobody writes. */
struct survey {
    uint64_t bytes;
    char oldest[NAME_BYTES];
    int64_t oldest_time;
};

/* Who writes a file has it locked. */
static bool is_written(int folder, const char *name)
{
    int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool is_free = descriptor < 0 || flock(descriptor, LOCK_SH | LOCK_NB) == 0;

    if (descriptor >= 0)
        (void)close(descriptor);
    return !is_free;
}

static void survey_file(int folder, const char *name, uint64_t share, struct survey *survey)
{
    struct stat info;
    uint64_t bytes;

    if (!text_ends(text_from(name), text_from(suffix)) || strlen(name) >= NAME_BYTES ||
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return;
    bytes = (uint64_t)info.st_size;
    if (is_written(folder, name)) {
        survey->bytes += bytes > share ? bytes : share;
        return;
    }
    survey->bytes += bytes;
    if (survey->oldest[0] != '\0' && info.st_mtime >= survey->oldest_time)
        return;
    memcpy(survey->oldest, name, strlen(name) + 1);
    survey->oldest_time = info.st_mtime;
}

static bool survey_folder(int folder, uint64_t share, struct survey *ret_survey)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    const struct dirent *entry;

    *ret_survey = (struct survey){0};
    if (entries == NULL) {
        if (again >= 0)
            (void)close(again);
        return false;
    }
    while ((entry = readdir(entries)) != NULL)
        survey_file(folder, entry->d_name, share, ret_survey);
    (void)closedir(entries);
    return true;
}

/* Until there is place for one more file, and none is too old. False: there is none. */
static bool remove_old(const struct config *config, int folder, int64_t now)
{
    uint64_t room = bytes_max(config) - share_of(config);
    int64_t age_max = config->record_days * SECONDS_A_DAY;
    struct survey survey;

    while (survey_folder(folder, share_of(config), &survey)) {
        bool is_old = survey.oldest[0] != '\0' && now - survey.oldest_time > age_max;

        if (survey.bytes <= room && !is_old)
            return true;
        if (survey.oldest[0] == '\0' || unlinkat(folder, survey.oldest, 0) != 0)
            return survey.bytes <= room;
    }
    return false;
}

/* --- the open file ---------------------------------------------------------------------------- */

static enum status begin_file(const struct config *config, int folder, const char *path,
                              int64_t now, struct recording_file *file, struct failure *failure)
{
    char name[NAME_BYTES];

    if (!remove_old(config, folder, now))
        return fail(failure, STATUS_IO,
                    "%s: other processes write to files that may take all of record_max_mb", path);
    (void)snprintf(name, sizeof name, "%lld-%ld-%d%s", (long long)now, (long)getpid(), file->number,
                   suffix);
    file->descriptor =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (file->descriptor < 0)
        return fail(failure, STATUS_IO, "%s/%s: %s", path, name, strerror(errno));
    (void)flock(file->descriptor, LOCK_EX | LOCK_NB); /* it is new: nobody has it */
    file->day = now / SECONDS_A_DAY;
    file->share = share_of(config);
    return STATUS_OK;
}

/* `ret_file` has its number already. */
static enum status open_file(const struct config *config, int64_t now,
                             struct recording_file *ret_file, struct failure *failure)
{
    char path[PATH_MAX];
    enum status status;
    int folder;

    project_path(config, folder_name, path, sizeof path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX) != 0) {
        status = fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
        if (folder >= 0)
            (void)close(folder);
        return status;
    }
    status = begin_file(config, folder, path, now, ret_file, failure);
    (void)close(folder);
    return status;
}

static bool is_due(const struct recording_file *file, const struct config *config, int64_t now)
{
    if (!config->record_requests)
        return file->descriptor >= 0;
    return file->descriptor < 0 || file->day != now / SECONDS_A_DAY || file->is_full;
}

/* Says once why nothing can be kept, until it can again. */
static void note_failure(struct recording *recording, bool is_failing, const char *why)
{
    bool is_new;

    pthread_mutex_lock(&recording->lock);
    is_new = is_failing && !recording->is_failing;
    recording->is_failing = is_failing;
    pthread_mutex_unlock(&recording->lock);
    if (is_new)
        log_event(LOG_LEVEL_WARNING, "request_not_recorded", text_from(why));
}

/* Another file, or none (its descriptor is -1): what comes then is dropped. */
static void exchange_file(struct recording *recording, const struct recording_file *next)
{
    struct recording_file ended;

    pthread_mutex_lock(&recording->writing);
    ended = recording->file;
    recording->file = *next;
    pthread_mutex_lock(&recording->lock);
    recording->is_open = next->descriptor >= 0;
    pthread_mutex_unlock(&recording->lock);
    pthread_mutex_unlock(&recording->writing);
    close_file(&ended);
}

static void make_secret(struct recording *recording, int64_t day)
{
    struct recording_secret *secret = &recording->secret;

    pthread_mutex_lock(&recording->lock);
    if (secret->number == 0 || secret->day != day) {
        random_bytes(&secret->bytes, sizeof secret->bytes);
        secret->day = day;
        secret->number++;
    }
    pthread_mutex_unlock(&recording->lock);
}

static struct recording_file current(struct recording *recording)
{
    struct recording_file file;

    pthread_mutex_lock(&recording->writing);
    file = recording->file;
    pthread_mutex_unlock(&recording->writing);
    return file;
}

void recording_turn(struct recording *recording, const struct config *config, int64_t now)
{
    struct recording_file ended = current(recording);
    struct recording_file next = {.descriptor = -1, .number = ended.number + 1};
    struct failure failure = {0};

    if (config->record_requests)
        make_secret(recording, now / SECONDS_A_DAY);

    if (!is_due(&ended, config, now))
        return;
    exchange_file(recording, &next); /* or its own share would be in the way of the next */
    if (config->record_requests)
        note_failure(recording, open_file(config, now, &next, &failure) != STATUS_OK, failure.text);
    exchange_file(recording, &next);
}

/* --- circumstances ---------------------------------------------------------------------------- */

static uint64_t plan_key_of(const struct request *request)
{
    return request->plan_classes == NULL ? 0 : request->plan_classes->source_key;
}

static bool is_world_of(const struct recording_world *world, const struct request *request)
{
    return world->is_there && world->config_serial == request->config->serial &&
           world->catalog_serial == request->catalog->serial &&
           world->plan_key == plan_key_of(request);
}

static bool find_world(struct recording *recording, const struct request *request,
                       struct circumstances_key *ret_key)
{
    bool is_found;

    pthread_mutex_lock(&recording->lock);
    is_found = is_world_of(&recording->world, request);
    *ret_key = recording->world.key;
    pthread_mutex_unlock(&recording->lock);
    return is_found;
}

/* Another configuration or catalog than that of the request before. False: no memory, or too long.
 */
static bool describe_world(struct recording *recording, const struct request *request,
                           struct circumstances_key *ret_key)
{
    struct recording_world world = {.is_there = true,
                                    .config_serial = request->config->serial,
                                    .catalog_serial = request->catalog->serial,
                                    .plan_key = plan_key_of(request),
                                    .text = buffer_on_heap(RECORD_BYTES_MAX)};
    struct recording_world before;

    if (find_world(recording, request, ret_key))
        return true;
    *ret_key =
        circumstances_write(request->config, request->plan_classes, request->catalog, &world.text);
    if (world.text.overflowed) {
        buffer_free(&world.text);
        return false;
    }
    world.key = *ret_key;
    pthread_mutex_lock(&recording->lock);
    before = recording->world;
    recording->world = world;
    pthread_mutex_unlock(&recording->lock);
    buffer_free(&before.text);
    return true;
}

static bool file_has(const struct recording_file *file, const struct circumstances_key *key)
{
    size_t kept = file->has_count < CIRCUMSTANCES_KEPT ? file->has_count : CIRCUMSTANCES_KEPT;

    for (size_t i = 0; i < kept; i++)
        if (strcmp(file->has[i].text, key->text) == 0)
            return true;
    return false;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Its number is 0 where no file is open. */
static struct recording_secret current_secret(struct recording *recording)
{
    struct recording_secret secret = {.number = 0};

    pthread_mutex_lock(&recording->lock);
    if (recording->is_open)
        secret = recording->secret;
    pthread_mutex_unlock(&recording->lock);
    return secret;
}

void recording_take(struct recording *recording, const struct request *request,
                    struct recorded *ret_record)
{
    struct recording_secret secret;
    bool is_possible;

    if (!request->config->record_requests || request->attempt.user.id == 0)
        return;
    secret = current_secret(recording);
    is_possible = secret.number > 0 && request->transport.body.length <= RECORDED_BODY_MAX &&
                  request->catalog != NULL &&
                  describe_world(recording, request, &ret_record->under);
    ret_record->secret = secret.number;
    if (is_possible)
        record_write(request, &secret.bytes, &ret_record->under, &ret_record->text);
    if (is_possible && !ret_record->text.overflowed)
        return;
    ret_record->text.length = 0;
    counter_add(COUNTER_requests_not_recorded, 1);
}

enum written { WRITTEN, WRITTEN_NOT, WRITTEN_FAILED };

static enum written append(struct recording_file *file, struct text text)
{
    if (!file_write_all(file->descriptor, text))
        return WRITTEN_FAILED;
    file->bytes += text.length;
    return WRITTEN;
}

/* Whether the record is of use: of pseudonyms by another secret none would join those in the file,
 * and the circumstances may be gone already. Where the file lacks them, they are copied. */
static bool is_of_use(struct recording *recording, const struct recorded *record,
                      struct buffer *ret_circumstances)
{
    const struct recording_world *world = &recording->world;
    bool is_known = file_has(&recording->file, &record->under), is_there;

    pthread_mutex_lock(&recording->lock);
    is_there = is_known || strcmp(world->key.text, record->under.text) == 0;
    if (is_there && !is_known)
        buffer_add(ret_circumstances, buffer_text(&world->text));
    is_there = is_there && recording->secret.number == record->secret;
    pthread_mutex_unlock(&recording->lock);
    return is_there && !ret_circumstances->overflowed;
}

static enum written write_record(struct recording *recording, const struct recorded *record,
                                 struct text circumstances)
{
    struct recording_file *file = &recording->file;
    enum written written = WRITTEN;

    if (file->bytes + record->text.length + circumstances.length > file->share) {
        file->is_full = file->bytes > 0;
        return WRITTEN_NOT;
    }
    if (circumstances.length > 0) {
        written = append(file, circumstances);
        file->has[file->has_count++ % CIRCUMSTANCES_KEPT] = record->under;
    }
    return written == WRITTEN ? append(file, buffer_text(&record->text)) : written;
}

void recording_keep(struct recording *recording, struct recorded *record)
{
    struct buffer circumstances = buffer_on_heap(RECORD_BYTES_MAX);
    enum written written = WRITTEN_NOT;

    if (record->text.length > 0) {
        pthread_mutex_lock(&recording->writing);
        if (recording->file.descriptor >= 0 && is_of_use(recording, record, &circumstances))
            written = write_record(recording, record, buffer_text(&circumstances));
        pthread_mutex_unlock(&recording->writing);
        if (written != WRITTEN_NOT)
            note_failure(recording, written == WRITTEN_FAILED,
                         "a record cannot be written to the file");
        counter_add(written == WRITTEN ? COUNTER_requests_recorded : COUNTER_requests_not_recorded,
                    1);
    }
    buffer_free(&circumstances);
    buffer_free(&record->text);
    *record = NOTHING_RECORDED;
}
