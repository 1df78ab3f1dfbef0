/* SPDX-License-Identifier: Apache-2.0 */
/* The code-signing key is what a client trusts executables by. A client takes its first key on
 * faith and later ones only with a signature made with the key it holds, and it demands that
 * signature even for a key that it has already: so nothing is sent unless it is needed. */
#include "server/policy/host/code_sign.h"

#include "server/parse/client_age.h"

#include "server/base/banned.h"

enum code_sign_verdict code_sign_decide(struct text client_key, int64_t client_version,
                                        struct text current_key, const struct old_key *old_keys,
                                        size_t old_key_count, struct text *ret_signature)
{
    struct text theirs = text_trim(client_key);
    struct text ours = text_trim(current_key);

    if (ours.length == 0 || text_equal(theirs, ours))
        return CODE_SIGN_SAME;
    if (theirs.length == 0)
        return CODE_SIGN_SEND;
    for (size_t i = 0; i < old_key_count; i++) {
        const struct old_key *old = &old_keys[i];
        struct text signature =
            client_version < CLIENT_STRIPS_KEYS ? old->signature : old->signature_stripped;

        if (text_equal(theirs, text_trim(old->key)) && text_trim(signature).length > 0) {
            *ret_signature = signature;
            return CODE_SIGN_SEND_SIGNED;
        }
    }
    return CODE_SIGN_UNKNOWN;
}
