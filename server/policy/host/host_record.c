/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a host that its client fills are rows of two tables here. Numbers were made finite
 * by the parser; texts are cut to 254 bytes, integers to 32 bits, so that no request is refused by
 * the database for what it says about its machine. */
#include "server/policy/host/host_record.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/parse/message.h"
#include "server/policy/host/bounds.h"
#include "server/policy/host/identity.h"
#include "server/policy/plan_class/coproc_figures.h"
#include "server/policy/plan_class/plan_versions.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/banned.h"

/* Bytes of misc after which no more GPUs are listed. One takes at most 4,000 and the rest 4,000, so
 * that the whole stays below BOUND_BLOB. */
enum { MISC_GPUS_MAX = 50000 };

static const struct {
    size_t from, to;
} texts[] =
    {
#define COPY(field, column)                                                              \
    {                                                                                    \
        .from = offsetof(struct message, field), .to = offsetof(struct host_row, column) \
    }
        COPY(domain_name, domain_name), COPY(p_vendor, p_vendor),
        COPY(p_model, p_model),         COPY(os_name, os_name),
        COPY(os_version, os_version),   COPY(product_name, product_name),
},
  reals[] = {
      COPY(on_frac, on_frac),
      COPY(connected_frac, connected_frac),
      COPY(active_frac, active_frac),
      COPY(gpu_active_frac, gpu_active_frac),
      COPY(duration_correction_factor, duration_correction_factor),
      COPY(p_fpops, p_fpops),
      COPY(p_iops, p_iops),
      COPY(p_membw, p_membw),
      COPY(m_nbytes, m_nbytes),
      COPY(m_cache, m_cache),
      COPY(m_swap, m_swap),
      COPY(d_total, d_total),
      COPY(d_free, d_free),
      COPY(d_boinc_used_total, d_boinc_used_total),
      COPY(d_boinc_used_project, d_boinc_used_project),
      COPY(d_project_share, d_boinc_max),
      COPY(n_bwup, n_bwup),
      COPY(n_bwdown, n_bwdown),
#undef COPY
};

bool host_record_is_described(const struct message *message)
{
    return message->os_name.length > 0 || message->p_model.length > 0 ||
           message->p_vendor.length > 0 || message->host_cpid.length > 0 ||
           message->domain_name.length > 0 || message->m_nbytes > 0 || message->p_fpops > 0;
}

static void copy_columns(const struct message *message, struct host_row *host)
{
    const char *from = (const char *)message;
    char *to = (char *)host;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct text *text = (const struct text *)(const void *)(from + texts[i].from);

        *(struct text *)(void *)(to + texts[i].to) = bound_head(*text, BOUND_STRING);
    }
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
        *(double *)(void *)(to + reals[i].to) =
            *(const double *)(const void *)(from + reals[i].from);
}

static void copy_coprocs(const struct message *message, struct host_row *host)
{
    double count = 0, flops = 0;

    for (size_t i = 0; i < message->coproc_count; i++) {
        const struct coproc *coproc = &message->coprocs[i];

        if (coproc->count > 0 && coproc->count < INT32_MAX) {
            count += coproc->count;
            flops += coproc->count * coproc_peak_flops(coproc);
        }
    }
    host->p_ngpus = bound_int32((int64_t)count);
    host->p_gpu_fpops = flops < 1e300 ? flops : 0;
}

void host_record_copy(const struct message *message, struct text email_addr, struct arena *arena,
                      struct host_row *host)
{
    struct text address = bound_head(message->ip_addr, BOUND_STRING);

    if (!host_record_is_described(message))
        return;
    copy_columns(message, host);
    copy_coprocs(message, host);
    host->timezone = bound_int32(message->timezone);
    host->p_ncpus = message->p_ncpus > 0 ? bound_int32(message->p_ncpus) : 1;
    if (text_equal(address, host->last_ip_addr))
        host->nsame_ip_addr = bound_int32(host->nsame_ip_addr + 1);
    else
        host->nsame_ip_addr = 0;
    host->last_ip_addr = address;
    if (message->host_cpid.length > 0) {
        char hash[MD5_HEX_SIZE];

        identity_hash_cpid(message->host_cpid, email_addr, hash);
        host->host_cpid = text_copy(arena, text_from(hash));
    }
    host->misc = host_record_misc(message, arena);
}

static bool is_measured(double d_free, double d_total)
{
    return d_free > 0 || d_total > 0;
}

bool host_record_has_disk(const struct host_row *host)
{
    return is_measured(host->d_free, host->d_total);
}

