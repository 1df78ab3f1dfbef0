/* SPDX-License-Identifier: Apache-2.0 */
/* server/base/xml: what is told of a document, and everything that is refused. */
#include "server/base/xml.h"

#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>

#include "server/base/banned.h"

/* A document's events as one line: <name> pieces </name>. */
struct story {
    char told[4096];
    size_t length;
    int last_line;
    const char *stop_at; /* element whose start answers STATUS_NOT_FOUND */
};

static void tell(struct story *story, const char *before, struct text text, const char *after)
{
    int wrote = snprintf(story->told + story->length, sizeof story->told - story->length,
                         "%s" TEXT_FORMAT "%s", before, TEXT_ARG(text), after);

    if (wrote > 0)
        story->length += (size_t)wrote;
    if (story->length >= sizeof story->told)
        story->length = sizeof story->told - 1;
}

static enum status on_start(void *context, struct text name, int line)
{
    struct story *story = context;

    tell(story, "<", name, ">");
    story->last_line = line;
    return story->stop_at != NULL && text_is(name, story->stop_at) ? STATUS_NOT_FOUND : STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    (void)line;
    tell(context, "", piece, "");
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    (void)line;
    tell(context, "</", name, ">");
    return STATUS_OK;
}

static const struct xml_limits usual = {
    .bytes_max = 1 << 20, .depth_max = 20, .elements_max = 1000};

static enum status walk(const char *document, const struct xml_limits *limits, struct story *story,
                        struct failure *failure)
{
    struct xml_handler handler = {story, on_start, on_text, on_end};

    *failure = (struct failure){0};
    return xml_walk(text_from(document), limits, &handler, failure);
}

/* Gives the story of an accepted document. */
static const char *told(const char *document)
{
    static struct story story;
    struct failure failure;

    story = (struct story){0};
    assert_status(STATUS_OK, walk(document, &usual, &story, &failure));
    assert_int_equal(failure.status, STATUS_OK);
    return story.told;
}

static void assert_refused(const char *document, enum status wanted, const char *part)
{
    struct story story = {0};
    struct failure failure;

    assert_status(wanted, walk(document, &usual, &story, &failure));
    assert_int_equal(failure.status, wanted);
    if (strstr(failure.text, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", failure.text, part);
}

static void tells_elements_and_text_in_order(void **state)
{
    (void)state;
    assert_string_equal(told("<a><b>1</b>2<c/></a>"), "<a><b>1</b>2<c></c></a>");
    assert_string_equal(told("<?xml version=\"1.0\"?>\n<!-- hello -->\n<a x=\"1\">t</a>\n"),
                        "<a>t</a>");
    assert_string_equal(told("<x:a>colon</x:a>"), "<x:a>colon</x:a>");
}

static void decodes_predefined_entities_and_cdata(void **state)
{
    (void)state;
    assert_string_equal(told("<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</a>"), "<a><&>\"'AB</a>");
    assert_string_equal(told("<a><![CDATA[<b>&amp;]]></a>"), "<a><b>&amp;</a>");
}

static void gives_line_numbers(void **state)
{
    struct story story = {0};
    struct failure failure;

    (void)state;
    assert_status(STATUS_OK, walk("<a>\n\n<b/>\n</a>", &usual, &story, &failure));
    assert_int_equal(story.last_line, 3);
    assert_refused("<a>\n<b>\n</a>", STATUS_INVALID, "line 3: ");
}

static void refuses_what_is_not_well_formed(void **state)
{
    static const char *const documents[] = {
        "",           "   ",         "a",           "<a>",         "<a></b>",  "<a/><b/>",
        "<a>&b;</a>", "<a b=c></a>", "<a>\x01</a>", "<a>\xff</a>", "<a><</a>", "<a>& b</a>",
    };

    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++)
        assert_refused(documents[i], STATUS_INVALID, "");
}

static void refuses_a_nul_byte(void **state)
{
    struct xml_handler handler = {0};
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_INVALID,
                  xml_walk((struct text){"<a></a>\0<b>", 11}, &usual, &handler, &failure));
}

