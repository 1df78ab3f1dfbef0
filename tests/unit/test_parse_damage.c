/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse under damage: cut, flipped, torn and hostile requests. Whatever arrives, the answer
 * is a message or a refusal, a request cut short is refused, what is damaged costs only itself,
 * and time grows with length and nothing else. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/base/xml.h"

#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

static const char *const cut_captures[] = {"067", "047", "137"};

/* Not a byte more than the cut: parse_body makes the block exactly that long. */
static void refuses_a_request_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cut_captures / sizeof cut_captures[0]; i++) {
        struct text body = capture_read(cut_captures[i]);
        size_t whole = text_trim(body).length;

        for (size_t length = 0; length <= body.length; length++) {
            struct parsed *parsed = parse_body(text_first(body, length));

            if (parsed->status != (length < whole ? STATUS_INVALID : STATUS_OK))
                fail_msg("%s cut at %zu: %s", cut_captures[i], length, status_word(parsed->status));
            parsed_free(parsed);
        }
        text_free(body);
    }
}

/* Reads every text of the message, for the sanitizers, and asserts what always holds. */
static uint64_t touch(struct text text)
{
    uint64_t sum = text.length;

    for (size_t i = 0; i < text.length; i++)
        sum = sum * 31 + (unsigned char)text.at[i];
    return sum;
}

static void check_message(const struct message *message)
{
    uint64_t sum = touch(message->authenticator) + touch(message->global_preferences) +
                   touch(message->working_global_preferences) + touch(message->client_opaque) +
                   touch(message->time_stats_log) + touch(message->code_sign_key) +
                   touch(message->p_features);

    assert_true(message->platform_count <= MESSAGE_PLATFORMS_MAX);
    assert_true(message->coproc_count <= MESSAGE_COPROCS_MAX);
    assert_true(message->p_ncpus >= 1);
    assert_true(isfinite(message->p_fpops) && isfinite(message->d_free));
    for (size_t i = 0; i < message->result_count; i++) {
        sum += touch(message->results[i].stderr_out) + touch(message->results[i].xml_doc_out);
        assert_true(message->results[i].name.length > 0);
        assert_true(isfinite(message->results[i].final_cpu_time));
    }
    for (size_t i = 0; i < message->trickle_count; i++)
        sum += touch(message->trickles[i].xml);
    for (size_t i = 0; i < message->ip_result_count; i++)
        assert_true(message->ip_results[i].time_remaining >= 0);
    for (size_t i = 0; i < message->app_version_count; i++)
        assert_true(message->app_versions[i].avg_ncpus > 0);
    assert_true(sum != 1); /* so that the reading is not optimised away */
}

static void survives(struct text body)
{
    struct parsed *parsed = parse_body(body);

    if (parsed->status == STATUS_OK)
        check_message(&parsed->message);
    else
        assert_status(STATUS_INVALID, parsed->status);
    parsed_free(parsed);
}

static void survives_every_byte_flipped(void **state)
{
    static const char others[] = {'<', '>', '/', '&', '\0', '\n', ' ', '\xff', ']'};
    struct text body = capture_read("047");
    char *copy = malloc(body.length);

    (void)state;
    assert_non_null(copy);
    memcpy(copy, body.at, body.length);
    for (size_t i = 0; i < body.length; i++) {
        char kept = copy[i];

        copy[i] = others[i % sizeof others];
        survives((struct text){copy, body.length});
        copy[i] = (char)(kept ^ 1 << i % 8);
        survives((struct text){copy, body.length});
        copy[i] = kept;
    }
    free(copy);
    text_free(body);
}

static size_t below(struct random *random, size_t bound)
{
    return (size_t)(random_next(random) % bound);
}

/* One random change of a place: bytes overwritten, a stretch taken out, a stretch put elsewhere. */
static void change(struct random *random, struct buffer *body, size_t from, size_t until)
{
    size_t at = from + below(random, until - from), length = 1 + below(random, 40);
    size_t other = from + below(random, until - from);

    if (length > until - at)
        length = until - at;
    if (length > until - other)
        length = until - other;
    switch (below(random, 4)) {
    case 0:
        body->at[at] = (char)random_next(random);
        break;
    case 1:
        memmove(body->at + at, body->at + at + length, body->length - at - length);
        body->length -= length;
        break;
    case 2:
        memmove(body->at + at, body->at + other, length);
        break;
    default:
        body->at[at] = "<>/&]!-\n"[below(random, 8)];
    }
}