void host_record_complete(const struct host_row *stored, struct message *message)
{
    /* Clients that cannot measure it send 0 for both. */
    if (!is_measured(message->d_free, message->d_total))
        message->has_d_free = false;
    if (message->has_d_free || message->has_project_disk_free || !host_record_has_disk(stored))
        return;
    message->d_free = stored->d_free;
    message->has_d_free = true;
    if (!(message->d_total > 0))
        message->d_total = stored->d_total;
}

static bool is_trusted(struct text address, const struct text *trusted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(address, trusted[i]))
            return true;
    return false;
}

/* What stands behind the last comma, which is taken off. */
static struct text take_last(struct text *list)
{
    size_t at = list->length;
    struct text last;

    while (at > 0 && list->at[at - 1] != ',')
        at--;
    last = (struct text){.at = list->at + at, .length = list->length - at};
    list->length = at > 0 ? at - 1 : 0;
    return text_trim(last);
}

struct text host_record_external_address(struct text forwarded_for, struct text remote_addr,
                                         const struct text *trusted, size_t trusted_count)
{
    struct text rest = forwarded_for, address = text_trim(remote_addr);

    while (is_trusted(address, trusted, trusted_count)) {
        struct text before = take_last(&rest);

        if (before.length == 0)
            break;
        address = before;
    }
    return address.length > 0 ? bound_head(address, BOUND_STRING) : TEXT("?.?.?.?");
}

/* --- JSON ----------------------------------------------------------------------------------- */

/* Always valid JSON: a byte that is no UTF-8 is taken for ISO-8859-1, as old clients send it. */
static void add_json_string(struct buffer *json, struct text text)
{
    buffer_add_char(json, '"');
    while (text.length > 0) {
        size_t length = text_character(text);
        unsigned char byte = (unsigned char)text.at[0];

        if (length > 1) {
            buffer_add(json, text_first(text, length));
        } else {
            length = 1;
            if (byte == '"' || byte == '\\')
                buffer_print(json, "\\%c", byte);
            else if (byte < 0x20 || byte >= 0x7F || byte == '>') /* exports have it in CDATA */
                buffer_print(json, "\\u%04x", byte);
            else
                buffer_add_char(json, (char)byte);
        }
        text = (struct text){.at = text.at + length, .length = text.length - length};
    }
    buffer_add_char(json, '"');
}

/* --- misc ------------------------------------------------------------------------------------ */

/* One JSON object with the keys, types and order that BOINC's web pages read. */

#define MEGABYTE 1048576.0

/* The kinds that pages know, in their order. Where each says what is told of it. */
static const struct gpu_kind {
    const char *type, *word;
} gpu_kinds[] = {
    {"NVIDIA", "nvidia"},
    {"ATI", "amd"},
    {"intel_gpu", "intel"},
    {"apple_gpu", "apple"},
};
enum { GPU_KINDS = sizeof(gpu_kinds) / sizeof(gpu_kinds[0]) };

static void add_text_member(struct buffer *json, const char *key, struct text text)
{
    buffer_print(json, "\"%s\":", key);
    add_json_string(json, bound_head(text, BOUND_STRING));
}

static struct text gpu_model(const struct coproc *coproc)
{
    if (text_is(coproc->type, "apple_gpu") && coproc->model.length > 0)
        return coproc->model;
    return coproc->name.length > 0 ? coproc->name : coproc->opencl.name;
}

/* Bytes of the card, not what is free of it. */
static double gpu_memory(const struct coproc *coproc)
{
    if (text_is(coproc->type, "NVIDIA"))
        return coproc->total_global_mem;
    if (text_is(coproc->type, "ATI"))
        return coproc->local_ram * MEGABYTE;
    return coproc->opencl.global_mem_size;
}

static void add_driver(struct buffer *json, const struct coproc *coproc)
{
    buffer_add_char(json, ',');
    if (text_is(coproc->type, "NVIDIA"))
        buffer_print(json, "\"driver_version\":\"%lld\"", (long long)coproc->driver_version);
    else if (text_is(coproc->type, "apple_gpu"))
        buffer_print(json, "\"driver_version\":\"%lld\"", (long long)coproc->metal_support);
    else
        add_text_member(json, "driver_version",
                        text_is(coproc->type, "ATI")         ? coproc->cal_version
                        : text_is(coproc->type, "intel_gpu") ? coproc->opencl.driver_version
                                                             : coproc->opencl.device_version);
}

/* Finite, and a whole number that fits. */
static double whole(double number)
{
    return number >= 0 && number < 1e15 ? floor(number) : 0;
}

