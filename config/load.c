/* SPDX-License-Identifier: Apache-2.0 */
/* Reads config.xml, then config_aux.xml over it, into one struct config, all or nothing.
 *
 * config.xml is shared with a BOINC project's other programs: the root is `boinc`, in it stand
 * `config` with everybody's options, and `tasks` and `daemons`, which are none of ours.
 * config_aux.xml has `config` as its root. An element is an option of ours, one that
 * other_options.def knows, or unknown, which is a warning with the nearest known name: the file
 * must go on working when another program gets a new option. What we know and cannot read is an
 * error, and an error anywhere refuses the whole load. All of a file's findings are collected, so
 * that an operator mends them in one go. */
#include "config/internal.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum { FILE_BYTES_MAX = 1024 * 1024, VALUE_BYTES_MAX = 64 * 1024, FINDINGS_MAX = 200 };

/* Repairing makes at most six bytes ("&#255;") of one. */
static const struct xml_limits limits = {
    .bytes_max = 6 * FILE_BYTES_MAX, .depth_max = 32, .elements_max = 100000};

struct loader {
    struct config *config;
    struct arena *arena; /* of the findings */
    struct config_finding *findings;
    size_t finding_count;
    struct failure error; /* the first finding that is one */
    bool is_broken;       /* a file was not read to its end */

    /* the file being read */
    struct text file;
    const char *root;
    size_t option_depth; /* where options stand: below boinc and config, or below config */

    /* where in it */
    size_t depth;
    size_t skip_depth; /* of an element that is passed over whole; 0: none */
    const struct config_option *option;
    const struct other_option *other; /* an unserved one */
    char other_name[64];
    int line; /* of the start tag */
    bool has_children;
    struct buffer value;
    bool in_limits; /* inside max_jobs_in_progress */
    struct limits_reader limits;
};

static void find(struct loader *loader, bool is_error, int line, struct text text)
{
    if (is_error && line > 0)
        (void)fail(&loader->error, STATUS_INVALID, TEXT_FORMAT ":%d: " TEXT_FORMAT,
                   TEXT_ARG(loader->file), line, TEXT_ARG(text));
    else if (is_error)
        (void)fail(&loader->error, STATUS_INVALID, TEXT_FORMAT ": " TEXT_FORMAT,
                   TEXT_ARG(loader->file), TEXT_ARG(text));
    if (loader->finding_count == FINDINGS_MAX)
        return;
    if (loader->finding_count == FINDINGS_MAX - 1 && !is_error)
        text = TEXT("further findings are omitted");
    loader->findings[loader->finding_count++] =
        (struct config_finding){.is_error = is_error,
                                .line = line,
                                .file = loader->file,
                                .text = text_copy(loader->arena, text)};
}

static void find_unknown(struct loader *loader, int line, struct text name)
{
    const char *nearest = config_nearest_name(name);
    struct text shown = text_first(name, 100);

    if (nearest == NULL)
        find(loader, false, line,
             text_print(loader->arena, "unknown option " TEXT_FORMAT, TEXT_ARG(shown)));
    else
        find(loader, false, line,
             text_print(loader->arena, "unknown option " TEXT_FORMAT "; did you mean %s?",
                        TEXT_ARG(shown), nearest));
}

/* An element where options stand. */
static void option_start(struct loader *loader, struct text name, int line)
{
    const struct other_option *other = config_other_find(name);

    loader->line = line;
    loader->has_children = false;
    loader->value.length = 0;
    loader->option = config_option_find(name);
    loader->other = NULL;
    loader->in_limits = text_is(name, "max_jobs_in_progress");
    loader->limits = (struct limits_reader){0};
    if (loader->in_limits)
        return;
    if (loader->option != NULL)
        return;
    if (other == NULL)
        find_unknown(loader, line, name);
    if (other != NULL && other->use == OTHER_UNSERVED) {
        loader->other = other;
        memcpy(loader->other_name, name.at, name.length);
        loader->other_name[name.length] = '\0';
        return;
    }
    loader->skip_depth = loader->depth;
}

