/* SPDX-License-Identifier: Apache-2.0 */
/* Input templates are checked once when they are read, so that writing a job's document can fail
 * only by its size or by what was given with the job. What this program does not know inside
 * file_info and workunit is for clients and copied. */
#include "server/submit/template_input.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/hierarchy.h"
#include "server/submit/template_elements.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define FILES_MAX  1000
#define BYTES_MAX  INT64_C(1000000000000000)
#define MD5_DIGITS (MD5_HEX_SIZE - 1)

/* <x/> and <x>1</x>, but not <x>0</x>. */
static bool is_set(const struct template_element *element)
{
    return element != NULL && !text_is(element->content, "0");
}

static enum status check_known_number(const struct template_file *file,
                                      const struct template_element *file_info, const char *name,
                                      int64_t *ret_number, struct failure *failure)
{
    const struct template_element *element = template_child(file_info, name);
    if (element == NULL)
        return STATUS_OK;
    return template_integer(file, element, 1, BYTES_MAX, ret_number, failure);
}

static enum status read_md5(const struct template_file *file,
                            const struct template_element *file_info, char ret_md5[MD5_HEX_SIZE],
                            struct failure *failure)
{
    const struct template_element *element = template_child(file_info, "md5_cksum");
    if (element == NULL)
        return template_fail(file, file_info, failure, "nbytes needs md5_cksum next to it");
    if (element->content.length != MD5_DIGITS)
        return template_fail(file, element, failure, "not 32 hex digits");
    if (!text_is_lower_hex(element->content, MD5_DIGITS))
        return template_fail(file, element, failure, "not 32 lower-case hex digits");
    memcpy(ret_md5, element->content.at, MD5_DIGITS);
    ret_md5[MD5_DIGITS] = '\0';
    return STATUS_OK;
}

static enum status read_file(const struct template_file *file,
                             const struct template_element *element, struct input_file *ret_file,
                             struct failure *failure)
{
    struct input_file input = {.element = element};
    const struct template_element *name = template_child(element, "physical_name");
    const struct template_element *gzip = template_child(element, "gzip");
    enum status status = template_check_file(file, element, &input.exp_days, failure);
    if (status == STATUS_OK)
        status = check_known_number(file, element, "nbytes", &input.bytes, failure);
    if (status == STATUS_OK)
        status = check_known_number(file, element, "gzipped_nbytes", &input.gzipped_bytes, failure);
    if (status == STATUS_OK && gzip != NULL)
        status = template_flag(file, gzip, &input.gzip, failure);
    if (status != STATUS_OK)
        return status;
    if (input.bytes > 0) {
        if (template_child(element, "url") == NULL)
            return template_fail(file, element, failure, "nbytes needs a url next to it");
        status = read_md5(file, element, input.md5, failure);
        if (status != STATUS_OK)
            return status;
        input.kind = INPUT_REMOTE;
    } else if (name != NULL) {
        const char *fault = file_name_fault(name->content);
        if (fault != NULL)
            return template_fail(file, name, failure, "the file name %s", fault);
        input.kind = INPUT_CONSTANT;
        input.physical_name = name->content;
    }
    *ret_file = input;
    return STATUS_OK;
}

/* file_refs belong to the file_infos in order; which is which is not written in them. */
static enum status read_references(struct input_template *input, struct failure *failure)
{
    const struct template_file *file = &input->file;
    size_t index = 0;
    for (const struct template_element *element = input->workunit->first_child; element;
         element = element->next) {
        if (text_is(element->name, "command_line"))
            input->has_command_line = true;
        if (!text_is(element->name, "file_ref"))
            continue;
        if (index == input->file_count)
            return template_fail(file, element, failure, "there are only %zu file_info elements",
                                 input->file_count);
        const struct template_element *open_name = template_child(element, "open_name");
        if (open_name == NULL && !is_set(template_child(element, "copy_file")))
            return template_fail(file, element, failure, "needs an open_name, or copy_file");
        enum status status =
            open_name == NULL ? STATUS_OK : template_check_open_name(file, open_name, failure);
        if (status != STATUS_OK)
            return status;
        index++;
    }
    if (index < input->file_count)
        return template_fail(file, input->files[index].element, failure,
                             "has no file_ref in <workunit>");
    return STATUS_OK;
}

