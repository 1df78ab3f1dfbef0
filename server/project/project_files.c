/* SPDX-License-Identifier: Apache-2.0 */
/* The file is read as a job's template is, and written anew: so line readers find each tag on a
 * line of its own, however the administrator wrote it. */
#include "server/project/project_files.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/template.h"

#include "server/base/banned.h"

enum { CONTENT_MAX = 200 /* bytes: clients before 6.13 keep 255 of a line */ };

struct files_reading {
    struct template_file file;
    struct buffer infos, block;
    struct failure *failure;
};

static enum status check_content(const struct files_reading *reading,
                                 const struct template_element *element)
{
    enum status status = STATUS_OK;

    for (element = element->first_child; element && status == STATUS_OK; element = element->next)
        if (element->content.length > CONTENT_MAX)
            status =
                template_fail(&reading->file, element, reading->failure,
                              "more than %d bytes, which older clients cannot read", CONTENT_MAX);
    return status;
}

static enum status need_child(const struct files_reading *reading,
                              const struct template_element *element, const char *name)
{
    const struct template_element *child = template_child(element, name);

    return child != NULL && child->content.length > 0
               ? STATUS_OK
               : template_fail(&reading->file, element, reading->failure, "needs a <%s>", name);
}

static enum status add_info(struct files_reading *reading, const struct template_element *element)
{
    double exp_days;
    enum status status = need_child(reading, element, "name");

    if (status == STATUS_OK)
        status = need_child(reading, element, "url");
    if (status == STATUS_OK)
        status = template_check_file(&reading->file, element, &exp_days, reading->failure);
    if (status == STATUS_OK)
        status = check_content(reading, element);
    if (status == STATUS_OK)
        template_write(&reading->infos, element, 0);
    return status;
}

static enum status add_reference(struct files_reading *reading,
                                 const struct template_element *element)
{
    const struct template_element *open_name = template_child(element, "open_name");
    enum status status = need_child(reading, element, "file_name");

    if (status == STATUS_OK && open_name != NULL)
        status = template_check_open_name(&reading->file, open_name, reading->failure);
    if (status == STATUS_OK)
        status = check_content(reading, element);
    if (status == STATUS_OK)
        template_write(&reading->block, element, 0);
    return status;
}

/* Whatever else stands inside of the block is for clients. */
static enum status add_inside(struct files_reading *reading, const struct template_element *element)
{
    if (text_is(element->name, "file_info"))
        return add_info(reading, element);
    if (text_is(element->name, "file_ref"))
        return add_reference(reading, element);
    template_write(&reading->block, element, 0);
    return STATUS_OK;
}

static enum status add_top(struct files_reading *reading)
{
    bool has_block = false;
    enum status status = STATUS_OK;

    for (const struct template_element *element = reading->file.first;
         element && status == STATUS_OK; element = element->next) {
        bool is_block = text_is(element->name, "project_files");

        if (is_block && has_block)
            return template_fail(&reading->file, element, reading->failure,
                                 "there may be only one");
        has_block = has_block || is_block;
        if (!is_block)
            status = add_inside(reading, element);
        for (const struct template_element *child = is_block ? element->first_child : NULL;
             child && status == STATUS_OK; child = child->next)
            status = add_inside(reading, child);
    }
    return status;
}

enum status project_files_parse(struct arena *arena, struct text document,
                                struct project_files *ret_files, struct failure *failure)
{
    struct files_reading reading = {
        .infos = buffer_in(arena), .block = buffer_in(arena), .failure = failure};
    enum status status;

    *ret_files = (struct project_files){.infos = NO_TEXT};
    status = template_read(arena, "project_files.xml", document, "", &reading.file, failure);
    if (status == STATUS_OK)
        status = add_top(&reading);
    if (status == STATUS_OK && (reading.infos.overflowed || reading.block.overflowed))
        status = fail(failure, STATUS_NO_MEMORY, "project_files.xml: no memory");
    if (status == STATUS_OK)
        *ret_files = (struct project_files){.infos = buffer_text(&reading.infos),
                                            .block = text_trim(buffer_text(&reading.block))};
    return status;
}