static void survives_random_changes(void **state)
{
    static const char *const numbers[] = {"029", "047", "067", "137", "083", "015"};
    struct random random = {20};

    (void)state;
    for (int i = 0; i < 300; i++) {
        struct text body = capture_read(numbers[below(&random, 6)]);
        struct buffer copy = buffer_on_heap(0);
        size_t changes = 1 + below(&random, 30);

        buffer_add(&copy, body);
        while (changes-- > 0)
            change(&random, &copy, 0, copy.length);
        survives(buffer_text(&copy));
        buffer_free(&copy);
        text_free(body);
    }
}

static bool same_result(const struct reported_result *a, const struct reported_result *b)
{
    return text_equal(a->name, b->name) && text_equal(a->stderr_out, b->stderr_out) &&
           text_equal(a->xml_doc_out, b->xml_doc_out) && a->exit_status == b->exit_status &&
           a->has_exit_status == b->has_exit_status && a->state == b->state &&
           a->final_cpu_time <= b->final_cpu_time && a->final_cpu_time >= b->final_cpu_time &&
           a->final_elapsed_time <= b->final_elapsed_time &&
           a->final_elapsed_time >= b->final_elapsed_time;
}

static size_t count_same(const struct message *message, const struct message *whole)
{
    size_t same = 0;

    for (size_t i = 0; i < whole->result_count; i++)
        for (size_t j = 0; j < message->result_count; j++)
            if (same_result(&whole->results[i], &message->results[j])) {
                same++;
                break;
            }
    return same;
}

/* Where the n-th result begins and ends in capture 092. */
static void place_of(struct text body, size_t n, size_t *ret_from, size_t *ret_until)
{
    size_t at = text_find(body, TEXT("<result>"));

    while (n-- > 0)
        at +=
            8 + text_find((struct text){body.at + at + 8, body.length - at - 8}, TEXT("<result>"));
    *ret_from = at;
    *ret_until =
        at + text_find((struct text){body.at + at, body.length - at}, TEXT("</result>")) + 9;
}

/* The neighbours of a damaged result are as they were, and so is what follows the results. */
static void damage_costs_only_the_damaged_result(void **state)
{
    struct text body = capture_read("092");
    struct parsed *whole = parse_body(body);
    struct random random = {92};
    size_t spared_all = 0;

    (void)state;
    assert_int_equal(whole->message.result_count, 120);
    for (int i = 0; i < 500; i++) {
        struct buffer copy = buffer_on_heap(0);
        size_t from, until, same;
        struct parsed *parsed;

        place_of(body, below(&random, 120), &from, &until);
        buffer_add(&copy, body);
        change(&random, &copy, from, until);
        if (memchr(copy.at, '\0', copy.length) == NULL) {
            parsed = parse_body(buffer_text(&copy));
            assert_status(STATUS_OK, parsed->status);
            same = count_same(&parsed->message, &whole->message);
            if (same < 118 || !parsed->message.has_other_results ||
                parsed->message.app_version_count != 1)
                fail_msg("change %d: %zu of 120 are left, place %zu to %zu", i, same, from, until);
            spared_all += same >= 119;
            parsed_free(parsed);
        }
        buffer_free(&copy);
    }
    assert_true(spared_all > 450);
    parsed_free(whole);
    text_free(body);
}

/* ---- hostile bodies: what they cost is printed; that they end is the test */

static double seconds_to_parse(const char *what, struct text body)
{
    struct timespec begin, end;
    struct parsed *parsed;
    double seconds;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    parsed = parse_body(body);
    clock_gettime(CLOCK_MONOTONIC, &end);
    seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("%-28s %8.3f MB %7.3f s %8.1f MB/s, %zu dropped\n", what,
                  (double)body.length / 1e6, seconds, (double)body.length / 1e6 / seconds,
                  parsed->message.elements_dropped);
    assert_status(STATUS_OK, parsed->status);
    check_message(&parsed->message);
    parsed_free(parsed);
    return seconds;
}

/* An '@' in a piece is its number. */
static void add_piece(struct buffer *body, const char *piece, size_t number)
{
    for (; *piece != '\0'; piece++) {
        if (*piece == '@')
            buffer_print(body, "%zu", number);
        else
            buffer_add_char(body, *piece);
    }
}

