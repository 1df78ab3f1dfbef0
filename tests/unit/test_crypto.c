/* SPDX-License-Identifier: Apache-2.0 */
/* Digests, keys and signatures, against material that BOINC's own programs made (data/). */
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { PLENTY = 1024 * 1024 };

/* The file that data/file_signature was made for, with the key data/code_sign_public. */
static const char signed_md5[MD5_HEX_SIZE] = "b8d4a6b8242c5e05c75364c832eb0cca";

static int make_arena(void **state)
{
    *state = arena_create(PLENTY);
    return *state == NULL;
}

static int destroy_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct text data(struct arena *arena, const char *name)
{
    struct text path = text_print(arena, "%s/tests/unit/data/%s", getenv("QM_SOURCE_DIR"), name);
    struct text text = NO_TEXT;
    assert_status(STATUS_OK, file_read(arena, path.at, PLENTY, &text, NULL));
    return text;
}

/* A copy of `text` in which the first `from` is `to`. */
static struct text with(struct arena *arena, struct text text, char from, char to)
{
    char *copy = arena_alloc(arena, text.length);
    memcpy(copy, text.at, text.length);
    char *at = memchr(copy, from, text.length);
    assert_non_null(at);
    *at = to;
    return (struct text){.at = copy, .length = text.length};
}

static void md5_of_known_texts(void **state)
{
    (void)state;
    char hex[MD5_HEX_SIZE];
    md5_hex(NO_TEXT, NO_TEXT, hex);
    assert_string_equal(hex, "d41d8cd98f00b204e9800998ecf8427e");
    md5_hex(TEXT("message digest"), NO_TEXT, hex);
    assert_string_equal(hex, "f96b697d7cb7938d525a2f31aaf161d0");
    md5_hex(TEXT("message"), TEXT(" digest"), hex);
    assert_string_equal(hex, "f96b697d7cb7938d525a2f31aaf161d0");
}

