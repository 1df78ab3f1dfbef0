/* SPDX-License-Identifier: Apache-2.0 */
/* Reading plan_class_spec.xml by the table of fields. A class is whole or not there: one that
 * cannot be understood makes the file unusable, since a class that lost a demand would hand jobs
 * to hosts that cannot run them. */
#include "server/policy/plan_class/plan_class.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/near_name.h"
#include "server/base/xml.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    SPEC_BYTES_MAX = 4 * 1024 * 1024,
    SPEC_MEMORY_MAX = 64 * 1024 * 1024,
    SPEC_CLASSES_MAX = 10000,
    SPEC_REPEATED_MAX = 1000,
    SPEC_WARNINGS_MAX = 20,
    SPEC_VALUE_MAX = 4096
};

enum field_type {
    FIELD_FLAG,
    FIELD_NUMBER,
    FIELD_STRING,
    FIELD_STRINGS,
    FIELD_NUMBERS,
    FIELD_REGEX
};

enum field_of { FIELD_OF_ANY, FIELD_OF_GPU };

static const struct field {
    const char *name;
    enum field_type type;
    enum field_of of;
    size_t offset;
} fields[] = {
#define FIELD(name_, type_, default_, of_) \
    {.name = #name_,                       \
     .type = FIELD_##type_,                \
     .of = FIELD_OF_##of_,                 \
     .offset = offsetof(struct plan_class, name_)},
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
};

/* The regular expressions of a file stand in one list, to be freed with it. */
struct plan_compiled {
    regex_t regex;
    struct plan_compiled *next;
};

struct spec_reader {
    struct arena *arena;
    struct plan_compiled *compiled;
    struct plan_class *classes;
    size_t count, capacity;
    size_t depth;               /* 1: plan_classes, 2: plan_class, 3: a field */
    const struct field *field;  /* open one, NULL: none or unknown */
    char value[SPEC_VALUE_MAX]; /* its text so far */
    size_t value_length;
    const struct field *of_gpu; /* the first of this class that is; NULL: none yet */
    int of_gpu_line;
    struct text warnings[SPEC_WARNINGS_MAX + 1]; /* room for how many more there are */
    size_t warning_count;
    struct failure *failure;
};

