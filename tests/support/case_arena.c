/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/case_arena.h"

#include "server/base/arena.h"

#include <stddef.h>

struct arena *case_arena;

int case_arena_setup(void **state)
{
    (void)state;
    case_arena = arena_create((size_t)1 << 20);
    return case_arena == NULL;
}

int case_arena_teardown(void **state)
{
    (void)state;
    arena_destroy(case_arena);
    case_arena = NULL;
    return 0;
}
