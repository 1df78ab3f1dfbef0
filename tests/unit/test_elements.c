/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse/elements.def: in order, and every row does what it says in a request. */
#include "server/parse/elements.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"

#include "tests/support/requests.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static void is_sorted_and_unique(void **state)
{
    (void)state;
    for (size_t i = 1; i < element_count; i++) {
        const struct element *a = &elements[i - 1], *b = &elements[i];

        if (a->context > b->context || (a->context == b->context && strcmp(a->name, b->name) >= 0))
            fail_msg("%s before %s", a->name, b->name);
    }
}

static void finds_every_row_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < element_count; i++)
        assert_ptr_equal(element_find(elements[i].context, text_from(elements[i].name)),
                         &elements[i]);
    assert_null(element_find(CONTEXT_REQUEST, TEXT("no_such_element")));
    assert_null(element_find(CONTEXT_NONE, TEXT("result")));
    assert_null(element_find(CONTEXT_REQUEST, NO_TEXT));
    assert_null(element_find(CONTEXT_REQUEST, TEXT("resultx")));
    assert_null(element_find(CONTEXT_REQUEST, TEXT("results")));
}

static void another_spelling_has_a_usual_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < element_count; i++) {
        size_t usual = 0;

        if ((elements[i].marks & ELEMENT_OTHER) == 0)
            continue;
        for (size_t j = 0; j < element_count; j++)
            usual += elements[j].context == elements[i].context &&
                     elements[j].offset == elements[i].offset &&
                     (elements[j].marks & ELEMENT_OTHER) == 0;
        assert_int_equal(usual, 1);
    }
}

/* The row whose children have this context. */
static const struct element *row_into(enum context context)
{
    for (size_t i = 0; i < element_count; i++)
        if (elements[i].child == context)
            return &elements[i];
    return NULL;
}

/* What an item needs to be kept. */
static const char *minimum(enum context context)
{
    if (context == CONTEXT_COPROC)
        return "<type>asic</type>";
    if (context == CONTEXT_RESULT || context == CONTEXT_HOST_FILE ||
        context == CONTEXT_OTHER_RESULT || context == CONTEXT_WSL_GPU)
        return "<name>job</name>";
    return "";
}

static const char *record_of(const struct message *message, enum context context)
{
    if (context == CONTEXT_DISTRO)
        return (const char *)&message->distros[0];
    if (context == CONTEXT_WSL_GPU)
        return (const char *)&message->wsl_gpus[0];
    if (context == CONTEXT_CPU_DEVICE || context == CONTEXT_CPU_OPENCL)
        return (const char *)&message->opencl_cpus[0];
    if (context == CONTEXT_COPROC)
        return (const char *)&message->coprocs[0];
    if (context == CONTEXT_OPENCL)
        return (const char *)&message->coprocs[0].opencl;
    if (context == CONTEXT_RESULT)
        return (const char *)&message->results[0];
    if (context == CONTEXT_HOST_FILE)
        return (const char *)&message->files[0];
    if (context == CONTEXT_APP_VERSION || context == CONTEXT_APP_COPROC)
        return (const char *)&message->app_versions[0];
    if (context == CONTEXT_OTHER_RESULT)
        return (const char *)&message->other_results[0];
    if (context == CONTEXT_IP_RESULT)
        return (const char *)&message->ip_results[0];
    if (context == CONTEXT_ALT_PLATFORM)
        return (const char *)&message->platforms[0];
    return (const char *)message;
}

/* Outermost first; the root is not among them. */
static size_t path_to(enum context context, const struct element **ret_path)
{
    size_t count = 0;

    for (; context != CONTEXT_REQUEST; context = ret_path[count - 1]->context)
        ret_path[count++] = row_into(context);
    for (size_t i = 0; i < count / 2; i++) {
        const struct element *other = ret_path[i];

        ret_path[i] = ret_path[count - 1 - i];
        ret_path[count - 1 - i] = other;
    }
    return count;
}