static void warn(struct spec_reader *reader, int line, const char *format, ...) PRINTF_LIKE(3, 4);
static void warn(struct spec_reader *reader, int line, const char *format, ...)
{
    char words[400];
    va_list arguments;

    if (reader->warning_count++ >= SPEC_WARNINGS_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    reader->warnings[reader->warning_count - 1] =
        text_print(reader->arena, "line %d: %s", line, words);
}

static void give_warnings(struct spec_reader *reader, struct plan_classes *ret_classes)
{
    size_t count = reader->warning_count;

    if (count > SPEC_WARNINGS_MAX) {
        reader->warnings[SPEC_WARNINGS_MAX] =
            text_print(reader->arena, "and %zu more like these", count - SPEC_WARNINGS_MAX);
        count = SPEC_WARNINGS_MAX + 1;
    }
    ret_classes->warnings = reader->warnings;
    ret_classes->warning_count = count;
}

void plan_class_init(struct plan_class *class)
{
    *class = (struct plan_class){0};
#define DEFAULT_FLAG(name, default_)    class->name = default_
#define DEFAULT_NUMBER(name, default_)  class->name = default_
#define DEFAULT_STRING(name, default_)  (void)0
#define DEFAULT_STRINGS(name, default_) (void)0
#define DEFAULT_NUMBERS(name, default_) (void)0
#define DEFAULT_REGEX(name, default_)   (void)0
#define FIELD(name, type, default_, of) DEFAULT_##type(name, default_);
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
}

static const struct field *find_field(struct text name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (text_is(name, fields[i].name))
            return &fields[i];
    return NULL;
}

static enum status add_text(struct spec_reader *reader, struct text_list *list, struct text value,
                            int line)
{
    struct text *items;

    if (list->count >= SPEC_REPEATED_MAX)
        return fail(reader->failure, STATUS_INVALID, "line %d: too many of one element", line);
    items = ARENA_ARRAY(reader->arena, list->count + 1, struct text);
    if (items == NULL)
        return fail(reader->failure, STATUS_INVALID, "the file is too large");
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    items[list->count] = text_copy(reader->arena, value);
    *list = (struct text_list){.items = items, .count = list->count + 1};
    return STATUS_OK;
}

static enum status add_real(struct spec_reader *reader, struct real_list *list, double value,
                            int line)
{
    double *items;

    if (list->count >= SPEC_REPEATED_MAX)
        return fail(reader->failure, STATUS_INVALID, "line %d: too many of one element", line);
    items = ARENA_ARRAY(reader->arena, list->count + 1, double);
    if (items == NULL)
        return fail(reader->failure, STATUS_INVALID, "the file is too large");
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    items[list->count] = value;
    *list = (struct real_list){.items = items, .count = list->count + 1};
    return STATUS_OK;
}

static enum status set_regex(struct spec_reader *reader, struct plan_regex *ret_regex,
                             struct text value, int line)
{
    struct plan_compiled *compiled = ARENA_NEW(reader->arena, struct plan_compiled);
    int error;

    if (compiled == NULL)
        return fail(reader->failure, STATUS_INVALID, "the file is too large");
    error = regcomp(&compiled->regex, text_string(reader->arena, value), REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        char why[100];

        regerror(error, &compiled->regex, why, sizeof(why));
        return fail(reader->failure, STATUS_INVALID, "line %d: <%s>: %s", line, reader->field->name,
                    why);
    }
    compiled->next = reader->compiled;
    reader->compiled = compiled;
    ret_regex->compiled = &compiled->regex;
    ret_regex->text = text_copy(reader->arena, value);
    return STATUS_OK;
}

/* So that no product or quotient of figures is infinite. */
#define NUMBER_MOST  1e30
#define NUMBER_LEAST 1e-30

static bool read_number(struct text value, double *ret_number)
{
    if (!text_to_real(value, ret_number) || !(fabs(*ret_number) <= NUMBER_MOST))
        return false;
    if (fabs(*ret_number) < NUMBER_LEAST)
        *ret_number = 0;
    return true;
}

/* The first plan classes of this kind took the absolute value where a host told its version. */
static void warn_of_negative(struct spec_reader *reader, double number, int line)
{
    if (number < 0 && text_starts(text_from(reader->field->name), TEXT("min_")))
        warn(reader, line, "<%s> is below 0, so it demands nothing", reader->field->name);
}

static enum status set_field(struct spec_reader *reader, int line)
{
    struct plan_class *class = &reader->classes[reader->count - 1];
    struct text value =
        text_trim((struct text){.at = reader->value, .length = reader->value_length});
    void *at = (char *)class + reader->field->offset;
    double number = 1; /* <x/> is a flag that is set */

    if ((reader->field->type == FIELD_NUMBER || reader->field->type == FIELD_NUMBERS ||
         (reader->field->type == FIELD_FLAG && value.length > 0)) &&
        !read_number(value, &number))
        return fail(reader->failure, STATUS_INVALID,
                    "line %d: <%s>: \"" TEXT_FORMAT "\" is not a number, or too large", line,
                    reader->field->name, TEXT_ARG(text_first(value, 60)));
    switch (reader->field->type) {
    case FIELD_FLAG:
        *(bool *)at = number != 0;
        return STATUS_OK;
    case FIELD_NUMBER:
        *(double *)at = number;
        warn_of_negative(reader, number, line);
        return STATUS_OK;
    case FIELD_STRING:
        *(struct text *)at = text_copy(reader->arena, value);
        return STATUS_OK;
    case FIELD_STRINGS:
        return add_text(reader, at, value, line);
    case FIELD_NUMBERS:
        return add_real(reader, at, number, line);
    case FIELD_REGEX:
        return set_regex(reader, at, value, line);
    }
    return STATUS_INVALID;
}

static void warn_of_unknown(struct spec_reader *reader, struct text name, int line)
{
    struct near_name near;

    near_name_begin(&near, name);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        near_name_try(&near, fields[i].name);
    warn(reader, line, "unknown element <" TEXT_FORMAT ">, which is passed over%s%s%s",
         TEXT_ARG(text_first(name, 60)), near.nearest != NULL ? "; did you mean <" : "",
         near.nearest != NULL ? near.nearest : "", near.nearest != NULL ? ">?" : "");
}

/* Other types than those that clients know by name exist, so one that is near is only asked about.
 */
static void warn_of_type(struct spec_reader *reader, struct text type, int line)
{
    static const char *const known[] = {"amd",   "apple",     "apple_gpu", "ati",
                                        "intel", "intel_gpu", "nvidia"};
    struct near_name near;

    near_name_begin(&near, type);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (text_equal_nocase(type, text_from(known[i])))
            return;
        near_name_try(&near, known[i]);
    }
    if (near.nearest != NULL)
        warn(reader, line, "<gpu_type>: \"" TEXT_FORMAT "\"; did you mean %s?",
             TEXT_ARG(text_first(type, 60)), near.nearest);
}

bool plan_class_is_docker(const struct plan_class *class)
{
    return class->docker || text_contains(class->name, TEXT("docker"));
}

