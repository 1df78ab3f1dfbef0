/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the project's files. Of the keys only what every client may see is read: the private ones
 * stay where they are. An old key without its signature is passed over, since a client could not
 * check the new key with it. A block that cannot be read, or would break replies, is left out of
 * them, and that is said when it is loaded. */
#include "server/project/project.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/markup.h"
#include "server/policy/dispatch/score.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/blob.h"
#include "server/project/buda_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    KEY_BYTES_MAX = 4095, /* what a client takes */
    OLD_KEYS_MAX = 64,
    CENSUS_BYTES_MAX = 4096,
    CENSUSES_MAX = 1000,
    PLAN_CLASS_BYTES_MAX = 4 << 20,
    BLOCK_BYTES_MAX = 65535,     /* far more than any client takes */
    TERMS_BYTES_MAX = 32768,     /* escaped, a client takes twice as much */
    PROJECT_BYTES_MAX = 64 << 20 /* 64 x 3 keys and 1000 censuses of 4 KB, two blocks, and more;
                                    what is left is for BUDA_VARIANTS_MAX variants of some KB */
};

void project_path(const struct config *config, const char *name, char *ret_path, size_t size)
{
    snprintf(ret_path, size, TEXT_FORMAT "/%s", TEXT_ARG(config->project_dir_path), name);
}

void project_key_path(const struct config *config, const char *name, char *ret_path, size_t size)
{
    struct text dir = config->key_dir;

    if (dir.length == 0)
        dir = TEXT("keys");
    if (dir.at[0] == '/')
        snprintf(ret_path, size, TEXT_FORMAT "/%s", TEXT_ARG(dir), name);
    else
        snprintf(ret_path, size, TEXT_FORMAT "/" TEXT_FORMAT "/%s",
                 TEXT_ARG(config->project_dir_path), TEXT_ARG(dir), name);
}

bool project_has_file(const struct config *config, const char *name)
{
    char path[PATH_MAX];

    project_path(config, name, path, sizeof(path));
    return access(path, F_OK) == 0;
}

static enum status read_key(struct arena *arena, const struct config *config, const char *stem,
                            int number, struct text *ret_key, struct failure *failure)
{
    char name[64], path[PATH_MAX];

    if (number < 0)
        snprintf(name, sizeof(name), "%s", stem);
    else
        snprintf(name, sizeof(name), "%s_%d", stem, number);
    project_key_path(config, name, path, sizeof(path));
    return file_read(arena, path, KEY_BYTES_MAX, ret_key, failure);
}

enum status project_signing_key_read(const struct config *config, struct arena *arena,
                                     struct text *ret_key, struct failure *failure)
{
    return read_key(arena, config, "code_sign_public", -1, ret_key, failure);
}

/* Old keys are numbered without gaps: the first one that is missing ends the row. */
static void read_old_keys(struct project *project, const struct config *config)
{
    struct old_key *olds = ARENA_ARRAY(project->arena, OLD_KEYS_MAX, struct old_key);
    size_t count = 0;

    if (olds == NULL)
        return;
    for (int number = 0; number < OLD_KEYS_MAX; number++) {
        struct old_key *old = &olds[count];

        if (read_key(project->arena, config, "old_key", number, &old->key, NULL) != STATUS_OK)
            break;
        bool is_signed = read_key(project->arena, config, "signature", number, &old->signature,
                                  NULL) == STATUS_OK;
        bool is_stripped_signed = read_key(project->arena, config, "signature_stripped", number,
                                           &old->signature_stripped, NULL) == STATUS_OK;
        if (is_signed || is_stripped_signed)
            count++;
    }
    project->keys.old_keys = olds;
    project->keys.old_key_count = count;
}

/* --- blocks for replies ---------------------------------------------------------------------- */

/* Empty where there is no such file. */
static enum status read_block_file(const struct config *config, const char *name,
                                   struct arena *arena, struct text *ret_block,
                                   struct failure *failure)
{
    struct failure why = {0};
    char path[PATH_MAX];
    enum status status;

    *ret_block = NO_TEXT;
    project_path(config, name, path, sizeof(path));
    status = file_read(arena, path, BLOCK_BYTES_MAX, ret_block, &why);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    *ret_block = NO_TEXT;
    return fail(failure, status, "%s", why.text);
}

