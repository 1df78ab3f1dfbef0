/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of OpenSSL: digests, and BOINC's RSA keys and signatures
 * (protocol(7) 4.2). */
#ifndef SERVER_BASE_CRYPTO_H
#define SERVER_BASE_CRYPTO_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_watch;

#define MD5_HEX_SIZE 33 /* 32 digits and the final NUL */

/* Lower-case hex MD5 of the two texts one after the other (the second may be empty). */
void md5_hex(struct text first, struct text second, char ret_hex[MD5_HEX_SIZE]);
MUST_CHECK enum status md5_hex_of_file(const char *path, char ret_hex[MD5_HEX_SIZE],
                                       int64_t *ret_bytes, struct failure *failure);
/* A large file takes minutes, so `watch` is asked behind each piece. STATUS_IO, with ECANCELED in
 * its words: it is to end. */
MUST_CHECK enum status md5_hex_of_watched_file(const char *path, const struct file_watch *watch,
                                               char ret_hex[MD5_HEX_SIZE], int64_t *ret_bytes,
                                               struct failure *failure);
/* From where the descriptor stands to the end of the file. STATUS_IO: errno says why; ECANCELED: it
 * is to end. */
MUST_CHECK enum status md5_hex_of_watched_descriptor(int descriptor, const struct file_watch *watch,
                                                     char ret_hex[MD5_HEX_SIZE],
                                                     int64_t *ret_bytes);
/* Of an open file, from its beginning, wherever the descriptor stands. STATUS_IO: errno says why.
 */
MUST_CHECK enum status md5_hex_of_descriptor(int descriptor, char ret_hex[MD5_HEX_SIZE]);

/* Of what comes in pieces. Who begins it ends it. */
struct md5_run;
struct md5_run *md5_run_begin(void);
void md5_run_add(struct md5_run *run, struct text piece);
void md5_run_end(struct md5_run *run, char ret_hex[MD5_HEX_SIZE]);

/* A keyed digest (HMAC with SHA-256, its first 64 bits as 16 lower-case digits): the same text has
 * the same digest under one secret, and without the secret nobody can try texts against it. */
enum { DIGEST_SECRET_BYTES = 32, DIGEST_HEX_SIZE = 17 };
struct digest_secret {
    unsigned char bytes[DIGEST_SECRET_BYTES];
};
void digest_hex(const struct digest_secret *secret, struct text text,
                char ret_hex[DIGEST_HEX_SIZE]);

/* SHA-256 in Base64, as browsers name a script or a style that they may use. */
#define SHA256_BASE64_SIZE 45 /* with the final NUL */
void sha256_base64(struct text text, char ret_base64[SHA256_BASE64_SIZE]);

/* Takes as long whether or not they are equal: for account keys. */
bool secret_equal(struct text a, struct text b);

/* A 1024-bit key in BOINC's two text forms (public 8 hex lines, private 22). */
struct rsa_key_texts {
    struct text public_key;
    struct text private_key;
};
MUST_CHECK enum status rsa_generate(struct arena *arena, struct rsa_key_texts *ret_keys,
                                    struct failure *failure);
/* Signature text (4 hex lines and a dot line) over the 32 hex digits of the data's MD5. */
MUST_CHECK enum status rsa_sign_md5(struct arena *arena, struct text private_key,
                                    const char md5[MD5_HEX_SIZE], struct text *ret_signature,
                                    struct failure *failure);
/* The same for many signatures by one key, which is read and prepared only once: three times as
 * fast. One thread at a time. */
struct rsa_signer;
MUST_CHECK enum status rsa_signer_create(struct text private_key, struct rsa_signer **ret_signer,
                                         struct failure *failure);
MUST_CHECK enum status rsa_signer_sign(struct rsa_signer *signer, struct arena *arena,
                                       const char md5[MD5_HEX_SIZE], struct text *ret_signature,
                                       struct failure *failure);
void rsa_signer_destroy(struct rsa_signer *signer); /* NULL is fine */

/* STATUS_INVALID: it is no public key. */
MUST_CHECK enum status rsa_check_public_key(struct text public_key, struct failure *failure);
/* STATUS_INVALID: key or signature unreadable, or the signature is not over this MD5. */
MUST_CHECK enum status rsa_verify_md5(struct text public_key, const char md5[MD5_HEX_SIZE],
                                      struct text signature, struct failure *failure);

/* What clients would find wrong with a web server's certificate (a PEM file; the first in it) at
 * `now`: that it is for another host, not valid yet, or not any more; and what a web server would:
 * that the key (another PEM file) is another's. STATUS_INVALID: it is, or a file is neither;
 * STATUS_IO: a file cannot be opened. *ret_days: how long it is valid from then on. */
MUST_CHECK enum status certificate_check(const char *certificate_path, const char *key_path,
                                         const char *host, int64_t now, int *ret_days,
                                         struct failure *failure);

/* Of the library, for --version. */
const char *crypto_library_version(void);

#endif
