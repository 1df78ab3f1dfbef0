/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/job_files.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/project/project.h"
#include "server/submit/template_output.h"
#include "server/submit/version_document.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

/* Words; empty: it is as clients expect it, or not here. */
static struct text judge_input(const struct version_files *files, struct arena *arena,
                               const struct version_file_info *info)
{
    struct text url, path = version_file_path(files, arena, info, &url);
    struct stat found;

    if (path.length == 0)
        return NO_TEXT;
    if (stat(text_string(arena, path), &found) != 0)
        return text_print(arena, TEXT_FORMAT ": %s", TEXT_ARG(path), strerror(errno));
    if (info->bytes >= 0 && info->bytes != found.st_size)
        return text_print(
            arena, TEXT_FORMAT " has %" PRId64 " bytes, and had %" PRId64 " when the job was made",
            TEXT_ARG(path), (int64_t)found.st_size, info->bytes);
    return NO_TEXT;
}

static struct text judge_job(const struct version_files *files, struct arena *arena,
                             const struct waiting_document_row *job)
{
    struct text rest = job->xml_doc, words = NO_TEXT;
    struct version_file_info info;

    while (words.length == 0 && version_document_next_file(&rest, &info))
        words = judge_input(files, arena, &info);
    return words;
}

void job_inputs_judge(const struct version_files *files, const struct app_row *app,
                      const struct waiting_document_row *jobs, size_t count, struct arena *arena,
                      struct buffer *faults)
{
    struct text first = NO_TEXT, name = NO_TEXT;
    size_t lacking = 0;

    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct text words = judge_job(files, arena, &jobs[i]);

        if (words.length > 0 && lacking++ == 0) {
            first = words;
            name = jobs[i].name;
        } else {
            arena_rewind(arena, mark);
        }
    }
    if (lacking > 0)
        buffer_print(faults,
                     TEXT_FORMAT ": %zu of %zu unsent jobs looked at, such as " TEXT_FORMAT
                                 ", lack an input file, and will fail on every host: " TEXT_FORMAT
                                 ". Bring it back, or qmctl jobs cancel\n",
                     TEXT_ARG(app->name), lacking, count, TEXT_ARG(name), TEXT_ARG(first));
}

/* As a transition reads it that makes another result. */
static enum status read_template(const struct config *config, struct text path, struct arena *arena,
                                 struct failure *failure)
{
    const struct output_options options = output_options_from(config);
    const char *name = text_string(arena, path);
    struct output_template output;
    struct text document;
    char file[PATH_MAX];
    enum status status;

    project_path(config, name, file, sizeof(file));
    status = file_read(arena, file, TEMPLATE_BYTES_MAX, &document, failure);
    return status == STATUS_OK
               ? output_template_read(arena, name, document, &options, &output, failure)
               : status;
}

void job_templates_judge(const struct config *config, const struct app_row *app,
                         const struct job_template_row *templates, size_t count,
                         struct arena *arena, struct buffer *faults)
{
    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct failure failure = {.status = STATUS_OK};

        if (templates[i].path.length > 0 &&
            read_template(config, templates[i].path, arena, &failure) != STATUS_OK)
            buffer_print(faults,
                         TEXT_FORMAT ": the result template of " COUNT_FORMAT
                                     ", such as " TEXT_FORMAT
                                     ", cannot be used, so that a result that fails is not made "
                                     "again: %s\n",
                         TEXT_ARG(app->name), COUNT_ARG(templates[i].jobs, "unfinished job"),
                         TEXT_ARG(templates[i].name), failure.text);
        arena_rewind(arena, mark);
    }
}
