/* SPDX-License-Identifier: Apache-2.0 */
/* Digests, and BOINC's RSA keys and signatures in their text forms. A key of 1024 bits is a fixed
 * row of numbers, big-endian and padded with zeros, written as hexadecimal, 64 digits per line,
 * after a line with the number of bits and before a line with a dot. A signature is PKCS#1 v1.5
 * type 1 padding, without the usual DigestInfo, around the 32 hexadecimal digits of an MD5: for
 * OpenSSL a signature with PKCS#1 padding and no digest set.
 *
 * Keys come from files and from other people's projects: whatever cannot be read is
 * STATUS_INVALID. Keys this short and MD5 are what BOINC clients understand; we do not choose them.
 */
#include "server/base/crypto.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "server/base/banned.h"

enum {
    KEY_BITS = 1024,
    SIGNATURE_BYTES = KEY_BITS / 8,
    PUBLIC_KEY_BYTES = 2 * 128,
    PRIVATE_KEY_BYTES = 3 * 128 + 5 * 64,
    MD5_BYTES = 16,
    MD5_DIGITS = MD5_HEX_SIZE - 1,
    HEX_LINE_BYTES = 32
};

/* The numbers of a key in the order of its text form; a public key is the first two. */
static const struct {
    const char *name; /* at OpenSSL */
    int bytes;
} key_numbers[] = {
    {OSSL_PKEY_PARAM_RSA_N, 128},        {OSSL_PKEY_PARAM_RSA_E, 128},
    {OSSL_PKEY_PARAM_RSA_D, 128},        {OSSL_PKEY_PARAM_RSA_FACTOR1, 64},
    {OSSL_PKEY_PARAM_RSA_FACTOR2, 64},   {OSSL_PKEY_PARAM_RSA_EXPONENT1, 64},
    {OSSL_PKEY_PARAM_RSA_EXPONENT2, 64}, {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, 64},
};
enum { PUBLIC_NUMBERS = 2, PRIVATE_NUMBERS = sizeof(key_numbers) / sizeof(key_numbers[0]) };

static void hex_of(const unsigned char *bytes, size_t count, char *ret_digits)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        ret_digits[2 * i] = digits[bytes[i] >> 4];
        ret_digits[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* Finishes the digest and frees its context. */
static void md5_finish(EVP_MD_CTX *context, char ret_hex[MD5_HEX_SIZE])
{
    unsigned char digest[MD5_BYTES];

    must(EVP_DigestFinal_ex(context, digest, NULL) == 1);
    EVP_MD_CTX_free(context);
    hex_of(digest, sizeof(digest), ret_hex);
    ret_hex[MD5_DIGITS] = '\0';
}

/* Looked up once: what EVP_md5 gives is looked up anew by each digest, for more than a short one
 * itself takes. */
static EVP_MD *md5_algorithm;

static void find_md5(void)
{
    md5_algorithm = EVP_MD_fetch(NULL, "MD5", NULL);
}

static EVP_MD_CTX *md5_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    (void)pthread_once(&once, find_md5);
    must(context != NULL && EVP_DigestInit_ex(context, md5_algorithm, NULL) == 1);
    return context;
}

void md5_hex(struct text first, struct text second, char ret_hex[MD5_HEX_SIZE])
{
    EVP_MD_CTX *context = md5_begin();

    must(EVP_DigestUpdate(context, first.at, first.length) == 1);
    must(EVP_DigestUpdate(context, second.at, second.length) == 1);
    md5_finish(context, ret_hex);
}