/* Above the options: boinc, and in it config, tasks and daemons. */
static enum status frame_start(struct loader *loader, struct text name, int line)
{
    if (loader->depth == 1 && !text_is(name, loader->root)) {
        find(loader, true, line,
             text_print(loader->arena, "the root element is " TEXT_FORMAT ", not %s",
                        TEXT_ARG(text_first(name, 100)), loader->root));
        return STATUS_INVALID;
    }
    if (loader->depth == 1 || text_is(name, "config"))
        return STATUS_OK;
    if (!text_is(name, "tasks") && !text_is(name, "daemons"))
        find(loader, false, line,
             text_print(loader->arena, "unknown element " TEXT_FORMAT " next to config",
                        TEXT_ARG(text_first(name, 100))));
    loader->skip_depth = loader->depth;
    return STATUS_OK;
}

static void limits_start(struct loader *loader, struct text name, int line)
{
    const char *problem = config_limits_start(&loader->limits, name);

    loader->value.length = 0;
    if (problem == NULL)
        return;
    find(loader, false, line,
         text_print(loader->arena, "%s: " TEXT_FORMAT, problem, TEXT_ARG(text_first(name, 60))));
    loader->limits.depth--;
    loader->skip_depth = loader->depth;
}

static void limits_end(struct loader *loader, struct text name, int line)
{
    bool is_error;
    struct text value;

    loader->value.length = config_unrepair(loader->value.at, loader->value.length);
    value = text_trim(buffer_text(&loader->value));
    const char *problem =
        config_limits_end(&loader->limits, loader->config, name, value, &is_error);
    if (problem != NULL)
        find(loader, is_error, line, text_from(problem));
    loader->value.length = 0;
}

static enum status on_start(void *context, struct text name, int line)
{
    struct loader *loader = context;

    loader->depth++;
    if (loader->skip_depth > 0)
        return STATUS_OK;
    if (loader->depth < loader->option_depth)
        return frame_start(loader, name, line);
    if (loader->depth == loader->option_depth) {
        option_start(loader, name, line);
        return STATUS_OK;
    }
    if (loader->in_limits) {
        limits_start(loader, name, line);
        return STATUS_OK;
    }
    loader->has_children = true;
    loader->skip_depth = loader->depth;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct loader *loader = context;

    (void)line;
    if (loader->skip_depth == 0 && (loader->depth == loader->option_depth || loader->in_limits))
        buffer_add(&loader->value, piece);
    return STATUS_OK;
}

/* Of a list each counts. In another file it is meant to replace the first. */
static void find_given_twice(struct loader *loader, const struct config_option *option)
{
    const struct config_origin *before = &loader->config->origins[option - config_options];

    if (before->is_given && before->file.at == loader->file.at && option->type != CONFIG_LIST &&
        option->type != CONFIG_REGEXES)
        find(loader, false, loader->line,
             text_print(loader->arena, "%s was given in line %d already; this one counts",
                        option->name, before->line));
}

static void option_end(struct loader *loader)
{
    const struct config_option *option = loader->option;
    struct failure failure = {0};
    struct config_origin origin = {.file = loader->file, .line = loader->line, .is_given = true};
    bool caps;

    if (loader->has_children) {
        find(loader, true, loader->line,
             text_print(loader->arena, "%s contains other elements; it must be plain text",
                        option->name));
        return;
    }
    loader->value.length = config_unrepair(loader->value.at, loader->value.length);
    find_given_twice(loader, option);
    enum status status =
        config_set_option(loader->config, option, buffer_text(&loader->value), origin, &failure);
    if (status != STATUS_OK)
        find(loader, true, loader->line, text_from(failure.text));
    else if (config_value_is_capped(option, buffer_text(&loader->value)))
        find(loader, false, loader->line,
             text_print(loader->arena, "%s is " TEXT_FORMAT ", which counts as " TEXT_FORMAT,
                        option->name, TEXT_ARG(text_trim(buffer_text(&loader->value))),
                        TEXT_ARG(config_option_most(option, &caps))));
}

