/* SPDX-License-Identifier: Apache-2.0 */
/* The project's two pairs of keys (policy(7) 14.5): code_sign_* for programs, upload_*
 * for the certificates of output files; and the change of the first. */
#ifndef SERVER_PROJECT_KEYS_H
#define SERVER_PROJECT_KEYS_H

#include "server/base/crypto.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

struct arena;
struct config;

#define KEY_BYTES_MAX 8192

extern const char *const key_pairs[2]; /* "code_sign", "upload" */

/* key_dir, from the project folder when it is relative, or PROJECT/keys. */
struct text keys_dir(struct arena *arena, const struct config *config);
const char *key_path(struct arena *arena, const struct config *config, const char *name);
/* "code_sign_private" and its like; STATUS_NOT_FOUND with the path. */
MUST_CHECK enum status key_read(struct arena *arena, const struct config *config, const char *name,
                                struct text *ret_key, struct failure *failure);
/* Makes those pairs of which neither half is there; ret_made[i] says which. Half a pair is an
 * error. */
MUST_CHECK enum status keys_create(struct arena *arena, const struct config *config,
                                   bool ret_made[2], struct failure *failure);
/* Whether the two halves belong together. */
MUST_CHECK enum status key_check_pair(struct arena *arena, const struct config *config,
                                      const char *pair, struct failure *failure);

/* A change of the code-signing key in two halves, because between them the programs are to be
 * signed anew. The old keys stay as old_key_N with signature_N and signature_stripped_N, all of
 * them over the new key, so that clients with any old key can be given the new one. */
struct key_change {
    struct rsa_key_texts keys, old;
    int number; /* N of the key that becomes old */
};
MUST_CHECK enum status keys_change_prepare(struct arena *arena, const struct config *config,
                                           struct key_change *ret_change, struct failure *failure);
MUST_CHECK enum status keys_change_write(struct arena *arena, const struct config *config,
                                         const struct key_change *change, struct failure *failure);
/* As it was before keys_change_write: the programs could not be signed anew. */
MUST_CHECK enum status keys_change_undo(struct arena *arena, const struct config *config,
                                        const struct key_change *change, struct failure *failure);

#endif
