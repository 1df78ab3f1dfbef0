/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the client has the project's code-signing key (protocol(7) 4.1); pure. */
#ifndef SERVER_POLICY_HOST_CODE_SIGN_H
#define SERVER_POLICY_HOST_CODE_SIGN_H

#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

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
