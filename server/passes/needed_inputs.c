/* SPDX-License-Identifier: Apache-2.0 */
/* A workunit only ever goes from INIT to READY and from there on, so with the states read in this
 * order none is missed that changes meanwhile: at worst it is read twice. */
#include "server/passes/needed_inputs.h"

#include "db/admin.h"
#include "db/file_deletion.h"
#include "server/base/arena.h"
#include "server/submit/output_files.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { ROOM_LEAST = 1024 };

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static void sort(struct needed_inputs *needed)
{
    size_t kept = 0;

    if (needed->count == 0)
        return;
    qsort(needed->hashes, needed->count, sizeof(*needed->hashes), compare_hashes);
    for (size_t i = 1; i < needed->count; i++)
        if (needed->hashes[i] != needed->hashes[kept])
            needed->hashes[++kept] = needed->hashes[i];
    needed->count = kept + 1;
}

/* Many jobs may name the same files: each takes room once. */
static bool make_room(struct needed_inputs *needed)
{
    size_t room = needed->room > 0 ? 2 * needed->room : ROOM_LEAST;
    uint64_t *hashes;

    if (needed->count < needed->room)
        return true;
    sort(needed);
    if (needed->room > 0 && needed->count <= needed->room / 2)
        return true;
    hashes = reallocarray(needed->hashes, room, sizeof(*hashes));
    if (hashes == NULL)
        return false;
    needed->hashes = hashes;
    needed->room = room;
    return true;
}

static enum status add_hash(struct needed_inputs *needed, uint64_t hash)
{
    if (!make_room(needed))
        return STATUS_NO_MEMORY;
    needed->hashes[needed->count++] = hash;
    return STATUS_OK;
}

static enum status add_name(struct needed_inputs *needed, struct text name)
{
    return add_hash(needed, text_hash(name));
}

static uint64_t hash_of_workunit(int64_t id)
{
    return text_hash((struct text){(const char *)&id, sizeof(id)});
}

static enum status add_document(struct needed_inputs *needed, struct arena *arena,
                                struct text document)
{
    struct arena_mark mark = arena_mark(arena);
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(arena, document, &files, &count);

    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = add_name(needed, files[i].name);
    arena_rewind(arena, mark);
    return status;
}

/* Of one state: all of INIT, of the others those that are still needed. */
static enum status read_state(struct needed_inputs *needed, struct db *db, struct arena *arena,
                              int64_t state)
{
    struct deletable_row *rows;
    size_t count = DB_DELETION_MOST;
    int64_t after = 0;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == DB_DELETION_MOST) {
        arena_reset(arena);
        status = db_deletion_workunits(db, arena, state, after, &rows, &count);
        if (status == STATUS_OK)
            status = db_end(db);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            after = rows[i].id;
            if (rows[i].is_needed == 0)
                continue;
            status = add_hash(needed, hash_of_workunit(rows[i].id));
            if (status == STATUS_OK)
                status = add_document(needed, arena, rows[i].document);
        }
    }
    return status;
}

static enum status read_held_files(struct needed_inputs *needed, struct db *db, struct arena *arena,
                                   int64_t now)
{
    struct job_file_row *rows;
    size_t count = DB_DELETION_MOST;
    int64_t after = 0;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == DB_DELETION_MOST) {
        arena_reset(arena);
        status = db_deletion_job_files(db, arena, true, now, after, &rows, &count);
        if (status == STATUS_OK)
            status = db_end(db);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            after = rows[i].id;
            status = add_name(needed, rows[i].name);
        }
    }
    return status;
}

enum status needed_inputs_read(struct needed_inputs *needed, struct db *db, struct arena *arena,
                               int64_t now)
{
    static const int64_t states[] = {FILE_DELETE_INIT, FILE_DELETE_READY, FILE_DELETE_ERROR};
    struct version_entry_row *versions;
    size_t count;
    enum status status;

    arena_reset(arena);
    status = db_admin_versions(db, arena, &versions, &count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = add_document(needed, arena, versions[i].app_version.xml_doc);
    for (size_t i = 0; status == STATUS_OK && i < sizeof(states) / sizeof(states[0]); i++)
        status = read_state(needed, db, arena, states[i]);
    if (status == STATUS_OK)
        status = read_held_files(needed, db, arena, now);
    sort(needed);
    return status;
}

void needed_inputs_free(struct needed_inputs *needed)
{
    free(needed->hashes);
    *needed = (struct needed_inputs){.count = 0};
}

static bool have(const struct needed_inputs *needed, uint64_t hash)
{
    return needed->count > 0 &&
           bsearch(&hash, needed->hashes, needed->count, sizeof(hash), compare_hashes) != NULL;
}

bool needed_inputs_have(const struct needed_inputs *needed, struct text name)
{
    return have(needed, text_hash(name));
}

bool needed_inputs_are_of(const struct needed_inputs *needed, int64_t workunitid)
{
    return have(needed, hash_of_workunit(workunitid));
}