static struct text behind(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

/* Takes the element off that the text begins with, with its tags; empty where it begins otherwise.
 */
static struct text take_element(struct arena *arena, struct text *text, const char *name)
{
    struct text close = text_print(arena, "</%s>", name), element = NO_TEXT;
    size_t end = text_find(*text, close);

    if (text_starts(*text, text_print(arena, "<%s>", name)) && end < text->length) {
        element = text_first(*text, end + close.length);
        *text = markup_skip(behind(*text, element.length));
    }
    return element;
}

static enum status judge_block(struct arena *arena, const char *file, const char *name,
                               struct text *block, struct failure *failure)
{
    return blob_content(arena, *block, name, block)
               ? STATUS_OK
               : fail(failure, STATUS_INVALID,
                      "%s: <%s> would break replies: a tag is not closed, or closed twice", file,
                      name);
}

/* BOINC's make_project installs two elements one after the other. A file may also hold what stands
 * inside gui_urls alone. */
static enum status read_links(const struct config *config, struct arena *arena, struct text *links,
                              struct text *feeds, struct failure *failure)
{
    static const char file[] = "gui_urls.xml";
    struct text rest;
    enum status status = read_block_file(config, file, arena, &rest, failure);

    if (status != STATUS_OK)
        return status;
    rest = markup_skip(rest);
    *links = take_element(arena, &rest, "gui_urls");
    *feeds = take_element(arena, &rest, "rss_feeds");
    if (links->length == 0 && feeds->length == 0) {
        *links = rest;
        rest = NO_TEXT;
    }
    status = judge_block(arena, file, "gui_urls", links, failure);
    if (status == STATUS_OK)
        status = judge_block(arena, file, "rss_feeds", feeds, failure);
    if (status == STATUS_OK && rest.length > 0)
        status = fail(failure, STATUS_INVALID,
                      "%s: beside <gui_urls> and <rss_feeds> stands \"" TEXT_FORMAT "\"", file,
                      TEXT_ARG(text_first(rest, text_find(text_first(rest, 40), TEXT("\n")))));
    return status;
}

enum status project_links_read(const struct config *config, struct arena *arena,
                               struct text *ret_gui_urls, struct text *ret_rss_feeds,
                               struct failure *failure)
{
    struct text links = NO_TEXT, feeds = NO_TEXT;
    enum status status = read_links(config, arena, &links, &feeds, failure);

    *ret_gui_urls = status == STATUS_OK ? links : NO_TEXT;
    *ret_rss_feeds = status == STATUS_OK ? feeds : NO_TEXT;
    return status;
}

enum status project_files_read(const struct config *config, struct arena *arena,
                               struct project_files *ret_files, struct failure *failure)
{
    static const char file[] = "project_files.xml";
    struct project_files files = {.infos = NO_TEXT};
    struct text document;
    enum status status = read_block_file(config, file, arena, &document, failure);

    if (status == STATUS_OK && markup_skip(document).length > 0)
        status = project_files_parse(arena, document, &files, failure);
    if (status == STATUS_OK && !blob_is_sound(arena, files.infos))
        status = fail(failure, STATUS_INVALID, "%s: a <file_info> would break replies", file);
    if (status == STATUS_OK)
        status = judge_block(arena, file, "project_files", &files.block, failure);
    *ret_files = status == STATUS_OK ? files : (struct project_files){.infos = NO_TEXT};
    return status;
}

static void read_blocks(struct project *project, const struct config *config)
{
    struct project_blocks *blocks = &project->blocks;
    struct failure of_links = {0}, of_files = {0};

    if (project_links_read(config, project->arena, &blocks->gui_urls, &blocks->rss_feeds,
                           &of_links) != STATUS_OK)
        log_event(LOG_LEVEL_CRITICAL, "block_not_read", text_from(of_links.text));
    if (project_files_read(config, project->arena, &blocks->project_files, &of_files) != STATUS_OK)
        log_event(LOG_LEVEL_CRITICAL, "block_not_read", text_from(of_files.text));
}

/* --- other files ----------------------------------------------------------------------------- */

enum status project_terms_read(const struct config *config, struct arena *arena,
                               struct text *ret_terms, struct failure *failure)
{
    char path[PATH_MAX];

    project_path(config, "terms_of_use.txt", path, sizeof(path));
    return file_read(arena, path, TERMS_BYTES_MAX, ret_terms, failure);
}

/* Nobody shall join under terms that are not shown. */
static void read_terms(struct project *project, const struct config *config)
{
    struct failure failure = {0};
    enum status status =
        project_terms_read(config, project->arena, &project->blocks.terms_of_use, &failure);

    project->blocks.terms_are_lost = status != STATUS_OK && status != STATUS_NOT_FOUND;
    if (project->blocks.terms_are_lost && config->joining)
        log_event(LOG_LEVEL_CRITICAL, "terms_of_use_not_read", text_from(failure.text));
}

static void read_census(struct project *project, const struct config *config, const char *name,
                        struct size_census *censuses)
{
    struct text app = text_from(name + sizeof("size_census_") - 1);
    struct size_census *census = &censuses[project->blocks.size_census_count];
    struct text document = NO_TEXT;
    char path[PATH_MAX];

    *census = (struct size_census){.app_name = text_copy(project->arena, app)};
    project_path(config, name, path, sizeof(path));
    if (file_read(project->arena, path, CENSUS_BYTES_MAX, &document, NULL) == STATUS_OK &&
        size_census_read(document, census))
        project->blocks.size_census_count++;
    else
        log_event(LOG_LEVEL_WARNING, "size_census_refused", app);
}

static void read_censuses(struct project *project, const struct config *config)
{
    struct size_census *censuses = ARENA_ARRAY(project->arena, CENSUSES_MAX, struct size_census);
    const struct dirent *entry;
    char path[PATH_MAX];
    DIR *dir;

    project_path(config, "", path, sizeof(path));
    dir = censuses == NULL ? NULL : opendir(path);
    if (dir == NULL)
        return;
    project->blocks.size_censuses = censuses;
    while (project->blocks.size_census_count < CENSUSES_MAX && (entry = readdir(dir)) != NULL)
        if (text_starts(text_from(entry->d_name), TEXT("size_census_")))
            read_census(project, config, entry->d_name, censuses);
    closedir(dir);
}

enum status project_plan_classes(const struct config *config, struct plan_classes *ret_classes,
                                 struct failure *failure)
{
    struct arena *arena = arena_create(PLAN_CLASS_BYTES_MAX + 4096);
    struct text document = NO_TEXT;
    struct failure missing = {0};
    char path[PATH_MAX];
    enum status status;

    *ret_classes = (struct plan_classes){0};
    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "plan_class_spec.xml: no memory");
    project_path(config, "plan_class_spec.xml", path, sizeof(path));
    status = file_read(arena, path, PLAN_CLASS_BYTES_MAX, &document, &missing);
    if (status == STATUS_NOT_FOUND) {
        *ret_classes = plan_classes_builtin();
        status = STATUS_OK;
    } else if (status != STATUS_OK) {
        status = fail(failure, status, "%s", missing.text);
    } else {
        status = plan_classes_parse(document, ret_classes, &missing);
        if (status != STATUS_OK)
            status = fail(failure, status, "plan_class_spec.xml: %s", missing.text);
    }
    arena_destroy(arena);
    return status;
}

