/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one request and the texts that grow in it. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/support/test.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "server/base/banned.h"

enum { PLENTY = 64 * 1024 * 1024 };

static void allocations_are_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena *arena = arena_create(PLENTY);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *at = arena_alloc(arena, size);
        assert_non_null(at);
        assert_int_equal((uintptr_t)at % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xff, size);
    }
    arena_reset(arena);
    unsigned char *again = arena_alloc(arena, 10000);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(again[i], 0);
    arena_destroy(arena);
}

static void blocks_hold_what_was_written(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct arena *arena = arena_create(PLENTY);
    unsigned char *given[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = i * 7919 % 5000 + 1;
        given[i] = arena_alloc(arena, size);
        assert_non_null(given[i]);
        memset(given[i], (int)(i % 256), size);
    }
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = i * 7919 % 5000 + 1;
        assert_int_equal(given[i][0], i % 256);
        assert_int_equal(given[i][size - 1], i % 256);
    }
    arena_destroy(arena);
}

static void bound_is_exact_and_its_mark_sticks(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024);
    assert_non_null(arena_alloc(arena, 1000));
    assert_false(arena_overflowed(arena));
    assert_int_equal(arena_lacked(arena), 0);
    assert_null(arena_alloc(arena, 32));
    assert_true(arena_overflowed(arena));
    assert_null(arena_alloc(arena, 200)); /* not the first that fails */
    assert_int_equal(arena_lacked(arena), 1008 + 32);
    assert_non_null(arena_alloc(arena, 16)); /* still fits */
    assert_true(arena_overflowed(arena));
    assert_int_equal(arena_used(arena), 1024);
    arena_reset(arena);
    assert_false(arena_overflowed(arena));
    assert_int_equal(arena_used(arena), 0);
    assert_int_equal(arena_lacked(arena), 0);
    assert_non_null(arena_alloc(arena, 1024));
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void impossible_sizes_overflow(void **state)
{
    (void)state;
    struct arena *arena = arena_create(SIZE_MAX);
    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_true(arena_lacked(arena) == SIZE_MAX);
    arena_reset(arena);
    assert_null(arena_alloc_array(arena, SIZE_MAX / 2, 3));
    assert_true(arena_overflowed(arena));
    arena_reset(arena);
    assert_null(ARENA_ARRAY(arena, SIZE_MAX / 4, uint64_t));
    assert_true(arena_overflowed(arena));
    arena_destroy(arena);
}

static void rewind_gives_back_what_came_after(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024 * 1024);
    char *kept = arena_alloc(arena, 100);
    memcpy(kept, "kept", 5);
    struct arena_mark mark = arena_mark(arena);
    size_t used = arena_used(arena);
    for (int attempt = 0; attempt < 5; attempt++) {
        assert_non_null(arena_alloc(arena, 900000)); /* twice would not fit */
        assert_null(arena_alloc(arena, 900000));
        arena_rewind(arena, mark);
        assert_false(arena_overflowed(arena));
        assert_int_equal(arena_lacked(arena), used + 2 * 900000);
        assert_int_equal(arena_used(arena), used);
    }
    assert_string_equal(kept, "kept");
    arena_destroy(arena);
}

static void freed_memory_is_poisoned(void **state)
{
    (void)state;
#ifdef HAVE_ASAN
    struct arena *arena = arena_create(PLENTY);
    char *first = arena_alloc(arena, 10);
    assert_false(__asan_address_is_poisoned(first + 9));
    assert_true(__asan_address_is_poisoned(first + 10));
    char *second = arena_alloc(arena, 16);
    assert_true(__asan_address_is_poisoned(second - 1));
    struct arena_mark mark = arena_mark(arena);
    char *third = arena_alloc(arena, 16);
    arena_rewind(arena, mark);
    assert_true(__asan_address_is_poisoned(third));
    assert_false(__asan_address_is_poisoned(second + 15));
    arena_reset(arena);
    assert_true(__asan_address_is_poisoned(first));
    arena_destroy(arena);
#endif
}

static void buffers_grow(void **state)
{
    (void)state;
    struct arena *arena = arena_create(PLENTY);
    struct buffer buffers[] = {buffer_in(arena), buffer_on_heap(0)};
    for (size_t b = 0; b < 2; b++) {
        char *wanted = malloc(60001);
        assert_non_null(wanted);
        for (int i = 0; i < 10000; i++) {
            buffer_print(&buffers[b], "%05d", i);
            buffer_add_char(&buffers[b], '\n');
            (void)snprintf(wanted + (size_t)i * 6, 7, "%05d\n", i);
        }
        struct text text = buffer_text(&buffers[b]);
        assert_false(buffers[b].overflowed);
        assert_int_equal(text.length, 60000);
        assert_memory_equal(text.at, wanted, 60000);
        free(wanted);
        buffer_free(&buffers[b]);
    }
    arena_destroy(arena);
}

static void long_prints_are_whole(void **state)
{
    (void)state;
    struct buffer buffer = buffer_on_heap(0);
    buffer_print(&buffer, "%0255d", 1);
    buffer_print(&buffer, "%0256d", 2);
    buffer_print(&buffer, "%01000d", 3);
    assert_int_equal(buffer_text(&buffer).length, 255 + 256 + 1000);
    assert_int_equal(buffer.at[254], '1');
    assert_int_equal(buffer.at[510], '2');
    assert_int_equal(buffer.at[1510], '3');
    buffer_free(&buffer);
}

static void overflow_leaves_a_prefix(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024);
    struct buffer bounded = buffer_on_heap(5), in_arena = buffer_in(arena);
    buffer_add_string(&bounded, "abc");
    buffer_add_string(&bounded, "defg");
    buffer_add_string(&bounded, "h");
    assert_true(bounded.overflowed);
    assert_text(buffer_text(&bounded), "abc");
    buffer_free(&bounded);

    for (int i = 0; i < 1000; i++)
        buffer_add_string(&in_arena, "0123456789");
    assert_true(in_arena.overflowed);
    assert_true(arena_overflowed(arena));
    assert_int_equal(in_arena.length % 10, 0);
    arena_destroy(arena);
}

static void xml_is_escaped_byte_by_byte(void **state)
{
    (void)state;
    static const struct {
        const char *plain, *escaped;
    } cases[] = {
        {"", ""},
        {"plain text 'quoted' \"too\"", "plain text 'quoted' \"too\""},
        {"a<b>&c", "a&lt;b&gt;&amp;c"},
        {"]]>", "]]&gt;"},
        {"\t\n\r", "&#9;&#10;&#13;"},
        {"bell\a and \x1b[0m", "bell and [0m"},
        {"\xc3\xa9\x7f\x80\xff", "&#195;&#169;\x7f&#128;&#255;"},
        {"&amp;", "&amp;amp;"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer buffer = buffer_on_heap(0);
        buffer_add_xml(&buffer, text_from(cases[i].plain));
        assert_text(buffer_text(&buffer), cases[i].escaped);
        buffer_free(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_and_aligned),
        cmocka_unit_test(blocks_hold_what_was_written),
        cmocka_unit_test(bound_is_exact_and_its_mark_sticks),
        cmocka_unit_test(impossible_sizes_overflow),
        cmocka_unit_test(rewind_gives_back_what_came_after),
        cmocka_unit_test(freed_memory_is_poisoned),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(long_prints_are_whole),
        cmocka_unit_test(overflow_leaves_a_prefix),
        cmocka_unit_test(xml_is_escaped_byte_by_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