void digest_hex(const struct digest_secret *secret, struct text text, char ret_hex[DIGEST_HEX_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    must(HMAC(EVP_sha256(), secret->bytes, DIGEST_SECRET_BYTES, (const unsigned char *)text.at,
              text.length, digest, &length) != NULL);
    hex_of(digest, (DIGEST_HEX_SIZE - 1) / 2, ret_hex);
    ret_hex[DIGEST_HEX_SIZE - 1] = '\0';
}

void sha256_base64(struct text text, char ret_base64[SHA256_BASE64_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    must(EVP_Digest(text.at, text.length, digest, &length, EVP_sha256(), NULL) == 1);
    must(EVP_EncodeBlock((unsigned char *)ret_base64, digest, (int)length) ==
         SHA256_BASE64_SIZE - 1);
}

enum status md5_hex_of_file(const char *path, char ret_hex[MD5_HEX_SIZE], int64_t *ret_bytes,
                            struct failure *failure)
{
    const struct file_watch nothing = {.is_to_end = NULL};

    return md5_hex_of_watched_file(path, &nothing, ret_hex, ret_bytes, failure);
}

enum status md5_hex_of_watched_file(const char *path, const struct file_watch *watch,
                                    char ret_hex[MD5_HEX_SIZE], int64_t *ret_bytes,
                                    struct failure *failure)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    enum status status;

    if (descriptor < 0)
        return fail(failure, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO, "%s: %s", path,
                    strerror(errno));
    status = md5_hex_of_watched_descriptor(descriptor, watch, ret_hex, ret_bytes);
    if (status != STATUS_OK)
        (void)fail(failure, status, "%s: %s", path, strerror(errno));
    (void)close(descriptor);
    return status;
}

enum status md5_hex_of_watched_descriptor(int descriptor, const struct file_watch *watch,
                                          char ret_hex[MD5_HEX_SIZE], int64_t *ret_bytes)
{
    unsigned char piece[64 * 1024];
    EVP_MD_CTX *context = md5_begin();
    int64_t bytes = 0;
    ssize_t got = 0;
    bool goes_on = true;

    while (goes_on && (got = read(descriptor, piece, sizeof(piece))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        must(EVP_DigestUpdate(context, piece, (size_t)got) == 1);
        bytes += got;
        goes_on = file_goes_on(watch);
    }
    if (got < 0 || !goes_on) {
        int why = errno;

        EVP_MD_CTX_free(context);
        errno = why;
        return STATUS_IO;
    }
    md5_finish(context, ret_hex);
    *ret_bytes = bytes;
    return STATUS_OK;
}

enum status md5_hex_of_descriptor(int descriptor, char ret_hex[MD5_HEX_SIZE])
{
    unsigned char piece[64 * 1024];
    EVP_MD_CTX *context = md5_begin();
    off_t at = 0;
    ssize_t got;

    while ((got = pread(descriptor, piece, sizeof(piece), at)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            EVP_MD_CTX_free(context);
            return STATUS_IO;
        }
        must(EVP_DigestUpdate(context, piece, (size_t)got) == 1);
        at += got;
    }
    md5_finish(context, ret_hex);
    return STATUS_OK;
}

/* The library's own object, under our name. */
struct md5_run *md5_run_begin(void)
{
    return (struct md5_run *)md5_begin();
}

void md5_run_add(struct md5_run *run, struct text piece)
{
    must(EVP_DigestUpdate((EVP_MD_CTX *)run, piece.at, piece.length) == 1);
}

void md5_run_end(struct md5_run *run, char ret_hex[MD5_HEX_SIZE])
{
    md5_finish((EVP_MD_CTX *)run, ret_hex);
}

bool secret_equal(struct text a, struct text b)
{
    return a.length == b.length && (a.length == 0 || CRYPTO_memcmp(a.at, b.at, a.length) == 0);
}

/* Exactly `count` bytes, then a dot and nothing else; white space may stand anywhere, since keys
 * and signatures travel through XML and web forms. */
static bool hex_read(struct text text, unsigned char *ret_bytes, size_t count)
{
    size_t digits = 0;

    text = text_trim(text);
    if (!text_ends(text, TEXT(".")))
        return false;
    for (size_t i = 0; i + 1 < text.length; i++) {
        if (strchr(" \t\r\n", text.at[i]) != NULL && text.at[i] != '\0')
            continue;
        int value = text_hex_digit(text.at[i]);
        if (value < 0 || digits == 2 * count)
            return false;
        unsigned char *byte = &ret_bytes[digits / 2];
        *byte = (unsigned char)(digits % 2 == 0 ? value << 4 : *byte | value);
        digits++;
    }
    return digits == 2 * count;
}

static void hex_write(struct buffer *buffer, const unsigned char *bytes, size_t count)
{
    for (size_t at = 0; at < count; at += HEX_LINE_BYTES) {
        char digits[2 * HEX_LINE_BYTES];
        hex_of(bytes + at, HEX_LINE_BYTES, digits);
        buffer_add(buffer, (struct text){.at = digits, .length = sizeof(digits)});
        buffer_add_char(buffer, '\n');
    }
    buffer_add_string(buffer, ".\n");
}

/* Why OpenSSL refused, in its own words; and its queue is empty again. */
static enum status fail_openssl(struct failure *failure, enum status status, const char *what)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    enum status answer =
        fail(failure, status, "%s: %s", what, reason == NULL ? "no reason given" : reason);

    ERR_clear_error();
    return answer;
}

/* OpenSSL's key from the first `count` numbers; NULL when it does not take them. */
static EVP_PKEY *rsa_build_key(const unsigned char *bytes, int count)
{
    BIGNUM *numbers[PRIVATE_NUMBERS] = {0};
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY *key = NULL;
    bool is_built = context != NULL && builder != NULL;

    for (int i = 0; i < count && is_built; i++) {
        numbers[i] = BN_bin2bn(bytes, key_numbers[i].bytes, NULL);
        is_built = numbers[i] != NULL &&
                   OSSL_PARAM_BLD_push_BN(builder, key_numbers[i].name, numbers[i]) == 1;
        bytes += key_numbers[i].bytes;
    }
    if (is_built)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    int selection = count == PUBLIC_NUMBERS ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
    if (parameters == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, selection, parameters) != 1)
        key = NULL;

    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    for (int i = 0; i < count; i++)
        BN_clear_free(numbers[i]);
    return key;
}

