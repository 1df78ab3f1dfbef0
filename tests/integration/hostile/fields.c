/* SPDX-License-Identifier: Apache-2.0 */
/* Every element of server/parse/elements.def with hostile content, in requests that are right
 * otherwise. A new row of the table is tested from the day it is there. */
#include "tests/integration/hostile/hostile.h"

#include "server/parse/elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* A text, `times` times over. */
static const struct {
    const char *at;
    size_t length, times;
} texts[] = {
#define HOSTILE_TEXT(literal, times)        \
    {                                       \
        literal, sizeof(literal) - 1, times \
    }
    HOSTILE_TEXT("'; DROP TABLE result; -- ", 1),
    HOSTILE_TEXT("\" OR 1=1 #", 1),
    HOSTILE_TEXT("\\'; DELETE FROM host WHERE '1'='1", 1),
    HOSTILE_TEXT("%s%n%_\\", 1),
    HOSTILE_TEXT("\\", 1),
    HOSTILE_TEXT("A", 255),
    HOSTILE_TEXT("A", 100000),
    HOSTILE_TEXT("'", 70000),
    HOSTILE_TEXT("before\0after", 1),
    HOSTILE_TEXT("\xc3\x28\xff\xfe\xed\xa0\x80\xf8\x88", 1),
    HOSTILE_TEXT("\xe2\x98\x83", 85), /* 255 bytes of three each */
    HOSTILE_TEXT("\xf0\x9f\x92\xa3", 60),
    HOSTILE_TEXT("\x01\x08\x1b[2J\x7f", 1),
    HOSTILE_TEXT("&#0;&#xFFFFFFFF;&#99999999999;&none;&", 1),
    HOSTILE_TEXT("<![CDATA[", 1),
    HOSTILE_TEXT("]]>", 1),
    HOSTILE_TEXT("<!--", 1),
    HOSTILE_TEXT("<scheduler_request><hostid>1</hostid>", 1),
    HOSTILE_TEXT("\r\n\r\n<a", 1),
    HOSTILE_TEXT("", 1),
};

static const char *const numbers[] = {
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1e999",
    "-1",
    "-0",
    "1e308",
    "-1e308",
    "1e-320",
    "",
    "1,5",
    "12abc",
    "0x7fffffff",
    "2147483648",
    "'1'",
    "-2147483649",
    "9223372036854775808",
    "99999999999999999999999999999999999999",
    "\xff",
    "1 2",
    "-1.#IND",
    "NULL",
};

static const struct element *row_into(enum context context)
{
    for (size_t i = 0; i < element_count; i++)
        if (elements[i].child == context && elements[i].kind <= ELEMENT_ITEM)
            return &elements[i];
    abort(); /* test_elements shows that each context has one */
}

static void add_field(struct buffer *body, const struct element *element, struct text content)
{
    buffer_print(body, "<%s>", element->name);
    buffer_add(body, content);
    buffer_print(body, "</%s>\n", element->name);
}

/* Around the field what it stands in; an item of a list has a name in any case. */
static void add_within(struct buffer *body, const struct element *element, struct text content,
                       const char *item)
{
    const struct element *path[CONTEXT_COUNT];
    size_t count = 0;

    for (enum context at = element->context; at != CONTEXT_REQUEST; at = path[count - 1]->context)
        path[count++] = row_into(at);
    for (size_t i = count; i-- > 0;) {
        buffer_print(body, "<%s>\n", path[i]->name);
        if (path[i]->kind == ELEMENT_ITEM && strcmp(element->name, "name") != 0)
            buffer_print(body, "<name>%s</name>\n<state>5</state>\n", item);
    }
    add_field(body, element, content);
    for (size_t i = 0; i < count; i++)
        buffer_print(body, "</%s>\n", path[i]->name);
}

static bool holds_text(const struct element *element)
{
    return element->kind == ELEMENT_STRING || element->kind >= ELEMENT_BLOB;
}

static bool holds_number(const struct element *element)
{
    return element->kind == ELEMENT_INTEGER || element->kind == ELEMENT_REAL ||
           element->kind == ELEMENT_FLAG || element->kind == ELEMENT_KEYWORD;
}

static void send_with(struct hostile *hostile, const struct element *element, struct text content,
                      const char *what)
{
    struct buffer body =
        hostile_begin(element->context == CONTEXT_REQUEST ? element->name : "none");
    char item[40];

    /* Reports are booked once only, so each has another of the jobs that host 4242 has. */
    (void)snprintf(item, sizeof item, "job_%zu_0", hostile_sent(hostile) % 500 + 1);
    add_within(&body, element, content, item);
    buffer_add_string(&body, "</scheduler_request>\n");
    hostile_send(hostile, buffer_text(&body), WANTED_ANY, "%s in <%s>", what, element->name);
    buffer_free(&body);
}

/* As everything at once; only who asks is left as it is. */
static void send_everywhere(struct hostile *hostile, const char *sql)
{
    struct buffer body = hostile_begin("none");

    for (size_t i = 0; i < element_count; i++)
        if (holds_text(&elements[i]) && strcmp(elements[i].name, "authenticator") != 0 &&
            strcmp(elements[i].name, "platform_name") != 0)
            add_within(&body, &elements[i], text_from(sql), "job_501_0");
    buffer_add_string(&body, "<result>\n<name>job_502_0</name>\n<state>5</state>\n<stderr_out>");
    buffer_add_string(&body, sql);
    buffer_add_string(&body, "</stderr_out>\n<file_info>");
    buffer_add_string(&body, sql);
    buffer_add_string(&body, "</file_info>\n</result>\n</scheduler_request>\n");
    hostile_send(hostile, buffer_text(&body), WANTED_FULL, "SQL everywhere");
    buffer_free(&body);
}

void hostile_texts(struct hostile *hostile, const char *sql)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buffer content = buffer_on_heap(0);
        char what[40];

        for (size_t n = 0; n < texts[i].times; n++)
            buffer_add(&content, (struct text){texts[i].at, texts[i].length});
        (void)snprintf(what, sizeof what, "text %zu", i);
        for (size_t e = 0; e < element_count; e++)
            if (holds_text(&elements[e]))
                send_with(hostile, &elements[e], buffer_text(&content), what);
        buffer_free(&content);
    }
    send_everywhere(hostile, sql);
}

void hostile_numbers(struct hostile *hostile)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t e = 0; e < element_count; e++)
            if (holds_number(&elements[e]))
                send_with(hostile, &elements[e], text_from(numbers[i]), numbers[i]);
}