static struct parsed *request_with(const struct element *element, const char *value)
{
    const struct element *path[8];
    size_t count = path_to(element->context, path);
    struct buffer body = buffer_on_heap(0);
    struct parsed *parsed;

    buffer_add_string(&body, "<scheduler_request>\n");
    for (size_t i = 0; i < count; i++)
        buffer_print(&body, "<%s>%s", path[i]->name, minimum(path[i]->child));
    buffer_print(&body, "<%s>%s</%s>", element->name, value, element->name);
    for (size_t i = count; i-- > 0;)
        buffer_print(&body, "</%s>\n", path[i]->name);
    buffer_add_string(&body, "</scheduler_request>\n");
    parsed = parse_body(buffer_text(&body));
    buffer_free(&body);
    return parsed;
}

static void check_value(const struct element *element, const char *record)
{
    struct text text;
    int64_t number;
    double real;
    bool flag;

    if (element->kind == ELEMENT_STRING || element->kind == ELEMENT_BLOB) {
        memcpy(&text, record + element->offset, sizeof text);
        assert_text(text, "7");
    } else if (element->kind == ELEMENT_INTEGER) {
        memcpy(&number, record + element->offset, sizeof number);
        assert_i64(number, 7);
    } else if (element->kind == ELEMENT_REAL) {
        memcpy(&real, record + element->offset, sizeof real);
        assert_real(real, 7, 0);
    } else if (element->kind == ELEMENT_FLAG) {
        memcpy(&flag, record + element->offset, sizeof flag);
        assert_true(flag);
    }
    if (element->flag_offset != ELEMENT_NOWHERE && element->kind != ELEMENT_KEYWORD) {
        memcpy(&flag, record + element->flag_offset, sizeof flag);
        assert_true(flag);
    }
}

static void every_field_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < element_count; i++) {
        const struct element *element = &elements[i];
        struct parsed *parsed;

        if (element->kind == ELEMENT_INSIDE || element->kind == ELEMENT_ITEM)
            continue;
        parsed = request_with(element, "7");
        assert_status(STATUS_OK, parsed->status);
        if (parsed->message.elements_dropped > 0)
            fail_msg("%s is dropped", element->name);
        if (element->kind == ELEMENT_WHOLE)
            assert_text(parsed->message.results[0].xml_doc_out, "<file_info>7</file_info>");
        else if (element->kind == ELEMENT_TRICKLE)
            assert_text(parsed->message.trickles[0].xml, "7");
        else if (element->kind == ELEMENT_KEYWORD)
            assert_int_equal(parsed->message.keyword_yes_count + parsed->message.keyword_no_count,
                             1);
        else
            check_value(element, record_of(&parsed->message, element->context));
        assert_int_equal(parsed->message.has_resource_request,
                         (element->marks & ELEMENT_DEMAND) != 0);
        parsed_free(parsed);
    }
}

static void every_unreadable_number_is_dropped_alone(void **state)
{
    static const char *const junk[] = {
        "seven", "nan", "inf", "1e999", "99999999999999999999x", "7 7", "<b>7</b>", "7</wrong>"};

    (void)state;
    for (size_t i = 0; i < element_count; i++) {
        enum element_kind kind = elements[i].kind;

        if (kind != ELEMENT_INTEGER && kind != ELEMENT_REAL && kind != ELEMENT_FLAG)
            continue;
        for (size_t j = 0; j < sizeof junk / sizeof junk[0]; j++) {
            struct parsed *parsed = request_with(&elements[i], junk[j]);

            assert_status(STATUS_OK, parsed->status);
            assert_true(parsed->message.elements_dropped > 0);
            parsed_free(parsed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_sorted_and_unique),
        cmocka_unit_test(finds_every_row_and_nothing_else),
        cmocka_unit_test(another_spelling_has_a_usual_one),
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(every_unreadable_number_is_dropped_alone),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
