/* SPDX-License-Identifier: Apache-2.0 */
/* The repaired request, element by element, into struct message. The table says where each text
 * goes. What the table cannot say stands here: how lists grow and what makes an entry one, how a
 * text becomes a field, and what can be said only when the whole request was read. */
#include "server/parse/parse.h"

#include "server/base/arena.h"
#include "server/base/xml.h"
#include "server/parse/elements.h"
#include "server/parse/repair.h"
#include "server/parse/values.h"

#include <string.h>

#include "server/base/banned.h"

enum {
    PARSE_LEVELS_MAX = 10, /* of the table, and one to spare */
    SHORT_BYTES_MAX = 8,   /* texts that share a block of the arena */
    SHORT_BLOCK_BYTES = 1024,
    PARSE_TEXT_SIZE = 3 * 8192 /* the longest text of the table, three bytes a byte */
};

struct level {
    const struct element *element; /* NULL: the root */
    enum context context;
    char *record;
    bool seen[ELEMENTS_MAX]; /* elements of this context that were read */
};

/* One entry of any list, for those that go nowhere. */
union spare {
    struct alt_platform alt_platform;
    struct coproc coproc;
    struct reported_result result;
    struct host_file file;
    struct client_app_version app_version;
    struct other_result other_result;
    struct ip_result ip_result;
    struct wsl_distro distro;
    struct wsl_gpu wsl_gpu;
    struct opencl_cpu opencl_cpu;
};

/* Written before it is read, so it is not zeroed for each request. */
struct draft {
    struct text pieces[MESSAGE_RESULT_FILES_MAX]; /* <file_info> of the open result */
    char text[PARSE_TEXT_SIZE];                   /* of the open element */
};

struct message_reader {
    struct message message;
    struct alt_platform *alternates;
    size_t alternate_count;

    struct text body;
    const struct parse_limits *limits;
    struct repaired *repaired;
    struct arena *arena;
    struct failure *failure;

    struct level levels[PARSE_LEVELS_MAX];
    size_t depth;
    size_t capacities[CONTEXT_COUNT];
    size_t trickle_capacity;
    union spare spare;
    struct draft *draft;
    size_t piece_count;
    char *shorts; /* where the next short text goes */
    size_t shorts_left;
    size_t text_length;
};

