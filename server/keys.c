/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the key folder. Only what every client may see is read here: the private keys stay
 * where they are. An old key without its signature is passed over, since a client could not check
 * the new key with it. */
#include "server/keys.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"

#include <limits.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    KEY_BYTES_MAX = 4095, /* what a client takes */
    OLD_KEYS_MAX = 64,
    RING_BYTES_MAX = 1 << 21 /* 64 x 3 files of 4 KB, each with its reading buffer */
};

void key_file_path(const struct config *config, const char *name, char *ret_path, size_t size)
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

static enum status read_key(struct arena *arena, const struct config *config, const char *stem,
                            int number, struct text *ret_key, struct failure *failure)
{
    char name[64], path[PATH_MAX];

    if (number < 0)
        snprintf(name, sizeof(name), "%s", stem);
    else
        snprintf(name, sizeof(name), "%s_%d", stem, number);
    key_file_path(config, name, path, sizeof(path));
    return file_read(arena, path, KEY_BYTES_MAX, ret_key, failure);
}

/* Old keys are numbered without gaps: the first one that is missing ends the row. */
static void read_old_keys(struct key_ring *ring, const struct config *config)
{
    struct old_key *olds = ARENA_ARRAY(ring->arena, OLD_KEYS_MAX, struct old_key);
    size_t count = 0;

    if (olds == NULL)
        return;
    for (int number = 0; number < OLD_KEYS_MAX; number++) {
        struct old_key *old = &olds[count];

        if (read_key(ring->arena, config, "old_key", number, &old->key, NULL) != STATUS_OK)
            break;
        bool is_signed =
            read_key(ring->arena, config, "signature", number, &old->signature, NULL) == STATUS_OK;
        bool is_stripped_signed = read_key(ring->arena, config, "signature_stripped", number,
                                           &old->signature_stripped, NULL) == STATUS_OK;
        if (is_signed || is_stripped_signed)
            count++;
    }
    ring->keys.old_keys = olds;
    ring->keys.old_key_count = count;
}

enum status key_ring_load(const struct config *config, struct key_ring **ret_ring,
                          struct failure *failure)
{
    struct arena *arena = arena_create(RING_BYTES_MAX);
    struct key_ring *ring = arena == NULL ? NULL : ARENA_NEW(arena, struct key_ring);
    enum status status;

    if (ring == NULL) {
        arena_destroy(arena);
        return fail(failure, STATUS_NO_MEMORY, "keys: no memory");
    }
    ring->arena = arena;
    ring->references = 1;
    status = read_key(arena, config, "code_sign_public", -1, &ring->keys.code_sign_public, failure);
    if (status != STATUS_OK) {
        arena_destroy(arena);
        return status;
    }
    read_old_keys(ring, config);
    *ret_ring = ring;
    return STATUS_OK;
}

struct key_ring *key_ring_hold(struct key_ring *ring)
{
    __atomic_add_fetch(&ring->references, 1, __ATOMIC_RELAXED);
    return ring;
}

void key_ring_release(struct key_ring *ring)
{
    if (ring != NULL && __atomic_sub_fetch(&ring->references, 1, __ATOMIC_ACQ_REL) == 0)
        arena_destroy(ring->arena);
}
