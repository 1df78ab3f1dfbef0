/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_project.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/project/keys.h"
#include "server/upload/upload_store.h"

#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PROJECT_BYTES_MAX = 64 << 20, DEFAULT_MODE = 0644, MODE_MAX = 0777, EXECUTION = 0111 };
#define GIGABYTE 1073741824.0

bool upload_mode_read(struct text option, int absent, int *ret_mode)
{
    bool is_octal = text_starts(option, TEXT("0"));
    int base = is_octal ? 8 : 10, mode = 0;

    *ret_mode = absent;
    for (size_t i = 0; i < option.length; i++) {
        int digit = option.at[i] - '0';

        if (digit < 0 || digit >= base)
            return false;
        mode = mode * base + digit;
        if (mode > MODE_MAX)
            return false;
    }
    if (option.length > 0)
        *ret_mode = mode;
    return true;
}

static void log_found(const struct config_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        log_line_with(findings->items[i].is_error ? LOG_LEVEL_CRITICAL : LOG_LEVEL_WARNING, "what",
                      findings->items[i].text, "event=config file=" TEXT_FORMAT " line=%d",
                      TEXT_ARG(findings->items[i].file), findings->items[i].line);
}

static enum status open_store(struct upload_project *project, struct failure *failure)
{
    const struct config *config = project->config;
    struct upload_store_options options = {.fanout = config->uldl_dir_fanout};
    int initial, completed;

    if (config->upload_dir.length == 0)
        return fail(failure, STATUS_INVALID, "config.xml: upload_dir is not given");
    if (!upload_mode_read(config->fuh_set_initial_permission, DEFAULT_MODE, &initial) ||
        !upload_mode_read(config->fuh_set_completed_permission, -1, &completed))
        return fail(failure, STATUS_INVALID,
                    "config.xml: fuh_set_initial_permission, fuh_set_completed_permission: wanted "
                    "octal digits up to 0777");
    options.dir =
        text_starts(config->upload_dir, TEXT("/"))
            ? text_string(project->arena, config->upload_dir)
            : text_string(project->arena, text_print(project->arena, TEXT_FORMAT "/" TEXT_FORMAT,
                                                     TEXT_ARG(config->project_dir_path),
                                                     TEXT_ARG(config->upload_dir)));
    options.initial_mode = (unsigned)(initial == 0 ? DEFAULT_MODE : initial) & ~(unsigned)EXECUTION;
    options.completed_mode = completed;
    return upload_store_open(&options, &project->store, failure);
}

/* One that is damaged would make every certificate look forged. */
static enum status read_key(struct upload_project *project, struct failure *failure)
{
    struct text *key = &project->limits.public_key;
    struct failure why = {0};
    enum status status = key_read(project->arena, project->config, "upload_public", key, failure);

    if (status == STATUS_OK && rsa_check_public_key(*key, &why) != STATUS_OK)
        status = fail(failure, STATUS_INVALID, "keys: upload_public: %s", why.text);
    return status;
}

static enum status load(struct upload_project *project, const char *project_dir,
                        struct failure *failure)
{
    struct upload_limits *limits = &project->limits;
    struct config_findings findings = {0};
    enum status status =
        config_load(project_dir, project->arena, &project->config, &findings, failure);

    log_found(&findings);
    if (status != STATUS_OK)
        return status;
    limits->ignores_certificates = project->config->ignore_upload_certificates;
    limits->bytes_max = project->config->upload_bytes_max;
    limits->free_least = (int64_t)(project->config->upload_min_free_gb * GIGABYTE);
    project->stop_file =
        text_string(project->arena, text_print(project->arena, TEXT_FORMAT "/stop_upload",
                                               TEXT_ARG(project->config->project_dir_path)));
    if (!limits->ignores_certificates)
        status = read_key(project, failure);
    if (status == STATUS_OK)
        status = open_store(project, failure);
    if (status == STATUS_OK)
        log_set_level((enum log_level)project->config->fuh_debug_level);
    return status;
}

static void destroy(struct upload_project *project)
{
    upload_store_close(project->store);
    config_release(project->config);
    arena_destroy(project->arena);
    free(project);
}

enum status upload_project_load(const char *project_dir, struct upload_project **ret_project,
                                struct failure *failure)
{
    struct upload_project *project = calloc(1, sizeof(*project));
    enum status status;

    if (project == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    project->references = 1;
    project->arena = arena_create(PROJECT_BYTES_MAX);
    status = project->arena == NULL ? fail(failure, STATUS_NO_MEMORY, "no memory")
                                    : load(project, project_dir, failure);
    if (status != STATUS_OK) {
        destroy(project);
        return status;
    }
    *ret_project = project;
    return STATUS_OK;
}

struct upload_project *upload_project_hold(struct upload_project *project)
{
    project->references++;
    return project;
}

void upload_project_release(struct upload_project *project)
{
    if (project != NULL && --project->references == 0)
        destroy(project);
}

bool upload_project_is_stopped(const struct upload_project *project)
{
    return access(project->stop_file, F_OK) == 0;
}
