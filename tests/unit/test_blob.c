/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that go into replies as they are: what an XML parser would not take is told with its line,
 * and lets clients read the reply all the same. */
#include "server/project/blob.h"

#include "server/base/arena.h"
#include "tests/support/test.h"

#include <string.h>

static int setup(void **state)
{
    *state = arena_create(1 << 20);
    return *state == NULL;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void what_is_no_xml_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *words; /* NULL: it is XML */
    } cases[] = {
        {"", NULL},
        {"<a>b</a>\n<c/>", NULL},
        {"<?xml version=\"1.0\"?>\n<!-- x & y -->\n<a>1 &amp; 2 &#38; &#x26; &lt;</a>", NULL},
        {"<a><![CDATA[x & y]]></a>", NULL},
        {"<a>\nhttp://example.org/?a=1&b=2</a>", "line 2: a \"&\" that is not \"&amp;\""},
        {"<!-- & -->\n\n<a>&</a>", "line 3: a \"&\""},
        {"<a>x&nbsp;y</a>", "line 1: a \"&\""},
        {"<a>&#;</a>", "line 1: a \"&\""},
        {"<a>\nGr\xfc\xdf"
         "e</a>",
         "line 2: "},
        {"<?xml version=\"1.0\"?>\n<a>\n<b c=1/></a>", "line 3: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {.status = STATUS_OK};
        enum status status = blob_is_xml(*state, text_from(cases[i].text), &failure);

        assert_status(cases[i].words == NULL ? STATUS_OK : STATUS_INVALID, status);
        if (cases[i].words != NULL && strstr(failure.text, cases[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", failure.text, cases[i].words);
    }
}

/* The first & and the foreign letter leave the reply readable. */
static void what_clients_read_all_the_same_is_sent(void **state)
{
    assert_true(blob_is_sound(*state, TEXT("<a>http://example.org/?a=1&b=2</a>")));
    assert_true(blob_is_sound(*state, TEXT("<a>Gr\xfc\xdf</a>")));
    assert_false(blob_is_sound(*state, TEXT("<a>")));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_is_no_xml_is_told_with_its_line),
        CASE(what_clients_read_all_the_same_is_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
