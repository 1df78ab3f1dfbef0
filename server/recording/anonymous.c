/* SPDX-License-Identifier: Apache-2.0 */
/* The request is written along the table by which it was read (elements.def), so an element that is
 * added there is written too: as a number, or as a pseudonym until somebody puts it into the list
 * below. */
#include "server/recording/anonymous.h"

#include "server/base/buffer.h"
#include "server/parse/elements.h"
#include "server/parse/message.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "server/base/banned.h"

/* Texts that decide which jobs a host can run, and that are the same on many hosts. */
static const struct {
    enum context context;
    const char *name;
} kept_texts[] = {
    {CONTEXT_REQUEST, "platform_name"},
    {CONTEXT_ALT_PLATFORM, "name"},
    {CONTEXT_HOST_INFO, "docker_version"},
    {CONTEXT_HOST_INFO, "os_name"},
    {CONTEXT_HOST_INFO, "os_version"},
    {CONTEXT_HOST_INFO, "p_features"},
    {CONTEXT_HOST_INFO, "p_model"},
    {CONTEXT_HOST_INFO, "p_vendor"},
    {CONTEXT_HOST_INFO, "virtualbox_version"},
    {CONTEXT_DISTRO, "distro_name"},
    {CONTEXT_DISTRO, "docker_version"},
    {CONTEXT_DISTRO, "libc_version"},
    {CONTEXT_CPU_DEVICE, "platform_vendor"},
    {CONTEXT_CPU_OPENCL, "opencl_device_version"},
    {CONTEXT_CPU_OPENCL, "opencl_driver_version"},
    {CONTEXT_COPROC, "CALVersion"},
    {CONTEXT_COPROC, "model"},
    {CONTEXT_COPROC, "name"},
    {CONTEXT_OPENCL, "extensions"},
    {CONTEXT_OPENCL, "name"},
    {CONTEXT_OPENCL, "opencl_device_version"},
    {CONTEXT_OPENCL, "opencl_driver_version"},
    {CONTEXT_OPENCL, "opencl_platform_version"},
    {CONTEXT_OPENCL, "vendor"},
    {CONTEXT_RESULT, "plan_class"},
    {CONTEXT_RESULT, "platform"},
    {CONTEXT_APP_VERSION, "app_name"},
    {CONTEXT_APP_VERSION, "plan_class"},
    {CONTEXT_APP_VERSION, "platform"},
    {CONTEXT_OTHER_RESULT, "plan_class"},
};

/* A coprocessor of another type has a name that its user chose. */
static const char *const vendor_types[] = {"NVIDIA", "ATI", "intel_gpu", "apple_gpu"};

/* What tells who asked, wherever it turns up; shorter ones would be found everywhere. */
enum { TELLING_MAX = 6, TELLING_BYTES_LEAST = 3 };

struct anonymizer {
    const struct message *message;
    const struct digest_secret *secret;
    struct buffer *text;
    struct text telling[TELLING_MAX];
};

struct pseudonym pseudonym_of(const struct digest_secret *secret, struct text text)
{
    struct pseudonym pseudonym = {.text = "x"};

    digest_hex(secret, text, pseudonym.text + 1);
    return pseudonym;
}

static bool is_listed(const struct element *element)
{
    for (size_t i = 0; i < sizeof kept_texts / sizeof *kept_texts; i++)
        if (kept_texts[i].context == element->context &&
            strcmp(kept_texts[i].name, element->name) == 0)
            return true;
    return false;
}

static bool is_vendors(struct text text)
{
    for (size_t i = 0; i < sizeof vendor_types / sizeof *vendor_types; i++)
        if (text_is(text, vendor_types[i]))
            return true;
    return false;
}

struct pseudonym anonymous_type(const struct digest_secret *secret, struct text type)
{
    struct pseudonym kept = {.text = ""};

    if (type.length > 0 && !is_vendors(type))
        return pseudonym_of(secret, type);
    if (type.length > 0)
        memcpy(kept.text, type.at, type.length); /* the vendors' are shorter than a pseudonym */
    return kept;
}

static bool is_vendor_type(const struct element *element, struct text text)
{
    return strcmp(element->name, "type") == 0 && is_vendors(text);
}

static bool tells_who(const struct anonymizer *anonymizer, struct text text)
{
    for (size_t i = 0; i < TELLING_MAX; i++)
        if (anonymizer->telling[i].length >= TELLING_BYTES_LEAST &&
            text_contains_nocase(text, anonymizer->telling[i]))
            return true;
    return false;
}

static void write_text(const struct anonymizer *anonymizer, const struct element *element,
                       struct text text)
{
    struct pseudonym pseudonym;

    if (text.length == 0)
        return;
    if (is_vendor_type(element, text) || (is_listed(element) && !tells_who(anonymizer, text))) {
        buffer_add_element(anonymizer->text, 0, element->name, text);
        return;
    }
    pseudonym = pseudonym_of(anonymizer->secret, text);
    buffer_add_element(anonymizer->text, 0, element->name, text_from(pseudonym.text));
}

