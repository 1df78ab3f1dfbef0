/* SPDX-License-Identifier: Apache-2.0 */
#include "server/parse/message_writer.h"

#include "server/base/buffer.h"
#include "server/parse/message.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "server/base/banned.h"

static void write_text(const struct message_writer *writer, const struct element *element,
                       struct text text)
{
    if (text.length == 0)
        return;
    if (writer->write_text != NULL)
        writer->write_text(writer, element, text);
    else
        buffer_add_element(writer->buffer, 0, element->name, text);
}

static void write_integer(const struct message_writer *writer, const struct element *element,
                          int64_t number)
{
    if (number != 0 || !writer->skips_zero || element->kind == ELEMENT_FLAG)
        buffer_print(writer->buffer, "<%s>%" PRId64 "</%s>\n", element->name, number,
                     element->name);
}

static void write_real(const struct message_writer *writer, const struct element *element,
                       double number)
{
    if (number != 0 || !writer->skips_zero)
        buffer_print(writer->buffer, "<%s>%.17g</%s>\n", element->name, number, element->name);
}

static void write_keywords(const struct message_writer *writer, const struct element *element,
                           const char *record)
{
    const int64_t *list;
    size_t count;

    memcpy(&list, record + element->offset, sizeof list);
    memcpy(&count, record + element->flag_offset, sizeof count);
    for (size_t i = 0; i < count; i++)
        write_integer(writer, element, list[i]);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Where the message keeps the entries of a context. */
static const struct message_list {
    size_t items_offset, count_offset, item_size;
} lists[CONTEXT_COUNT] = {
#define LIST(items, count)                                                \
    {                                                                     \
        offsetof(struct message, items), offsetof(struct message, count), \
            sizeof *((struct message *)NULL)->items                       \
    }
    [CONTEXT_DISTRO] = LIST(distros, distro_count),
    [CONTEXT_WSL_GPU] = LIST(wsl_gpus, wsl_gpu_count),
    [CONTEXT_CPU_DEVICE] = LIST(opencl_cpus, opencl_cpu_count),
    [CONTEXT_COPROC] = LIST(coprocs, coproc_count),
    [CONTEXT_RESULT] = LIST(results, result_count),
    [CONTEXT_HOST_FILE] = LIST(files, file_count),
    [CONTEXT_APP_VERSION] = LIST(app_versions, app_version_count),
    [CONTEXT_OTHER_RESULT] = LIST(other_results, other_result_count),
    [CONTEXT_IP_RESULT] = LIST(ip_results, ip_result_count),
#undef LIST
};

/* Of several elements that make entries of one list, the first that makes such entries. */
static bool writes(const struct element *element, const char *item)
{
    const struct coproc *coproc = (const void *)item;

    for (size_t i = 0; i < (size_t)(element - elements); i++)
        if (elements[i].kind == ELEMENT_ITEM && elements[i].child == element->child &&
            strcmp(elements[i].note, element->note) == 0)
            return false;
    return element->child != CONTEXT_COPROC ||
           (coproc->is_generic ? element->note[0] == '\0' : text_is(coproc->type, element->note));
}

static void write_context(const struct message_writer *writer, enum context context,
                          const char *record);

static void write_inside(const struct message_writer *writer, const struct element *element,
                         const char *record)
{
    buffer_print(writer->buffer, "<%s>\n", element->name);
    write_context(writer, element->child, record);
    buffer_print(writer->buffer, "</%s>\n", element->name);
}

/* The first platform has an element of its own. */
static void write_alternates(const struct message_writer *writer, const struct element *element)
{
    for (size_t i = 1; i < writer->message->platform_count; i++) {
        const struct alt_platform alternate = {.name = writer->message->platforms[i]};

        write_inside(writer, element, (const char *)&alternate);
    }
}

/* GPUs of a subsystem stand inside their distribution, which is the record around them. */
static bool is_inside(const struct message_writer *writer, const struct element *element,
                      const char *item, const char *record)
{
    const struct wsl_distro *distro = (const void *)record;

    return element->child != CONTEXT_WSL_GPU ||
           ((const struct wsl_gpu *)(const void *)item)->distro ==
               (size_t)(distro - writer->message->distros);
}

static void write_items(const struct message_writer *writer, const struct element *element,
                        const char *record)
{
    const struct message_list *list = &lists[element->child];
    const char *message = (const char *)writer->message, *items;
    size_t count;

    if (element->child == CONTEXT_ALT_PLATFORM) {
        write_alternates(writer, element);
        return;
    }
    must(list->item_size > 0);
    memcpy(&items, message + list->items_offset, sizeof items);
    memcpy(&count, message + list->count_offset, sizeof count);
    for (size_t i = 0; i < count; i++)
        if (writes(element, items + i * list->item_size) &&
            is_inside(writer, element, items + i * list->item_size, record))
            write_inside(writer, element, items + i * list->item_size);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether the client said it; where that means nothing it is written in any case. */
static bool is_written(const struct message_writer *writer, const struct element *element,
                       const char *record)
{
    bool there = true;

    if ((element->marks & ELEMENT_OTHER) != 0 ||
        (writer->takes != NULL && !writer->takes(writer, element)))
        return false;
    if ((element->marks & ELEMENT_DEMAND) != 0 && !writer->message->has_resource_request)
        return false;
    if (element->flag_offset != ELEMENT_NOWHERE && element->kind != ELEMENT_KEYWORD)
        memcpy(&there, record + element->flag_offset, sizeof there);
    return there;
}

static void write_element(const struct message_writer *writer, const struct element *element,
                          const char *record)
{
    const char *field = element->offset > 0 ? record + element->offset : record;
    struct text text;
    int64_t integer;
    double real;
    bool flag;

    switch (element->kind) {
    case ELEMENT_INSIDE:
        write_inside(writer, element, field);
        return;
    case ELEMENT_ITEM:
        write_items(writer, element, record);
        return;
    case ELEMENT_STRING:
        memcpy(&text, field, sizeof text);
        write_text(writer, element, text);
        return;
    case ELEMENT_INTEGER:
        memcpy(&integer, field, sizeof integer);
        write_integer(writer, element, integer);
        return;
    case ELEMENT_REAL:
        memcpy(&real, field, sizeof real);
        write_real(writer, element, real);
        return;
    case ELEMENT_FLAG:
        memcpy(&flag, field, sizeof flag);
        write_integer(writer, element, flag);
        return;
    case ELEMENT_KEYWORD:
        write_keywords(writer, element, record);
        return;
    case ELEMENT_BLOB:
    case ELEMENT_WHOLE:
    case ELEMENT_TRICKLE:
        return; /* nobody knows what stands in them */
    }
}

static void write_context(const struct message_writer *writer, enum context context,
                          const char *record)
{
    for (size_t i = 0; i < element_count; i++)
        if (elements[i].context == context && is_written(writer, &elements[i], record))
            write_element(writer, &elements[i], record);
}

void message_write(const struct message_writer *writer)
{
    buffer_add_string(writer->buffer, "<scheduler_request>\n");
    write_context(writer, CONTEXT_REQUEST, (const char *)writer->message);
    buffer_add_string(writer->buffer, "</scheduler_request>\n");
}
