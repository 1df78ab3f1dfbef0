/* SPDX-License-Identifier: Apache-2.0 */
/* The request is written along the table by which it was read (elements.def), so an element that is
 * added there is written too: as a number, or as a pseudonym until somebody puts it into the list
 * below. */
#include "server/recording/anonymous.h"

#include "server/base/buffer.h"
#include "server/parse/message.h"
#include "server/parse/message_writer.h"

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
    {CONTEXT_WSL_GPU, "name"},
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
    const struct digest_secret *secret;
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

static void write_text(const struct message_writer *writer, const struct element *element,
                       struct text text)
{
    const struct anonymizer *anonymizer = writer->context;
    struct pseudonym pseudonym;

    if (is_vendor_type(element, text) || (is_listed(element) && !tells_who(anonymizer, text))) {
        buffer_add_element(writer->buffer, 0, element->name, text);
        return;
    }
    pseudonym = pseudonym_of(anonymizer->secret, text);
    buffer_add_element(writer->buffer, 0, element->name, text_from(pseudonym.text));
}

static bool takes(const struct message_writer *writer, const struct element *element)
{
    (void)writer;
    return element->context != CONTEXT_REQUEST || strcmp(element->name, "hostid") != 0;
}

void anonymous_request(const struct message *message, const struct digest_secret *secret,
                       struct buffer *ret_text)
{
    const struct anonymizer anonymizer = {
        .secret = secret,
        .telling = {message->authenticator, message->cross_project_id, message->domain_name,
                    message->ip_addr, message->host_cpid, message->global_prefs_source_email_hash},
    };
    const struct message_writer writer = {.message = message,
                                          .buffer = ret_text,
                                          .context = &anonymizer,
                                          .takes = takes,
                                          .write_text = write_text};

    message_write(&writer);
}