static enum status rsa_read_key(struct text text, int count, EVP_PKEY **ret_key,
                                struct failure *failure)
{
    unsigned char bytes[PRIVATE_KEY_BYTES];
    size_t size = count == PUBLIC_NUMBERS ? PUBLIC_KEY_BYTES : PRIVATE_KEY_BYTES;
    const char *kind = count == PUBLIC_NUMBERS ? "public key" : "private key";
    int64_t bits;

    struct text rest = text_trim(text);
    if (!text_to_i64(text_split(&rest, '\n'), &bits) || bits != KEY_BITS)
        return fail(failure, STATUS_INVALID, "%s: does not begin with a line %d", kind, KEY_BITS);
    if (!hex_read(rest, bytes, size))
        return fail(failure, STATUS_INVALID, "%s: not %zu hexadecimal bytes and a dot", kind, size);
    *ret_key = rsa_build_key(bytes, count);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    if (*ret_key == NULL)
        return fail_openssl(failure, STATUS_INVALID, kind);
    return STATUS_OK;
}

static bool rsa_write_key(const EVP_PKEY *key, int count, struct buffer *ret_text)
{
    unsigned char bytes[PRIVATE_KEY_BYTES];
    size_t size = 0;

    for (int i = 0; i < count; i++) {
        BIGNUM *number = NULL;
        bool is_read = EVP_PKEY_get_bn_param(key, key_numbers[i].name, &number) == 1 &&
                       BN_bn2binpad(number, bytes + size, key_numbers[i].bytes) >= 0;
        BN_clear_free(number);
        if (!is_read)
            return false;
        size += (size_t)key_numbers[i].bytes;
    }
    buffer_print(ret_text, "%d\n", KEY_BITS);
    hex_write(ret_text, bytes, size);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return true;
}

enum status rsa_generate(struct arena *arena, struct rsa_key_texts *ret_keys,
                         struct failure *failure)
{
    struct buffer public_text = buffer_in(arena), private_text = buffer_in(arena);
    EVP_PKEY *key = EVP_RSA_gen(KEY_BITS);

