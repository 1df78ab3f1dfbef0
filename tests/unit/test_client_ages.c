/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse/client_ages.def: in order, each name once, and told on the page protocol(7). That
 * each row is used is asked by tests/lint/tables.sh. */
#include "server/parse/client_age.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/text.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *name;
    int version;
    const char *below;
} ages[] = {
#define CLIENT_AGE(name_, version_, below_) {#name_, version_, below_},
#include "server/parse/client_ages.def"
#undef CLIENT_AGE
};
enum { AGE_COUNT = sizeof ages / sizeof ages[0] };

static void ages_are_sorted_and_named_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < AGE_COUNT; i++) {
        if (i > 0 && (ages[i - 1].version > ages[i].version ||
                      (ages[i - 1].version == ages[i].version &&
                       strcmp(ages[i - 1].name, ages[i].name) >= 0)))
            fail_msg("%s before %s", ages[i - 1].name, ages[i].name);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ages[i].name, ages[j].name);
    }
}

static void ages_are_versions_of_clients(void **state)
{
    (void)state;
    for (size_t i = 0; i < AGE_COUNT; i++)
        if (ages[i].version < 30800 || ages[i].version > 99999)
            fail_msg("%s: %d is no version", ages[i].name, ages[i].version);
    assert_int_equal(CLIENT_READS_XML, 61302);
}

/* Each row is a line "| VERSION | WORDS |" of the page's table. */
static void ages_stand_on_the_page(void **state)
{
    struct arena *arena = arena_create(1 << 22);
    const char *source = getenv("QM_SOURCE_DIR");
    struct text page;

    (void)state;
    assert_non_null(source);
    assert_int_equal(
        file_read(arena, text_string(arena, text_print(arena, "%s/server/protocol.7.md", source)),
                  1 << 20, &page, NULL),
        STATUS_OK);
    for (size_t i = 0; i < AGE_COUNT; i++) {
        struct text line = text_print(arena, "\n| %d | %s |\n", ages[i].version, ages[i].below);

        if (!text_contains(page, line))
            fail_msg("protocol(7) 5.1 has no line" TEXT_FORMAT, TEXT_ARG(line));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_are_sorted_and_named_once),
        cmocka_unit_test(ages_are_versions_of_clients),
        cmocka_unit_test(ages_stand_on_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
