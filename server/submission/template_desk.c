/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/template_desk.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/markup.h"
#include "server/base/xml.h"
#include "server/project/template.h"
#include "server/submit/template_input.h"

#include "server/base/banned.h"

enum { DEPTH_MAX = 32, ELEMENTS_MAX = 100000 };

/* Somebody else reads it inside of our answer. */
static enum status check_whole(struct desk *desk, struct text path, struct text document)
{
    const struct xml_limits limits = {
        .bytes_max = TEMPLATE_BYTES_MAX, .depth_max = DEPTH_MAX, .elements_max = ELEMENTS_MAX};
    const struct xml_handler handler = {.context = NULL};
    struct failure why = {.status = STATUS_OK};

    return xml_walk(document, &limits, &handler, &why) == STATUS_OK
               ? STATUS_OK
               : fail(desk->failure, STATUS_IO, TEXT_FORMAT " cannot be read: %s", TEXT_ARG(path),
                      why.text);
}

static enum status read_one(struct desk *desk, struct text path, struct text *ret_document)
{
    struct failure why = {.status = STATUS_OK};
    const char *place = text_string(
        desk->arena, text_print(desk->arena, TEXT_FORMAT "/" TEXT_FORMAT,
                                TEXT_ARG(desk->config->project_dir_path), TEXT_ARG(path)));
    enum status status = file_read(desk->arena, place, TEMPLATE_BYTES_MAX, ret_document, &why);

    if (status != STATUS_OK)
        return fail(desk->failure, STATUS_INVALID, "the project has no file " TEXT_FORMAT,
                    TEXT_ARG(path));
    *ret_document = markup_skip(*ret_document);
    return check_whole(desk, path, *ret_document);
}

enum status desk_app_templates(struct desk *desk, struct text app_name,
                               struct desk_templates *ret_templates)
{
    struct text in = text_print(desk->arena, "templates/" TEXT_FORMAT "_in", TEXT_ARG(app_name));
    struct text out = text_print(desk->arena, "templates/" TEXT_FORMAT "_out", TEXT_ARG(app_name));
    enum status status = read_one(desk, in, &ret_templates->input);

    return status == STATUS_OK ? read_one(desk, out, &ret_templates->output) : status;
}

/* --- its numbers ------------------------------------------------------------------------------ */

static enum status read_flops(struct desk *desk, const char *name, struct text document,
                              double *ret_flops, struct failure *failure)
{
    struct job_parameters values = {.rsc_fpops_est = 0};
    struct input_template input;
    enum status status = input_template_read(desk->arena, name, document, &input, failure);

    if (status == STATUS_OK)
        status = input_template_parameters(&input, &values, failure);
    *ret_flops = status == STATUS_OK ? values.rsc_fpops_est : 0;
    return status;
}

enum status desk_document_flops(struct desk *desk, struct text document, double *ret_flops)
{
    struct arena_mark mark = arena_mark(desk->arena);
    enum status status = read_flops(desk, "input_template", document, ret_flops, desk->failure);

    arena_rewind(desk->arena, mark);
    return status;
}

/* Whoever makes jobs with it hears what is wrong. */
void desk_template_flops(struct desk *desk, struct text path, double *ret_flops)
{
    struct arena_mark mark = arena_mark(desk->arena);
    struct failure unused = {.status = STATUS_OK};
    const char *place = text_string(
        desk->arena, text_print(desk->arena, TEXT_FORMAT "/" TEXT_FORMAT,
                                TEXT_ARG(desk->config->project_dir_path), TEXT_ARG(path)));
    struct text document;

    *ret_flops = 0;
    if (file_read(desk->arena, place, TEMPLATE_BYTES_MAX, &document, &unused) == STATUS_OK)
        (void)read_flops(desk, place, document, ret_flops, &unused);
    arena_rewind(desk->arena, mark);
}
