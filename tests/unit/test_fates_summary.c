/* SPDX-License-Identifier: Apache-2.0 */
/* Who fails, from rows to words. */
#include "server/fates/fates_summary.h"

#include "server/base/arena.h"
#include "server/fates/fates.h"
#include "tests/support/test.h"

#include <string.h>

#include "server/base/banned.h"

static void rows_are_summed_up_by_version(void **state)
{
    const struct fate_version_row rows[] = {
        {.appid = 1, .app_version_id = 2, .fate = FATE_SUCCESS, .results = 10},
        {.appid = 1, .app_version_id = 3, .fate = FATE_SUCCESS, .results = 5},
        {.appid = 1,
         .app_version_id = 2,
         .fate = FATE_CLIENT_ERROR,
         .exit_status = -186,
         .results = 2},
        {.appid = 1,
         .app_version_id = 2,
         .fate = FATE_CLIENT_ERROR,
         .exit_status = 1,
         .results = 7},
        {.appid = 1, .app_version_id = 2, .fate = FATE_NO_REPLY, .results = 1},
        {.appid = 1, .app_version_id = 2, .fate = FATE_INVALID, .results = 3},
        {.appid = 1, .app_version_id = 2, .fate = FATE_SENT, .results = 40},
        {.appid = 1, .app_version_id = 2, .fate = FATE_ABORTED, .results = 4},
        {.appid = 1, .app_version_id = 2, .fate = 77, .results = 1000},
        {.appid = 2, .app_version_id = 2, .fate = FATE_NO_REPLY, .results = 20},
    };
    struct arena *arena = arena_create(1 << 20);
    size_t count = 0;
    const struct fates_summary *all =
        fates_summarize(arena, rows, sizeof(rows) / sizeof(rows[0]), &count);

    (void)state;
    assert_int_equal(count, 3);
    assert_i64(all[0].appid, 2);
    assert_i64(all[0].worst_exits, 0);
    assert_i64(all[1].app_version_id, 2);
    assert_i64(all[1].sent, 40);
    assert_i64(all[1].ended, 20);
    assert_i64(all[1].failed, 13);
    assert_i64(all[1].worst_exit, 1);
    assert_i64(all[1].worst_exits, 7);
    assert_i64(all[1].by_fate[FATE_ABORTED], 4);
    assert_i64(all[2].app_version_id, 3);
    assert_i64(all[2].failed, 0);
    assert_non_null(fates_summarize(arena, rows, 0, &count));
    assert_int_equal(count, 0);
    arena_destroy(arena);
}

static void batches_are_summed_up_likewise(void **state)
{
    static const struct fate_batch_row rows[] = {
        {.batch = 7, .fate = FATE_SUCCESS, .results = 9},
        {.batch = 7, .fate = FATE_CLIENT_ERROR, .results = 1},
        {.batch = 8, .fate = FATE_CLIENT_ERROR, .results = 6},
    };
    struct arena *arena = arena_create(1 << 20);
    size_t count = 0;
    const struct fates_summary *all = fates_summarize_batches(arena, rows, 3, &count);

    (void)state;
    assert_int_equal(count, 2);
    assert_i64(all[0].batch, 8);
    assert_i64(all[0].ended, 6);
    assert_i64(all[0].failed, 6);
    assert_i64(all[0].app_version_id, 0);
    assert_i64(all[1].batch, 7);
    assert_i64(all[1].ended, 10);
    assert_i64(all[1].failed, 1);
    assert_non_null(fates_summarize_batches(arena, rows, 0, &count));
    assert_int_equal(count, 0);
    arena_destroy(arena);
}

static void an_alarm_needs_some_results(void **state)
{
    (void)state;
    assert_false(fates_alarm(0, 0));
    assert_false(fates_alarm(4, 4));
    assert_true(fates_alarm(5, 5));
    assert_false(fates_alarm(19, 18));
    assert_true(fates_alarm(20, 5));
    assert_false(fates_alarm(20, 4)); /* a fifth is not more than a fifth */
    assert_true(fates_alarm(0, 5));   /* found invalid long after they ended */
    assert_real(fates_share(10, 20), 1, 0);
    assert_real(fates_share(0, 0), 0, 0);
    assert_real(fates_share(8, 2), 0.25, 0);
}

static void versions_and_hours_are_said(void **state)
{
    const struct fates_summary summary = {.appid = 4, .app_version_id = 9},
                               own = {.app_version_id = -2};
    struct app_version_row version = {.version_num = 103, .plan_class = TEXT("cuda")};
    struct arena *arena = arena_create(1 << 16);

    (void)state;
    assert_text(
        fates_version_words(arena, &summary, TEXT("demo"), &version, TEXT("windows_x86_64")),
        "demo 1.03 windows_x86_64 (cuda)");
    version.plan_class = NO_TEXT;
    assert_text(fates_version_words(arena, &summary, TEXT("demo"), &version, TEXT("x")),
                "demo 1.03 x");
    assert_text(fates_version_words(arena, &summary, NO_TEXT, NULL, NO_TEXT),
                "application 4, a version that is gone");
    assert_text(fates_version_words(arena, &own, TEXT("demo"), NULL, NO_TEXT),
                "demo, volunteers' own versions");
    assert_text(fates_exit_words(arena, 1), "the application's own exit status");
    assert_text(fates_exit_words(arena, 0), "an output file is missing or too large");
    assert_i64(fates_since(7200, 1), 2);
    assert_i64(fates_since(10799, 2), 1);
    arena_destroy(arena);
}

static void exit_statuses_have_words(void **state)
{
    static const int64_t numbers[] = {
#define EXIT(number, name, words) (number),
#include "server/fates/exit_statuses.def"
#undef EXIT
    };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        assert_true(i == 0 || numbers[i] > numbers[i - 1]);
        assert_true(strlen(exit_status_meaning_of(numbers[i])->words) > 0);
    }
    assert_null(exit_status_meaning_of(1));
    assert_string_equal(exit_status_meaning_of(203)->name, "EXIT_ABORTED_VIA_GUI");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_summed_up_by_version),
        cmocka_unit_test(batches_are_summed_up_likewise),
        cmocka_unit_test(an_alarm_needs_some_results),
        cmocka_unit_test(versions_and_hours_are_said),
        cmocka_unit_test(exit_statuses_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
