/* SPDX-License-Identifier: Apache-2.0 */
/* The project's keys, read from their files. */
#ifndef SERVER_KEYS_H
#define SERVER_KEYS_H

#include "server/base/status.h"
#include "server/request.h"

struct config;

/* Immutable once loaded. */
struct key_ring {
    struct project_keys keys;
    struct arena *arena; /* owns the texts */
    int references;      /* atomic; see key_ring_hold */
};

/* Reads code_sign_public, and old_key_N with signature_N and signature_stripped_N for N from 0 as
 * long as there are any, in config.key_dir or DIR/keys. STATUS_NOT_FOUND: no code_sign_public. The
 * caller owns one reference. */
MUST_CHECK enum status key_ring_load(const struct config *config, struct key_ring **ret_ring,
                                     struct failure *failure);
/* Where a file of the key folder is; cut at `size`. Name "" is the folder. */
void key_file_path(const struct config *config, const char *name, char *ret_path, size_t size);
struct key_ring *key_ring_hold(struct key_ring *ring);
void key_ring_release(struct key_ring *ring); /* NULL is fine */

#endif
