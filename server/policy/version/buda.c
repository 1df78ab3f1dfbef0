/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/version/buda.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/json.h"

#include "server/base/banned.h"

enum { NUMBER_DIGITS = 15 /* hexadecimal: 60 bits */ };

int64_t buda_number(struct text name)
{
    char hex[MD5_HEX_SIZE];
    int64_t number = 0;

    md5_hex(name, NO_TEXT, hex);
    for (size_t i = 0; i < NUMBER_DIGITS; i++)
        number = number * 16 + (hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    return number;
}

const struct buda_app *buda_app_find(const struct buda_apps *apps, int64_t number)
{
    size_t low = 0, high = apps->app_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (apps->apps[middle].number == number)
            return &apps->apps[middle];
        if (apps->apps[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct buda_variant *buda_variant_find(const struct buda_apps *apps, int64_t number)
{
    size_t low = 0, high = apps->variant_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct buda_variant *variant = &apps->variants[apps->by_number[middle]];

        if (variant->number == number)
            return variant;
        if (variant->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- CPU types -------------------------------------------------------------------------------- */

const char *buda_cpu_word(enum buda_cpu cpu)
{
    return cpu == BUDA_CPU_INTEL ? "intel" : cpu == BUDA_CPU_ARM ? "arm" : "other";
}

enum buda_cpu buda_cpu_named(struct text word)
{
    return text_is(word, buda_cpu_word(BUDA_CPU_INTEL)) ? BUDA_CPU_INTEL
           : text_is(word, buda_cpu_word(BUDA_CPU_ARM)) ? BUDA_CPU_ARM
                                                        : BUDA_CPU_OTHER;
}

enum buda_cpu buda_cpu_of(const struct text *platforms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_contains(platforms[i], TEXT("x86_64")) ||
            text_contains(platforms[i], TEXT("amd64")))
            return BUDA_CPU_INTEL;
        if (text_contains(platforms[i], TEXT("arm")) ||
            text_contains(platforms[i], TEXT("aarch64")))
            return BUDA_CPU_ARM;
    }
    return BUDA_CPU_OTHER;
}

/* --- files ------------------------------------------------------------------------------------ */

static enum status read_text(struct arena *arena, const struct json_object *object,
                             const char *name, struct text *ret_text, struct failure *failure)
{
    struct json_member member = json_member(object, name);

    if (member.kind == JSON_KIND_ABSENT)
        return fail(failure, STATUS_INVALID, "there is no key \"%s\"", name);
    if (member.kind != JSON_KIND_TEXT)
        return fail(failure, STATUS_INVALID, "the key \"%s\" is no text", name);
    *ret_text = text_copy(arena, member.text);
    return STATUS_OK;
}

static enum status read_app(struct arena *arena, const struct json_object *object,
                            struct buda_app *app, struct failure *failure)
{
    struct json_member long_name = json_member(object, "long_name");
    enum status status = read_text(arena, object, "name", &app->name, failure);

    if (status == STATUS_OK && app->name.length == 0)
        return fail(failure, STATUS_INVALID, "the key \"name\" is empty");
    app->long_name = long_name.kind == JSON_KIND_TEXT && long_name.text.length > 0
                         ? text_copy(arena, long_name.text)
                         : app->name;
    app->number = buda_number(app->name);
    return status;
}

enum status buda_app_read(struct arena *arena, struct text document, struct buda_app *ret_app,
                          struct failure *failure)
{
    struct json_object object;
    enum status status = json_read(document, &object, failure);

    *ret_app = (struct buda_app){0};
    if (status != STATUS_OK)
        return status;
    status = read_app(arena, &object, ret_app, failure);
    json_object_free(&object);
    return status;
}

enum status buda_variant_read(struct arena *arena, struct text document,
                              struct buda_variant *ret_variant, struct buda_kind *ret_kind,
                              struct failure *failure)
{
    struct text cpu_type = NO_TEXT;
    struct json_object object;
    enum status status = json_read(document, &object, failure);

    *ret_variant = (struct buda_variant){0};
    *ret_kind = (struct buda_kind){0};
    if (status != STATUS_OK)
        return status;
    status = read_text(arena, &object, "cpu_type", &cpu_type, failure);
    if (status == STATUS_OK)
        status = read_text(arena, &object, "plan_class", &ret_kind->plan_class, failure);
    if (status == STATUS_OK)
        status = read_text(arena, &object, "file_infos", &ret_variant->file_infos, failure);
    if (status == STATUS_OK)
        status = read_text(arena, &object, "file_refs", &ret_variant->file_refs, failure);
    json_object_free(&object);
    ret_kind->cpu = buda_cpu_named(cpu_type);
    if (status == STATUS_OK &&
        ret_variant->file_infos.length + ret_variant->file_refs.length > BUDA_BYTES_MAX)
        return fail(failure, STATUS_INVALID,
                    "\"file_infos\" and \"file_refs\" have %zu bytes; clients read %d",
                    ret_variant->file_infos.length + ret_variant->file_refs.length, BUDA_BYTES_MAX);
    return status;
}
