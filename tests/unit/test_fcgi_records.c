/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI records, whole and damaged, in one piece and byte by byte. */
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/web/fcgi_records.h"
#include "tests/support/test.h"

#include <string.h>

static void add_record(struct buffer *out, unsigned type, unsigned id, const void *content,
                       size_t length, size_t padding)
{
    const unsigned char head[8] = {1,
                                   (unsigned char)type,
                                   (unsigned char)(id >> 8),
                                   (unsigned char)id,
                                   (unsigned char)(length >> 8),
                                   (unsigned char)length,
                                   (unsigned char)padding,
                                   0};
    static const char zeros[256];

    buffer_add(out, (struct text){.at = (const char *)head, .length = 8});
    buffer_add(out, (struct text){.at = content, .length = length});
    buffer_add(out, (struct text){.at = zeros, .length = padding});
}

static void add_begin(struct buffer *out, unsigned id)
{
    static const char responder[8] = {0, 1, 1};

    add_record(out, 1, id, responder, 8, 0);
}

/* A variable with lengths of one byte, one with a length of four. */
static const char variables[] = "\x04\x05NAMEvalue\x01\x80\x00\x00\x03Nabc\x03\x00"
                                "XYZ";

static struct buffer whole_request(const char *body)
{
    struct buffer out = buffer_on_heap(1 << 20);

    add_begin(&out, 258);
    add_record(&out, 4, 258, variables, 10, 6);
    add_record(&out, 4, 258, variables + 10, sizeof(variables) - 1 - 10, 0);
    add_record(&out, 4, 258, "", 0, 0);
    add_record(&out, 5, 258, body, strlen(body), 3);
    add_record(&out, 5, 258, "", 0, 0);
    return out;
}

static void a_whole_request_is_complete(void **state)
{
    struct buffer bytes = whole_request("<scheduler_request>");
    struct fcgi_check check = {0};
    char body[100];

    (void)state;
    assert_int_equal(fcgi_check(&check, buffer_text(&bytes)), FCGI_COMPLETE);
    assert_int_equal(check.at, bytes.length);
    assert_int_equal(check.request_id, 258);
    assert_int_equal(check.body_bytes, 19);
    assert_int_equal(fcgi_copy_body(&check, buffer_text(&bytes), body, sizeof(body)), 19);
    assert_memory_equal(body, "<scheduler_request>", 19);
    assert_int_equal(fcgi_copy_body(&check, buffer_text(&bytes), body, 4), 4);
    buffer_free(&bytes);
}

/* nginx ends a record where one of its buffers ends, which may be in the midst of the key. */
static void a_body_in_many_records_is_put_together(void **state)
{
    static const char *const pieces[] = {"<a", "uthenticator>4", "2", "</authenticator>"};
    struct buffer bytes = buffer_on_heap(4096);
    struct fcgi_check check = {0};
    char body[100];

    (void)state;
    add_begin(&bytes, 1);
    add_record(&bytes, 4, 1, "", 0, 0);
    for (size_t i = 0; i < 4; i++)
        add_record(&bytes, 5, 1, pieces[i], strlen(pieces[i]), i);
    add_record(&bytes, 5, 1, "", 0, 0);
    assert_int_equal(fcgi_check(&check, buffer_text(&bytes)), FCGI_COMPLETE);
    assert_int_equal(fcgi_copy_body(&check, buffer_text(&bytes), body, sizeof(body)), 33);
    assert_memory_equal(body, "<authenticator>42</authenticator>", 33);
    assert_int_equal(fcgi_copy_body(&check, buffer_text(&bytes), body, 16), 16);
    buffer_free(&bytes);
}

static struct text copied_variable(const struct buffer *bytes, char *copy, size_t size,
                                   const char *name)
{
    struct text found = {.at = copy, .length = fcgi_copy_variables(buffer_text(bytes), copy, size)};

    return fcgi_variable_in(found, name);
}

