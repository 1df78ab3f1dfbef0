/* SPDX-License-Identifier: Apache-2.0 */
/* No index leads from a file's name to the rows that name it. So the names' hashes are gathered, up
 * to a number, all documents are read, and what none of them named is counted: as often as there
 * are so many files. Two names of one hash count as named. */
#include "server/passes/download_look.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/file_deletion.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/project/hierarchy.h"
#include "server/submit/output_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { FILES_MOST = 1000000 };
#define PAGE_BYTES ((size_t)1 << 30)

struct lying_file {
    uint64_t hash; /* of its name, without .gz or .md5 */
    double bytes;
    bool is_named;
};

struct downloads_look {
    struct pass_owner *owner;
    struct sweep_count *named, *unnamed;
    struct arena *arena; /* of one page of rows */
    struct lying_file *files;
    size_t count;
    int64_t now, documents;
};

static int compare_hashes(const void *a, const void *b)
{
    const struct lying_file *left = a, *right = b;

    return (left->hash > right->hash) - (left->hash < right->hash);
}

/* All files of that hash, side by side. */
static void note_name(struct downloads_look *look, struct text name)
{
    const struct lying_file wanted = {.hash = text_hash(name)};
    struct lying_file *end = look->files + look->count,
                      *found = bsearch(&wanted, look->files, look->count, sizeof(wanted),
                                       compare_hashes);

    if (found == NULL)
        return;
    while (found > look->files && found[-1].hash == wanted.hash)
        found--;
    for (; found < end && found->hash == wanted.hash; found++)
        found->is_named = true;
}

static struct text without_ending(struct text name)
{
    static const struct text endings[] = {{".gz", 3}, {".md5", 4}};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (text_ends(name, endings[i]))
            return text_first(name, name.length - endings[i].length);
    return name;
}

/* A file may be named with its ending. */
static enum status note_document(struct downloads_look *look, struct text document)
{
    struct arena_mark mark = arena_mark(look->arena);
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(look->arena, document, &files, &count);

    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        note_name(look, files[i].name);
        note_name(look, without_ending(files[i].name));
    }
    arena_rewind(look->arena, mark);
    pass_progress(look->owner, "documents read", ++look->documents);
    return status;
}

static enum status read_state(struct downloads_look *look, int64_t state)
{
    struct deletable_row *rows;
    size_t count = DB_DELETION_MOST;
    int64_t after = 0;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == DB_DELETION_MOST) {
        arena_reset(look->arena);
        status = db_deletion_workunits(look->owner->db, look->arena, state, after, &rows, &count);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            after = rows[i].id;
            status = note_document(look, rows[i].document);
        }
        if (status == STATUS_OK)
            status = db_end(look->owner->db);
    }
    return status;
}

static enum status read_documents(struct downloads_look *look)
{
    static const int64_t states[] = {FILE_DELETE_INIT, FILE_DELETE_READY, FILE_DELETE_DONE,
                                     FILE_DELETE_ERROR};
    struct version_entry_row *versions;
    size_t count;
    enum status status;

    arena_reset(look->arena);
    status = db_admin_versions(look->owner->db, look->arena, &versions, &count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = note_document(look, versions[i].app_version.xml_doc);
    for (size_t i = 0; status == STATUS_OK && i < sizeof(states) / sizeof(states[0]); i++)
        status = read_state(look, states[i]);
    return pass_failed(look->owner, status, "workunits");
}

static void add_to(struct sweep_count *count, const struct lying_file *file)
{
    count->files++;
    count->bytes += file->bytes;
}

static enum status end_batch(struct downloads_look *look)
{
    enum status status = STATUS_OK;

    qsort(look->files, look->count, sizeof(look->files[0]), compare_hashes);
    if (look->count > 0)
        status = read_documents(look);
    for (size_t i = 0; status == STATUS_OK && i < look->count; i++)
        add_to(look->files[i].is_named ? look->named : look->unnamed, &look->files[i]);
    look->count = 0;
    return status;
}

/* What lies beside a file lies in that one's folder. */
static bool is_in_place(const struct folder_found *found, struct text name, int64_t fanout)
{
    char folder[HIERARCHY_FOLDER_SIZE];

    hierarchy_folder(name, fanout, folder);
    return fanout <= 0 || strcmp(folder, found->folder) == 0;
}

static enum status take_file(void *context, const struct folder_found *found)
{
    struct downloads_look *look = context;
    int64_t fanout = look->owner->config->uldl_dir_fanout;
    struct text whole = text_from(found->name), name = without_ending(whole);

    if (!S_ISREG(found->stat.st_mode) ||
        folder_look_changed(&found->stat) > look->now - SWEEP_AGE_LEAST ||
        !(is_in_place(found, whole, fanout) || is_in_place(found, name, fanout)))
        return STATUS_OK;
    look->files[look->count++] =
        (struct lying_file){.hash = text_hash(name), .bytes = (double)found->stat.st_size};
    return look->count < FILES_MOST ? STATUS_OK : end_batch(look);
}

static enum status look_at_all(struct downloads_look *look)
{
    struct pass_owner *owner = look->owner;
    const char *dir = text_string(owner->arena, owner->config->download_dir);
    int64_t fanout = owner->config->uldl_dir_fanout;
    int root = folder_look_open(dir);
    enum status status = STATUS_OK;

    if (root < 0)
        return fail(owner->failure, STATUS_IO, "download_dir %s: %s", dir, strerror(errno));
    for (int64_t i = 0; status == STATUS_OK && i < folder_look_count(fanout); i++)
        status = folder_look(root, i, fanout, take_file, look, owner->failure);
    (void)close(root);
    return status == STATUS_OK ? end_batch(look) : status;
}

enum status download_look(struct pass_owner *owner, int64_t now, struct sweep_count *ret_named,
                          struct sweep_count *ret_unnamed)
{
    struct downloads_look look = {
        .owner = owner, .named = ret_named, .unnamed = ret_unnamed, .now = now};
    enum status status;

    *ret_named = *ret_unnamed = (struct sweep_count){.files = 0};
    look.arena = arena_create(PAGE_BYTES);
    look.files = calloc(FILES_MOST, sizeof(look.files[0]));
    status = look.arena == NULL || look.files == NULL
                 ? fail(owner->failure, STATUS_NO_MEMORY, "no memory")
                 : look_at_all(&look);
    free(look.files);
    arena_destroy(look.arena);
    return status;
}
