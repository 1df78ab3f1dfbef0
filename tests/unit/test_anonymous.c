/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded request still says, and what it does not, of every captured request and of one
 * that says something everywhere. */
#include "server/recording/anonymous.h"

#include "server/base/buffer.h"
#include "server/parse/message.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

enum { WRITTEN_MAX = 64 << 20 };

static const struct digest_secret secret = {{7}};

static struct buffer written(const struct message *message, const struct digest_secret *with)
{
    struct buffer text = buffer_on_heap(WRITTEN_MAX);

    anonymous_request(message, with, &text);
    assert_false(text.overflowed);
    return text;
}

static void refuse(const char *path, const struct buffer *text, struct text private_text)
{
    if (private_text.length >= 3 && text_contains_nocase(buffer_text(text), private_text))
        fail_msg("%s: the record holds \"" TEXT_FORMAT "\"", path, TEXT_ARG(private_text));
}

static void refuse_what_is_private(const char *path, const struct message *m,
                                   const struct buffer *text)
{
    refuse(path, text, m->authenticator);
    refuse(path, text, m->cross_project_id);
    refuse(path, text, m->domain_name);
    refuse(path, text, m->ip_addr);
    refuse(path, text, m->host_cpid);
    refuse(path, text, m->global_prefs_source_email_hash);
    refuse(path, text, m->code_sign_key);
    refuse(path, text, m->client_opaque);
    refuse(path, text, m->global_preferences);
    refuse(path, text, m->working_global_preferences);
    for (size_t i = 0; i < m->result_count; i++) {
        refuse(path, text, m->results[i].name);
        refuse(path, text, m->results[i].stderr_out);
        refuse(path, text, m->results[i].xml_doc_out);
    }
    for (size_t i = 0; i < m->other_result_count; i++)
        refuse(path, text, m->other_results[i].name);
    for (size_t i = 0; i < m->ip_result_count; i++)
        refuse(path, text, m->ip_results[i].name);
    for (size_t i = 0; i < m->file_count; i++)
        refuse(path, text, m->files[i].name);
    for (size_t i = 0; i < m->trickle_count; i++)
        refuse(path, text, m->trickles[i].xml);
    assert_false(text_contains(buffer_text(text), TEXT("<hostid>")));
    assert_false(text_contains(buffer_text(text), TEXT("<authenticator></")));
}

/* Every pseudonym becomes "x": that of a pseudonym is another one. */
static void forget_pseudonyms(struct buffer *text)
{
    size_t kept = 0;

    for (size_t i = 0; i < text->length; i++) {
        text->at[kept++] = text->at[i];
        if (i + DIGEST_HEX_SIZE + 1 >= text->length || text->at[i] != 'x' || i == 0 ||
            text->at[i - 1] != '>' || text->at[i + DIGEST_HEX_SIZE] != '<')
            continue;
        i += DIGEST_HEX_SIZE - 1;
    }
    text->length = kept;
}

static void no_capture_tells_who_asked(void **state)
{
    size_t seen = 0;

    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++, seen++) {
        struct text body = capture_read_path(*path);
        struct parsed *parsed = parse_body(body);
        struct buffer text = written(&parsed->message, &secret);

        assert_status(STATUS_OK, parsed->status);
        refuse_what_is_private(*path, &parsed->message, &text);
        buffer_free(&text);
        parsed_free(parsed);
        text_free(body);
    }
    assert_true(seen >= 99);
}

/* What is written, read again and written again is the same, so nothing that is written is lost or
 * changed by the parser. */
