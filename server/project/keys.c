/* SPDX-License-Identifier: Apache-2.0 */
/* Key files have the names and forms that a BOINC project has them in, so that a project's own
 * tools go on working. Private keys are readable by their owner alone; a key that is there is
 * never written over except by a change of keys, which keeps the old one first.
 *
 * Clients take a new key only when the one they hold has signed it. So the private halves of old
 * keys are kept too (old_private_N): after a second change, clients that slept through the first
 * still find a signature by theirs. */
#include "server/project/keys.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define OLD_KEYS_MAX 64 /* the server reads no more */

const char *const key_pairs[2] = {"code_sign", "upload"};

struct text keys_dir(struct arena *arena, const struct config *config)
{
    struct text dir = config->key_dir.length > 0 ? config->key_dir : TEXT("keys");
    if (text_starts(dir, TEXT("/")))
        return dir;
    return text_print(arena, TEXT_FORMAT "/" TEXT_FORMAT, TEXT_ARG(config->project_dir_path),
                      TEXT_ARG(dir));
}

const char *key_path(struct arena *arena, const struct config *config, const char *name)
{
    struct text dir = keys_dir(arena, config);
    return text_string(arena, text_print(arena, TEXT_FORMAT "/%s", TEXT_ARG(dir), name));
}

enum status key_read(struct arena *arena, const struct config *config, const char *name,
                     struct text *ret_key, struct failure *failure)
{
    return file_read(arena, key_path(arena, config, name), KEY_BYTES_MAX, ret_key, failure);
}

static const char *numbered(struct arena *arena, const char *name, int number)
{
    return text_string(arena, text_print(arena, "%s_%d", name, number));
}

static const char *half(struct arena *arena, const char *pair, const char *which)
{
    return text_string(arena, text_print(arena, "%s_%s", pair, which));
}

static bool exists(struct arena *arena, const struct config *config, const char *name)
{
    return access(key_path(arena, config, name), F_OK) == 0;
}

/* Both halves or none: where the second cannot be written the first is as before, `former`, or with
 * NO_TEXT it was not there. */
static enum status write_pair(struct arena *arena, const struct config *config, const char *pair,
                              const struct rsa_key_texts *keys, struct text former,
                              struct failure *failure)
{
    const char *private_path = key_path(arena, config, half(arena, pair, "private"));
    enum status status = file_write(private_path, keys->private_key, 0600, failure);
    if (status != STATUS_OK)
        return status;
    status = file_write(key_path(arena, config, half(arena, pair, "public")), keys->public_key,
                        0644, failure);
    if (status != STATUS_OK && former.length == 0)
        (void)unlink(private_path);
    else if (status != STATUS_OK && file_write(private_path, former, 0600, NULL) != STATUS_OK)
        status = STATUS_IO; /* two halves that do not fit: check-config says so */
    return status;
}