static enum status read_top(struct arena *arena, struct input_template *input,
                            struct failure *failure)
{
    input->files = ARENA_ARRAY(arena, FILES_MAX, struct input_file);
    if (input->files == NULL)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory", input->file.name);
    for (const struct template_element *element = input->file.first; element;
         element = element->next) {
        if (text_is(element->name, "workunit")) {
            if (input->workunit != NULL)
                return template_fail(&input->file, element, failure, "there may be only one");
            input->workunit = element;
            continue;
        }
        if (!text_is(element->name, "file_info"))
            return template_fail(&input->file, element, failure,
                                 "only file_info and workunit are allowed here");
        if (input->workunit != NULL)
            return template_fail(&input->file, element, failure, "must stand before <workunit>");
        if (input->file_count == FILES_MAX)
            return template_fail(&input->file, element, failure, "more than %d files", FILES_MAX);
        struct input_file *next = &input->files[input->file_count];
        enum status status = read_file(&input->file, element, next, failure);
        if (status != STATUS_OK)
            return status;
        input->file_count++;
        if (next->kind != INPUT_CONSTANT)
            input->argument_count++;
    }
    if (input->workunit == NULL)
        return fail(failure, STATUS_INVALID, "%s: no <workunit> in it", input->file.name);
    return STATUS_OK;
}

enum status input_template_read(struct arena *arena, const char *name, struct text document,
                                struct input_template *ret_input, struct failure *failure)
{
    struct input_template input = {.workunit = NULL};
    struct job_parameters values;
    enum status status =
        template_read(arena, name, document, "input_template", &input.file, failure);
    if (status == STATUS_OK)
        status = read_top(arena, &input, failure);
    if (status == STATUS_OK)
        status = read_references(&input, failure);
    parameters_default(&values);
    values.rsc_fpops_est = 1; /* a greater one may come with the job */
    if (status == STATUS_OK)
        status = input_template_parameters(&input, &values, failure);
    if (status == STATUS_OK) /* as they win, no argument could mend them */
        status = parameters_check(&values, name, failure);
    if (status == STATUS_OK)
        *ret_input = input;
    return status;
}

/* Templates of science apps have their deadline there, in seconds with a point; it is rounded up.
 */
static enum status read_max_delay(const struct input_template *input,
                                  const struct template_element *element,
                                  struct job_parameters *values, struct failure *failure)
{
    const struct parameter *parameter = parameter_find(TEXT("delay_bound"), PARAMETER_TEMPLATE);
    double seconds;

    if (!text_to_real(element->content, &seconds))
        return template_fail(&input->file, element, failure, "not a number");
    if (!(seconds > 0 && seconds <= parameter->maximum))
        return template_fail(&input->file, element, failure, "%.15g is not between 1 and %.15g",
                             seconds, parameter->maximum);
    values->delay_bound = (int64_t)ceil(seconds);
    return STATUS_OK;
}

enum status input_template_parameters(const struct input_template *input,
                                      struct job_parameters *values, struct failure *failure)
{
    const struct template_element *max_delay = template_child(input->workunit, "max_delay");

    /* A delay_bound beside it counts. */
    if (max_delay != NULL && read_max_delay(input, max_delay, values, failure) != STATUS_OK)
        return STATUS_INVALID;
    for (const struct template_element *element = input->workunit->first_child; element;
         element = element->next) {
        const struct parameter *parameter = parameter_find(element->name, PARAMETER_TEMPLATE);
        struct failure reason = {.status = STATUS_OK};
        if (parameter == NULL)
            continue;
        if (parameter_set(values, parameter, element->content, &reason) != STATUS_OK)
            return template_fail(&input->file, element, failure, "%s",
                                 reason.text + strlen(parameter->name) + sizeof ": " - 1);
    }
    return STATUS_OK;
}

static void write_url(struct buffer *buffer, const char *tag, const struct input_document *document,
                      struct text name, const char *suffix)
{
    buffer_print(buffer, "    <%s>", tag);
    hierarchy_write(buffer, document->config->download_url, name,
                    document->config->uldl_dir_fanout);
    buffer_print(buffer, "%s</%s>\n", suffix, tag);
}

static void write_urls(struct buffer *buffer, const struct input_file *input,
                       const struct input_document *document, const struct job_file *file)
{
    if (input->kind == INPUT_REMOTE) {
        for (const struct template_element *child = input->element->first_child; child;
             child = child->next)
            if (text_is(child->name, "url")) {
                buffer_print(buffer, "    <url>" TEXT_FORMAT, TEXT_ARG(child->content));
                buffer_add_xml(buffer, file->name);
                buffer_add_string(buffer, "</url>\n");
            }
        return;
    }
    if (file->remote_url.length > 0) {
        buffer_add_element(buffer, 4, "url", file->remote_url);
        return;
    }
    write_url(buffer, "url", document, file->name, "");
    if (input->gzip)
        write_url(buffer, "gzipped_url", document, file->name, ".gz");
}

