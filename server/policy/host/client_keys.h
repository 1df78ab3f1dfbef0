/* SPDX-License-Identifier: Apache-2.0 */
/* The keys in a request: the one by which an account is known, and the one by which the client
 * knows the project's programs; pure. */
#ifndef SERVER_POLICY_HOST_CLIENT_KEYS_H
#define SERVER_POLICY_HOST_CLIENT_KEYS_H

#include "db/rows.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- account keys, policy(7) 1.1 -------------------------------------------------------------- */

enum key_match {
    KEY_NO_MATCH,
    KEY_STRONG, /* the account key itself */
    KEY_WEAK    /* USERID_HASH: all rights but changing preferences and the cross-project id */
};

/* Whether this user's key, strong or weak, is `key`. An empty key belongs to nobody. */
enum key_match account_key_match(struct text key, const struct user_row *user);
/* Whether the key has the form of a weak one, and of which user. */
bool account_key_read_weak(struct text key, int64_t *ret_userid);

/* --- the code-signing key, protocol(7) 4.1 ---------------------------------------------------- */

/* A former key and what it signed: the current key with its final newline, and without. */
struct old_key {
    struct text key, signature, signature_stripped;
};

enum code_sign_verdict {
    CODE_SIGN_SAME,        /* nothing to be sent; also when the project has no key */
    CODE_SIGN_SEND,        /* the client has none: send the key */
    CODE_SIGN_SEND_SIGNED, /* the client has an old one: send the key and the signature */
    CODE_SIGN_UNKNOWN      /* neither, or no signature for this client: a notice, and no work */
};

/* `ret_signature` is set for CODE_SIGN_SEND_SIGNED: over the key as clients of that version (below
 * 7.0.0 with its final newline, else stripped) check it. Keys are compared trimmed. */
enum code_sign_verdict code_sign_decide(struct text client_key, int64_t client_version,
                                        struct text current_key, const struct old_key *old_keys,
                                        size_t old_key_count, struct text *ret_signature);

#endif
