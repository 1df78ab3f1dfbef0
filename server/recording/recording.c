/* SPDX-License-Identifier: Apache-2.0 */
/* A new file is begun each day and whenever the open one has its share of the bytes; then old ones
 * are removed, so that all together stay within record_max_mb and record_days. The thread that does
 * this holds the lock for the exchange alone. A record goes out in one write to a file opened for
 * appending; a thread that waits for the lock then has sent its reply.
 * Invariant: nothing that happens here fails a request or changes its reply. */
#include "server/recording/recording.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/project/project.h"
#include "server/recording/recorded_request.h"
#include "server/rpc/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { SECONDS_A_DAY = 86400, SHARES = 8, NAME_BYTES = 80 };

static const char folder_name[] = "recorded_requests";
static const char suffix[] = ".recorded";

void recording_init(struct recording *recording)
{
    *recording = (struct recording){.file = {.descriptor = -1}};
    pthread_mutex_init(&recording->lock, NULL);
}

static void close_file(const struct recording_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
}

void recording_clear(struct recording *recording)
{
    close_file(&recording->file);
    pthread_mutex_destroy(&recording->lock);
}

static uint64_t bytes_max(const struct config *config)
{
    return (uint64_t)config->record_max_mb << 20;
}

/* --- old files -------------------------------------------------------------------------------- */

/* What the files take, and the oldest of them. */
struct survey {
    uint64_t bytes;
    char oldest[NAME_BYTES];
    int64_t oldest_time;
};

static void survey_file(int folder, const char *name, struct survey *survey)
{
    struct stat info;

    if (!text_ends(text_from(name), text_from(suffix)) || strlen(name) >= NAME_BYTES ||
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return;
    survey->bytes += (uint64_t)info.st_size;
    if (survey->oldest[0] != '\0' && info.st_mtime >= survey->oldest_time)
        return;
    memcpy(survey->oldest, name, strlen(name) + 1);
    survey->oldest_time = info.st_mtime;
}

static bool survey_folder(const char *path, struct survey *ret_survey)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    *ret_survey = (struct survey){0};
    if (folder == NULL)
        return false;
    while ((entry = readdir(folder)) != NULL)
        survey_file(dirfd(folder), entry->d_name, ret_survey);
    (void)closedir(folder);
    return true;
}

/* Until there is place for one more file, and none is too old. */
static void remove_old(const struct config *config, const char *folder, int64_t now)
{
    uint64_t room = bytes_max(config) - bytes_max(config) / SHARES;
    char path[PATH_MAX];
    struct survey survey;

    while (
        survey_folder(folder, &survey) && survey.oldest[0] != '\0' &&
        (survey.bytes > room || now - survey.oldest_time > config->record_days * SECONDS_A_DAY)) {
        if (snprintf(path, sizeof path, "%s/%s", folder, survey.oldest) >= (int)sizeof path ||
            unlink(path) != 0)
            return;
    }
}

/* --- the open file ---------------------------------------------------------------------------- */

/* `ret_file` has its number already. */
static enum status open_file(const struct config *config, int64_t now,
                             struct recording_file *ret_file, struct failure *failure)
{
    char folder[PATH_MAX], path[PATH_MAX];

    project_path(config, folder_name, folder, sizeof folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    remove_old(config, folder, now);
    if (snprintf(path, sizeof path, "%s/%lld-%ld-%d%s", folder, (long long)now, (long)getpid(),
                 ret_file->number, suffix) >= (int)sizeof path)
        return fail(failure, STATUS_INVALID, "%s: the path is too long", folder);
    ret_file->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (ret_file->descriptor < 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    ret_file->day = now / SECONDS_A_DAY;
    random_bytes(&ret_file->secret, sizeof ret_file->secret);
    return STATUS_OK;
}

static bool is_due(const struct recording_file *file, const struct config *config, int64_t now)
{
    if (!config->record_requests)
        return file->descriptor >= 0;
    return file->descriptor < 0 || file->day != now / SECONDS_A_DAY ||
           file->bytes >= bytes_max(config) / SHARES;
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

static struct recording_file current(struct recording *recording)
{
    struct recording_file file;

    pthread_mutex_lock(&recording->lock);
    file = recording->file;
    pthread_mutex_unlock(&recording->lock);
    return file;
}

void recording_turn(struct recording *recording, const struct config *config, int64_t now)
{
    struct recording_file ended = current(recording);
    struct recording_file next = {.descriptor = -1, .number = ended.number + 1};
    struct failure failure = {0};

    if (!is_due(&ended, config, now))
        return;
    if (config->record_requests)
        note_failure(recording, open_file(config, now, &next, &failure) != STATUS_OK, failure.text);
    pthread_mutex_lock(&recording->lock);
    recording->file = next;
    pthread_mutex_unlock(&recording->lock);
    close_file(&ended);
}

/* --- records ---------------------------------------------------------------------------------- */

void recording_take(struct recording *recording, const struct request *request,
                    struct recorded *ret_record)
{
    struct recording_file file;
    bool is_possible;

    if (!request->config->record_requests || request->visit.user.id == 0)
        return;
    file = current(recording);
    is_possible = file.descriptor >= 0 && request->transport.body.length <= RECORDED_BODY_MAX;
    ret_record->file = file.number;
    if (is_possible)
        record_write(request, &file.secret, &ret_record->text);
    if (is_possible && !ret_record->text.overflowed)
        return;
    ret_record->text.length = 0;
    counter_add(COUNTER_requests_not_recorded, 1);
}

static bool write_record(struct recording *recording, const struct recorded *record)
{
    struct recording_file *file = &recording->file;
    bool is_kept = true, has_ended;

    pthread_mutex_lock(&recording->lock);
    has_ended = file->descriptor < 0 || file->number != record->file;
    if (!has_ended) {
        is_kept = file_write_all(file->descriptor, buffer_text(&record->text));
        file->bytes += record->text.length;
    }
    pthread_mutex_unlock(&recording->lock);
    if (!has_ended)
        note_failure(recording, !is_kept, "a record cannot be written to the file");
    return is_kept && !has_ended;
}

void recording_keep(struct recording *recording, struct recorded *record)
{
    if (record->text.length > 0)
        counter_add(write_record(recording, record) ? COUNTER_requests_recorded
                                                    : COUNTER_requests_not_recorded,
                    1);
    buffer_free(&record->text);
    *record = NOTHING_RECORDED;
}