static void sha256_as_browsers_name_it(void **state)
{
    char base64[SHA256_BASE64_SIZE];

    (void)state;
    sha256_base64(NO_TEXT, base64);
    assert_string_equal(base64, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    sha256_base64(TEXT("abc"), base64);
    assert_string_equal(base64, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

static void md5_of_a_file(void **state)
{
    struct arena *arena = *state;
    char hex[MD5_HEX_SIZE], wanted[MD5_HEX_SIZE];
    struct text path =
        text_print(arena, "%s/tests/unit/data/code_sign_public", getenv("QM_SOURCE_DIR"));
    int64_t bytes = 0;
    struct failure failure = {0};
    struct text text = data(arena, "code_sign_public");
    md5_hex(text, NO_TEXT, wanted);
    assert_status(STATUS_OK, md5_hex_of_file(path.at, hex, &bytes, &failure));
    assert_string_equal(hex, wanted);
    assert_i64(bytes, (int64_t)text.length);
    assert_status(STATUS_NOT_FOUND, md5_hex_of_file("no/such/file", hex, &bytes, &failure));
    assert_status(STATUS_IO, md5_hex_of_file("/", hex, &bytes, &failure));
}

/* As `openssl dgst -sha256 -mac HMAC -macopt hexkey:...` has them. */
static void keyed_digests_depend_on_text_and_secret(void **state)
{
    const struct digest_secret zeros = {{0}}, other = {{1}};
    char hex[DIGEST_HEX_SIZE], again[DIGEST_HEX_SIZE];

    (void)state;
    digest_hex(&zeros, NO_TEXT, hex);
    assert_string_equal(hex, "b613679a0814d9ec");
    digest_hex(&zeros, TEXT("host"), hex);
    digest_hex(&zeros, TEXT("host"), again);
    assert_string_equal(hex, again);
    digest_hex(&zeros, TEXT("hosts"), again);
    assert_string_not_equal(hex, again);
    digest_hex(&other, TEXT("host"), again);
    assert_string_not_equal(hex, again);
}

static void secrets_compare(void **state)
{
    (void)state;
    assert_true(secret_equal(TEXT("abc"), TEXT("abc")));
    assert_false(secret_equal(TEXT("abc"), TEXT("abd")));
    assert_false(secret_equal(TEXT("abc"), TEXT("ab")));
    assert_true(secret_equal(NO_TEXT, TEXT("")));
}

static void signature_made_by_boinc_verifies(void **state)
{
    struct arena *arena = *state;
    struct text key = data(arena, "code_sign_public");
    struct text signature = data(arena, "file_signature");
    struct failure failure = {0};
    assert_status(STATUS_OK, rsa_verify_md5(key, signed_md5, signature, &failure));
    /* as it stands in a reply or a database */
    assert_status(STATUS_OK, rsa_verify_md5(key, signed_md5, text_trim(signature), &failure));
    assert_status(STATUS_OK, rsa_verify_md5(text_trim(key), signed_md5,
                                            text_print(arena, "\r\n  " TEXT_FORMAT "\r\n  ",
                                                       TEXT_ARG(signature)),
                                            &failure));
}

static void other_data_key_or_signature_does_not_verify(void **state)
{
    struct arena *arena = *state;
    struct text key = data(arena, "code_sign_public");
    struct text signature = data(arena, "file_signature");
    assert_status(STATUS_INVALID, rsa_verify_md5(key, "b8d4a6b8242c5e05c75364c832eb0ccb", signature,
                                                 &(struct failure){0}));
    assert_status(STATUS_INVALID, rsa_verify_md5(key, signed_md5, with(arena, signature, 'a', 'b'),
                                                 &(struct failure){0}));
    assert_status(STATUS_INVALID, rsa_verify_md5(with(arena, key, 'a', 'b'), signed_md5, signature,
                                                 &(struct failure){0}));
}

static void unreadable_keys_and_signatures_are_invalid(void **state)
{
    struct arena *arena = *state;
    struct text key = data(arena, "code_sign_public");
    struct text signature = data(arena, "file_signature");
    struct text bad[] = {NO_TEXT,
                         TEXT("."),
                         TEXT("1024\n."),
                         TEXT("1024"),
                         TEXT("2048\n."),
                         text_first(key, key.length - 3),
                         text_first(key, 400),
                         with(arena, key, 'a', 'x'),
                         with(arena, key, '1', '9'),
                         with(arena, key, 'a', '\0'),
                         text_print(arena, TEXT_FORMAT "00\n.", (int)key.length - 2, key.at),
                         text_print(arena, "1024\n%0512d\n.\n", 0),
                         text_print(arena, "1024\n%0512d\n.\n", 1)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct failure failure = {0};
        assert_status(STATUS_INVALID, rsa_verify_md5(bad[i], signed_md5, signature, &failure));
        assert_true(failure.text[0] != '\0');
        assert_status(STATUS_INVALID, rsa_verify_md5(key, signed_md5, bad[i], &failure));
        struct text made;
        assert_status(STATUS_INVALID, rsa_sign_md5(arena, bad[i], signed_md5, &made, &failure));
    }
}

static void generated_keys_have_the_fixed_layout_and_work(void **state)
{
    struct arena *arena = *state;
    struct rsa_key_texts keys, others;
    struct text signature = NO_TEXT;
    struct failure failure = {0};
    assert_status(STATUS_OK, rsa_generate(arena, &keys, &failure));
    assert_status(STATUS_OK, rsa_generate(arena, &others, &failure));
    assert_int_equal(keys.public_key.length, 5 + 8 * 65 + 2);
    assert_int_equal(keys.private_key.length, 5 + 22 * 65 + 2);
    assert_true(text_starts(keys.public_key, TEXT("1024\n")));
    assert_true(text_ends(keys.public_key, TEXT("10001\n.\n")));
    assert_true(text_ends(keys.private_key, TEXT("\n.\n")));

    assert_status(STATUS_OK,
                  rsa_sign_md5(arena, keys.private_key, signed_md5, &signature, &failure));
    assert_int_equal(signature.length, 4 * 65 + 2);
    assert_true(text_ends(signature, TEXT("\n.\n")));
    assert_status(STATUS_OK, rsa_verify_md5(keys.public_key, signed_md5, signature, &failure));
    assert_status(STATUS_INVALID,
                  rsa_verify_md5(others.public_key, signed_md5, signature, &failure));
}

static void a_full_arena_is_an_answer(void **state)
{
    struct arena *small = arena_create(300);
    struct rsa_key_texts keys;
    struct text signature;
    assert_status(STATUS_NO_MEMORY, rsa_generate(small, &keys, NULL));
    assert_status(STATUS_OK, rsa_generate(*state, &keys, NULL));
    arena_reset(small);
    assert_status(STATUS_NO_MEMORY,
                  rsa_sign_md5(small, keys.private_key, signed_md5, &signature, NULL));
    arena_destroy(small);
}

/* data/certificate is for example.org and 127.0.0.1, and valid for ten days from then on. */
static void certificates(void **state)
{
    enum { DAY = 86400 };
    const int64_t begins = 1795798480;
    static const struct {
        const char *certificate, *key, *host, *said; /* NULL: nothing is wrong */
        int64_t after;
        int days;
    } cases[] = {
        {"certificate", "certificate_key", "example.org", NULL, 1, 9},
        {"certificate", "certificate_key", "127.0.0.1", NULL, 9 * DAY + 1, 0},
        {"certificate", "certificate_key", "www.example.org", "certificate is not for www.exam", 1,
         9},
        {"certificate", "certificate_key", "127.0.0.2", "is not for 127.0.0.2", 1, 9},
        {"certificate", "certificate_key", "example.org", "is not valid yet", -1, 0},
        {"certificate", "certificate_key", "example.org", "expired 1 day ago", 10 * DAY + 1, -1},
        {"certificate", "certificate_key", "example.org", "expired 3 days ago", 13 * DAY + 1, -3},
        {"certificate", "certificate", "example.org", "certificate: no private key", 1, 0},
        {"certificate_key", "certificate_key", "example.org", "no certificate", 1, 0},
        {"certificate", "absent", "example.org", "absent: No such file", 1, 0},
        {"absent", "certificate_key", "example.org", "absent: No such file", 1, 0},
    };
    const char *folder = getenv("QM_SOURCE_DIR");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text certificate =
            text_print(*state, "%s/tests/unit/data/%s", folder, cases[i].certificate);
        struct text key = text_print(*state, "%s/tests/unit/data/%s", folder, cases[i].key);
        struct failure failure = {.status = STATUS_OK};
        int days = 0;
        enum status status = certificate_check(certificate.at, key.at, cases[i].host,
                                               begins + cases[i].after, &days, &failure);

        if (cases[i].said == NULL)
            assert_status(STATUS_OK, status);
        else if (status == STATUS_OK || strstr(failure.text, cases[i].said) == NULL)
            fail_msg("case %zu: %s", i, failure.text);
        assert_int_equal(days, cases[i].days);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_of_known_texts),
        cmocka_unit_test(sha256_as_browsers_name_it),
        cmocka_unit_test(md5_of_a_file),
        cmocka_unit_test(keyed_digests_depend_on_text_and_secret),
        cmocka_unit_test(secrets_compare),
        cmocka_unit_test(signature_made_by_boinc_verifies),
        cmocka_unit_test(other_data_key_or_signature_does_not_verify),
        cmocka_unit_test(unreadable_keys_and_signatures_are_invalid),
        cmocka_unit_test(generated_keys_have_the_fixed_layout_and_work),
        cmocka_unit_test(a_full_arena_is_an_answer),
        cmocka_unit_test(certificates),
    };

    return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
