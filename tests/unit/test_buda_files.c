/* SPDX-License-Identifier: Apache-2.0 */
/* Science apps as a folder has them: what is taken, what is refused in which words, and that many
 * and large files take bounded memory. */
#include "server/project/buda_files.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define GOOD                                                                      \
    "{\"cpu_type\":\"intel\",\"plan_class\":\"\",\"file_infos\":\"<file_info>\\n" \
    "<name>a</name>\\n</file_info>\\n\",\"file_refs\":\"\"}"

static char root[64];
static const struct plan_classes no_classes = {.count = 0};
static struct arena *arena;
static struct buda_apps apps;

static int begin(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "%s/qm-buda-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    arena = arena_create(ARENA_BYTES);
    return mkdtemp(root) == NULL || arena == NULL;
}

static int end(void **state)
{
    (void)state;
    arena_destroy(arena);
    return test_folder_remove(root);
}

static void make_folder(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void make_file(const char *name, struct text content)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(content.at, 1, content.length, file), content.length);
    assert_int_equal(fclose(file), 0);
}

static void make_variant(const char *app, const char *name, struct text content)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", app, name);
    make_folder(path);
    snprintf(path, sizeof(path), "%s/%s/variant.json", app, name);
    make_file(path, content);
}

static void make_app(const char *name)
{
    char path[128], words[128];

    make_folder(name);
    snprintf(path, sizeof(path), "%s/desc.json", name);
    snprintf(words, sizeof(words), "{\"name\":\"%s\"}", name);
    make_file(path, text_from(words));
}

static void read_all(void)
{
    assert_true(buda_files_read(root, &no_classes, arena, &apps));
}

static bool is_fault(const char *words)
{
    for (size_t i = 0; i < apps.fault_count && i < BUDA_FAULTS_KEPT; i++)
        if (text_contains(apps.faults[i].words, text_from(words)))
            return true;
    return false;
}

static void what_is_beyond_a_bound_is_a_fault(void **state)
{
    char name[32];

    (void)state;
    make_app("many");
    make_app("more");
    for (int i = 0; i < BUDA_VARIANTS_MAX; i++) {
        snprintf(name, sizeof(name), "v%05d", i);
        make_variant("many", name, TEXT(GOOD));
    }
    make_variant("more", "v", TEXT(GOOD));
    read_all();
    assert_int_equal(apps.app_count, 2);
    assert_int_equal(apps.variant_count, BUDA_VARIANTS_MAX);
    assert_int_equal(apps.kind_count, 1);
    assert_true(is_fault("more than 10000 variants in all"));
    assert_true(is_fault("there is no variant that can be used"));
    assert_false(is_fault("more than 10001 entries"));
    assert_in_range(arena_used(arena), 1, (size_t)16 << 20);
    arena_reset(arena);
    make_variant("many", "v_too_many", TEXT(GOOD));
    read_all();
    assert_int_equal(apps.variant_count, BUDA_VARIANTS_MAX);
    assert_in_range(apps.fault_count, 3, 4); /* whichever entry is not looked at */
    assert_true(is_fault("more than 10001 entries"));
}

static void many_apps_take_little_memory(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "app%d", i);
        make_app(name);
        make_variant(name, "v", TEXT(GOOD));
    }
    read_all();
    assert_int_equal(apps.app_count, 500);
    assert_int_equal(apps.variant_count, 500);
    assert_in_range(arena_used(arena), 1, (size_t)2 << 20);
}

/* The first ones are used whole, of the others none in part. */
static void what_does_not_fit_memory_is_a_fault(void **state)
{
    const size_t refs = 60000;
    char *bytes = calloc(1, refs + 200), name[32];

    (void)state;
    assert_non_null(bytes);
    snprintf(bytes, 200,
             "{\"cpu_type\":\"intel\",\"plan_class\":\"\",\"file_infos\":\"\","
             "\"file_refs\":\"");
    memset(bytes + strlen(bytes), ' ', refs);
    memcpy(bytes + strlen(bytes), "\"}", 2);
    make_app("app");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "v%02d", i);
        make_variant("app", name, text_from(bytes));
    }
    arena_destroy(arena);
    arena = arena_create((size_t)4 << 20);
    read_all();
    assert_in_range(apps.variant_count, 30, 70);
    assert_true(is_fault("no memory"));
    assert_int_equal(apps.fault_count, 100 - apps.variant_count);
    for (size_t i = 0; i < apps.variant_count; i++)
        assert_int_equal(apps.variants[i].file_refs.length, refs);
    free(bytes);
}