static void warn_of_class(struct spec_reader *reader, int line)
{
    const struct plan_class *class = &reader->classes[reader->count - 1];
    bool has_gpu = class->gpu_type.length > 0 || class->gpu_type_regex.compiled != NULL;

    for (size_t i = 0; i + 1 < reader->count; i++)
        if (text_equal(reader->classes[i].name, class->name))
            warn(reader, line, "a second plan class " TEXT_FORMAT ": the first one holds",
                 TEXT_ARG(text_first(class->name, 60)));
    if (reader->of_gpu != NULL && !has_gpu)
        warn(reader, reader->of_gpu_line,
             "<%s> has no effect, as plan class " TEXT_FORMAT
             " has no <gpu_type>: hosts without a GPU get its versions",
             reader->of_gpu->name, TEXT_ARG(text_first(class->name, 60)));
    if (!class->docker && plan_class_is_docker(class))
        warn(reader, line,
             "plan class " TEXT_FORMAT " has no <docker>, but clients run its versions in"
             " containers, by its name: hosts without Docker and Podman do not get them",
             TEXT_ARG(text_first(class->name, 60)));
    if (plan_class_is_docker(class) && has_gpu && !class->cuda && !class->opencl &&
        !text_contains(class->name, TEXT("cuda")) && !text_contains(class->name, TEXT("opencl")))
        warn(reader, line,
             "plan class " TEXT_FORMAT " has <docker> and a GPU, but neither <cuda> nor <opencl>:"
             " no host with Windows gets its versions",
             TEXT_ARG(text_first(class->name, 60)));
}

static enum status begin_class(struct spec_reader *reader)
{
    reader->of_gpu = NULL;
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity == 0 ? 16 : 2 * reader->capacity;
        struct plan_class *classes = NULL;

        if (capacity <= SPEC_CLASSES_MAX)
            classes = ARENA_ARRAY(reader->arena, capacity, struct plan_class);
        if (classes == NULL)
            return fail(reader->failure, STATUS_INVALID, "too many plan classes");
        if (reader->count > 0)
            memcpy(classes, reader->classes, reader->count * sizeof(*classes));
        reader->classes = classes;
        reader->capacity = capacity;
    }
    plan_class_init(&reader->classes[reader->count++]);
    return STATUS_OK;
}

static enum status on_start(void *context, struct text name, int line)
{
    struct spec_reader *reader = context;

    reader->depth++;
    if (reader->depth == 1 && !text_is(name, "plan_classes"))
        return fail(reader->failure, STATUS_INVALID, "line %d: not a <plan_classes> file", line);
    if (reader->depth == 2)
        return text_is(name, "plan_class")
                   ? begin_class(reader)
                   : fail(reader->failure, STATUS_INVALID,
                          "line %d: <" TEXT_FORMAT "> where a <plan_class> is expected", line,
                          TEXT_ARG(text_first(name, 60)));
    if (reader->depth == 3) {
        reader->field = find_field(name);
        reader->value_length = 0;
        if (reader->field == NULL)
            warn_of_unknown(reader, name, line);
        else if (reader->field->of == FIELD_OF_GPU && reader->of_gpu == NULL) {
            reader->of_gpu = reader->field;
            reader->of_gpu_line = line;
        }
    }
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct spec_reader *reader = context;

    if (reader->field == NULL || piece.length == 0)
        return STATUS_OK;
    if (piece.length > sizeof(reader->value) - reader->value_length)
        return fail(reader->failure, STATUS_INVALID, "line %d: <%s> is too long", line,
                    reader->field->name);
    memcpy(reader->value + reader->value_length, piece.at, piece.length);
    reader->value_length += piece.length;
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct spec_reader *reader = context;
    size_t depth = reader->depth--;

    (void)name;
    if (depth == 3 && reader->field != NULL) {
        enum status status = set_field(reader, line);

        if (status == STATUS_OK && strcmp(reader->field->name, "gpu_type") == 0)
            warn_of_type(reader, reader->classes[reader->count - 1].gpu_type, line);
        reader->field = NULL;
        return status;
    }
    if (depth == 2 && reader->classes[reader->count - 1].name.length == 0)
        return fail(reader->failure, STATUS_INVALID, "line %d: a plan class has no <name>", line);
    if (depth == 2)
        warn_of_class(reader, line);
    return STATUS_OK;
}

/* --- tags that are not closed ------------------------------------------------------------------
 */

struct mending {
    struct text rest, open; /* open: the field that the text is in; empty: none */
    struct buffer out;
    int line, open_line;
    struct text first; /* the first field that was closed */
    int first_line;
    size_t count;
};

static struct text take_first(struct mending *mending, size_t length)
{
    struct text taken = text_first(mending->rest, length);

    for (size_t i = 0; i < taken.length; i++)
        mending->line += taken.at[i] == '\n';
    mending->rest =
        (struct text){mending->rest.at + taken.length, mending->rest.length - taken.length};
    return taken;
}