static void write_file(struct buffer *buffer, const struct input_file *input,
                       const struct input_document *document, const struct job_file *file)
{
    buffer_add_string(buffer, "<file_info>\n");
    for (const struct template_element *child = input->element->first_child; child;
         child = child->next)
        if (element_is_copied(CONTEXT_FILE, child->name))
            template_write(buffer, child, 1);
    if (document->sticky_lifetime && input->exp_days >= 0 &&
        template_child(input->element, "sticky_lifetime") == NULL)
        template_write_lifetime(buffer, input->exp_days);
    buffer_add_element(buffer, 4, "name", file->name);
    write_urls(buffer, input, document, file);
    buffer_print(buffer, "    <md5_cksum>%s</md5_cksum>\n    <nbytes>%" PRId64 "</nbytes>\n",
                 file->md5, file->bytes);
    if (input->gzip || input->gzipped_bytes > 0)
        buffer_print(buffer, "    <gzipped_nbytes>%" PRId64 "</gzipped_nbytes>\n",
                     file->gzipped_bytes);
    buffer_add_string(buffer, "</file_info>\n");
}

static void write_reference(struct buffer *buffer, const struct template_element *element,
                            struct text file_name)
{
    const struct template_element *open_name = template_child(element, "open_name");
    buffer_add_string(buffer, "    <file_ref>\n");
    buffer_add_element(buffer, 8, "file_name", file_name);
    if (open_name != NULL)
        buffer_print(buffer, "        <open_name>" TEXT_FORMAT "</open_name>\n",
                     TEXT_ARG(open_name->content));
    else
        buffer_print(buffer, "        <open_name>" TEXT_FORMAT "</open_name>\n",
                     TEXT_ARG(file_name));
    if (is_set(template_child(element, "copy_file")))
        buffer_add_string(buffer, "        <copy_file/>\n");
    for (const struct template_element *child = element->first_child; child; child = child->next)
        if (element_is_copied(CONTEXT_REFERENCE, child->name))
            template_write(buffer, child, 2);
    buffer_add_string(buffer, "    </file_ref>\n");
}

static void write_workunit(struct buffer *buffer, const struct input_template *input,
                           const struct input_document *document)
{
    size_t index = 0;
    /* The server puts the job's name and bounds behind this start tag and its newline. */
    buffer_add_string(buffer, "<workunit>\n");
    if (!input->has_command_line) {
        buffer_add_string(buffer, "    <command_line>\n");
        buffer_add_xml(buffer, document->command_line);
        buffer_add_string(buffer, "\n    </command_line>\n");
    }
    for (const struct template_element *child = input->workunit->first_child; child;
         child = child->next) {
        if (text_is(child->name, "file_ref")) {
            write_reference(buffer, child, document->files[index].name);
            index++;
        } else if (parameter_find(child->name, PARAMETER_TEMPLATE) == NULL) {
            template_write(buffer, child, 1);
        }
    }
    if (document->sub_appname.length > 0)
        buffer_add_element(buffer, 4, "sub_appname", document->sub_appname);
    buffer_add_string(buffer, "</workunit>");
}

enum status input_template_write(const struct input_template *input,
                                 const struct input_document *document, struct buffer *buffer,
                                 struct failure *failure)
{
    size_t before = buffer->length;
    if (document->file_count != input->file_count)
        return fail(failure, STATUS_INVALID, "%s: has " COUNT_FORMAT ", given: %zu",
                    input->file.name, COUNT_ARG(input->file_count, "file"), document->file_count);
    if (input->has_command_line && document->command_line.length > 0)
        return fail(failure, STATUS_INVALID,
                    "%s: has a <command_line>, so none can be given with the job",
                    input->file.name);
    for (size_t i = 0; i < input->file_count; i++)
        write_file(buffer, &input->files[i], document, &document->files[i]);
    write_workunit(buffer, input, document);
    if (buffer->overflowed)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory", input->file.name);
    if (buffer->length - before > JOB_DOCUMENT_MAX)
        return fail(failure, STATUS_TOO_LARGE, "%s: the job's document has more than %d bytes",
                    input->file.name, JOB_DOCUMENT_MAX);
    return STATUS_OK;
}
