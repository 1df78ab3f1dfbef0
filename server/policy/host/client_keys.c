/* SPDX-License-Identifier: Apache-2.0 */
/* Account keys are secrets, and so are compared in constant time, and bytewise, whatever the
 * database's collation thinks equal.
 *
 * The code-signing key is what a client trusts executables by. A client takes its first key on
 * faith and later ones only with a signature made with the key it holds, and it demands that
 * signature even for a key that it has already: so nothing is sent unless it is needed. */
#include "server/policy/host/client_keys.h"

#include "server/base/crypto.h"
#include "server/parse/client_age.h"

#include "server/base/banned.h"

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

bool account_key_read_weak(struct text key, int64_t *ret_userid)
{
    struct text rest = key;
    struct text id = text_split(&rest, '_');

    if (id.length == key.length || id.length == 0)
        return false;
    for (size_t i = 0; i < id.length; i++) {
        if (!is_digit(id.at[i]))
            return false;
    }
    return text_to_i64(id, ret_userid) && *ret_userid > 0;
}

enum key_match account_key_match(struct text key, const struct user_row *user)
{
    char hash[MD5_HEX_SIZE];
    int64_t userid;

    if (key.length == 0 || user->authenticator.length == 0)
        return KEY_NO_MATCH;
    if (secret_equal(key, user->authenticator))
        return KEY_STRONG;
    if (!account_key_read_weak(key, &userid) || userid != user->id)
        return KEY_NO_MATCH;
    text_split(&key, '_');
    md5_hex(user->authenticator, user->passwd_hash, hash);
    return secret_equal(key, text_from(hash)) ? KEY_WEAK : KEY_NO_MATCH;
}

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
