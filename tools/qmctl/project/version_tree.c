/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/project/version_tree.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/keys.h"
#include "server/submit/stage.h"
#include "server/submit/version_folder.h"
#include "tools/qmctl/project/version_rows.h"
#include "tools/qmctl/session/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum { LEVELS = 3, ENTRIES_MOST = 10000 };

struct tree {
    struct session *session;
    struct output_table table;
    struct version_entry_row *known; /* those of the database at the beginning */
    size_t known_count;
    struct text names[LEVELS]; /* of the folders that are being looked at */
    size_t found, added, failed;
};

/* What comes of one folder. */
struct arrival {
    struct app_row app;
    struct version_document document;
    struct version_place place;
    int64_t id; /* 0: it was not added */
    bool was_there;
};

/* --- one version ----------------------------------------------------------------------------- */

static const struct version_entry_row *find_known(const struct tree *tree,
                                                  const struct arrival *arrival)
{
    for (size_t i = 0; i < tree->known_count; i++) {
        const struct app_version_row *known = &tree->known[i].app_version;

        if (known->appid == arrival->app.id && known->platformid == arrival->place.platformid &&
            known->version_num == arrival->document.version_num &&
            text_equal(known->plan_class, arrival->place.plan_class))
            return &tree->known[i];
    }
    return NULL;
}

/* By the key that is here, unless somebody signed it where the key is kept. */
static enum status sign_file(struct tree *tree, const struct folder_file *source,
                             struct version_file *file)
{
    struct session *session = tree->session;
    struct failure why = {.status = STATUS_OK};
    struct text key = NO_TEXT;
    bool is_signed = source->signature.length > 0;
    enum status status = key_read(session->arena, session->config,
                                  is_signed ? "code_sign_public" : "code_sign_private", &key, &why);

    if (status != STATUS_OK)
        return fail(&session->failure, status, "%s, nor is there " TEXT_FORMAT ".sig", why.text,
                    TEXT_ARG(source->path));
    if (!is_signed)
        return rsa_sign_md5(session->arena, key, file->file.md5, &file->signature,
                            &session->failure);
    file->signature = source->signature;
    if (rsa_verify_md5(key, file->file.md5, file->signature, &why) != STATUS_OK)
        return fail(&session->failure, STATUS_INVALID,
                    TEXT_FORMAT ".sig: %s (keys/code_sign_public): clients would refuse the file",
                    TEXT_ARG(source->path), why.text);
    return STATUS_OK;
}

static enum status take_file(struct tree *tree, struct stage *stage, const char *folder,
                             const struct folder_file *source, struct version_file *ret_file)
{
    struct session *session = tree->session;
    const char *path = text_string(session->arena, text_print(session->arena, "%s/" TEXT_FORMAT,
                                                              folder, TEXT_ARG(source->path)));
    struct version_file file = {.open_name = source->open_name,
                                .is_main = source->is_main,
                                .copy_file = source->copy_file,
                                .urls = source->urls,
                                .url_count = source->url_count};
    enum status status = stage_program(stage, path, source->name, source->is_main, &file.file,
                                       &file.is_executable, &session->failure);

    if (status == STATUS_OK && (source->gzip || option_given(session, "gzip")))
        status = stage_gzip(stage, &file.file, &session->failure);
    if (status == STATUS_OK)
        status = sign_file(tree, source, &file);
    if (status == STATUS_OK)
        *ret_file = file;
    return status;
}

static enum status take_files(struct tree *tree, struct stage *stage, const char *folder,
                              const struct version_folder *found, struct arrival *arrival)
{
    struct session *session = tree->session;
    struct version_file *files = ARENA_ARRAY(session->arena, found->count, struct version_file);
    enum status status = STATUS_OK;

    if (files == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < found->count && status == STATUS_OK; i++)
        status = take_file(tree, stage, folder, &found->files[i], &files[i]);
    arrival->document.files = files;
    arrival->document.file_count = found->count;
    arrival->document.api_version = found->api_version;
    arrival->document.file_prefix = found->file_prefix;
    arrival->document.dont_throttle = found->dont_throttle;
    arrival->document.needs_network = found->needs_network;
    arrival->document.is_wrapper = found->is_wrapper;
    return status;
}

static enum status add_version(struct tree *tree, const char *folder, struct arrival *arrival)
{
    struct session *session = tree->session;
    struct buffer advice = buffer_in(session->arena);
    struct setting_values values;
    struct version_folder found;
    struct stage *stage;
    enum status status =
        version_folder_read(session->arena, folder, &found, &advice, &session->failure);

    session_warn(buffer_text(&advice));
    if (status != STATUS_OK)
        return status;
    stage = stage_create(session->arena, session->config);
    if (stage == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    (void)setting_values_given(session, &version_settings, &values);
    if (found.beta)
        setting_values_add(&values, &version_settings, "beta", "yes");
    status = take_files(tree, stage, folder, &found, arrival);
    if (status == STATUS_OK)
        status =
            version_insert(session, &arrival->document, &arrival->place, &values, &arrival->id);
    stage_end(stage, status == STATUS_OK || status == STATUS_DB_UNKNOWN);
    return status;
}

/* Which version the folder is, by the names of the folders around it. */
static enum status place_version(struct tree *tree, struct arrival *arrival)
{
    struct session *session = tree->session;
    struct failure why = {.status = STATUS_OK};
    enum status number = version_number_read(tree->names[1], &arrival->document.version_num, &why);
    enum status status =
        session_app(session, text_string(session->arena, tree->names[0]), &arrival->app);