static void other_end(struct loader *loader)
{
    double number = 1;
    bool is_off =
        text_to_real(buffer_text(&loader->value), &number) && !(number < 0) && !(number > 0);

    if (loader->has_children || !is_off)
        find(loader, false, loader->line,
             text_print(loader->arena, "%s is not supported by this server and has no effect",
                        loader->other_name));
}

static enum status on_end(void *context, struct text name, int line)
{
    struct loader *loader = context;

    if (loader->skip_depth == loader->depth) {
        loader->skip_depth = 0;
    } else if (loader->skip_depth == 0 && loader->in_limits &&
               loader->depth > loader->option_depth) {
        limits_end(loader, name, line);
    } else if (loader->skip_depth == 0 && loader->depth == loader->option_depth) {
        if (loader->value.overflowed)
            find(loader, true, loader->line, TEXT("a value longer than 65536 bytes"));
        else if (loader->option != NULL)
            option_end(loader);
        else if (loader->other != NULL)
            other_end(loader);
        loader->value.overflowed = false;
        loader->in_limits = false;
    }
    loader->depth--;
    return STATUS_OK;
}

/* xml_walk says "line 12: why". */
static void find_malformed(struct loader *loader, const struct failure *failure)
{
    struct text text = text_from(failure->text), rest = text;
    int64_t line = 0;

    if (text_starts(text, TEXT("line "))) {
        rest = (struct text){.at = text.at + 5, .length = text.length - 5};
        if (text_to_i64(text_split(&rest, ':'), &line) && line <= INT32_MAX)
            text = text_trim(rest);
    }
    find(loader, true, (int)line, text);
    loader->is_broken = true;
}

static void load_text(struct loader *loader, struct text document)
{
    struct buffer repaired = buffer_on_heap(limits.bytes_max);
    struct xml_handler handler = {
        .context = loader, .start = on_start, .text = on_text, .end = on_end};
    struct failure failure = {0};

    loader->depth = loader->skip_depth = 0;
    loader->value = buffer_on_heap(VALUE_BYTES_MAX);
    config_repair(document, &repaired);
    enum status status = repaired.overflowed
                             ? fail(&failure, STATUS_NO_MEMORY, "no memory to read it")
                             : xml_walk(buffer_text(&repaired), &limits, &handler, &failure);
    if (status != STATUS_OK && failure.status != STATUS_OK)
        find_malformed(loader, &failure);
    buffer_free(&loader->value);
    buffer_free(&repaired);
}

/* file_read says "PATH: why". */
static struct text without_path(struct text text, struct text path)
{
    if (!text_starts(text, path))
        return text;
    struct text rest = {.at = text.at + path.length, .length = text.length - path.length};
    (void)text_split(&rest, ':');
    return text_trim(rest);
}

/* One file of the project folder. */
static void load_file(struct loader *loader, const char *name, const char *root,
                      size_t option_depth, bool may_lack)
{
    struct config *config = loader->config;
    struct text path =
        text_print(config->arena, TEXT_FORMAT "/%s", TEXT_ARG(config->project_dir_path), name);
    struct text document = NO_TEXT;
    struct failure failure = {0};
    struct arena *arena = arena_create(FILE_BYTES_MAX + 1024);

    loader->file = path; /* lives as long as the config: origins point to it */
    loader->root = root;
    loader->option_depth = option_depth;
    if (arena == NULL) {
        loader->is_broken = true;
        find(loader, true, 0, TEXT("no memory to read it"));
        return;
    }
    enum status status = file_read(arena, path.at, FILE_BYTES_MAX, &document, &failure);
    if (status == STATUS_OK)
        load_text(loader, document);
    else if (status != STATUS_NOT_FOUND || !may_lack) {
        find(loader, true, 0, without_path(text_from(failure.text), path));
        loader->is_broken = true;
    }
    arena_destroy(arena);
}

