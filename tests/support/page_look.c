/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/page_look.h"

#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/status/page_frame.h"
#include "tests/support/test.h"

static bool is_one_of(struct text word, const char *words)
{
    struct text rest = text_from(words);

    while (rest.length > 0)
        if (text_equal(text_split(&rest, ' '), word))
            return true;
    return false;
}

/* One attribute, as the page writes them all: a blank, a name, a value in double quotes. */
static struct text split_attribute(struct text *tag, struct text *ret_value)
{
    struct text name;

    assert_true(tag->at[0] == ' ');
    *tag = (struct text){tag->at + 1, tag->length - 1};
    name = text_split(tag, '=');
    assert_true(tag->length >= 2 && tag->at[0] == '"');
    *tag = (struct text){tag->at + 1, tag->length - 1};
    *ret_value = text_split(tag, '"');
    return name;
}

/* Nothing leads out of the page, nothing is inline that the policy does not let through, and what a
 * table or a picture needs to be read aloud is there. */
static void look_at_tag(struct text tag, struct text behind)
{
    struct text name = tag;
    bool has_scope = false, has_role = false, is_hidden = false;

    name.length = 0;
    while (name.length < tag.length && tag.at[name.length] != ' ' && tag.at[name.length] != '/')
        name.length++;
    if (!is_one_of(
            name, "html head meta title style body main header section h1 h2 p strong code ul "
                  "li dl div nav a dt dd figure figcaption span svg desc path rect details summary "
                  "table caption thead tbody tr th td br script"))
        fail_msg("element " TEXT_FORMAT, TEXT_ARG(name));
    tag = (struct text){tag.at + name.length, tag.length - name.length};
    while (tag.length > 0 && !text_is(tag, "/")) {
        struct text value, attribute = split_attribute(&tag, &value);

        if (!is_one_of(
                attribute,
                "id class lang xmlns charset name content scope role viewBox d x y "
                "width height preserveAspectRatio aria-labelledby aria-hidden data-label href"))
            fail_msg("attribute " TEXT_FORMAT, TEXT_ARG(attribute));
        if (text_is(attribute, "href"))
            assert_true(page_of_word(value) != PAGE_KINDS);
        has_scope = has_scope || text_is(attribute, "scope");
        has_role = has_role || text_is(attribute, "role");
        is_hidden = is_hidden || text_is(attribute, "aria-hidden");
    }
    if (text_is(name, "th"))
        assert_true(has_scope);
    if (text_is(name, "table"))
        assert_true(text_starts(behind, TEXT("\n<caption>")));
    if (text_is(name, "svg"))
        assert_true(is_hidden || (has_role && text_starts(behind, TEXT("\n<title "))));
}

void assert_page_is_sound(struct text page)
{
    const struct xml_limits limits = {STATUS_BYTES_MAX, 100, 1000000, false};
    const struct xml_handler nobody = {.context = NULL};
    struct failure failure = {0};
    struct text first = text_split(&page, '\n');

    assert_text(first, "<!DOCTYPE html>");
    if (xml_walk(page, &limits, &nobody, &failure) != STATUS_OK)
        fail_msg("the page is not well-formed: %s", failure.text);
    while (page.length > 0) {
        struct text tag;

        (void)text_split(&page, '<');
        tag = text_split(&page, '>');
        if (tag.length > 0 && tag.at[0] != '/')
            look_at_tag(tag, page);
    }
}

void page_without_labels(struct text page, struct buffer *ret_plain)
{
    const struct text label = TEXT(" data-label=\"");

    while (page.length > 0) {
        size_t length = text_find(page, label);

        buffer_add(ret_plain, text_first(page, length));
        page = (struct text){page.at + length, page.length - length};
        if (page.length == 0)
            break;
        page = (struct text){page.at + label.length, page.length - label.length};
        (void)text_split(&page, '"');
    }
}