static void write_integer(const struct anonymizer *anonymizer, const struct element *element,
                          int64_t number)
{
    if (element->context == CONTEXT_REQUEST && strcmp(element->name, "hostid") == 0)
        return;
    buffer_print(anonymizer->text, "<%s>%" PRId64 "</%s>\n", element->name, number, element->name);
}

static void write_keywords(const struct anonymizer *anonymizer, const struct element *element,
                           const char *record)
{
    const int64_t *list;
    size_t count;

    memcpy(&list, record + element->offset, sizeof list);
    memcpy(&count, record + element->flag_offset, sizeof count);
    for (size_t i = 0; i < count; i++)
        write_integer(anonymizer, element, list[i]);
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

static void write_context(const struct anonymizer *anonymizer, enum context context,
                          const char *record);

static void write_inside(const struct anonymizer *anonymizer, const struct element *element,
                         const char *record)
{
    buffer_print(anonymizer->text, "<%s>\n", element->name);
    write_context(anonymizer, element->child, record);
    buffer_print(anonymizer->text, "</%s>\n", element->name);
}

/* The first platform has an element of its own. */
static void write_alternates(const struct anonymizer *anonymizer, const struct element *element)
{
    for (size_t i = 1; i < anonymizer->message->platform_count; i++) {
        const struct alt_platform alternate = {.name = anonymizer->message->platforms[i]};

        write_inside(anonymizer, element, (const char *)&alternate);
    }
}

static void write_items(const struct anonymizer *anonymizer, const struct element *element)
{
    const struct message_list *list = &lists[element->child];
    const char *message = (const char *)anonymizer->message, *items;
    size_t count;

    if (element->child == CONTEXT_ALT_PLATFORM) {
        write_alternates(anonymizer, element);
        return;
    }
    must(list->item_size > 0);
    memcpy(&items, message + list->items_offset, sizeof items);
    memcpy(&count, message + list->count_offset, sizeof count);
    for (size_t i = 0; i < count; i++)
        if (writes(element, items + i * list->item_size))
            write_inside(anonymizer, element, items + i * list->item_size);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether the client said it; where that means nothing it is written in any case. */
static bool was_said(const struct anonymizer *anonymizer, const struct element *element,
                     const char *record)
{
    bool there = true;

    if ((element->marks & ELEMENT_OTHER) != 0)
        return false;
    if ((element->marks & ELEMENT_DEMAND) != 0 && !anonymizer->message->has_resource_request)
        return false;
    if (element->flag_offset != ELEMENT_NOWHERE && element->kind != ELEMENT_KEYWORD)
        memcpy(&there, record + element->flag_offset, sizeof there);
    return there;
}

static void write_element(const struct anonymizer *anonymizer, const struct element *element,
                          const char *record)
{
    const char *field = element->offset > 0 ? record + element->offset : record;
    struct text text;
    int64_t integer;
    double real;
    bool flag;

    switch (element->kind) {
    case ELEMENT_INSIDE:
        write_inside(anonymizer, element, field);
        return;
    case ELEMENT_ITEM:
        write_items(anonymizer, element);
        return;
    case ELEMENT_STRING:
        memcpy(&text, field, sizeof text);
        write_text(anonymizer, element, text);
        return;
    case ELEMENT_INTEGER:
        memcpy(&integer, field, sizeof integer);
        write_integer(anonymizer, element, integer);
        return;
    case ELEMENT_REAL:
        memcpy(&real, field, sizeof real);
        buffer_print(anonymizer->text, "<%s>%.17g</%s>\n", element->name, real, element->name);
        return;
    case ELEMENT_FLAG:
        memcpy(&flag, field, sizeof flag);
        write_integer(anonymizer, element, flag);
        return;
    case ELEMENT_KEYWORD:
        write_keywords(anonymizer, element, record);
        return;
    case ELEMENT_BLOB:
    case ELEMENT_WHOLE:
    case ELEMENT_TRICKLE:
        return; /* nobody knows what stands in them */
    }
}

static void write_context(const struct anonymizer *anonymizer, enum context context,
                          const char *record)
{
    for (size_t i = 0; i < element_count; i++)
        if (elements[i].context == context && was_said(anonymizer, &elements[i], record))
            write_element(anonymizer, &elements[i], record);
}

void anonymous_request(const struct message *message, const struct digest_secret *secret,
                       struct buffer *ret_text)
{
    const struct anonymizer anonymizer = {
        .message = message,
        .secret = secret,
        .text = ret_text,
        .telling = {message->authenticator, message->cross_project_id, message->domain_name,
                    message->ip_addr, message->host_cpid, message->global_prefs_source_email_hash},
    };

    buffer_add_string(ret_text, "<scheduler_request>\n");
    write_context(&anonymizer, CONTEXT_REQUEST, (const char *)message);
    buffer_add_string(ret_text, "</scheduler_request>\n");
}