static bool has_buda_folder(const struct config *config)
{
    const char *path =
        text_string(config->arena, text_print(config->arena, TEXT_FORMAT "/buda_apps",
                                              TEXT_ARG(config->project_dir_path)));
    struct stat info;

    return path != NULL && stat(path, &info) == 0;
}

/* The defaults, for files of that folder; empty: of none. */
static enum status loader_begin(struct loader *loader, struct arena *arena, struct text folder,
                                struct failure *failure)
{
    *loader = (struct loader){.arena = arena};
    loader->findings = ARENA_ARRAY(arena, FINDINGS_MAX, struct config_finding);
    if (loader->findings == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for findings about config.xml");
    if (config_defaults(&loader->config) != STATUS_OK)
        return fail(failure, STATUS_NO_MEMORY, "no memory for the configuration");
    loader->config->project_dir_path = text_copy(loader->config->arena, folder);
    if (folder.length > 0)
        loader->config->has_buda_apps = has_buda_folder(loader->config);
    return STATUS_OK;
}

/* `takes_part`: wrong values are no reason to give no configuration. */
static enum status loader_end(struct loader *loader, bool takes_part, struct config **ret_config,
                              struct config_findings *ret_findings, struct failure *failure)
{
    /* Findings outlive a config that is refused. */
    for (size_t i = 0; i < loader->finding_count; i++)
        loader->findings[i].file = text_copy(loader->arena, loader->findings[i].file);
    *ret_findings = (struct config_findings){loader->findings, loader->finding_count};
    if (loader->error.status == STATUS_OK || takes_part)
        *ret_config = loader->config;
    else
        config_release(loader->config);
    return loader->error.status == STATUS_OK
               ? STATUS_OK
               : fail(failure, STATUS_INVALID, "%s", loader->error.text);
}

/* `ret_is_whole` NULL: a part is none. */
static enum status load(const char *project_dir, bool *ret_is_whole, struct arena *arena,
                        struct config **ret_config, struct config_findings *ret_findings,
                        struct failure *failure)
{
    struct loader loader;

    *ret_findings = (struct config_findings){0};
    char *absolute = realpath(project_dir, NULL);
    if (absolute == NULL)
        return fail(failure, STATUS_NOT_FOUND, "%s: %s", project_dir, strerror(errno));
    enum status status = loader_begin(&loader, arena, text_from(absolute), failure);
    free(absolute);
    if (status != STATUS_OK)
        return status;
    load_file(&loader, "config.xml", "boinc", 3, false);
    load_file(&loader, "config_aux.xml", "config", 2, true);
    if (ret_is_whole != NULL)
        *ret_is_whole = !loader.is_broken;
    return loader_end(&loader, ret_is_whole != NULL, ret_config, ret_findings, failure);
}

enum status config_load(const char *project_dir, struct arena *arena, struct config **ret_config,
                        struct config_findings *ret_findings, struct failure *failure)
{
    return load(project_dir, NULL, arena, ret_config, ret_findings, failure);
}

enum status config_load_partly(const char *project_dir, struct arena *arena,
                               struct config **ret_config, bool *ret_is_whole,
                               struct config_findings *ret_findings, struct failure *failure)
{
    *ret_config = NULL;
    *ret_is_whole = false;
    return load(project_dir, ret_is_whole, arena, ret_config, ret_findings, failure);
}

enum status config_read(struct text document, struct text name, struct arena *arena,
                        struct config **ret_config, struct config_findings *ret_findings,
                        struct failure *failure)
{
    bool is_whole = text_contains(document, TEXT("<boinc"));
    struct loader loader;

    *ret_findings = (struct config_findings){0};
    enum status status = loader_begin(&loader, arena, NO_TEXT, failure);
    if (status != STATUS_OK)
        return status;
    loader.file = text_copy(loader.config->arena, name);
    loader.root = is_whole ? "boinc" : "config";
    loader.option_depth = is_whole ? 3 : 2;
    load_text(&loader, document);
    return loader_end(&loader, false, ret_config, ret_findings, failure);
}
