/* SPDX-License-Identifier: Apache-2.0 */
/* A client sends its whole log with each request, so a file is written over without waiting for the
 * disk, and one that is lost comes again. Invariant: nothing that happens here fails a request or
 * changes its reply. */
#include "server/request/availability_log.h"

#include "config/config.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/project/project.h"
#include "server/rpc/request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum {
    FOLDERS = 1000,
    BYTES_MAX = 1 << 20, /* of the newest lines: some ten thousand, which is years */
    NAME_BYTES = 64
};

static enum status make_folder(const struct config *config, const char *name,
                               struct failure *failure)
{
    char path[PATH_MAX];

    project_path(config, name, path, sizeof(path));
    if (mkdir(path, 0775) == 0 || errno == EEXIST)
        return STATUS_OK;
    return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
}

/* Whole lines from the end, where there are too many. */
static struct text newest(struct text log)
{
    struct text last = log;

    if (log.length <= BYTES_MAX)
        return log;
    last = (struct text){log.at + (log.length - BYTES_MAX), BYTES_MAX};
    (void)text_split(&last, '\n');
    return last;
}

void availability_log_keep(const struct request *request)
{
    const struct config *config = request->config;
    struct text log = request->message.time_stats_log;
    long long host = (long long)request->attempt.host.id;
    char folder[NAME_BYTES], name[NAME_BYTES], path[PATH_MAX];
    struct failure failure = {0};
    enum status status;

    if (!config->request_time_stats_log || log.length == 0 || host <= 0)
        return;
    snprintf(folder, sizeof(folder), "time_stats_log/%lld", host % FOLDERS);
    snprintf(name, sizeof(name), "time_stats_log/%lld/%lld", host % FOLDERS, host);
    status = make_folder(config, "time_stats_log", &failure);
    if (status == STATUS_OK)
        status = make_folder(config, folder, &failure);
    project_path(config, name, path, sizeof(path));
    if (status == STATUS_OK)
        status = file_write_at_ease(path, newest(log), 0664, &failure);
    if (status != STATUS_OK)
        log_event(LOG_LEVEL_WARNING, "availability_log_not_kept", text_from(failure.text));
}