static void *read_pointer(const char *at)
{
    void *pointer;

    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

static size_t read_size(const char *at)
{
    size_t size;

    memcpy(&size, at, sizeof size);
    return size;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static enum status fail_full(struct message_reader *reader)
{
    return fail(reader->failure, STATUS_TOO_LARGE, "the request needs more memory than it may use");
}

/* --- entries of lists ------------------------------------------------------------------------- */

/* An entry is written where it will stay. One that is not kept leaves its place to the next, and
 * those beyond a bound are written to a spare place. How many there are at most is known from the
 * repair, so a list is allocated once. */

/* Where the entries of a context are kept, as offsets in struct message_reader, and what is done
 * with each beside its fields; NULL: nothing, every entry is one. */
struct list {
    size_t items_offset, count_offset, item_size, items_max;
    void (*begin)(void *record, const struct element *element);
    bool (*end)(struct message_reader *reader, void *record);
    bool needs_name; /* an entry without one is not kept, so no place is made for it */
};

/* The begin_ functions set what an entry is as long as the client says nothing else. */

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

/* The end_ functions complete an entry and say whether it is kept. */

static bool end_coproc(struct message_reader *reader, void *record)
{
    const struct coproc *coproc = record;

    if (coproc->type.length == 0)
        return false;
    for (size_t i = 0; i < reader->message.coproc_count; i++)
        if (text_equal(reader->message.coprocs[i].type, coproc->type))
            return false;
    return true;
}

/* For records whose first member is a name, and which are dropped without one. */
static bool end_named(struct message_reader *reader, void *record)
{
    const struct text *name = record;

    (void)reader;
    return name->length > 0;
}
_Static_assert(offsetof(struct reported_result, name) == 0, "the repair counts names by it");
_Static_assert(offsetof(struct alt_platform, name) == 0, "end_named reads the first member");
_Static_assert(offsetof(struct host_file, name) == 0, "end_named reads the first member");
_Static_assert(offsetof(struct other_result, name) == 0, "end_named reads the first member");

/* The distribution around it is the next one of the list; without a place in it, it is of none. */
static bool end_wsl_gpu(struct message_reader *reader, void *record)
{
    struct wsl_gpu *gpu = record;

    gpu->distro = reader->message.distro_count;
    return gpu->name.length > 0;
}

static bool end_app_version(struct message_reader *reader, void *record)
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

static bool end_ip_result(struct message_reader *reader, void *record)
{
    struct ip_result *result = record;

    (void)reader;
    if (!(result->time_remaining > 0))
        result->time_remaining = 0;
    if (!(result->avg_ncpus >= 0))
        result->avg_ncpus = 1;
    return true;
}

/* At its final length from the start, since what a growing buffer leaves behind stays taken. */
static struct text join(struct arena *arena, const struct text *pieces, size_t count, size_t total)
{
    char *at = total == 0 ? NULL : arena_alloc(arena, total);
    size_t length = 0;

    if (at == NULL)
        return NO_TEXT;
    for (size_t i = 0; i < count; i++) {
        memcpy(at + length, pieces[i].at, pieces[i].length);
        length += pieces[i].length;
    }
    return (struct text){at, length};
}

/* Clients write a result's <file_info> elements one after the other, and then one slice of the
 * body holds them all. */
static bool end_result(struct message_reader *reader, void *record)
{
    struct reported_result *result = record;
    const struct text *pieces = reader->draft->pieces;
    size_t count = reader->piece_count;
    bool together = true;
    size_t total = 0;

    if (result->name.length == 0)
        return false;

    for (size_t i = 1; i < count; i++) {
        const char *end = pieces[i - 1].at + pieces[i - 1].length;
        struct text between = {end, (size_t)(pieces[i].at - end)};

        together = together && text_trim(between).length == 0;
    }
    for (size_t i = 0; i < count; i++)
        total += pieces[i].length;
    if (count > 0 && together) {
        const char *end = pieces[count - 1].at + pieces[count - 1].length;

        result->xml_doc_out = (struct text){pieces[0].at, (size_t)(end - pieces[0].at)};
    } else {
        result->xml_doc_out = join(reader->arena, pieces, count, total);
    }
    return true;
}

static const struct list lists[CONTEXT_COUNT] = {
#define LIST(items, count, type, most, begin, end)                                      \
    {                                                                                   \
        offsetof(struct message_reader, items), offsetof(struct message_reader, count), \
            sizeof(type), most, begin, end, (end) == end_named || (end) == end_result   \
    }
    [CONTEXT_ALT_PLATFORM] = LIST(alternates, alternate_count, struct alt_platform,
                                  MESSAGE_PLATFORMS_MAX, NULL, end_named),
    [CONTEXT_DISTRO] = LIST(message.distros, message.distro_count, struct wsl_distro,
                            MESSAGE_DISTROS_MAX, NULL, NULL),
    [CONTEXT_WSL_GPU] = LIST(message.wsl_gpus, message.wsl_gpu_count, struct wsl_gpu,
                             MESSAGE_WSL_GPUS_MAX, NULL, end_wsl_gpu),
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

static enum status make_list(struct message_reader *reader, enum context context)
{
    const struct list *list = &lists[context];
    size_t wanted = 0;
    void *items;

    for (size_t i = 0; i < element_count; i++)
        if (elements[i].kind == ELEMENT_ITEM && elements[i].child == context)
            wanted += list->needs_name ? reader->repaired->named[i] : reader->repaired->counts[i];
    wanted = least(wanted, list->items_max);
    if (context == CONTEXT_RESULT)
        wanted = least(wanted, reader->limits->results_max);
    items = arena_alloc_array(reader->arena, wanted, list->item_size);
    if (items == NULL)
        return fail_full(reader);
    memcpy((char *)reader + list->items_offset, &items, sizeof items);
    reader->capacities[context] = wanted;
    return STATUS_OK;
}

static enum status begin_item(struct message_reader *reader, const struct element *element,
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

static void end_item(struct message_reader *reader, const struct level *level)
{
    const struct list *list = &lists[level->context];
    size_t count = read_size((char *)reader + list->count_offset);

    if (list->end != NULL && !list->end(reader, level->record)) {
        reader->message.elements_dropped++;
    } else if (count < reader->capacities[level->context]) {
        count++;
        memcpy((char *)reader + list->count_offset, &count, sizeof count);
    } else if (level->context == CONTEXT_RESULT) {
        reader->message.results_left++;
    } else {
        reader->message.elements_dropped++;
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Each text becomes what the table says its field is: a number, bytes of the message's own, or a
 * place in the body. What cannot be read is left out and counted. */

static struct text reference(const struct message_reader *reader, struct text text)
{
    struct text offset_text = text_split(&text, ' ');
    int64_t offset, length;

    if (!text_to_i64(offset_text, &offset) || !text_to_i64(text, &length) || offset < 0 ||
        length < 0 || (uint64_t)offset > reader->body.length ||
        (uint64_t)length > reader->body.length - (uint64_t)offset)
        return NO_TEXT;
    return (struct text){reader->body.at + offset, (size_t)length};
}

static enum status add_trickle(struct message_reader *reader, const struct element *element,
                               struct text text)
{
    struct message *message = &reader->message;

    if (message->trickles == NULL) {
        size_t wanted = reader->repaired->counts[element - elements];

        reader->trickle_capacity = least(wanted, MESSAGE_TRICKLES_MAX);
        message->trickles = ARENA_ARRAY(reader->arena, reader->trickle_capacity, struct trickle_up);
        if (message->trickles == NULL)
            return fail_full(reader);
    }
    if (message->trickle_count == reader->trickle_capacity)
        message->trickles_left++;
    else
        message->trickles[message->trickle_count++] = value_trickle(reader->arena, text);
    return STATUS_OK;
}

static enum status add_keyword(struct message_reader *reader, const struct element *element,
                               int64_t number)
{
    char *list_at = (char *)&reader->message + element->offset;
    char *count_at = (char *)&reader->message + element->flag_offset;
    size_t most = least(reader->repaired->counts[element - elements], MESSAGE_KEYWORDS_MAX);
    size_t count = read_size(count_at);
    int64_t *list = read_pointer(list_at);

    if (list == NULL) {
        list = ARENA_ARRAY(reader->arena, most, int64_t);
        if (list == NULL)
            return fail_full(reader);
        memcpy(list_at, &list, sizeof list);
    }
    if (count == most) {
        reader->message.elements_dropped++;
        return STATUS_OK;
    }
    list[count++] = number;
    memcpy(count_at, &count, sizeof count);
    return STATUS_OK;
}

static void add_piece(struct message_reader *reader, struct text piece)
{
    if (reader->piece_count == MESSAGE_RESULT_FILES_MAX)
        reader->message.elements_dropped++;
    else
        reader->draft->pieces[reader->piece_count++] = piece;
}

/* Whether the usual spelling of the same field was read before. */
static bool gives_way(const struct level *level, const struct element *element)
{
    for (size_t i = 0; i < element_count; i++)
        if (level->seen[i] && elements[i].offset == element->offset &&
            (elements[i].marks & ELEMENT_OTHER) == 0)
            return true;
    return false;
}

static void store(struct level *level, const struct element *element, const void *value,
                  size_t size)
{
    bool there = true;

    if ((element->marks & ELEMENT_OTHER) != 0 && gives_way(level, element))
        return;
    memcpy(level->record + element->offset, value, size);
    if (element->flag_offset != ELEMENT_NOWHERE)
        memcpy(level->record + element->flag_offset, &there, sizeof there);
    level->seen[element - elements] = true;
}

/* A text of one byte would take sixteen of the arena, and there can be one in each few bytes of a
 * body. NULL: the arena is full. */
static char *place_for_text(struct message_reader *reader, size_t length)
{
    char *at;

    if (length > SHORT_BYTES_MAX)
        return arena_alloc(reader->arena, length);
    if (length > reader->shorts_left) {
        at = arena_alloc(reader->arena, SHORT_BLOCK_BYTES);
        if (at == NULL)
            return NULL;
        reader->shorts = at;
        reader->shorts_left = SHORT_BLOCK_BYTES;
    }
    at = reader->shorts;
    reader->shorts += length;
    reader->shorts_left -= length;
    return at;
}

static enum status store_string(struct message_reader *reader, struct level *level,
                                const struct element *element, struct text text)
{
    struct text bytes = NO_TEXT;
    char *copy;

    if (text.length > 0) {
        copy = place_for_text(reader, text.length);
        if (copy == NULL)
            return fail_full(reader);
        bytes = (struct text){copy, bytes_restore(text, copy)};
    }
    /* The type of a vendor's coprocessor is said by its tag. */
    if (level->context != CONTEXT_COPROC || strcmp(element->name, "type") != 0 ||
        ((struct coproc *)(void *)level->record)->is_generic)
        store(level, element, &bytes, sizeof bytes);
    return STATUS_OK;
}

static enum status store_number(struct message_reader *reader, struct level *level,
                                const struct element *element, struct text text)
{
    int64_t number = 0;
    double real = 0;
    bool readable =
        element->kind == ELEMENT_REAL ? value_real(text, &real) : value_integer(text, &number);

    if ((element->marks & ELEMENT_DEMAND) != 0)
        reader->message.has_resource_request = true;
    if (!readable || (element->kind == ELEMENT_FLAG && text.length == 0)) {
        reader->message.elements_dropped++;
        return STATUS_OK;
    }
    if (element->kind == ELEMENT_KEYWORD)
        return add_keyword(reader, element, number);
    if (element->kind == ELEMENT_REAL)
        store(level, element, &real, sizeof real);
    else if (element->kind == ELEMENT_INTEGER)
        store(level, element, &number, sizeof number);
    else
        store(level, element, &(bool){number != 0}, sizeof(bool));
    return STATUS_OK;
}

static enum status store_text(struct message_reader *reader, struct level *level,
                              const struct element *element, struct text text)
{
    struct text raw;

    switch (element->kind) {
    case ELEMENT_STRING:
        return store_string(reader, level, element, text);
    case ELEMENT_INTEGER:
    case ELEMENT_REAL:
    case ELEMENT_FLAG:
    case ELEMENT_KEYWORD:
        return store_number(reader, level, element, text);
    case ELEMENT_BLOB:
        raw = reference(reader, text);
        store(level, element, &raw, sizeof raw);
        return STATUS_OK;
    case ELEMENT_WHOLE:
        add_piece(reader, reference(reader, text));
        return STATUS_OK;
    case ELEMENT_TRICKLE:
        return add_trickle(reader, element, reference(reader, text));
    case ELEMENT_INSIDE:
    case ELEMENT_ITEM:
        break;
    }
    return STATUS_OK;
}

/* --- what lasts ------------------------------------------------------------------------------- */

/* Eight bytes at a time: a list of a processor's features has a thousand. */
static uint64_t digest_add(uint64_t digest, struct text text)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word;

    for (; text.length >= sizeof word; text.at += sizeof word, text.length -= sizeof word) {
        memcpy(&word, text.at, sizeof word);
        digest = (digest ^ word) * odd;
        digest ^= digest >> 32;
    }
    word = text.length;
    if (text.length > 0)
        memcpy(&word, text.at, text.length);
    digest = (digest ^ word) * odd;
    return digest ^ digest >> 32;
}

/* Versions that a client has of ours come and go with jobs; its own stay. */
static bool is_lasting(const struct message_reader *reader, const struct element *element)
{
    bool is_version =
        element->context == CONTEXT_APP_VERSION || element->context == CONTEXT_APP_COPROC;

    return element_is_lasting(element) &&
           (!is_version || text_is(reader->message.platforms[0], "anonymous"));
}

static void note_lasting(struct message_reader *reader, const struct element *element,
                         struct text text)
{
    uint64_t *digest = &reader->message.said_digest;

    if (is_lasting(reader, element))
        *digest = digest_add(*digest + (uint64_t)(element - elements), text);
}

/* --- the walk --------------------------------------------------------------------------------- */

static enum status on_start(void *context, struct text name, int line)
{
    struct message_reader *reader = context;
    struct level *outer = reader->depth == 0 ? NULL : &reader->levels[reader->depth - 1];
    struct level *level = &reader->levels[reader->depth];
    bool there = true;

    (void)line;
    if (reader->depth == PARSE_LEVELS_MAX)
        return fail(reader->failure, STATUS_TOO_LARGE, "too many levels");
    *level = (struct level){.context = CONTEXT_REQUEST, .record = (char *)&reader->message};
    reader->depth++;
    reader->text_length = 0;
    if (outer == NULL)
        return STATUS_OK;
    level->element = element_find(outer->context, name);
    if (level->element == NULL)
        return fail(reader->failure, STATUS_INVALID, "an element that the repair should have left");
    level->context = level->element->child;
    level->record = outer->record;
    if (level->element->kind == ELEMENT_ITEM)
        return begin_item(reader, level->element, &level->record);
    if (level->element->kind != ELEMENT_INSIDE)
        return STATUS_OK;
    if (level->element->flag_offset != ELEMENT_NOWHERE)
        memcpy(outer->record + level->element->flag_offset, &there, sizeof there);
    level->record = outer->record + level->element->offset;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct message_reader *reader = context;

    (void)line;
    if (piece.length > PARSE_TEXT_SIZE - reader->text_length)
        return fail(reader->failure, STATUS_TOO_LARGE, "too long a text");
    memcpy(reader->draft->text + reader->text_length, piece.at, piece.length);
    reader->text_length += piece.length;
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct message_reader *reader = context;
    struct level *level = &reader->levels[--reader->depth];
    struct text text = {reader->draft->text, reader->text_length};

    (void)name;
    (void)line;
    if (level->element == NULL || level->element->kind == ELEMENT_INSIDE)
        return STATUS_OK;
    if (level->element->kind != ELEMENT_ITEM) {
        note_lasting(reader, level->element, text);
        return store_text(reader, level - 1, level->element, text);
    }
    end_item(reader, level);
    return STATUS_OK;
}

static void keep_if_positive(bool *flag, double *number)
{
    if (*number >= 0)
        return;
    *flag = false;
    *number = 0;
}

static void complete(struct message_reader *reader)
{
    struct message *message = &reader->message;
    size_t count = message->platforms[0].length > 0 ? 1 : 0;

    for (size_t i = 0; i < reader->alternate_count && count < MESSAGE_PLATFORMS_MAX; i++)
        message->platforms[count++] = reader->alternates[i].name;
    message->platform_count = count;
    message->anonymous_platform = count > 0 && text_is(message->platforms[0], "anonymous");
    message->code_sign_key = text_trim(message->code_sign_key);
    if (message->p_ncpus < 1)
        message->p_ncpus = 1;
    if (message->said_digest == 0)
        message->said_digest = 1;
    keep_if_positive(&message->has_project_disk_free, &message->project_disk_free);
    keep_if_positive(&message->has_potentially_free_offender, &message->potentially_free_offender);
    keep_if_positive(&message->has_potentially_free_self, &message->potentially_free_self);
    message->elements_dropped += reader->repaired->dropped;
}

static struct text next_piece(void *context)
{
    return repair_next(context);
}

static enum status read_repaired(struct message_reader *reader)
{
    const struct xml_source source = {reader->repaired, next_piece};
    const struct xml_limits limits = {.depth_max = reader->limits->depth_max,
                                      .elements_max = SIZE_MAX};
    const struct xml_handler handler = {reader, on_start, on_text, on_end};
    enum status status = xml_walk_pieces(&source, &limits, &handler, reader->failure);

    if (reader->repaired->piece.overflowed)
        return fail(reader->failure, STATUS_NO_MEMORY, "no memory to read a request of %zu bytes",
                    reader->body.length);
    if (status != STATUS_OK)
        return status;
    complete(reader);
    return arena_overflowed(reader->arena) ? fail_full(reader) : STATUS_OK;
}

enum status parse_request(struct text body, const struct parse_limits *limits, struct arena *arena,
                          struct message *ret_message, struct failure *failure)
{
    struct message_reader *reader = ARENA_NEW(arena, struct message_reader);
    struct draft draft;
    struct repaired repaired;
    enum status status = repair_request(body, &repaired, failure);

    if (status == STATUS_OK && reader == NULL)
        status = fail(failure, STATUS_TOO_LARGE, "no memory to read the request");
    if (status == STATUS_OK) {
        message_init(&reader->message);
        reader->draft = &draft;
        reader->body = body;
        reader->limits = limits;
        reader->repaired = &repaired;
        reader->arena = arena;
        reader->failure = failure;
        status = read_repaired(reader);
    }
    if (status == STATUS_OK)
        *ret_message = reader->message;
    repair_free(&repaired);
    return status;
}