static void variables_are_found_wherever_records_end(void **state)
{
    static const char list[] = "\x06\x00METHOD"
                               "\x05\x80\x00\x00\x03QUERYa=b"
                               "\x80\x00\x00\x04\x02NAME/x"
                               "\x06\x01METHODZ";
    char copy[200];

    (void)state;
    for (size_t cut = 0; cut < sizeof(list) - 1; cut++) {
        struct buffer bytes = buffer_on_heap(4096);

        add_begin(&bytes, 1);
        if (cut > 0)
            add_record(&bytes, 4, 1, list, cut, cut % 8);
        add_record(&bytes, 4, 1, list + cut, sizeof(list) - 1 - cut, 3);
        add_record(&bytes, 4, 1, "", 0, 0);
        add_record(&bytes, 5, 1, "", 0, 0);
        assert_text(copied_variable(&bytes, copy, sizeof(copy), "QUERY"), "a=b");
        assert_text(copied_variable(&bytes, copy, sizeof(copy), "NAME"), "/x");
        assert_text(copied_variable(&bytes, copy, sizeof(copy), "METHOD"), ""); /* the first */
        assert_text(copied_variable(&bytes, copy, sizeof(copy), "QUER"), "");
        assert_text(copied_variable(&bytes, copy, 10, "QUERY"), ""); /* cut off */
        buffer_free(&bytes);
    }
}

static void lists_that_end_early_hold_nothing_more(void **state)
{
    static const char list[] = "\x04\x05NAMEvalue\x03\x80\x00\x00\x03XYZabc";
    static const struct text endless = {"\xff\xff\xff\xff\xff\xff\xff\xff", 8};

    (void)state;
    for (size_t length = 0; length < sizeof(list) - 1; length++)
        assert_text(fcgi_variable_in((struct text){list, length}, "XYZ"), "");
    assert_text(fcgi_variable_in((struct text){list, sizeof(list) - 1}, "XYZ"), "abc");
    assert_text(fcgi_variable_in(endless, "A"), "");
}

static void it_is_complete_with_its_last_byte(void **state)
{
    struct buffer bytes = whole_request("abc");
    struct fcgi_check check = {0};

    (void)state;
    for (size_t length = 0; length < bytes.length; length++)
        assert_int_equal(fcgi_check(&check, text_first(buffer_text(&bytes), length)),
                         FCGI_INCOMPLETE);
    assert_int_equal(fcgi_check(&check, buffer_text(&bytes)), FCGI_COMPLETE);
    buffer_free(&bytes);
}

static enum fcgi_progress judge(const struct buffer *bytes)
{
    struct fcgi_check check = {0};

    return fcgi_check(&check, buffer_text(bytes));
}