static void refuses_every_document_type(void **state)
{
    static const char billion[] =
        "<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;&x;\">]><a>&y;</a>";
    static const char external[] = "<!DOCTYPE a [<!ENTITY x SYSTEM \"/etc/passwd\">]><a>&x;</a>";
    struct xml_limits recovering = usual;
    struct story story = {0};
    struct failure failure;

    (void)state;
    assert_refused(billion, STATUS_INVALID, "document type");
    assert_refused(external, STATUS_INVALID, "document type");
    assert_refused("<!DOCTYPE a SYSTEM \"http://127.0.0.1:9/a.dtd\"><a/>", STATUS_INVALID,
                   "document type");
    recovering.recover = true;
    assert_status(STATUS_INVALID, walk(external, &recovering, &story, &failure));
    assert_string_equal(story.told, "");
}

static void goes_on_after_an_error_when_asked(void **state)
{
    struct xml_limits recovering = usual;
    struct story story = {0};
    struct failure failure;

    (void)state;
    recovering.recover = true;
    assert_status(STATUS_OK, walk("<a><b>1 & 2</b><c>3</c></a>", &recovering, &story, &failure));
    assert_non_null(strstr(story.told, "<c>3</c></a>"));
    assert_int_equal(failure.status, STATUS_OK);
}

static void keeps_its_bounds(void **state)
{
    static const char document[] = "<a><b><c/></b><d/></a>";
    struct xml_limits limits = {
        .bytes_max = sizeof document - 1, .depth_max = 3, .elements_max = 4};
    struct story story = {0};
    struct failure failure;

    (void)state;
    assert_status(STATUS_OK, walk(document, &limits, &story, &failure));
    limits.depth_max = 2;
    assert_status(STATUS_TOO_LARGE, walk(document, &limits, &story, &failure));
    limits.depth_max = 3;
    limits.elements_max = 3;
    assert_status(STATUS_TOO_LARGE, walk(document, &limits, &story, &failure));
    limits.elements_max = 4;
    limits.bytes_max--;
    assert_status(STATUS_TOO_LARGE, walk(document, &limits, &story, &failure));
}

static void ends_where_a_callback_says_so(void **state)
{
    struct story story = {.stop_at = "b"};
    struct failure failure;

    (void)state;
    assert_status(STATUS_NOT_FOUND, walk("<a>1<b>2</b>3</a>", &usual, &story, &failure));
    assert_string_equal(story.told, "<a>1<b>");
}

static void does_without_callbacks(void **state)
{
    struct xml_handler handler = {0};
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_OK, xml_walk(TEXT("<a>1<b>2</b>3</a>"), &usual, &handler, &failure));
    assert_status(STATUS_INVALID, xml_walk(TEXT("<a>"), &usual, &handler, NULL));
}

/* libxml2 has bounds of its own; a text of ours may be longer than they are. */
static void reads_a_long_text(void **state)
{
    size_t size = 24 << 20;
    char *document = malloc(size);
    struct xml_limits limits = {.bytes_max = size, .depth_max = 5, .elements_max = 5};
    struct xml_handler handler = {0};
    struct failure failure = {0};

    (void)state;
    assert_non_null(document);
    memset(document, 'x', size);
    memcpy(document, "<a>", 3);
    memcpy(document + size - 4, "</a>", 4);
    assert_status(STATUS_OK, xml_walk((struct text){document, size}, &limits, &handler, &failure));
    free(document);
}

static void *walk_often(void *context)
{
    for (int i = 0; i < 200; i++) {
        struct story story = {0};
        struct failure failure;

        if (walk("<a><b>1</b></a>", &usual, &story, &failure) != STATUS_OK ||
            walk("<a><b>1</a>", &usual, &story, &failure) != STATUS_INVALID)
            return context;
    }
    return NULL;
}

static void serves_threads(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk_often, threads), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_elements_and_text_in_order),
        cmocka_unit_test(decodes_predefined_entities_and_cdata),
        cmocka_unit_test(gives_line_numbers),
        cmocka_unit_test(refuses_what_is_not_well_formed),
        cmocka_unit_test(refuses_a_nul_byte),
        cmocka_unit_test(refuses_every_document_type),
        cmocka_unit_test(goes_on_after_an_error_when_asked),
        cmocka_unit_test(keeps_its_bounds),
        cmocka_unit_test(ends_where_a_callback_says_so),
        cmocka_unit_test(does_without_callbacks),
        cmocka_unit_test(reads_a_long_text),
        cmocka_unit_test(serves_threads),
    };
    int failed;

    xml_startup();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    xml_shutdown();
    return failed;
}