/* "name" of "<name>", "</name>" and "<name/>". */
static struct text name_of_tag(struct text tag)
{
    size_t begin = text_starts(tag, TEXT("</")) ? 2 : 1, length = 0;
    struct text name = {tag.at + begin, tag.length - begin};

    while (length < name.length && strchr(" \t\r\n/>", name.at[length]) == NULL)
        length++;
    return text_first(name, length);
}

static void close_field(struct mending *mending)
{
    if (mending->count++ == 0) {
        mending->first = mending->open;
        mending->first_line = mending->open_line;
    }
    buffer_add_string(&mending->out, "</");
    buffer_add(&mending->out, mending->open);
    buffer_add_string(&mending->out, ">");
}

/* A field has no elements in it: whichever tag comes ends it. */
static void mend_tag(struct mending *mending)
{
    bool is_comment = text_starts(mending->rest, TEXT("<!--"));
    struct text end = is_comment ? TEXT("-->") : TEXT(">"), tag, name;
    bool is_end = text_starts(mending->rest, TEXT("</")), is_field;

    if (is_comment || text_starts(mending->rest, TEXT("<?"))) {
        buffer_add(&mending->out, take_first(mending, text_find(mending->rest, end) + end.length));
        return;
    }
    name = name_of_tag(mending->rest);
    if (mending->open.length > 0 && !(is_end && text_equal(name, mending->open)) &&
        (!is_end || find_field(name) == NULL))
        close_field(mending);
    is_field = !is_end && find_field(name) != NULL;
    tag = take_first(mending, text_find(mending->rest, end) + end.length);
    if (!is_end && text_equal(name, mending->open)) { /* meant as the end */
        mending->open = NO_TEXT;
        return;
    }
    buffer_add(&mending->out, tag);
    mending->open_line = mending->line;
    mending->open = is_field && !text_ends(tag, TEXT("/>")) ? name : NO_TEXT;
}

/* The document with its fields closed, in the arena; a warning says what was done. */
static struct text mend(struct spec_reader *reader, struct text document)
{
    struct arena *arena = reader->arena;
    char more[64] = "";
    struct mending mending = {.rest = document, .out = buffer_in(arena), .line = 1};

    while (mending.rest.length > 0) {
        buffer_add(&mending.out, take_first(&mending, text_find(mending.rest, TEXT("<"))));
        if (mending.rest.length > 0)
            mend_tag(&mending);
    }
    if (mending.count == 0)
        return document;
    if (mending.count > 1)
        (void)snprintf(more, sizeof(more), " (%zu such fields)", mending.count);
    warn(reader, mending.first_line,
         "<" TEXT_FORMAT "> is not closed; it ends before the next tag%s",
         TEXT_ARG(text_first(mending.first, 60)), more);
    return buffer_text(&mending.out);
}

enum status plan_classes_parse(struct text document, struct plan_classes *ret_classes,
                               struct failure *failure)
{
    const struct xml_limits limits = {
        .bytes_max = SPEC_BYTES_MAX, .depth_max = 8, .elements_max = 1000000};
    struct arena *arena = arena_create(SPEC_MEMORY_MAX);
    struct spec_reader *reader = arena == NULL ? NULL : ARENA_NEW(arena, struct spec_reader);
    const struct xml_handler handler = {
        .context = reader, .start = on_start, .text = on_text, .end = on_end};
    struct plan_classes classes = {.arena = arena};
    enum status status;

    if (reader == NULL) {
        arena_destroy(arena);
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    }
    reader->arena = arena;
    reader->failure = failure;
    status = xml_walk(document.length <= SPEC_BYTES_MAX ? mend(reader, document) : document,
                      &limits, &handler, failure);
    give_warnings(reader, &classes);
    classes.items = reader->classes;
    classes.count = reader->count;
    classes.compiled = reader->compiled;
    if (status == STATUS_OK) {
        classes.source = text_copy(arena, document);
        classes.source_key = text_hash(document);
    }
    if (status == STATUS_OK && arena_overflowed(arena))
        status = fail(failure, STATUS_INVALID, "the file is too large");
    if (status != STATUS_OK) {
        plan_classes_free(&classes);
        return status == STATUS_TOO_LARGE ? STATUS_INVALID : status;
    }
    *ret_classes = classes;
    return STATUS_OK;
}

void plan_classes_free(struct plan_classes *classes)
{
    for (struct plan_compiled *each = classes->compiled; each != NULL; each = each->next)
        regfree(&each->regex);
    arena_destroy(classes->arena);
    *classes = (struct plan_classes){0};
}

const struct plan_class *plan_class_find(const struct plan_classes *classes, struct text name)
{
    for (size_t i = 0; i < classes->count; i++)
        if (text_equal(classes->items[i].name, name))
            return &classes->items[i];
    return NULL;
}
