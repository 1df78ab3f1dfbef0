/* SPDX-License-Identifier: Apache-2.0 */
/* A new file is begun each day and whenever the open one has its share of the bytes; then old ones
 * are removed, so that all together stay within record_max_mb and record_days. A record goes out in
 * one write to a file opened for appending; a thread that waits for the lock has sent its reply.
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
    *recording = (struct recording){.descriptor = -1};
    pthread_mutex_init(&recording->lock, NULL);
}

static void close_file(struct recording *recording)
{
    if (recording->descriptor >= 0)
        (void)close(recording->descriptor);
    recording->descriptor = -1;
}

void recording_clear(struct recording *recording)
{
    close_file(recording);
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

static enum status open_file(struct recording *recording, const struct config *config, int64_t now,
                             struct failure *failure)
{
    char folder[PATH_MAX], path[PATH_MAX];

    project_path(config, folder_name, folder, sizeof folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    remove_old(config, folder, now);
    if (snprintf(path, sizeof path, "%s/%lld-%ld-%d%s", folder, (long long)now, (long)getpid(),
                 recording->files, suffix) >= (int)sizeof path)
        return fail(failure, STATUS_INVALID, "%s: the path is too long", folder);
    recording->files++;
    recording->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (recording->descriptor < 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    recording->is_failing = false;
    recording->bytes = 0;
    recording->day = now / SECONDS_A_DAY;
    random_bytes(&recording->secret, sizeof recording->secret);
    return STATUS_OK;
}

static bool make_ready(struct recording *recording, const struct config *config, int64_t now)
{
    struct failure failure = {0};

    if (recording->descriptor >= 0 &&
        (recording->day != now / SECONDS_A_DAY || recording->bytes >= bytes_max(config) / SHARES))
        close_file(recording);
    if (recording->descriptor >= 0 || open_file(recording, config, now, &failure) == STATUS_OK)
        return true;
    if (!recording->is_failing)
        log_event(LOG_LEVEL_WARNING, "request_not_recorded", text_from(failure.text));
    recording->is_failing = true;
    return false;
}

void recording_take(struct recording *recording, const struct request *request,
                    struct buffer *ret_record)
{
    const struct config *config = request->config;
    struct digest_secret secret;
    bool is_ready;

    if (!config->record_requests)
        return;
    pthread_mutex_lock(&recording->lock);
    is_ready = make_ready(recording, config, (int64_t)request->now);
    secret = recording->secret;
    pthread_mutex_unlock(&recording->lock);
    if (is_ready)
        record_write(request, &secret, ret_record);
    if (is_ready && !ret_record->overflowed)
        return;
    ret_record->length = 0;
    counter_add(COUNTER_requests_not_recorded, 1);
}

void recording_keep(struct recording *recording, struct text record)
{
    bool is_kept;

    if (record.length == 0)
        return;
    pthread_mutex_lock(&recording->lock);
    is_kept = recording->descriptor >= 0 && file_write_all(recording->descriptor, record);
    recording->bytes += record.length;
    pthread_mutex_unlock(&recording->lock);
    counter_add(is_kept ? COUNTER_requests_recorded : COUNTER_requests_not_recorded, 1);
}
