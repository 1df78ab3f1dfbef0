/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI records taken apart as they come, in pieces of every size. */
#include "server/base/buffer.h"
#include "server/web/fcgi_records.h"
#include "server/web/fcgi_stream.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static void add_record(struct buffer *out, unsigned type, unsigned id, struct text content,
                       size_t padding)
{
    const char head[8] = {1,
                          (char)type,
                          (char)(id >> 8),
                          (char)(id & 0xff),
                          (char)(content.length >> 8),
                          (char)(content.length & 0xff),
                          (char)padding,
                          0};
    static const char zeros[256];

    buffer_add(out, (struct text){head, sizeof(head)});
    buffer_add(out, content);
    buffer_add(out, (struct text){zeros, padding});
}

static const struct text responder = {"\0\1\1\0\0\0\0\0", 8};
/* A variable with lengths of one byte, one with a length of four, one without a value. */
static const struct text variables = {"\x04\x05NAMEvalue\x01\x80\x00\x00\x03Nabc\x03\x00XYZ", 25};

static struct buffer whole_request(void)
{
    struct buffer out = buffer_on_heap(1 << 20);

    add_record(&out, 1, 258, responder, 0);
    add_record(&out, 4, 258, text_first(variables, 10), 6);
    add_record(&out, 4, 258, (struct text){variables.at + 10, variables.length - 10}, 0);
    add_record(&out, 4, 258, NO_TEXT, 0);
    add_record(&out, 5, 258, TEXT("first "), 2);
    add_record(&out, 5, 258, TEXT("second"), 0);
    add_record(&out, 5, 258, NO_TEXT, 0);
    return out;
}

/* Everything in pieces of that size; what came of it in the body. FCGI_PIECE_NONE: not the end. */
static enum fcgi_piece run(struct text bytes, size_t piece_size, struct buffer *body)
{
    struct fcgi_stream stream;
    enum fcgi_piece piece = FCGI_PIECE_NONE;
    bool has_variables = false;

    fcgi_stream_begin(&stream);
    while (bytes.length > 0 && piece != FCGI_PIECE_END && piece != FCGI_PIECE_UNSOUND) {
        struct text part = text_first(bytes, piece_size), got;

        bytes.at += part.length;
        bytes.length -= part.length;
        do {
            piece = fcgi_stream_next(&stream, &part, &got);
            if (piece == FCGI_PIECE_VARIABLES) {
                struct text list = buffer_text(&stream.variables);

                has_variables = true;
                assert_text(fcgi_variable_in(list, "NAME"), "value");
                assert_text(fcgi_variable_in(list, "N"), "abc");
                assert_text(fcgi_variable_in(list, "XYZ"), "");
            } else if (piece == FCGI_PIECE_BODY) {
                assert_true(has_variables);
                buffer_add(body, got);
            }
        } while (piece == FCGI_PIECE_VARIABLES || piece == FCGI_PIECE_BODY);
    }
    buffer_free(&stream.variables);
    return piece;
}

static void a_request_is_the_same_in_all_pieces(void **state)
{
    struct buffer bytes = whole_request();

    (void)state;
    for (size_t size = 1; size <= bytes.length; size++) {
        struct buffer body = buffer_on_heap(1000);

        assert_int_equal(run(buffer_text(&bytes), size, &body), FCGI_PIECE_END);
        assert_text(buffer_text(&body), "first second");
        buffer_free(&body);
    }
    for (size_t cut = 0; cut < bytes.length; cut++) {
        struct buffer body = buffer_on_heap(1000);

        assert_int_equal(run(text_first(buffer_text(&bytes), cut), 1000, &body), FCGI_PIECE_NONE);
        buffer_free(&body);
    }
    buffer_free(&bytes);
}

/* One record as the request's first, or behind a sound beginning. */
static enum fcgi_piece after(int records_before, unsigned type, unsigned id, struct text content)
{
    struct buffer out = buffer_on_heap(1 << 20), body = buffer_on_heap(1000);
    enum fcgi_piece piece;

    if (records_before > 0)
        add_record(&out, 1, 7, responder, 0);
    if (records_before > 1)
        add_record(&out, 4, 7, variables, 0);
    if (records_before > 2)
        add_record(&out, 4, 7, NO_TEXT, 0);
    add_record(&out, type, id, content, 0);
    piece = run(buffer_text(&out), 1000, &body);
    buffer_free(&out);
    buffer_free(&body);
    return piece;
}

static void what_no_web_server_sends_is_refused(void **state)
{
    static const struct text authorizer = {"\0\2\0\0\0\0\0\0", 8};
    struct buffer body = buffer_on_heap(1000);

    (void)state;
    assert_int_equal(after(0, 1, 7, authorizer), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(0, 1, 0, responder), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(0, 1, 7, TEXT("short")), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(0, 4, 7, variables), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(1, 1, 7, responder), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(1, 4, 8, variables), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(1, 5, 7, TEXT("body")), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(3, 4, 7, variables), FCGI_PIECE_UNSOUND);
    assert_int_equal(after(3, 2, 7, NO_TEXT), FCGI_PIECE_UNSOUND); /* the client went away */
    assert_int_equal(run(TEXT("GET / HTTP/1.1\r\n"), 100, &body), FCGI_PIECE_UNSOUND);
}

static void variables_are_bounded(void **state)
{
    static char much[60000];
    struct buffer out = buffer_on_heap(1 << 20), body = buffer_on_heap(1000);

    (void)state;
    add_record(&out, 1, 7, responder, 0);
    add_record(&out, 4, 7, (struct text){much, sizeof(much)}, 0);
    assert_int_equal(run(buffer_text(&out), 1000, &body), FCGI_PIECE_NONE);
    add_record(&out, 4, 7, (struct text){much, sizeof(much)}, 0);
    assert_int_equal(run(buffer_text(&out), 1000, &body), FCGI_PIECE_UNSOUND);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_the_same_in_all_pieces),
        cmocka_unit_test(what_no_web_server_sends_is_refused),
        cmocka_unit_test(variables_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
