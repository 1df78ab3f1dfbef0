/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the elements: each is looked up by where it stands, and what is not known but near
 * a known name was meant to be that. */
#include "server/submit/template_advice.h"

#include "server/base/buffer.h"
#include "server/base/near_name.h"
#include "server/project/hierarchy.h"
#include "server/project/template.h"
#include "server/submit/parameters.h"
#include "server/submit/template_elements.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { NAME_MOST = 64 };

struct advice {
    const struct template_file *file;
    struct buffer *lines;
    int count;
};

static void advise(struct advice *advice, const struct template_element *element,
                   const char *format, ...) PRINTF_LIKE(3, 4);
static void advise(struct advice *advice, const struct template_element *element,
                   const char *format, ...)
{
    char words[256];
    va_list arguments;

    if (advice->count++ >= ADVICE_LINES_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    buffer_print(advice->lines, "%s:%d: <" TEXT_FORMAT ">: %s\n", advice->file->name, element->line,
                 TEXT_ARG(text_first(element->name, NAME_MOST)), words);
}

/* The numbers of parameters.def are elements of a workunit too. */
static bool is_known(enum template_context context, struct text name)
{
    return known_element_find(context, name) != NULL ||
           (context == CONTEXT_WORKUNIT && parameter_find(name, PARAMETER_TEMPLATE) != NULL);
}

/* The known name that is nearest, whatever the case of its letters; NULL: none is near. */
static const char *meant_by(enum template_context context, struct text name)
{
    char lower[NAME_MOST];
    struct near_name near;

    if (name.length > sizeof lower)
        return NULL;
    for (size_t i = 0; i < name.length; i++)
        lower[i] = (char)tolower((unsigned char)name.at[i]);
    near_name_begin(&near, (struct text){lower, name.length});
    for (size_t i = 0; i < known_element_count; i++)
        if (known_elements[i].context == context)
            near_name_try(&near, known_elements[i].name);
    for (size_t i = 0; context == CONTEXT_WORKUNIT && i < parameter_count; i++)
        if ((parameters[i].place & PARAMETER_TEMPLATE) != 0)
            near_name_try(&near, parameters[i].name);
    return near.nearest;
}

/* The element in which it would be known; NULL: nowhere. */
static const char *belongs_to(struct text name)
{
    static const char *const parents[] = {[CONTEXT_FILE] = "file_info",
                                          [CONTEXT_REFERENCE] = "file_ref",
                                          [CONTEXT_RESULT] = "result",
                                          [CONTEXT_WORKUNIT] = "workunit"};

    for (size_t context = 0; context < sizeof parents / sizeof parents[0]; context++)
        if (is_known((enum template_context)context, name))
            return parents[context];
    return NULL;
}

static void look_at_child(struct advice *advice, enum template_context context,
                          const struct template_element *element)
{
    const char *meant, *parent;

    if (is_known(context, element->name))
        return;
    if (context == CONTEXT_WORKUNIT && parameter_find(element->name, PARAMETER_ARGUMENT) != NULL) {
        advise(advice, element, "has no effect here; it is given with the job, as --" TEXT_FORMAT,
               TEXT_ARG(text_first(element->name, NAME_MOST)));
        return;
    }
    parent = belongs_to(element->name);
    meant = meant_by(context, element->name);
    if (parent != NULL)
        advise(advice, element, "has no effect here; it belongs into <%s>", parent);
    else if (meant != NULL)
        advise(advice, element, "is not known and has no effect here; did you mean <%s>?", meant);
}

static void look_at_children(struct advice *advice, enum template_context context,
                             const struct template_element *parent)
{
    for (const struct template_element *child = parent->first_child; child; child = child->next) {
        look_at_child(advice, context, child);
        if (text_is(child->name, "file_ref"))
            look_at_children(advice, CONTEXT_REFERENCE, child);
    }
}

static struct advice begin(const struct template_file *file, struct buffer *lines)
{
    return (struct advice){.file = file, .lines = lines};
}

void input_template_advice(const struct template_file *file, struct buffer *lines)
{
    struct advice advice = begin(file, lines);

    for (const struct template_element *element = file->first; element; element = element->next)
        look_at_children(
            &advice, text_is(element->name, "workunit") ? CONTEXT_WORKUNIT : CONTEXT_FILE, element);
}

void input_template_override(const struct template_file *file, const char *parameter,
                             struct text given, struct buffer *lines)
{
    struct advice advice = begin(file, lines);
    double ours, theirs;

    for (const struct template_element *element = file->first; element; element = element->next) {
        const struct template_element *found =
            text_is(element->name, "workunit") ? template_child(element, parameter) : NULL;

        if (found != NULL && text_to_real(found->content, &theirs) && text_to_real(given, &ours) &&
            ours != theirs)
            advise(&advice, found, TEXT_FORMAT " counts, not --%s " TEXT_FORMAT,
                   TEXT_ARG(text_first(found->content, NAME_MOST)), parameter,
                   TEXT_ARG(text_first(given, NAME_MOST)));
    }
}

/* <x/> and <x>1</x>, but not <x>0</x>. */
static bool has_flag(const struct template_element *element, const char *name)
{
    const struct template_element *flag = template_child(element, name);

    return flag != NULL && !text_is(flag->content, "0");
}

/* upload_url itself is looked at where config.xml is checked. */
static void look_at_urls(struct advice *advice, const struct template_element *file_info)
{
    for (const struct template_element *child = file_info->first_child; child; child = child->next)
        if (text_is(child->name, "url") && !text_contains(child->content, TEXT("<UPLOAD_URL/>")) &&
            url_upload_fault(child->content) != NULL)
            advise(advice, child, "%s", url_upload_fault(child->content));
}

/* Clients before 6.13.2 take a file without generated_locally for one to download, and one without
 * upload_when_present for one to keep. Later ones go by the URLs alone. */
static void look_at_output(struct advice *advice, const struct template_element *file_info)
{
    const struct template_element *name = template_child(file_info, "name");
    bool has_url =
        template_child(file_info, "url") != NULL || template_child(file_info, "upload_url") != NULL;
    bool is_sent = has_flag(file_info, "upload_when_present");

    if (name != NULL && !text_contains(name->content, TEXT("<OUTFILE_")))
        advise(advice, name, "lacks <OUTFILE_0/>: all results upload the same file");
    if (!has_url && (is_sent || !has_flag(file_info, "sticky")))
        advise(advice, file_info, "lacks <url><UPLOAD_URL/></url>: clients cannot upload it");
    else if (!has_flag(file_info, "generated_locally"))
        advise(advice, file_info,
               "lacks <generated_locally/>: clients before 6.13.2 try to download this output "
               "file");
    else if (!is_sent && !has_flag(file_info, "sticky"))
        advise(advice, file_info,
               "lacks <upload_when_present/>: clients before 6.13.2 never upload this output "
               "file");
    look_at_urls(advice, file_info);
}

static bool is_referred_to(const struct template_file *file, struct text name)
{
    for (const struct template_element *result = file->first; result; result = result->next)
        for (const struct template_element *child = result->first_child; child;
             child = child->next) {
            const struct template_element *found = template_child(child, "file_name");

            if (text_is(child->name, "file_ref") && found != NULL &&
                text_equal(found->content, name))
                return true;
        }
    return false;
}

/* Clients forget such a file. */
static void look_at_reference(struct advice *advice, const struct template_element *file_info)
{
    const struct template_element *name = template_child(file_info, "name");

    if (name != NULL && !is_referred_to(advice->file, name->content))
        advise(advice, file_info, "has no file_ref in <result>: no program can write it");
}

void output_template_advice(const struct template_file *file, struct buffer *lines)
{
    struct advice advice = begin(file, lines);

    for (const struct template_element *element = file->first; element; element = element->next) {
        bool is_file = text_is(element->name, "file_info");

        look_at_children(&advice, is_file ? CONTEXT_FILE : CONTEXT_RESULT, element);
        if (is_file) {
            look_at_output(&advice, element);
            look_at_reference(&advice, element);
        }
    }
}
