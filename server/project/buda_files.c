/* SPDX-License-Identifier: Apache-2.0 */
/* Folders are read in order of their names, so that equal files give equal answers on each server.
 * Numbers of entries are bounded; what is beyond a bound is a fault of its folder. */
#include "server/project/buda_files.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/json.h"
#include "server/base/random.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/project/blob.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define DOCUMENT_BYTES_MAX ((size_t)JSON_BYTES_MAX * 3) /* with its growing */
/* Names of two folders, one in the other; paths, and the tags of a variant. */
#define NAMES_BYTES_MAX ((size_t)16 << 20)

struct buda_reading {
    struct arena *arena;
    struct arena *scratch; /* of one document */
    struct arena *names;   /* what is of no use once all is read */
    const struct plan_classes *classes;
    const char *root;
    struct buda_app *apps;
    struct buda_variant *variants;
    struct buda_kind *kinds;
    struct buda_fault *faults;
    size_t app_count, variant_count, kind_count, fault_count;
};

static void add_fault(struct buda_reading *reading, struct text file, const char *words)
{
    struct arena_mark mark = arena_mark(reading->arena);
    struct buda_fault fault;

    if (reading->fault_count++ >= BUDA_FAULTS_KEPT)
        return;
    fault = (struct buda_fault){.file = text_copy(reading->arena, file),
                                .words = text_copy(reading->arena, text_from(words))};
    if (arena_overflowed(reading->arena)) {
        arena_rewind(reading->arena, mark);
        fault = (struct buda_fault){TEXT("buda_apps"), TEXT("no memory for all files")};
    }
    reading->faults[reading->fault_count - 1] = fault;
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static bool is_counted(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* How many there are, at most one more than `most`. */
static size_t count_entries(DIR *dir, size_t most)
{
    const struct dirent *entry;
    size_t count = 0;

    while (count <= most && (entry = readdir(dir)) != NULL)
        count += is_counted(entry);
    rewinddir(dir);
    return count;
}

/* The names in a folder that do not begin with a point, sorted; NULL: there is no such folder, or
 * no memory. `name`: of the folder, for the fault that it has too many. */
static struct text *list_folder(struct buda_reading *reading, const char *path, struct text name,
                                size_t most, size_t *ret_count)
{
    struct text *names = NULL;
    const struct dirent *entry;
    DIR *dir = opendir(path);
    size_t count = dir != NULL ? count_entries(dir, most) : 0;
    char words[80];

    *ret_count = 0;
    if (count > most) {
        snprintf(words, sizeof(words), "more than %zu entries: only as many are looked at", most);
        add_fault(reading, name, words);
        count = most;
    }
    if (dir != NULL)
        names = ARENA_ARRAY(reading->names, count, struct text);
    while (names != NULL && *ret_count < count && (entry = readdir(dir)) != NULL)
        if (is_counted(entry))
            names[(*ret_count)++] = text_copy(reading->names, text_from(entry->d_name));
    if (dir != NULL)
        closedir(dir);
    if (*ret_count > 1)
        qsort(names, *ret_count, sizeof(names[0]), compare_texts);
    return names;
}

/* Until the next one is read. */
static enum status read_document(struct buda_reading *reading, const char *path,
                                 struct text *ret_document, struct failure *failure)
{
    arena_reset(reading->scratch);
    return file_read(reading->scratch, path, JSON_BYTES_MAX, ret_document, failure);
}

/* --- variants --------------------------------------------------------------------------------- */

/* BUDA_KINDS_MAX: there are too many. */
static size_t kind_of(struct buda_reading *reading, const struct buda_kind *kind)
{
    for (size_t i = 0; i < reading->kind_count; i++)
        if (reading->kinds[i].cpu == kind->cpu &&
            text_equal(reading->kinds[i].plan_class, kind->plan_class))
            return i;
    if (reading->kind_count < BUDA_KINDS_MAX)
        reading->kinds[reading->kind_count++] = *kind;
    else
        return BUDA_KINDS_MAX;
    return reading->kind_count - 1;
}

static enum status judge_variant(struct buda_reading *reading, struct buda_variant *variant,
                                 const struct buda_kind *kind, struct failure *failure)
{
    if (arena_overflowed(reading->arena)) /* its texts may be cut off */
        return fail(failure, STATUS_NO_MEMORY, "no memory for it");
    if (!blob_is_sound(reading->names, variant->file_infos))
        return fail(failure, STATUS_INVALID, "\"file_infos\" would break replies");
    if (!blob_is_sound(reading->names, variant->file_refs))
        return fail(failure, STATUS_INVALID, "\"file_refs\" would break replies");
    if (kind->plan_class.length > 0 && !plan_class_is_known(reading->classes, kind->plan_class))
        return fail(failure, STATUS_INVALID, "there is no plan class \"" TEXT_FORMAT "\"",
                    TEXT_ARG(text_first(kind->plan_class, 100)));
    variant->kind = kind_of(reading, kind);
    return variant->kind < BUDA_KINDS_MAX
               ? STATUS_OK
               : fail(failure, STATUS_INVALID, "more than %d plan classes in all", BUDA_KINDS_MAX);
}

static void read_variant(struct buda_reading *reading, struct buda_app *app, struct text name)
{
    struct text file =
        text_print(reading->names, "buda_apps/" TEXT_FORMAT "/" TEXT_FORMAT "/variant.json",
                   TEXT_ARG(app->name), TEXT_ARG(name));
    const char *path =
        text_string(reading->names,
                    text_print(reading->names, "%s/" TEXT_FORMAT "/" TEXT_FORMAT "/variant.json",
                               reading->root, TEXT_ARG(app->name), TEXT_ARG(name)));
    struct arena_mark mark = arena_mark(reading->arena);
    struct failure failure = {0};
    struct text document = NO_TEXT;
    struct buda_variant variant;
    struct buda_kind kind;
    enum status status = read_document(reading, path, &document, &failure);

    if (status == STATUS_NOT_FOUND) /* another folder, or another file */
        return;
    if (status == STATUS_OK && reading->variant_count == BUDA_VARIANTS_MAX)
        status = fail(&failure, STATUS_INVALID, "more than %d variants in all", BUDA_VARIANTS_MAX);
    if (status == STATUS_OK)
        status = buda_variant_read(reading->arena, document, &variant, &kind, &failure);
    variant.name = text_copy(reading->arena, name);
    variant.number = buda_number(text_print(reading->names, TEXT_FORMAT "/" TEXT_FORMAT,
                                            TEXT_ARG(app->name), TEXT_ARG(name)));
    if (status == STATUS_OK)
        status = judge_variant(reading, &variant, &kind, &failure);
    if (status != STATUS_OK) {
        arena_rewind(reading->arena, mark);
        add_fault(reading, file, failure.text);
        return;
    }
    reading->variants[reading->variant_count++] = variant;
    app->count++;
}

/* --- apps ------------------------------------------------------------------------------------- */

static void read_variants(struct buda_reading *reading, struct buda_app *app, const char *folder)
{
    struct text name = text_print(reading->names, "buda_apps/" TEXT_FORMAT, TEXT_ARG(app->name));
    size_t count;
    const struct text *names = list_folder(reading, folder, name, BUDA_VARIANTS_MAX + 1, &count);

    app->first = reading->variant_count;
    for (size_t i = 0; names != NULL && i < count; i++) {
        struct arena_mark mark = arena_mark(reading->names);

        read_variant(reading, app, names[i]);
        arena_rewind(reading->names, mark);
    }
}

static void read_app(struct buda_reading *reading, struct text name)
{
    struct text file =
        text_print(reading->names, "buda_apps/" TEXT_FORMAT "/desc.json", TEXT_ARG(name));
    const char *folder = text_string(reading->names, text_print(reading->names, "%s/" TEXT_FORMAT,
                                                                reading->root, TEXT_ARG(name)));
    const char *path =
        text_string(reading->names, text_print(reading->names, "%s/desc.json", folder));
    struct arena_mark mark = arena_mark(reading->arena);
    struct failure failure = {0};
    struct text document = NO_TEXT;
    struct buda_app app;
    enum status status = read_document(reading, path, &document, &failure);

    if (status == STATUS_NOT_FOUND)
        return;
    if (status == STATUS_OK)
        status = buda_app_read(reading->arena, document, &app, &failure);
    if (status == STATUS_OK && arena_overflowed(reading->arena))
        status = fail(&failure, STATUS_NO_MEMORY, "no memory for it");
    if (status == STATUS_OK && !text_equal(app.name, name))
        status = fail(&failure, STATUS_INVALID,
                      "the key \"name\" is \"" TEXT_FORMAT "\", and not the folder's name",
                      TEXT_ARG(text_first(app.name, 100)));
    if (status != STATUS_OK) {
        arena_rewind(reading->arena, mark);
        add_fault(reading, file, failure.text);
        return;
    }
    read_variants(reading, &app, folder);
    if (app.count == 0)
        add_fault(reading, file, "there is no variant that can be used");
    reading->apps[reading->app_count++] = app;
}

static int compare_apps(const void *a, const void *b)
{
    const struct buda_app *left = a, *right = b;

    return (left->number > right->number) - (left->number < right->number);
}

/* Their order becomes that of the apps. */
static void sort_variants(struct buda_reading *reading, struct buda_variant *sorted)
{
    size_t at = 0;

    for (size_t i = 0; i < reading->app_count; i++) {
        struct buda_app *app = &reading->apps[i];
        const size_t first = at;

        for (size_t j = 0; j < app->count; j++, at++) {
            sorted[at] = reading->variants[app->first + j];
            sorted[at].app = i;
        }
        app->first = first;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const struct buda_variant *left = *(const struct buda_variant *const *)a;
    const struct buda_variant *right = *(const struct buda_variant *const *)b;

    return (left->number > right->number) - (left->number < right->number);
}

/* False: no memory. */
static bool sort_numbers(struct buda_reading *reading, const struct buda_variant *variants,
                         size_t *sorted)
{
    const size_t count = reading->variant_count;
    const struct buda_variant **order =
        ARENA_ARRAY(reading->names, count, const struct buda_variant *);

    if (order == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = &variants[i];
    if (count > 1)
        qsort(order, count, sizeof(order[0]), compare_numbers);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (size_t)(order[i] - variants);
    return true;
}

static bool begin_reading(struct buda_reading *reading)
{
    reading->scratch = arena_create(DOCUMENT_BYTES_MAX);
    reading->names = arena_create(NAMES_BYTES_MAX);
    if (reading->scratch == NULL || reading->names == NULL)
        return false;
    reading->variants = ARENA_ARRAY(reading->names, BUDA_VARIANTS_MAX, struct buda_variant);
    reading->kinds = ARENA_ARRAY(reading->arena, BUDA_KINDS_MAX, struct buda_kind);
    reading->faults = ARENA_ARRAY(reading->arena, BUDA_FAULTS_KEPT, struct buda_fault);
    return reading->variants != NULL && reading->kinds != NULL && reading->faults != NULL;
}

static bool read_apps(struct buda_reading *reading, struct buda_apps *ret_apps)
{
    struct buda_variant *sorted =
        ARENA_ARRAY(reading->arena, BUDA_VARIANTS_MAX, struct buda_variant);
    size_t *by_number = ARENA_ARRAY(reading->arena, BUDA_VARIANTS_MAX, size_t);
    size_t count;
    const struct text *names =
        list_folder(reading, reading->root, TEXT("buda_apps"), BUDA_APPS_MAX, &count);

    reading->apps = ARENA_ARRAY(reading->arena, count, struct buda_app);
    if (sorted == NULL || by_number == NULL || reading->apps == NULL)
        return false;
    for (size_t i = 0; names != NULL && i < count; i++) {
        struct arena_mark mark = arena_mark(reading->names);

        read_app(reading, names[i]);
        arena_rewind(reading->names, mark);
    }
    if (reading->app_count > 1)
        qsort(reading->apps, reading->app_count, sizeof(reading->apps[0]), compare_apps);
    sort_variants(reading, sorted);
    if (!sort_numbers(reading, sorted, by_number))
        return false;
    *ret_apps = (struct buda_apps){.apps = reading->apps,
                                   .app_count = reading->app_count,
                                   .variants = sorted,
                                   .variant_count = reading->variant_count,
                                   .by_number = by_number,
                                   .kinds = reading->kinds,
                                   .kind_count = reading->kind_count,
                                   .faults = reading->faults,
                                   .fault_count = reading->fault_count};
    return true;
}

bool buda_files_read(const char *folder, const struct plan_classes *classes, struct arena *arena,
                     struct buda_apps *ret_apps)
{
    struct buda_reading reading = {.arena = arena, .classes = classes, .root = folder};
    bool is_read;

    *ret_apps = (struct buda_apps){0};
    if (access(folder, F_OK) != 0)
        return true;
    is_read = begin_reading(&reading) && read_apps(&reading, ret_apps);
    arena_destroy(reading.scratch);
    arena_destroy(reading.names);
    return is_read;
}

/* --- whether they changed --------------------------------------------------------------------- */

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = random_mix(hash, (unsigned char)*text);
    return hash;
}

/* In whatever order a folder gives its entries: their marks are added up. */
static uint64_t mark_file(const char *path, size_t *count)
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    (*count)++;
    return mix_text(
        random_mix(random_mix((uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec),
                   random_mix((uint64_t)info.st_size, (uint64_t)info.st_ino)),
        path);
}

static uint64_t mark_folder(const char *path, int depth, size_t *count)
{
    static const char *const files[] = {"desc.json", "variant.json"};
    const struct dirent *entry;
    uint64_t mark = 0;
    DIR *dir = opendir(path);
    char inner[PATH_MAX];

    while (dir != NULL && *count < BUDA_APPS_MAX + BUDA_VARIANTS_MAX &&
           (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) >= (int)sizeof(inner))
            continue;
        if (entry->d_type == DT_REG)
            continue;
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
            char file[PATH_MAX];

            if (snprintf(file, sizeof(file), "%s/%s", inner, files[i]) < (int)sizeof(file))
                mark += mark_file(file, count);
        }
        if (depth > 0)
            mark += mark_folder(inner, depth - 1, count);
    }
    if (dir != NULL)
        closedir(dir);
    return mark;
}

uint64_t buda_files_stamp(const char *folder, size_t *ret_count)
{
    *ret_count = 0;
    return mark_folder(folder, 1, ret_count);
}