/* Each of them is read and refused; none stays in memory. */
static void large_files_leave_nothing_behind(void **state)
{
    const size_t size = 1000000;
    char *bytes = malloc(size), name[32];

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    memcpy(bytes, "{\"cpu_type\":\"", 13);
    memcpy(bytes + size - 2, "\"}", 2);
    make_app("large");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        make_variant("large", name, (struct text){bytes, size});
    }
    make_variant("large", "z", TEXT(GOOD));
    read_all();
    assert_int_equal(apps.variant_count, 1);
    assert_true(is_fault("there is no key \"plan_class\""));
    assert_in_range(arena_used(arena), 1, (size_t)4 << 20);
    free(bytes);
}

/* As a client would stop reading in the middle of them. */
static void more_files_than_clients_read_are_refused(void **state)
{
    static const char one[] = "<file_info>\\n<sticky/>\\n<no_delete/>\\n<executable/>\\n"
                              "<name>buda_app_variant_0123456789abcdef0123456789abcdef</name>\\n"
                              "<url>https:\\/\\/example.org\\/project\\/download\\/3f\\/"
                              "buda_app_variant_0123456789abcdef0123456789abcdef</url>\\n"
                              "<md5_cksum>0123456789abcdef0123456789abcdef</md5_cksum>\\n"
                              "<nbytes>123456789</nbytes>\\n</file_info>\\n";
    static const int counts[] = {200, 240};
    char name[32];

    (void)state;
    make_app("app");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct buffer bytes = buffer_on_heap(0);

        buffer_add_string(&bytes, "{\"cpu_type\":\"intel\",\"plan_class\":\"\",\"file_infos\":\"");
        for (int j = 0; j < counts[i]; j++)
            buffer_add_string(&bytes, one);
        buffer_add_string(&bytes, "\",\"file_refs\":\"\"}");
        snprintf(name, sizeof(name), "of_%d", counts[i]);
        make_variant("app", name, buffer_text(&bytes));
        buffer_free(&bytes);
    }
    read_all();
    assert_int_equal(apps.variant_count, 1);
    assert_text(apps.variants[0].name, "of_200");
    assert_true(is_fault("\"file_infos\" and \"file_refs\" have "));
    assert_true(is_fault("clients read 65535"));
}

/* A server that runs for a year reads them whenever somebody edits one. */
static void reading_again_takes_no_more_memory(void **state)
{
    enum { TIMES = 10000, FIRST = 100 };
    size_t used = 0;

    (void)state;
    make_app("app");
    make_variant("app", "v", TEXT(GOOD));
    make_variant("app", "w", TEXT("{"));
    for (int i = 0; i < TIMES; i++) {
        arena_reset(arena);
        read_all();
        assert_int_equal(apps.variant_count, 1);
        if (i == FIRST)
            used = mallinfo2().uordblks;
    }
    assert_in_range(mallinfo2().uordblks, 0, used);
}

static void hostile_files_are_refused(void **state)
{
    const struct {
        const char *document, *words;
    } cases[] = {
        {"", "it is empty"},
        {"[]", "no object"},
        {"{\"cpu_type\":[[[[[[[[[[", "no JSON"},
        {"{\"cpu_type\":1}", "the key \"cpu_type\" is no text"},
        {"{\"cpu_type\":\"intel\",\"cpu_type\":\"arm\"}", "duplicate object key"},
        {"{\"cpu_type\":\"intel\",\"plan_class\":\"x\",\"file_infos\":\"\",\"file_refs\":\"\"}",
         "there is no plan class \"x\""},
        {"{\"cpu_type\":\"intel\",\"plan_class\":\"\",\"file_infos\":\"</workunit>\","
         "\"file_refs\":\"\"}",
         "\"file_infos\" would break replies"},
        {"{\"cpu_type\":\"intel\",\"plan_class\":\"\",\"file_infos\":\"\",\"file_refs\":\"<a>\"}",
         "\"file_refs\" would break replies"},
    };
    char name[32];

    (void)state;
    make_app("app");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(name, sizeof(name), "v%zu", i);
        make_variant("app", name, text_from(cases[i].document));
    }
    make_folder("app/v_folder");
    make_folder("app/v_folder/variant.json");
    make_file("plain", TEXT("a file where a folder should be"));
    read_all();
    assert_int_equal(apps.variant_count, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!is_fault(cases[i].words))
            fail_msg("no fault says \"%s\" of %s", cases[i].words, cases[i].document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_beyond_a_bound_is_a_fault, begin, end),
        cmocka_unit_test_setup_teardown(many_apps_take_little_memory, begin, end),
        cmocka_unit_test_setup_teardown(what_does_not_fit_memory_is_a_fault, begin, end),
        cmocka_unit_test_setup_teardown(large_files_leave_nothing_behind, begin, end),
        cmocka_unit_test_setup_teardown(more_files_than_clients_read_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(reading_again_takes_no_more_memory, begin, end),
        cmocka_unit_test_setup_teardown(hostile_files_are_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
