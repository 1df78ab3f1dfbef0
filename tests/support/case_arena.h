/* SPDX-License-Identifier: Apache-2.0 */
/* An arena for each case: setup and teardown of cmocka for tests that need no more. */
#ifndef TESTS_SUPPORT_CASE_ARENA_H
#define TESTS_SUPPORT_CASE_ARENA_H

struct arena;

extern struct arena *case_arena; /* of 1 MB; NULL between cases */
int case_arena_setup(void **state);
int case_arena_teardown(void **state);

#endif
