/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies that cost server/parse the most for their length. Whatever a client sends without a
 * valid key is read before the key is known, by as many threads as there are, so the memory of one
 * body is bounded by a multiple of its length, and the work grows no faster than it. Memory is
 * what malloc gave, libxml2's included; work is counted in bytes, never in seconds. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/parse/repair.h"

#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <malloc.h>
#include <stdlib.h>

#include "server/base/banned.h"

/* A sanitizer has an allocator of its own, which keeps more than it was asked for. */
#if defined(__GLIBC__) && !defined(QM_SANITIZED)
#define COUNTS_MEMORY 1

void *__libc_malloc(size_t size);               /* NOLINT */
void *__libc_calloc(size_t count, size_t size); /* NOLINT */
void *__libc_realloc(void *block, size_t size); /* NOLINT */
void __libc_free(void *block);                  /* NOLINT */

static size_t memory_now, memory_most;

static void *taken(void *block)
{
    memory_now += block == NULL ? 0 : malloc_usable_size(block);
    if (memory_now > memory_most)
        memory_most = memory_now;
    return block;
}

static void given_back(void *block)
{
    memory_now -= block == NULL ? 0 : malloc_usable_size(block);
}

void *malloc(size_t size)
{
    return taken(__libc_malloc(size));
}

void *calloc(size_t nmemb, size_t size)
{
    return taken(__libc_calloc(nmemb, size));
}

void *realloc(void *ptr, size_t size)
{
    given_back(ptr);
    return taken(__libc_realloc(ptr, size));
}

void free(void *ptr)
{
    given_back(ptr);
    __libc_free(ptr);
}
#else
#define COUNTS_MEMORY 0
static size_t memory_now, memory_most;
#endif

enum { MB = 1000000, MEMORY_LEAST = 8 * MB, MEMORY_FACTOR = 4, WORK_FACTOR = 32 };

/* The piece stands between `before` and `after` as often as it fits in. */
static const struct worst {
    const char *what, *before, *piece, *after;
} worst[] = {
    {"empty results", "", "<result/>", ""},
    {"empty results in two tags", "", "<result></result>", ""},
    {"results that say little", "", "<result><state>5</state></result>", ""},
    {"results without an end", "", "<result><name>a</name>", ""},
    {"results without a name", "", "<result/><result><name/></result>", ""},
    {"results with a name", "", "<result><name>a</name></result>", ""},
    {"files apart", "", "<result><name>a</name><file_info/>y<file_info/></result>", ""},
    {"many files apart", "<result><name>a</name>", "<file_info>x</file_info>y", "</result>"},
    {"empty files", "", "<file_info/>", ""},
    {"named files", "", "<file_info><name>a</name></file_info>", ""},
    {"empty app versions", "<app_versions>", "<app_version/>", "</app_versions>"},
    {"stray ends of app versions", "<app_versions>", "</app_version>", "</app_versions>"},
    {"other results", "<other_results>", "<other_result><name>a</name>", "</other_results>"},
    {"empty other results", "<other_results>", "<other_result/>", "</other_results>"},
    {"queued results", "<in_progress_results>", "<ip_result/>", "</in_progress_results>"},
    {"trickles", "", "<msg_from_host><variety>a</variety></msg_from_host>", ""},
    {"empty trickles", "", "<msg_from_host/>", ""},
    {"one long trickle", "<msg_from_host><variety>a</variety>", "0123456789", "</msg_from_host>"},
    {"coprocessors", "<coprocs>", "<coproc><type>t</type></coproc>", "</coprocs>"},
    {"keywords", "<user_keywords>", "<yes>1</yes>", "</user_keywords>"},
    {"flags", "", "<dont_send_work/>", ""},
    {"empty raw elements", "", "<client_opaque/>", ""},
    {"containers", "", "<wsl/><host_info/>", ""},
    {"short texts", "", "<host_venue>a</host_venue>", ""},
    {"escapes", "<host_info>", "<os_name>&amp;&#1;&#255;&#60;</os_name>", "</host_info>"},
    {"bytes above 127", "", "<host_venue>\x80\x81\x82\x83\x84\x85\x86\x87\x88</host_venue>", ""},
    {"control characters", "", "<host_venue>\1\2\3\4\5\6\7\1\2\3\4\5\6\7</host_venue>", ""},
    {"ampersands", "", "<host_venue>&&&&&&&&&&&&&&&&&&&&&&&&</host_venue>", ""},
    {"nested unknown elements", "", "<a>", ""},
    {"empty unknown elements", "", "<a/>", ""},
    {"closed unknown elements", "", "<a></a>", ""},
    {"unclosed containers", "", "<host_info>", ""},
    {"unclosed results", "", "<result>", ""},
    {"unclosed numbers", "", "<hostid>", ""},
    {"unclosed texts", "<host_info>", "<p_features>", ""},
    {"unclosed outputs", "<result>", "<stderr_out>", ""},
    {"unclosed outputs in results", "", "<result><stderr_out>", ""},
    {"ends of outputs", "<result><stderr_out>", "x</stderr_out>", ""},
    {"unclosed trickles", "", "<msg_from_host>", ""},
    {"unclosed opaque texts", "", "<client_opaque><![CDATA[", ""},
    {"unclosed preferences", "", "<global_preferences>", ""},
    {"unclosed sections", "", "<![CDATA[", ""},
    {"unclosed comments", "", "<!--", ""},
    {"unclosed instructions", "", "<?", ""},
    {"one long tag", "<result", " a='b'", "/>"},
    {"one long name", "<", "abcdefgh", "/>"},
    {"attributes", "", "<result a='b' c=\"d\"/>", ""},
    {"one long text", "<host_venue>", "abcdefgh", "</host_venue>"},
    {"one long output", "<result><name>a</name><stderr_out>", "abc\n", "</stderr_out></result>"},
    {"blanks", "", "        ", ""},
    {"less-than signs", "", "<", ""},
};

