/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of lists are written where they will stay. One that is not kept leaves its place to the
 * next, and those beyond a bound are written to a spare place. How many there are at most is known
 * from the repair, so a list is allocated once. */
#include "server/parse/parse_parts.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/parse/repair.h"

#include "server/base/banned.h"

/* Where the entries of a context are kept, as offsets in struct reader, and what is done with each
 * beside its fields; NULL: nothing, every entry is one. */
struct list {
    size_t items_offset, count_offset, item_size, items_max;
    void (*begin)(void *record, const struct element *element);
    bool (*end)(struct reader *reader, void *record);
};

/* Each of these makes an entry what it is while nothing is said of it. */

static void begin_coproc(void *record, const struct element *element)
{
    struct coproc *coproc = record;

    coproc->type = text_from(element->note);
    coproc->is_generic = coproc->type.length == 0;
    /* Clients before 6.13.0 know no other way to use these and do not say so. */
    coproc->has_cuda = text_is(coproc->type, "NVIDIA");
    coproc->has_cal = text_is(coproc->type, "ATI");
}

static void begin_other_result(void *record, const struct element *element)
{
    struct other_result *result = record;

    (void)element;
    result->app_version = -1;
}

static void begin_ip_result(void *record, const struct element *element)
{
    struct ip_result *result = record;

    (void)element;
    result->avg_ncpus = 1;
}

/* Each of these completes an entry and says whether it is one. */

static bool end_coproc(struct reader *reader, void *record)
{
    const struct coproc *coproc = record;

    if (coproc->type.length == 0)
        return false;
    for (size_t i = 0; i < reader->message.coproc_count; i++)
        if (text_equal(reader->message.coprocs[i].type, coproc->type))
            return false;
    return true;
}

/* Of entries that begin with their name, and are none without it. */
static bool end_named(struct reader *reader, void *record)
{
    const struct text *name = record;

    (void)reader;
    return name->length > 0;
}
_Static_assert(offsetof(struct alt_platform, name) == 0, "end_named reads the first member");
_Static_assert(offsetof(struct host_file, name) == 0, "end_named reads the first member");
_Static_assert(offsetof(struct other_result, name) == 0, "end_named reads the first member");

static bool end_app_version(struct reader *reader, void *record)
{
    struct client_app_version *version = record;

    (void)reader;
    version->is_placeholder = version->app_name.length == 0;
    if (!(version->avg_ncpus > 0))
        version->avg_ncpus = 1;
    if (!(version->flops > 0))
        version->flops = 0;
    if (text_is(version->coproc_type, "CUDA"))
        version->coproc_type = TEXT("NVIDIA");
    return true;
}

static bool end_ip_result(struct reader *reader, void *record)
{
    struct ip_result *result = record;

    (void)reader;
    if (!(result->time_remaining > 0))
        result->time_remaining = 0;
    if (!(result->avg_ncpus >= 0))
        result->avg_ncpus = 1;
    return true;
}

/* Clients write a result's <file_info> elements one after the other, and then one slice of the
 * body holds them all. */
static bool end_result(struct reader *reader, void *record)
{
    struct reported_result *result = record;
    const struct text *pieces = reader->pieces;
    size_t count = reader->piece_count;
    struct buffer joined = buffer_in(reader->arena);
    bool together = true;

    for (size_t i = 1; i < count; i++) {
        const char *end = pieces[i - 1].at + pieces[i - 1].length;
        struct text between = {end, (size_t)(pieces[i].at - end)};

        together = together && text_trim(between).length == 0;
    }
    if (count > 0 && together) {
        const char *end = pieces[count - 1].at + pieces[count - 1].length;

        result->xml_doc_out = (struct text){pieces[0].at, (size_t)(end - pieces[0].at)};
    } else {
        for (size_t i = 0; i < count; i++)
            buffer_add(&joined, pieces[i]);
        result->xml_doc_out = buffer_text(&joined);
    }
    return result->name.length > 0;
}