enum status keys_create(struct arena *arena, const struct config *config, bool ret_made[2],
                        struct failure *failure)
{
    const char *dir = text_string(arena, keys_dir(arena, config));
    if (!file_make_folder(dir, 0755) && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: create: %s", dir, strerror(errno));
    for (int i = 0; i < 2; i++) {
        bool has_private = exists(arena, config, half(arena, key_pairs[i], "private"));
        bool has_public = exists(arena, config, half(arena, key_pairs[i], "public"));
        struct rsa_key_texts keys;
        ret_made[i] = false;
        if (has_private && has_public)
            continue;
        if (has_private || has_public)
            return fail(failure, STATUS_INVALID,
                        "%s: only the %s half of the pair %s exists; restore the other half, or "
                        "remove this one to get a new pair",
                        dir, has_private ? "private" : "public", key_pairs[i]);
        enum status status = rsa_generate(arena, &keys, failure);
        if (status == STATUS_OK)
            status = write_pair(arena, config, key_pairs[i], &keys, NO_TEXT, failure);
        if (status != STATUS_OK)
            return status;
        ret_made[i] = true;
    }
    return STATUS_OK;
}

enum status key_check_pair(struct arena *arena, const struct config *config, const char *pair,
                           struct failure *failure)
{
    struct text public_key, private_key, signature;
    char md5[MD5_HEX_SIZE];
    md5_hex(TEXT("whether two keys belong together"), NO_TEXT, md5);
    enum status status = key_read(arena, config, half(arena, pair, "public"), &public_key, failure);
    if (status == STATUS_OK)
        status = key_read(arena, config, half(arena, pair, "private"), &private_key, failure);
    if (status == STATUS_OK)
        status = rsa_sign_md5(arena, private_key, md5, &signature, failure);
    if (status == STATUS_OK && rsa_verify_md5(public_key, md5, signature, NULL) != STATUS_OK)
        status = fail(failure, STATUS_INVALID, "the two halves of %s do not belong together", pair);
    return status;
}

enum status keys_change_prepare(struct arena *arena, const struct config *config,
                                struct key_change *ret_change, struct failure *failure)
{
    enum status status = key_check_pair(arena, config, key_pairs[0], failure);
    if (status == STATUS_OK)
        status = key_read(arena, config, "code_sign_public", &ret_change->old.public_key, failure);
    if (status == STATUS_OK)
        status =
            key_read(arena, config, "code_sign_private", &ret_change->old.private_key, failure);
    if (status != STATUS_OK)
        return status;
    /* From 0, without gaps: that is how the old keys are looked for. */
    ret_change->number = 0;
    while (ret_change->number < OLD_KEYS_MAX &&
           exists(arena, config, numbered(arena, "old_key", ret_change->number)))
        ret_change->number++;
    if (ret_change->number == OLD_KEYS_MAX)
        return fail(failure, STATUS_TOO_LARGE, "there are %d old keys already", OLD_KEYS_MAX);
    return rsa_generate(arena, &ret_change->keys, failure);
}

static enum status sign_to_file(struct arena *arena, const struct config *config, const char *name,
                                struct text private_key, struct text text, struct failure *failure)
{
    char md5[MD5_HEX_SIZE];
    struct text signature;
    md5_hex(text, NO_TEXT, md5);
    enum status status = rsa_sign_md5(arena, private_key, md5, &signature, failure);
    if (status == STATUS_OK)
        status = file_write(key_path(arena, config, name), signature, 0644, failure);
    return status;
}

/* Clients since 7 strip white space around the key before they check, older ones do not. */
static enum status sign_for(struct arena *arena, const struct config *config, int number,
                            struct text old_private, struct text new_key, struct failure *failure)
{
    enum status status = sign_to_file(arena, config, numbered(arena, "signature", number),
                                      old_private, new_key, failure);
    if (status == STATUS_OK)
        status = sign_to_file(arena, config, numbered(arena, "signature_stripped", number),
                              old_private, text_trim(new_key), failure);
    return status;
}

static enum status write_old_key(struct arena *arena, const struct config *config, int number,
                                 struct text old_private, struct text old_public,
                                 struct failure *failure)
{
    enum status status = file_write(key_path(arena, config, numbered(arena, "old_private", number)),
                                    old_private, 0600, failure);
    if (status == STATUS_OK)
        status = file_write(key_path(arena, config, numbered(arena, "old_key", number)), old_public,
                            0644, failure);
    return status;
}

/* Those that were changed before, and their private keys were kept, vouch for this one too. */
static enum status sign_by_older(struct arena *arena, const struct config *config, int count,
                                 struct text new_key, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        struct text old_private;
        if (!exists(arena, config, numbered(arena, "old_private", i)))
            continue; /* changed by other tools, which keep no old private keys */
        status = key_read(arena, config, numbered(arena, "old_private", i), &old_private, failure);
        if (status == STATUS_OK)
            status = sign_for(arena, config, i, old_private, new_key, failure);
    }
    return status;
}

/* The older ones vouch for the old key again. */
static void forget_change(struct arena *arena, const struct config *config,
                          const struct key_change *change)
{
    static const char *const names[] = {"old_private", "old_key", "signature",
                                        "signature_stripped"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(key_path(arena, config, numbered(arena, names[i], change->number)));
    (void)sign_by_older(arena, config, change->number, change->old.public_key, NULL);
}

enum status keys_change_undo(struct arena *arena, const struct config *config,
                             const struct key_change *change, struct failure *failure)
{
    enum status status =
        write_pair(arena, config, key_pairs[0], &change->old, change->keys.private_key, failure);
    if (status == STATUS_OK)
        forget_change(arena, config, change);
    return status;
}

enum status keys_change_write(struct arena *arena, const struct config *config,
                              const struct key_change *change, struct failure *failure)
{
    struct text old_private = change->old.private_key, new_key = change->keys.public_key;
    enum status status =
        write_old_key(arena, config, change->number, old_private, change->old.public_key, failure);
    if (status == STATUS_OK)
        status = sign_for(arena, config, change->number, old_private, new_key, failure);
    if (status == STATUS_OK)
        status = sign_by_older(arena, config, change->number, new_key, failure);
    if (status == STATUS_OK)
        status = write_pair(arena, config, key_pairs[0], &change->keys, old_private, failure);
    if (status != STATUS_OK)
        forget_change(arena, config, change);
    return status;
}
