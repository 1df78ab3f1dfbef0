/* SPDX-License-Identifier: Apache-2.0 */
/* Documents written by several threads are those that one would have written. */
#include "server/submit/documents.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/submit/template_output.h"
#include "tests/support/test.h"

#include <string.h>

enum { COUNT = 700 };

static const char document[] = "<file_info><name><OUTFILE_0/></name><generated_locally/>"
                               "<upload_when_present/><max_nbytes>1000</max_nbytes>"
                               "<url>http://x/</url></file_info>"
                               "<result><file_ref><file_name><OUTFILE_0/></file_name>"
                               "<open_name>out</open_name></file_ref></result>";

static struct arena *arena;
static struct rsa_key_texts keys;
static struct output_template output;
static struct document_order orders[COUNT];
static struct text written[COUNT];

static int setup(void **state)
{
    const struct output_options options = {.upload_url = TEXT("http://x/"), .certificates = true};
    struct failure failure = {.status = STATUS_OK};

    (void)state;
    arena = arena_create(64 << 20);
    assert_status(STATUS_OK, rsa_generate(arena, &keys, &failure));
    assert_status(STATUS_OK, output_template_read(arena, "t", text_from(document), &options,
                                                  &output, &failure));
    for (size_t i = 0; i < COUNT; i++) {
        written[i] = NO_TEXT;
        orders[i] = (struct document_order){.output = &output,
                                            .result_name = text_print(arena, "wu_%zu_0", i),
                                            .number = (uint32_t)(17 * i),
                                            .document = &written[i]};
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void threads_write_what_one_would(void **state)
{
    static const size_t counts[] = {COUNT, 0, 1, 31, 64, 65, 100};
    struct documents *documents;
    struct rsa_signer *signer;
    struct failure failure = {.status = STATUS_OK};

    (void)state;
    assert_status(STATUS_OK, documents_create(keys.private_key, &documents, &failure));
    assert_status(STATUS_OK, rsa_signer_create(keys.private_key, &signer, &failure));
    for (size_t turn = 0; turn < sizeof(counts) / sizeof(counts[0]); turn++) {
        memset(written, 0, sizeof(written));
        assert_status(STATUS_OK, documents_write(documents, orders, counts[turn], &failure));
        for (size_t i = 0; i < counts[turn]; i++) {
            struct arena_mark mark = arena_mark(arena);
            struct buffer expected = buffer_in(arena);

            assert_status(STATUS_OK,
                          output_template_write(&output, arena, orders[i].result_name,
                                                orders[i].number, signer, &expected, &failure));
            assert_true(text_contains(buffer_text(&expected), TEXT("<xml_signature>")));
            assert_true(text_equal(written[i], buffer_text(&expected)));
            arena_rewind(arena, mark);
        }
        documents_forget(documents);
    }
    rsa_signer_destroy(signer);
    documents_destroy(documents);
}

/* Whichever thread meets it, the mistake is told with the result's name. */
static void a_mistake_is_told(void **state)
{
    static const size_t places[] = {0, COUNT / 2, COUNT - 1};
    static char name[70000];
    struct documents *documents;

    (void)state;
    memset(name, 'x', sizeof(name));
    assert_status(STATUS_OK, documents_create(keys.private_key, &documents, NULL));
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct failure failure = {.status = STATUS_OK};
        struct text kept = orders[places[i]].result_name;

        orders[places[i]].result_name = (struct text){name, sizeof(name)};
        assert_status(STATUS_TOO_LARGE, documents_write(documents, orders, COUNT, &failure));
        assert_int_equal(memcmp(failure.text, name, 120), 0);
        assert_non_null(strstr(failure.text, ": t: the result's document has more than"));
        orders[places[i]].result_name = kept;
        documents_forget(documents);
    }
    documents_destroy(documents);
}

static void a_key_that_is_none_is_refused(void **state)
{
    struct documents *documents = NULL;
    struct failure failure = {.status = STATUS_OK};

    (void)state;
    assert_status(STATUS_INVALID, documents_create(TEXT("1024\nnonsense."), &documents, &failure));
    assert_null(documents);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(threads_write_what_one_would),
        CASE(a_mistake_is_told),
        CASE(a_key_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