static struct buffer repeated(const char *before, const char *piece, const char *after,
                              size_t bytes)
{
    struct buffer body = buffer_on_heap(0);

    buffer_add_string(&body, "<scheduler_request>\n");
    buffer_add_string(&body, before);
    for (size_t i = 0; body.length < bytes; i++)
        add_piece(&body, piece, i);
    buffer_add_string(&body, after);
    buffer_add_string(&body, "\n</scheduler_request>\n");
    return body;
}

static const struct {
    const char *what, *before, *piece, *after;
} hostile[] = {
    {"same unknown tag unclosed", "", "<a>", ""},
    {"unknown tags unclosed", "", "<a@>", ""},
    {"unknown tags closed", "", "<a@></a@>", ""},
    {"known containers unclosed", "", "<host_info>", ""},
    {"results unclosed", "", "<result>", ""},
    {"results with names", "", "<result><name>r@</name></result>\n", ""},
    {"other results with names", "<other_results>", "<other_result><name>r@</name></other_result>",
     "</other_results>"},
    {"texts unclosed", "<host_info>", "<p_features>", ""},
    {"texts on one line", "<host_info>", "<p_features></p_features>", ""},
    {"numbers unclosed", "", "<hostid>", ""},
    {"outputs unclosed", "<result>", "<stderr_out>", ""},
    {"outputs unclosed in results", "", "<result><stderr_out>", ""},
    {"outputs, white space", "<result><stderr_out>", "          <a>", ""},
    {"ends of outputs", "<result><stderr_out>", "x</stderr_out>", ""},
    {"trickles unclosed", "", "<msg_from_host>", ""},
    {"trickles", "", "<msg_from_host>x</msg_from_host>", ""},
    {"opaque texts unclosed", "", "<client_opaque><![CDATA[", ""},
    {"preferences unclosed", "", "<global_preferences>", ""},
    {"files apart", "<result><name>a</name>", "<file_info>x</file_info>y", "</result>"},
    {"comments unclosed", "", "<!--", ""},
    {"cdata unclosed", "", "<![CDATA[", ""},
    {"declarations unclosed", "", "<!", ""},
    {"instructions unclosed", "", "<?", ""},
    {"less-than signs", "", "<", ""},
    {"entities", "<host_info>", "<os_name>&amp;&#1;&#255;</os_name>", ""},
    {"stray ends", "<app_versions>", "</app_version>", ""},
    {"one line of text", "", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ""},
    {"keywords", "<user_keywords>", "<yes>1</yes>", "</user_keywords>"},
    {"coprocessors", "<coprocs>", "<coproc><type>t@</type></coproc>", "</coprocs>"},
};

static void hostile_requests_end(void **state)
{
#ifdef QM_SANITIZED
    size_t bytes = 1 << 18; /* what is quadratic still takes minutes */
#else
    size_t bytes = 1 << 20;
#endif

    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct buffer body = repeated(hostile[i].before, hostile[i].piece, hostile[i].after, bytes);

        /* Even under a sanitizer a linear pass is far from this; a quadratic one needs hours. */
        assert_true(seconds_to_parse(hostile[i].what, buffer_text(&body)) < 60);
        buffer_free(&body);
    }
}

static void deep_nesting_ends(void **state)
{
    struct buffer body = buffer_on_heap(0);

    (void)state;
    buffer_add_string(&body, "<scheduler_request>\n<hostid>1</hostid>\n");
    for (int i = 0; i < 10000; i++)
        buffer_add_string(&body, "<a>");
    for (int i = 0; i < 10000; i++)
        buffer_add_string(&body, "</a>");
    buffer_add_string(&body, "<rpc_seqno>2</rpc_seqno></scheduler_request>");
    struct parsed *parsed = parse_body(buffer_text(&body));
    assert_status(STATUS_OK, parsed->status);
    assert_i64(parsed->message.hostid, 1);
    assert_i64(parsed->message.rpc_seqno, 2);
    parsed_free(parsed);
    buffer_free(&body);
}

static void measures_honest_requests(void **state)
{
    static const char *const numbers[] = {"006", "029", "092", "137"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct text body = capture_read(numbers[i]);

        seconds_to_parse(numbers[i], body);
        text_free(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_request_cut_anywhere),
        cmocka_unit_test(survives_every_byte_flipped),
        cmocka_unit_test(survives_random_changes),
        cmocka_unit_test(damage_costs_only_the_damaged_result),
        cmocka_unit_test(hostile_requests_end),
        cmocka_unit_test(deep_nesting_ends),
        cmocka_unit_test(measures_honest_requests),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