static void what_is_written_is_read_again(void **state)
{
    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++) {
        struct text body = capture_read_path(*path);
        struct parsed *parsed = parse_body(body);
        struct buffer first = written(&parsed->message, &secret);
        struct parsed *again = parse_body(buffer_text(&first));
        struct buffer second;

        if (again->status != STATUS_OK || again->message.elements_dropped > 0)
            fail_msg("%s: %s %s, %zu dropped", *path, status_word(again->status),
                     again->failure.text, again->message.elements_dropped);
        assert_int_equal(again->message.result_count, parsed->message.result_count);
        assert_int_equal(again->message.other_result_count, parsed->message.other_result_count);
        assert_int_equal(again->message.ip_result_count, parsed->message.ip_result_count);
        assert_int_equal(again->message.app_version_count, parsed->message.app_version_count);
        assert_int_equal(again->message.coproc_count, parsed->message.coproc_count);
        assert_int_equal(again->message.platform_count, parsed->message.platform_count);
        assert_int_equal(again->message.has_resource_request, parsed->message.has_resource_request);
        assert_real(again->message.cpu_req_seconds, parsed->message.cpu_req_seconds, 0);
        assert_real(again->message.p_fpops, parsed->message.p_fpops, 0);
        second = written(&again->message, &secret);
        forget_pseudonyms(&first);
        forget_pseudonyms(&second);
        assert_true(text_equal(buffer_text(&second), buffer_text(&first)));
        buffer_free(&first);
        buffer_free(&second);
        parsed_free(again);
        parsed_free(parsed);
        text_free(body);
    }
}

static struct buffer written_of(const char *inside, const struct digest_secret *with)
{
    struct buffer body = buffer_on_heap(1 << 20), text;
    struct parsed *parsed;

    buffer_print(&body, "<scheduler_request>\n%s</scheduler_request>\n", inside);
    parsed = parse_body(buffer_text(&body));
    assert_status(STATUS_OK, parsed->status);
    text = written(&parsed->message, with);
    buffer_free(&body);
    parsed_free(parsed);
    return text;
}

/* A name that turns up in a text that is otherwise kept takes that text with it. */
static void a_text_that_names_the_host_is_replaced(void **state)
{
    struct buffer text = written_of("<authenticator>0123456789abcdef</authenticator>\n"
                                    "<host_info><domain_name>anna-pc</domain_name>\n"
                                    "<os_name>Linux</os_name>\n"
                                    "<os_version>6.1 built on ANNA-PC</os_version>\n"
                                    "<p_model>Xeon 0123456789abcdef</p_model></host_info>\n",
                                    &secret);

    (void)state;
    assert_true(text_contains(buffer_text(&text), TEXT("<os_name>Linux</os_name>")));
    assert_true(text_contains(buffer_text(&text), TEXT("<os_version>x")));
    assert_true(text_contains(buffer_text(&text), TEXT("<p_model>x")));
    assert_false(text_contains_nocase(buffer_text(&text), TEXT("anna")));
    assert_false(text_contains(buffer_text(&text), TEXT("0123456789abcdef")));
    buffer_free(&text);
}

static void a_coprocessor_that_its_user_named_has_a_pseudonym(void **state)
{
    struct buffer text = written_of(
        "<coprocs><coproc_intel_gpu><count>1</count><type>INTEL</type></coproc_intel_gpu>\n"
        "<coproc><type>annas_box</type><count>2</count></coproc></coprocs>\n",
        &secret);
    struct parsed *again = parse_body(buffer_text(&text));

    (void)state;
    assert_false(text_contains(buffer_text(&text), TEXT("annas_box")));
    assert_int_equal(again->message.coproc_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(again->message.coprocs[i].is_generic,
                         !text_is(again->message.coprocs[i].type, "intel_gpu"));
    parsed_free(again);
    buffer_free(&text);
}

static void pseudonyms_join_under_one_secret_only(void **state)
{
    const struct digest_secret other = {{8}};
    const char *inside = "<other_results><other_result><name>job_1</name></other_result>\n"
                         "<other_result><name>job_1</name></other_result></other_results>\n";
    struct buffer text = written_of(inside, &secret), same = written_of(inside, &secret),
                  apart = written_of(inside, &other);
    struct parsed *again = parse_body(buffer_text(&text));

    (void)state;
    assert_true(text_equal(buffer_text(&same), buffer_text(&text)));
    assert_false(text_equal(buffer_text(&apart), buffer_text(&text)));
    assert_int_equal(again->message.other_result_count, 2);
    assert_true(
        text_equal(again->message.other_results[0].name, again->message.other_results[1].name));
    parsed_free(again);
    buffer_free(&text);
    buffer_free(&same);
    buffer_free(&apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_capture_tells_who_asked),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_text_that_names_the_host_is_replaced),
        cmocka_unit_test(a_coprocessor_that_its_user_named_has_a_pseudonym),
        cmocka_unit_test(pseudonyms_join_under_one_secret_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