    arrival->document.config = session->config;
    arrival->document.app_name = tree->names[0];
    version_folder_name(tree->names[2], &arrival->place.platform, &arrival->place.plan_class);
    if (status == STATUS_OK)
        status =
            version_find_platform(session, text_string(session->arena, arrival->place.platform),
                                  &arrival->place.platformid);
    if (status != STATUS_OK)
        return status;
    arrival->place.appid = arrival->app.id;
    /* "1.5" was 1.05 where BOINC's program has added it. */
    arrival->was_there = find_known(tree, arrival) != NULL;
    if (number != STATUS_OK && !arrival->was_there)
        return fail(&session->failure, number, "%s", why.text);
    return STATUS_OK;
}

static void look_at_version(struct tree *tree, const char *folder)
{
    struct session *session = tree->session;
    struct output_table *table = &tree->table;
    struct arrival arrival = {.id = 0};
    enum status status;

    session->failure = (struct failure){.status = STATUS_OK};
    status = place_version(tree, &arrival);
    if (status == STATUS_OK && !arrival.was_there)
        status = add_version(tree, folder, &arrival);
    if (status != STATUS_OK && session->db != NULL)
        (void)db_rollback(session->db);
    tree->found++;
    tree->added += arrival.id != 0 && status == STATUS_OK;
    tree->failed += status != STATUS_OK;
    table_text(table, tree->names[0]);
    table_text(table, tree->names[1]);
    table_text(table, arrival.place.platform);
    table_text(table, arrival.place.plan_class);
    table_text(table, status != STATUS_OK ? TEXT("FAILED")
                      : arrival.was_there ? TEXT("there already")
                                          : TEXT("added"));
    table_words(table, status == STATUS_OK
                           ? NO_TEXT
                           : text_copy(session->arena, text_from(session->failure.text)));
}

/* --- folders --------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static const char *below(struct session *session, const char *folder, struct text name)
{
    return text_string(session->arena,
                       text_print(session->arena, "%s/" TEXT_FORMAT, folder, TEXT_ARG(name)));
}

/* The folders in a folder, by name. */
static enum status list_folders(struct session *session, const char *folder,
                                struct text **ret_names, size_t *ret_count)
{
    DIR *entries = opendir(folder);
    struct text *names = ARENA_ARRAY(session->arena, ENTRIES_MOST, struct text);
    struct dirent *entry;
    size_t count = 0;

    if (entries == NULL || names == NULL) {
        if (entries != NULL)
            (void)closedir(entries);
        return fail(&session->failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    }
    while ((entry = readdir(entries)) != NULL && count < ENTRIES_MOST) {
        struct text name = text_from(entry->d_name);

        if (!text_starts(name, TEXT(".")) && is_folder(below(session, folder, name)))
            names[count++] = text_copy(session->arena, name);
    }
    (void)closedir(entries);
    if (count == ENTRIES_MOST)
        return fail(&session->failure, STATUS_TOO_LARGE, "%s: more than %d folders", folder,
                    ENTRIES_MOST - 1);
    if (count > 0)
        qsort(names, count, sizeof names[0], compare_names);
    *ret_names = names;
    *ret_count = count;
    return STATUS_OK;
}

/* Those of a level that are asked for: all, or those of the argument. */
static enum status look_at_level(struct tree *tree, const char *folder, size_t level)
{
    struct session *session = tree->session;
    struct text *names = NULL;
    size_t count = 0;
    enum status status = list_folders(session, folder, &names, &count);

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (level < session->argument_count && !text_is(names[i], session->arguments[level]))
            continue;
        tree->names[level] = names[i];
        if (level + 1 == LEVELS)
            look_at_version(tree, below(session, folder, names[i]));
        else
            status = look_at_level(tree, below(session, folder, names[i]), level + 1);
    }
    return status;
}

static const char *argument_or(const struct session *session, size_t index, const char *words)
{
    return index < session->argument_count ? session->arguments[index] : words;
}

enum exit_code version_tree_add(struct session *session)
{
    static const char *const titles[] = {"app",        "version", "platform",
                                         "plan_class", "state",   "words"};
    struct tree tree = {.session = session, .table = TABLE_BEGIN(session, "versions", titles)};
    const char *folder = option_value(session, "from");
    enum status status;

    if (session->argument_count > LEVELS)
        return usage_failed(session, "version add --from takes APP, VERSION and PLATFORM at most");
    status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_versions(session->db, session->arena, &tree.known, &tree.known_count),
            "versions");
    if (status == STATUS_OK)
        status = look_at_level(&tree, folder, 0);
    if (status == STATUS_OK && tree.found == 0)
        status = fail(&session->failure, STATUS_NOT_FOUND, "%s: it has no folder %s/%s/%s", folder,
                      argument_or(session, 0, "APP"), argument_or(session, 1, "VERSION"),
                      argument_or(session, 2, "PLATFORM"));
    if (tree.found > 0)
        table_print(&tree.table);
    if (status != STATUS_OK)
        return session_failed(session);
    return tree.failed > 0 ? EXIT_FAILED : EXIT_DONE;
}