static void add_gpu(struct buffer *json, struct text word, const struct coproc *coproc)
{
    buffer_add_string(json, text_ends(buffer_text(json), TEXT("[")) ? "{" : ",{");
    add_text_member(json, "type", word);
    buffer_add_char(json, ',');
    add_text_member(json, "model", gpu_model(coproc));
    buffer_print(json, ",\"count\":%.0f,\"ram_mb\":%.0f", whole(coproc->count),
                 whole(gpu_memory(coproc) / MEGABYTE));
    add_driver(json, coproc);
    buffer_print(json, ",\"opencl_version\":\"%.0f\"}",
                 opencl_version(coproc->opencl.device_version));
}

/* The kinds that pages know first, then others as they were sent. */
static void add_gpus(struct buffer *json, const struct message *message)
{
    size_t begin = json->length;

    buffer_add_string(json, ",\"gpus\":[");
    for (size_t kind = 0; kind <= GPU_KINDS; kind++)
        for (size_t i = 0; i < message->coproc_count && json->length < MISC_GPUS_MAX; i++) {
            const struct coproc *coproc = &message->coprocs[i];
            size_t own = 0;

            while (own < GPU_KINDS && !text_is(coproc->type, gpu_kinds[own].type))
                own++;
            if (own != kind || !(coproc->count > 0))
                continue;
            if (own < GPU_KINDS)
                add_gpu(json, text_from(gpu_kinds[own].word), coproc);
            else
                add_gpu(json,
                        coproc->opencl.vendor.length > 0 ? coproc->opencl.vendor : coproc->type,
                        coproc);
        }
    if (text_ends(buffer_text(json), TEXT("[")))
        json->length = begin; /* there is none */
    else
        buffer_add_char(json, ']');
}

static void add_docker(struct buffer *json, const struct message *message)
{
    bool is_windows = text_contains_nocase(message->os_name, TEXT("Windows"));
    const struct wsl_distro *distro = NULL;
    struct text version = message->docker_version;
    int64_t type = message->docker_type;

    for (size_t i = 0; is_windows && i < message->distro_count; i++)
        if (!message->distros[i].disallowed && message->distros[i].docker_version.length > 0)
            distro = &message->distros[i];
    if (is_windows) {
        version = distro != NULL ? distro->docker_version : NO_TEXT;
        type = distro != NULL ? distro->docker_type : DOCKER_TYPE_NONE;
    }
    if (version.length == 0)
        return;
    buffer_add_string(json, ",\"docker\":{");
    add_text_member(json, "version", version);
    if (type == DOCKER_TYPE_DOCKER || type == DOCKER_TYPE_PODMAN)
        buffer_print(json, ",\"type\":%lld", (long long)type);
    if (distro != NULL) {
        buffer_add_char(json, ',');
        add_text_member(json, "wsl_distro", distro->distro_name);
    }
    if (distro != NULL && distro->distro_version > 0)
        buffer_print(json, ",\"boinc_buda_runner_version\":%lld",
                     (long long)distro->distro_version);
    buffer_add_char(json, '}');
}

static const char *json_bool(bool flag)
{
    return flag ? "true" : "false";
}

struct text host_record_misc(const struct message *message, struct arena *arena)
{
    struct buffer json = buffer_in(arena);

    buffer_print(&json, "{\"client_version\":\"%lld.%lld.%lld\"", (long long)message->client_major,
                 (long long)message->client_minor, (long long)message->client_release);
    if (message->coproc_count > 0)
        add_gpus(&json, message);
    add_docker(&json, message);
    if (message->virtualbox_version.length > 0) {
        buffer_add_string(&json, ",\"vbox\":{");
        add_text_member(&json, "version", message->virtualbox_version);
        buffer_print(&json, ",\"hw_accel\":%s,\"hw_accel_enabled\":%s}",
                     json_bool(text_contains(message->p_features, TEXT("vmx")) ||
                               text_contains(message->p_features, TEXT("svm"))),
                     json_bool(!message->p_vm_extensions_disabled));
    }
    if (message->dont_use_docker || message->dont_use_wsl)
        buffer_print(&json, ",\"config\":{\"dont_use_docker\":%s,\"dont_use_wsl\":%s}",
                     json_bool(message->dont_use_docker), json_bool(message->dont_use_wsl));
    buffer_add_char(&json, '}');
    return buffer_text(&json);
}

int64_t host_record_client_version(struct text misc)
{
    const struct text key = TEXT("{\"client_version\":\"");
    int64_t version = 0, parts[3];
    struct text rest;

    if (!text_starts(misc, key))
        return 0;
    rest = (struct text){.at = misc.at + key.length, .length = misc.length - key.length};
    rest = text_split(&rest, '"');
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!text_to_i64(text_split(&rest, '.'), &parts[i]) || parts[i] < 0 ||
            parts[i] > (i == 0 ? 9999 : 99))
            return 0;
        version = version * 100 + parts[i];
    }
    return version;
}