static struct buffer body_of(const struct worst *row, size_t bytes)
{
    struct buffer body = buffer_on_heap(0);

    buffer_add_string(&body, "<scheduler_request>\n");
    buffer_add_string(&body, row->before);
    while (body.length < bytes)
        buffer_add_string(&body, row->piece);
    buffer_add_string(&body, row->after);
    buffer_add_string(&body, "\n</scheduler_request>\n");
    return body;
}

static size_t memory_of(struct text body)
{
    static const struct parse_limits limits = {.results_max = 100000, .depth_max = 100};
    size_t before = memory_now;
    struct arena *arena;
    struct failure failure;
    struct message message;

    memory_most = memory_now;
    arena = arena_create((size_t)1 << 30);
    assert_non_null(arena);
    assert_status(STATUS_OK, parse_request(body, &limits, arena, &message, &failure));
    arena_destroy(arena);
    return memory_most - before;
}

static double work_for_each_byte(const struct worst *row, size_t bytes)
{
    struct buffer body = body_of(row, bytes);
    struct repaired repaired;
    struct failure failure;
    double work;

    assert_status(STATUS_OK, repair_request(buffer_text(&body), &repaired, &failure));
    while (repair_next(&repaired).length > 0)
        continue;
    work = (double)repaired.work / (double)body.length;
    repair_free(&repaired);
    buffer_free(&body);
    return work;
}

/* At this size as many results as are kept, each as short as it can be, fill the body: there the
 * lists are longest for its length. */
static void memory_is_bounded_by_the_body(void **state)
{
    size_t beyond = 0;

    (void)state;
    if (!COUNTS_MEMORY)
        skip();
    for (size_t i = 0; i < sizeof worst / sizeof worst[0]; i++) {
        struct buffer body = body_of(&worst[i], 2200 * 1000);
        size_t most = memory_of(buffer_text(&body));

        print_message("%-28s %6.2f MB\n", worst[i].what, (double)most / MB);
        if (most > MEMORY_LEAST + MEMORY_FACTOR * body.length)
            beyond++;
        buffer_free(&body);
    }
    assert_int_equal(beyond, 0);
}

static void work_grows_no_faster_than_the_body(void **state)
{
    size_t beyond = 0;

    (void)state;
    for (size_t i = 0; i < sizeof worst / sizeof worst[0]; i++) {
        double few = work_for_each_byte(&worst[i], MB / 4);
        double many = work_for_each_byte(&worst[i], MB);

        print_message("%-28s %6.2f %6.2f\n", worst[i].what, few, many);
        if (many > WORK_FACTOR || many > few * 1.1)
            beyond++;
    }
    assert_int_equal(beyond, 0);
}

/* They would be dropped there, after all that makes an item. */
static void empty_items_are_not_read(void **state)
{
    const struct text body = TEXT("<scheduler_request><result/><file_info/><other_results>"
                                  "<other_result/></other_results><app_versions><app_version/>"
                                  "</app_versions></scheduler_request>");
    struct repaired repaired;
    struct failure failure;
    struct text document;

    (void)state;
    assert_status(STATUS_OK, repair_request(body, &repaired, &failure));
    document = repair_next(&repaired);
    assert_false(text_contains(document, TEXT("<result>")));
    assert_false(text_contains(document, TEXT("<file_info>")));
    assert_false(text_contains(document, TEXT("<other_result>")));
    assert_true(text_contains(document, TEXT("<app_version>"))); /* keeps its place */
    assert_int_equal(repaired.dropped, 3);
    repair_free(&repaired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bounded_by_the_body),
        cmocka_unit_test(work_grows_no_faster_than_the_body),
        cmocka_unit_test(empty_items_are_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
