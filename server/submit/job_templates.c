/* SPDX-License-Identifier: Apache-2.0 */
/* An input template may lie anywhere: it is needed once. A result template must lie in the project
 * folder, as retries are made from it later; one from elsewhere is copied there once it is known to
 * be right, and taken away again when no job came of it (stage.h). */
#include "server/submit/job_templates.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/submit/stage.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { RESULT_TEMPLATE_MAX = 63 /* bytes of the column that names it */ };

static const char *project_file(const struct job_templates *templates, struct text path)
{
    return text_string(templates->arena,
                       text_print(templates->arena, TEXT_FORMAT "/" TEXT_FORMAT,
                                  TEXT_ARG(templates->config->project_dir_path), TEXT_ARG(path)));
}

/* Templates are named from the project folder; an input template may lie anywhere. */
static const char *template_path(struct job_templates *templates, struct text path)
{
    const char *inside = project_file(templates, path);
    if (!text_starts(path, TEXT("/")) && access(inside, F_OK) == 0)
        return inside;
    return text_string(templates->arena, path);
}

static enum status read_template(struct job_templates *templates, struct text path,
                                 struct text *ret_document, struct failure *failure)
{
    return file_read(templates->arena, template_path(templates, path), TEMPLATE_BYTES_MAX,
                     ret_document, failure);
}

/* A document is known by its MD5; as a result template it lies in a file of that name. */
static struct text document_path(struct job_templates *templates, struct text document)
{
    char md5[MD5_HEX_SIZE];

    md5_hex(document, NO_TEXT, md5);
    return text_print(templates->arena, "templates/tmp/%s", md5);
}

enum status job_templates_input(struct job_templates *templates, struct text path,
                                struct text document, const struct input_template **ret_input,
                                struct failure *failure)
{
    if (document.length > 0)
        path = document_path(templates, document);
    for (size_t i = 0; i < templates->input_count; i++)
        if (text_equal(templates->inputs[i].path, path)) {
            *ret_input = &templates->inputs[i].input;
            return STATUS_OK;
        }
    if (templates->input_count == JOB_TEMPLATES_MAX)
        return fail(failure, STATUS_TOO_LARGE, "more than %d different templates",
                    JOB_TEMPLATES_MAX);
    struct named_input *named = &templates->inputs[templates->input_count];
    enum status status = STATUS_OK;
    named->path = text_copy(templates->arena, path);
    if (document.length > 0)
        document = text_copy(templates->arena, document);
    else
        status = read_template(templates, named->path, &document, failure);
    if (status == STATUS_OK)
        status = input_template_read(templates->arena, text_string(templates->arena, named->path),
                                     document, &named->input, failure);
    if (status != STATUS_OK)
        return status;
    templates->input_count++;
    *ret_input = &named->input;
    return STATUS_OK;
}

/* What result_template_file is to hold: a path from the project folder. One from elsewhere has to
 * come to templates/ first, where one of the same name must be the same. */
static enum status stored_path(struct job_templates *templates, struct text path,
                               struct text *ret_path, bool *ret_is_elsewhere,
                               struct failure *failure)
{
    struct text project = templates->config->project_dir_path;
    const char *inside = project_file(templates, path);
    *ret_is_elsewhere = false;
    if (text_starts(path, project) && path.length > project.length + 1 &&
        path.at[project.length] == '/')
        *ret_path = (struct text){path.at + project.length + 1, path.length - project.length - 1};
    else if (!text_starts(path, TEXT("/")) && !text_contains(path, TEXT("..")) &&
             access(inside, F_OK) == 0)
        *ret_path = path;
    else {
        *ret_path = text_print(templates->arena, "templates/" TEXT_FORMAT,
                               TEXT_ARG(text_behind_last(path, '/')));
        *ret_is_elsewhere = true;
    }
    return ret_path->length > RESULT_TEMPLATE_MAX
               ? fail(failure, STATUS_TOO_LARGE, TEXT_FORMAT ": the path has more than %d bytes",
                      TEXT_ARG(text_first(*ret_path, 120)), RESULT_TEMPLATE_MAX)
               : STATUS_OK;
}

static enum status stage_document(struct job_templates *templates, struct text document,
                                  struct text path, struct failure *failure)
{
    const char *folder = project_file(templates, TEXT("templates/tmp"));

    if (!file_make_folder(folder, 0775) && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    return stage_text(templates->stage, document, project_file(templates, path), failure);
}

/* Where the result template comes from: its document, and where it is to lie. */
static enum status take_output(struct job_templates *templates, struct text document,
                               struct named_output *named, struct failure *failure)
{
    bool is_elsewhere = false, is_given = document.length > 0;
    enum status status = STATUS_OK;

    if (is_given) {
        named->stored_path = named->path;
        document = text_copy(templates->arena, document);
    } else {
        status = stored_path(templates, named->path, &named->stored_path, &is_elsewhere, failure);
        if (status == STATUS_OK)
            status = read_template(templates, named->path, &document, failure);
    }
    if (status == STATUS_OK)
        status = output_template_read(templates->arena, text_string(templates->arena, named->path),
                                      document, &templates->options, &named->output, failure);
    if (status == STATUS_OK && is_given)
        status = stage_document(templates, document, named->stored_path, failure);
    if (status == STATUS_OK && is_elsewhere)
        status = stage_template(templates->stage, template_path(templates, named->path),
                                project_file(templates, named->stored_path), failure);
    return status;
}

enum status job_templates_output(struct job_templates *templates, struct text path,
                                 struct text document, const struct named_output **ret_output,
                                 struct failure *failure)
{
    if (document.length > 0)
        path = document_path(templates, document);
    for (size_t i = 0; i < templates->output_count; i++)
        if (text_equal(templates->outputs[i].path, path)) {
            *ret_output = &templates->outputs[i];
            return STATUS_OK;
        }
    if (templates->output_count == JOB_TEMPLATES_MAX)
        return fail(failure, STATUS_TOO_LARGE, "more than %d different templates",
                    JOB_TEMPLATES_MAX);
    struct named_output *named = &templates->outputs[templates->output_count];
    named->path = text_copy(templates->arena, path);
    enum status status = take_output(templates, document, named, failure);
    if (status != STATUS_OK)
        return status;
    templates->output_count++;
    *ret_output = named;
    return STATUS_OK;
}