static void lengths_that_no_variable_has_are_unsound(void **state)
{
    static const char names[] = "\xff\xff\xff\xfe\x01N", values[] = "\x01\xff\xff\xff\xffN";
    static const char half[] = "\x04\x05NAME", only_length[] = "\x80\x00";
    static const struct {
        const char *content;
        size_t length;
    } rows[] = {{names, sizeof(names) - 1},
                {values, sizeof(values) - 1},
                {half, sizeof(half) - 1},
                {only_length, sizeof(only_length) - 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buffer bytes = buffer_on_heap(4096);

        add_begin(&bytes, 1);
        add_record(&bytes, 4, 1, rows[i].content, rows[i].length, 0);
        add_record(&bytes, 4, 1, "", 0, 0);
        assert_int_equal(judge(&bytes), FCGI_UNSOUND);
        buffer_free(&bytes);
    }
}

static void variables_have_a_bound(void **state)
{
    struct buffer bytes = buffer_on_heap(1 << 20);
    enum fcgi_progress progress = FCGI_INCOMPLETE;

    (void)state;
    add_begin(&bytes, 1);
    for (int i = 0; i < 10000 && progress == FCGI_INCOMPLETE; i++) {
        add_record(&bytes, 4, 1, variables, sizeof(variables) - 1, 0);
        progress = judge(&bytes);
    }
    assert_int_equal(progress, FCGI_UNSOUND);
    assert_in_range(bytes.length, FCGI_VARIABLES_MAX, 2 * FCGI_VARIABLES_MAX);
    buffer_free(&bytes);
}

static void other_peers_are_told_apart_at_once(void **state)
{
    static const char authorizer[8] = {0, 2};
    struct buffer http = buffer_on_heap(100), role = buffer_on_heap(100), id = buffer_on_heap(100),
                  early = buffer_on_heap(100), mixed = buffer_on_heap(100);

    (void)state;
    buffer_add_string(&http, "G");
    assert_int_equal(judge(&http), FCGI_UNSOUND);
    add_record(&role, 1, 1, authorizer, 8, 0);
    assert_int_equal(judge(&role), FCGI_UNSOUND);
    add_begin(&id, 0);
    assert_int_equal(judge(&id), FCGI_UNSOUND);
    add_record(&early, 5, 1, "x", 1, 0);
    assert_int_equal(judge(&early), FCGI_UNSOUND);
    add_begin(&mixed, 1);
    add_record(&mixed, 4, 2, "", 0, 0);
    assert_int_equal(judge(&mixed), FCGI_UNSOUND);
    buffer_free(&http);
    buffer_free(&role);
    buffer_free(&id);
    buffer_free(&early);
    buffer_free(&mixed);
}

/* Whatever is changed, the check ends, stays within the bytes, and never takes more than there is.
 */
static void damaged_requests_are_survived(void **state)
{
    struct random random = {.state = 20261122};

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct buffer bytes = whole_request("<scheduler_request></scheduler_request>");
        char *copy = test_malloc(bytes.length); /* exactly so long: a sanitizer sees the rest */
        struct fcgi_check check = {0};
        size_t length = random_next(&random) % (bytes.length + 1);
        char body[64];

        memcpy(copy, buffer_text(&bytes).at, bytes.length);
        for (int i = 0; i < 3; i++)
            copy[random_next(&random) % bytes.length] = (char)random_next(&random);
        for (size_t at = 0; at <= length; at += 1 + random_next(&random) % 40)
            if (fcgi_check(&check, (struct text){.at = copy, .length = at}) != FCGI_INCOMPLETE) {
                assert_true(check.at <= at);
                break;
            }
        assert_in_range(fcgi_copy_body(&check, (struct text){.at = copy, .length = bytes.length},
                                       body, sizeof(body)),
                        0, sizeof(body));
        test_free(copy);
        buffer_free(&bytes);
    }
}

static void a_response_is_cut_into_records(void **state)
{
    struct buffer out = buffer_on_heap(1 << 20), text = buffer_on_heap(1 << 20);
    const unsigned char *at;
    size_t left, got = 0;

    (void)state;
    for (int i = 0; i < 70001; i++)
        buffer_add_char(&text, (char)('a' + i % 26));
    fcgi_add_response(&out, 258, buffer_text(&text));
    at = (const unsigned char *)buffer_text(&out).at;
    left = out.length;
    while (left >= 8 && at[1] == 6) {
        size_t length = (size_t)at[4] << 8 | at[5], whole = 8 + length + at[6];

        assert_int_equal(at[0], 1);
        assert_int_equal(at[2] << 8 | at[3], 258);
        assert_true(whole <= left);
        assert_memory_equal(at + 8, buffer_text(&text).at + got, length);
        got += length;
        at += whole;
        left -= whole;
    }
    assert_int_equal(got, 70001);
    assert_int_equal(left, 16);
    assert_int_equal(at[1], 3);
    buffer_free(&out);
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(a_whole_request_is_complete),
        cmocka_unit_test(a_body_in_many_records_is_put_together),
        cmocka_unit_test(variables_are_found_wherever_records_end),
        cmocka_unit_test(lists_that_end_early_hold_nothing_more),
        cmocka_unit_test(it_is_complete_with_its_last_byte),
        cmocka_unit_test(lengths_that_no_variable_has_are_unsound),
        cmocka_unit_test(variables_have_a_bound),
        cmocka_unit_test(other_peers_are_told_apart_at_once),
        cmocka_unit_test(damaged_requests_are_survived),
        cmocka_unit_test(a_response_is_cut_into_records),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