static const struct list lists[CONTEXT_COUNT] = {
#define LIST(items, count, type, most, begin, end)                                                 \
    {                                                                                              \
        offsetof(struct reader, items), offsetof(struct reader, count), sizeof(type), most, begin, \
            end                                                                                    \
    }
    [CONTEXT_ALT_PLATFORM] = LIST(alternates, alternate_count, struct alt_platform,
                                  MESSAGE_PLATFORMS_MAX, NULL, end_named),
    [CONTEXT_DISTRO] = LIST(message.distros, message.distro_count, struct wsl_distro,
                            MESSAGE_DISTROS_MAX, NULL, NULL),
    [CONTEXT_CPU_DEVICE] = LIST(message.opencl_cpus, message.opencl_cpu_count, struct opencl_cpu,
                                MESSAGE_OPENCL_CPUS_MAX, NULL, NULL),
    [CONTEXT_COPROC] = LIST(message.coprocs, message.coproc_count, struct coproc,
                            MESSAGE_COPROCS_MAX, begin_coproc, end_coproc),
    [CONTEXT_RESULT] = LIST(message.results, message.result_count, struct reported_result,
                            MESSAGE_RESULTS_MAX, NULL, end_result),
    [CONTEXT_HOST_FILE] = LIST(message.files, message.file_count, struct host_file,
                               MESSAGE_FILES_MAX, NULL, end_named),
    [CONTEXT_APP_VERSION] =
        LIST(message.app_versions, message.app_version_count, struct client_app_version,
             MESSAGE_APP_VERSIONS_MAX, NULL, end_app_version),
    [CONTEXT_OTHER_RESULT] =
        LIST(message.other_results, message.other_result_count, struct other_result,
             MESSAGE_OTHER_RESULTS_MAX, begin_other_result, end_named),
    [CONTEXT_IP_RESULT] = LIST(message.ip_results, message.ip_result_count, struct ip_result,
                               MESSAGE_IP_RESULTS_MAX, begin_ip_result, end_ip_result),
#undef LIST
};

static enum status make_list(struct reader *reader, enum context context)
{
    const struct list *list = &lists[context];
    size_t wanted = 0;
    void *items;

    for (size_t i = 0; i < element_count; i++)
        if (elements[i].kind == ELEMENT_ITEM && elements[i].child == context)
            wanted += reader->repaired->counts[i];
    wanted = least(wanted, list->items_max);
    if (context == CONTEXT_RESULT)
        wanted = least(wanted, reader->limits->results_max);
    items = arena_alloc_array(reader->arena, wanted, list->item_size);
    if (items == NULL)
        return parse_full(reader);
    memcpy((char *)reader + list->items_offset, &items, sizeof items);
    reader->capacities[context] = wanted;
    return STATUS_OK;
}

enum status parse_begin_item(struct reader *reader, const struct element *element,
                             char **ret_record)
{
    const struct list *list = &lists[element->child];
    char *items = read_pointer((char *)reader + list->items_offset), *record;
    size_t count = read_size((char *)reader + list->count_offset);

    if (items == NULL) {
        if (make_list(reader, element->child) != STATUS_OK)
            return STATUS_TOO_LARGE;
        items = read_pointer((char *)reader + list->items_offset);
    }
    record = count < reader->capacities[element->child] ? items + count * list->item_size
                                                        : (char *)&reader->spare;
    memset(record, 0, list->item_size);
    if (list->begin != NULL)
        list->begin(record, element);
    reader->piece_count = 0;
    *ret_record = record;
    return STATUS_OK;
}

void parse_end_item(struct reader *reader, const struct level *level)
{
    const struct list *list = &lists[level->context];
    size_t count = read_size((char *)reader + list->count_offset);

    if (list->end != NULL && !list->end(reader, level->record)) {
        reader->message.elements_dropped++;
    } else if (count < reader->capacities[level->context]) {
        count++;
        memcpy((char *)reader + list->count_offset, &count, sizeof count);
    } else if (level->context == CONTEXT_RESULT) {
        reader->message.results_truncated = true;
    } else {
        reader->message.elements_dropped++;
    }
}