    if (key == NULL)
        return fail_openssl(failure, STATUS_IO, "making an RSA key");
    bool is_written = rsa_write_key(key, PUBLIC_NUMBERS, &public_text) &&
                      rsa_write_key(key, PRIVATE_NUMBERS, &private_text);
    EVP_PKEY_free(key);
    if (!is_written)
        return fail_openssl(failure, STATUS_IO, "reading the numbers of a new RSA key");
    if (public_text.overflowed || private_text.overflowed)
        return fail(failure, STATUS_NO_MEMORY, "no memory for an RSA key");
    *ret_keys = (struct rsa_key_texts){.public_key = buffer_text(&public_text),
                                       .private_key = buffer_text(&private_text)};
    return STATUS_OK;
}

struct rsa_signer {
    EVP_PKEY *key;
    EVP_PKEY_CTX *context;
};

void rsa_signer_destroy(struct rsa_signer *signer)
{
    if (signer == NULL)
        return;
    EVP_PKEY_CTX_free(signer->context);
    EVP_PKEY_free(signer->key);
    free(signer);
}

enum status rsa_signer_create(struct text private_key, struct rsa_signer **ret_signer,
                              struct failure *failure)
{
    struct rsa_signer *signer = calloc(1, sizeof(*signer));

    if (signer == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for a key");
    enum status status = rsa_read_key(private_key, PRIVATE_NUMBERS, &signer->key, failure);
    if (status == STATUS_OK) {
        signer->context = EVP_PKEY_CTX_new(signer->key, NULL);
        if (signer->context == NULL || EVP_PKEY_sign_init(signer->context) != 1 ||
            EVP_PKEY_CTX_set_rsa_padding(signer->context, RSA_PKCS1_PADDING) != 1)
            status = fail_openssl(failure, STATUS_INVALID, "signing");
    }
    if (status != STATUS_OK) {
        rsa_signer_destroy(signer);
        return status;
    }
    *ret_signer = signer;
    return STATUS_OK;
}

enum status rsa_signer_sign(struct rsa_signer *signer, struct arena *arena,
                            const char md5[MD5_HEX_SIZE], struct text *ret_signature,
                            struct failure *failure)
{
    unsigned char signature[SIGNATURE_BYTES];
    size_t length = sizeof(signature);

    if (EVP_PKEY_sign(signer->context, signature, &length, (const unsigned char *)md5,
                      MD5_DIGITS) != 1 ||
        length != sizeof(signature))
        return fail_openssl(failure, STATUS_INVALID, "signing");
    struct buffer text = buffer_in(arena);
    hex_write(&text, signature, sizeof(signature));
    if (text.overflowed)
        return fail(failure, STATUS_NO_MEMORY, "no memory for a signature");
    *ret_signature = buffer_text(&text);
    return STATUS_OK;
}

enum status rsa_sign_md5(struct arena *arena, struct text private_key, const char md5[MD5_HEX_SIZE],
                         struct text *ret_signature, struct failure *failure)
{
    struct rsa_signer *signer;

    enum status status = rsa_signer_create(private_key, &signer, failure);
    if (status != STATUS_OK)
        return status;
    status = rsa_signer_sign(signer, arena, md5, ret_signature, failure);
    rsa_signer_destroy(signer);
    return status;
}

enum status rsa_check_public_key(struct text public_key, struct failure *failure)
{
    EVP_PKEY *key = NULL;
    enum status status = rsa_read_key(public_key, PUBLIC_NUMBERS, &key, failure);

    EVP_PKEY_free(key);
    return status;
}

enum status rsa_verify_md5(struct text public_key, const char md5[MD5_HEX_SIZE],
                           struct text signature, struct failure *failure)
{
    unsigned char bytes[SIGNATURE_BYTES], signed_text[SIGNATURE_BYTES];
    size_t length = sizeof(signed_text);
    EVP_PKEY *key = NULL;

