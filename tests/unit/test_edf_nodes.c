/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation with loads of which a node holds four entries only: what short queues
 * never reach otherwise, trees of several levels, is reached by each. The file that is included
 * stands in the library too; the linker takes this one. `test_edf_nodes KIND N` does N of the
 * random cases of test_edf. */
#include "tests/support/edf_slow.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define EDF_FAN 4
#include "server/policy/edf/edf_load.c"

enum { ARENA_BYTES = 256 << 20 };

typedef const char *random_case(struct arena *arena, uint64_t seed, char *words, size_t size);

static const struct {
    const char *name;
    random_case *run;
    uint64_t count;
} kinds[] = {{"compare", edf_compare, 5000},
             {"long", edf_compare_long, 50},
             {"hostile", edf_compare_hostile, 300},
             {"promise", edf_check_promise, 1000}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Whether all agree; else says which does not. */
static bool run(random_case *one, uint64_t count)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    const char *wrong = arena == NULL ? "no memory" : NULL;
    char words[200];

    for (uint64_t seed = 1; seed <= count && wrong == NULL; seed++)
        wrong = one(arena, seed, words, sizeof(words));
    if (wrong != NULL)
        print_error("%s\n", wrong);
    arena_destroy(arena);
    return wrong == NULL;
}

static void trees_of_small_nodes_agree_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        assert_true(run(kinds[i].run, kinds[i].count));
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_of_small_nodes_agree_too)};

    for (size_t i = 0; i < KINDS && count > 2; i++)
        if (strcmp(words[1], kinds[i].name) == 0)
            return !run(kinds[i].run, strtoull(words[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