static void read_buda(struct project *project, const struct config *config)
{
    const struct buda_apps *buda = &project->buda;
    char path[PATH_MAX];

    project_path(config, "buda_apps", path, sizeof(path));
    if (!buda_files_read(path, &project->plan_classes, project->arena, &project->buda))
        log_event(LOG_LEVEL_CRITICAL, "buda_apps_not_read", TEXT("no memory"));
    for (size_t i = 0; i < buda->fault_count && i < BUDA_FAULTS_KEPT; i++)
        log_event(LOG_LEVEL_CRITICAL, "buda_refused",
                  text_print(project->arena, TEXT_FORMAT ": " TEXT_FORMAT,
                             TEXT_ARG(buda->faults[i].file), TEXT_ARG(buda->faults[i].words)));
}

enum status project_load(const struct config *config, struct project **ret_project,
                         struct failure *failure)
{
    struct arena *arena = arena_create(PROJECT_BYTES_MAX);
    struct project *project = arena == NULL ? NULL : ARENA_NEW(arena, struct project);
    enum status status;

    if (project == NULL) {
        arena_destroy(arena);
        return fail(failure, STATUS_NO_MEMORY, "project files: no memory");
    }
    project->arena = arena;
    project->references = 1;
    status = project_signing_key_read(config, arena, &project->keys.code_sign_public, failure);
    if (status != STATUS_OK) {
        arena_destroy(arena);
        return status;
    }
    read_old_keys(project, config);
    /* Whoever writes a file of classes means no other: one that cannot be read leaves none. */
    if (project_plan_classes(config, &project->plan_classes, &project->plan_failure) != STATUS_OK)
        log_event(LOG_LEVEL_CRITICAL, "plan_classes_refused",
                  text_from(project->plan_failure.text));
    for (size_t i = 0; i < project->plan_classes.warning_count; i++)
        log_event(LOG_LEVEL_WARNING, "plan_class_spec", project->plan_classes.warnings[i]);
    read_buda(project, config);
    read_blocks(project, config);
    read_censuses(project, config);
    read_terms(project, config);
    *ret_project = project;
    return STATUS_OK;
}

struct project *project_hold(struct project *project)
{
    __atomic_add_fetch(&project->references, 1, __ATOMIC_RELAXED);
    return project;
}

void project_release(struct project *project)
{
    if (project == NULL || __atomic_sub_fetch(&project->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    plan_classes_free(&project->plan_classes);
    arena_destroy(project->arena);
}