    if (!hex_read(signature, bytes, sizeof(bytes)))
        return fail(failure, STATUS_INVALID, "signature: not %d hexadecimal bytes and a dot",
                    SIGNATURE_BYTES);
    enum status status = rsa_read_key(public_key, PUBLIC_NUMBERS, &key, failure);
    if (status != STATUS_OK)
        return status;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    bool is_opened =
        context != NULL && EVP_PKEY_verify_recover_init(context) == 1 &&
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
        EVP_PKEY_verify_recover(context, signed_text, &length, bytes, sizeof(bytes)) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(key);
    if (!is_opened)
        return fail_openssl(failure, STATUS_INVALID, "signature not made with this key");
    if (length != MD5_DIGITS || memcmp(signed_text, md5, MD5_DIGITS) != 0)
        return fail(failure, STATUS_INVALID, "signature is over other data");
    return STATUS_OK;
}

/* --- certificates ---------------------------------------------------------------------------- */

/* A key with a passphrase is asked for by nobody. */
static int no_passphrase(char *buffer, int size, int writes, void *context)
{
    (void)buffer, (void)size, (void)writes, (void)context;
    return -1;
}

static enum status open_pem(const char *path, FILE **ret_file, struct failure *failure)
{
    *ret_file = fopen(path, "re");
    return *ret_file == NULL ? fail(failure, STATUS_IO, "%s: %s", path, strerror(errno))
                             : STATUS_OK;
}

static enum status read_certificate(const char *path, X509 **ret_certificate,
                                    struct failure *failure)
{
    FILE *file = NULL;
    enum status status = open_pem(path, &file, failure);

    if (status != STATUS_OK)
        return status;
    *ret_certificate = PEM_read_X509(file, NULL, no_passphrase, NULL);
    (void)fclose(file);
    ERR_clear_error();
    return *ret_certificate == NULL ? fail(failure, STATUS_INVALID, "%s: no certificate", path)
                                    : STATUS_OK;
}

static enum status check_key(X509 *certificate, const char *path, struct failure *failure)
{
    FILE *file = NULL;
    EVP_PKEY *key;
    int fits;
    enum status status = open_pem(path, &file, failure);

    if (status != STATUS_OK)
        return status;
    key = PEM_read_PrivateKey(file, NULL, no_passphrase, NULL);
    (void)fclose(file);
    fits = key != NULL && X509_check_private_key(certificate, key) == 1;
    ERR_clear_error();
    if (key == NULL)
        return fail(failure, STATUS_INVALID, "%s: no private key, or it has a passphrase", path);
    EVP_PKEY_free(key);
    return fits ? STATUS_OK
                : fail(failure, STATUS_INVALID, "%s is not the key of the certificate", path);
}

/* Days from now to then. */
static int days_to(const ASN1_TIME *then, int64_t now)
{
    ASN1_TIME *from = ASN1_TIME_set(NULL, (time_t)now);
    int days = 0, seconds = 0;

    if (from == NULL || ASN1_TIME_diff(&days, &seconds, from, then) != 1)
        days = 0;
    ASN1_TIME_free(from);
    return days < 0 || seconds < 0 ? days - (days == 0) : days;
}

static enum status check_dates(const X509 *certificate, const char *path, int64_t now,
                               int *ret_days, struct failure *failure)
{
    const ASN1_TIME *end = X509_get0_notAfter(certificate);
    time_t moment = (time_t)now;

    if (X509_cmp_time(X509_get0_notBefore(certificate), &moment) > 0)
        return fail(failure, STATUS_INVALID, "%s is not valid yet", path);
    *ret_days = days_to(end, now);
    if (X509_cmp_time(end, &moment) < 0)
        return fail(failure, STATUS_INVALID, "%s expired " COUNT_FORMAT " ago", path,
                    COUNT_ARG(-*ret_days, "day"));
    return STATUS_OK;
}

enum status certificate_check(const char *certificate_path, const char *key_path, const char *host,
                              int64_t now, int *ret_days, struct failure *failure)
{
    X509 *certificate = NULL;
    enum status status = read_certificate(certificate_path, &certificate, failure);

    if (status == STATUS_OK)
        status = check_key(certificate, key_path, failure);
    if (status == STATUS_OK)
        status = check_dates(certificate, certificate_path, now, ret_days, failure);
    if (status == STATUS_OK && X509_check_host(certificate, host, 0, 0, NULL) != 1 &&
        X509_check_ip_asc(certificate, host, 0) != 1)
        status = fail(failure, STATUS_INVALID, "%s is not for %s", certificate_path, host);
    X509_free(certificate);
    ERR_clear_error();
    return status;
}

const char *crypto_library_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}
