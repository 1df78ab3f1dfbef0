/* SPDX-License-Identifier: Apache-2.0 */
/* The three amounts, and which files go to make room, each compared with a slow and obvious version
 * on random cases. */
#include "server/policy/disk/deletion.h"
#include "server/policy/disk/disk.h"
#include "server/policy/disk/document_files.h"

#include "server/base/random.h"
#include "server/parse/message.h"
#include "tests/support/test.h"

#include <math.h>

#define GIGABYTE 1073741824.0
enum { DAY = 86400, NOW = 1795000000 };

static double pick(struct random *random)
{
    static const double sizes[] = {-1e9, 0, 1, 4e8, 6e8, 4e9, 6e9, 4e10, 6e10, 1e12};

    return sizes[(size_t)(random_unit(random) * 10)];
}

/* --- amounts --------------------------------------------------------------------------------- */

/* A host whose preferences leave `formula` bytes. */
static struct message host_with(double formula, bool has_disk_usage)
{
    struct message message;

    message_init(&message);
    message.d_total = 1e13;
    message.d_free = 1e13;
    message.has_disk_usage = has_disk_usage;
    message.d_boinc_used_total = has_disk_usage ? 20 * GIGABYTE - formula : 0;
    if (has_disk_usage && message.d_boinc_used_total < 1) {
        message.d_boinc_used_total = 1e12;
        message.d_total = 2e13;
        message.d_free = formula + GIGABYTE;
    }
    return message;
}

static const struct global_preferences twenty = {.disk_max_used_gb = 20};
static const struct global_preferences without = {0};

static void amounts_never_fall_and_never_exceed_preferences(void **state)
{
    struct random random = {.state = 7};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        double formula = pick(&random), own = pick(&random);
        struct message message = host_with(formula, random_unit(&random) < 0.7);
        const struct global_preferences *preferences =
            message.d_boinc_used_total == 1e12 ? &without : &twenty;
        double bound = message.has_disk_usage ? formula : INFINITY, first, second, third;
        struct disk_space space;

        message.has_project_disk_free = random_unit(&random) < 0.7;
        message.has_potentially_free_offender = random_unit(&random) < 0.7;
        message.has_potentially_free_self = random_unit(&random) < 0.7;
        message.project_disk_free = pick(&random);
        message.potentially_free_offender = pick(&random);
        message.potentially_free_self = pick(&random);
        space = disk_space_of(&message, preferences, 1, own);

        if (message.has_project_disk_free && message.project_disk_free >= 0) {
            double told = message.project_disk_free, more = told, most;
            if (message.has_potentially_free_offender && message.potentially_free_offender > more)
                more = message.potentially_free_offender;
            most = more;
            if (message.has_potentially_free_self && message.potentially_free_self > most)
                most = message.potentially_free_self;
            first = told < bound ? told : bound;
            second = more < bound + (more - told) ? more : bound + (more - told);
            third = most < bound + (most - told) ? most : bound + (most - told);
        } else {
            first = second = message.has_disk_usage ? formula : 1e13 - GIGABYTE;
            third = first + (own > 0 ? own : 0);
        }
        assert_real(space.amounts[0], fmax(first, 0), 1);
        assert_real(space.amounts[1], fmax(second, 0), 1);
        assert_real(space.amounts[2], fmax(third, 0), 1);
        assert_true(space.amounts[0] <= space.amounts[1] && space.amounts[1] <= space.amounts[2]);
    }
}

/* What is deleted first makes up for what is above the limit. */
static void above_the_limit_a_deletion_counts_less(void **state)
{
    struct message message = host_with(-3e9, true);
    struct disk_space space = disk_space_of(&message, &twenty, 1, 5e9);

    (void)state;
    assert_real(space.amounts[0], 0, 0);
    assert_real(space.amounts[1], 0, 0);
    assert_real(space.amounts[2], 2e9, 1);
}

/* Jobs of three sizes against all combinations of the figures: which pass has which job. */
static void each_size_is_for_the_first_pass_that_holds_it(void **state)
{
    static const double jobs[] = {0.5e9, 5e9, 50e9}, figures[] = {0.4e9, 0.6e9, 6e9, 60e9};

    (void)state;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            for (size_t c = 0; c < 4; c++) {
                struct message message = host_with(0, false);
                struct disk_space space;

                message.has_project_disk_free = message.has_potentially_free_offender =
                    message.has_potentially_free_self = true;
                message.project_disk_free = figures[a];
                message.potentially_free_offender = figures[b];
                message.potentially_free_self = figures[c];
                space = disk_space_of(&message, &without, 1, 0);
                for (size_t i = 0; i < 3; i++) {
                    int wanted = jobs[i] <= figures[a]   ? 0
                                 : jobs[i] <= figures[b] ? 1
                                 : jobs[i] <= figures[c] ? 2
                                                         : 3,
                        pass = 0;
                    while (pass < DISK_PASSES && jobs[i] > space.amounts[pass])
                        pass++;
                    assert_int_equal(pass, wanted);
                }
            }
}

/* --- deletion -------------------------------------------------------------------------------- */

enum { FILES = 8 };

static size_t random_files(struct random *random, struct stored_file *files)
{
    static const char *const names[FILES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    size_t count = (size_t)(random_unit(random) * (FILES + 1));

    for (size_t i = 0; i < count; i++)
        files[i] = (struct stored_file){.name = text_from(names[i]),
                                        .bytes = floor(random_unit(random) * 5) - 1,
                                        .priority = 1 + (int64_t)(random_unit(random) * 3),
                                        .expiry = NOW - 2 + (int64_t)(random_unit(random) * 4),
                                        .first_seen = (int64_t)(random_unit(random) * 3),
                                        .last_used = (int64_t)(random_unit(random) * 3),
                                        .is_needed = random_unit(random) < 0.2};
    return count;
}

static bool goes_before(struct deletion_policy policy, const struct stored_file *a,
                        const struct stored_file *b)
{
    bool a_expired = a->expiry < NOW, b_expired = b->expiry < NOW;

    if (policy.by_expiry && a_expired != b_expired)
        return a_expired;
    if (policy.by_priority && a->priority != b->priority)
        return a->priority < b->priority;
    if (policy.by_priority && a->first_seen != b->first_seen)
        return a->first_seen < b->first_seen;
    if (a->last_used != b->last_used)
        return a->last_used < b->last_used;
    return text_compare(a->name, b->name) < 0;
}

/* Takes the best file again and again. */
static double slow_choice(struct deletion_policy policy, const struct stored_file *files,
                          size_t count, double needed, bool *chosen)
{
    double bytes = 0;

    memset(chosen, 0, FILES * sizeof(chosen[0]));
    while (bytes < needed) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (!chosen[i] && !files[i].is_needed && files[i].bytes > 0 &&
                (best == count || goes_before(policy, &files[i], &files[best])))
                best = i;
        if (best == count)
            return -1;
        chosen[best] = true;
        bytes += files[best].bytes;
    }
    return bytes;
}

static void deletion_is_as_the_slow_one(void **state)
{
    struct random random = {.state = 3};

    (void)state;
    for (int i = 0; i < 50000; i++) {
        struct deletion_policy policy = {.by_priority = random_unit(&random) < 0.5,
                                         .by_expiry = random_unit(&random) < 0.5};
        struct stored_file files[FILES] = {0}, sorted[FILES];
        size_t count = random_files(&random, files);
        double needed = floor(random_unit(&random) * 12), bytes;
        bool chosen[FILES];

        memcpy(sorted, files, sizeof(sorted));
        bytes = slow_choice(policy, files, count, needed, chosen);
        assert_int_equal(deletion_choose(policy, NOW, needed, sorted, count), bytes >= 0);
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < count; k++)
                if (text_equal(sorted[j].name, files[k].name))
                    assert_int_equal(sorted[j].is_chosen, bytes >= 0 && chosen[k]);
        if (bytes < 0)
            assert_true(deletion_possible(files, count) < needed);
    }
}

static void nothing_goes_when_nothing_is_missing(void **state)
{
    struct stored_file file = {.name = TEXT("a"), .bytes = 5, .expiry = 1, .is_chosen = true};

    (void)state;
    assert_true(deletion_choose((struct deletion_policy){.by_expiry = true}, NOW, -1, &file, 1));
    assert_false(file.is_chosen);
    assert_true(deletion_choose((struct deletion_policy){0}, NOW, 0, NULL, 0));
}

/* --- documents ------------------------------------------------------------------------------- */

static void documents_tell_names_priorities_and_lifetimes(void **state)
{
    struct text rest =
        TEXT("<file_info>\n<sticky/>\n<priority>5</priority>\n<exp_days>10</exp_days>\n"
             "<sticky_lifetime>1</sticky_lifetime>\n<name>a</name>\n<nbytes>7</nbytes>\n"
             "</file_info>\n<file_info>\n<name> b </name>\n<priority>9</priority>\n"
             "<sticky_lifetime>172800</sticky_lifetime>\n</file_info>\n<file_info>\n</file_info>\n"
             "<workunit>\n<file_ref>\n<file_name>c</file_name>\n</file_ref>\n</workunit>");
    struct text names = rest, name;
    struct document_file file;

    (void)state;
    assert_true(document_next_file(&rest, &file));
    assert_true(text_is(file.name, "a") && file.is_sticky);
    assert_i64(file.priority, 5);
    assert_real(file.lifetime_days, 10, 0);
    assert_real(file.nbytes, 7, 0);
    assert_true(document_next_file(&rest, &file));
    assert_true(text_is(file.name, "b") && !file.is_sticky);
    assert_i64(file.priority, FILE_PRIORITY_LOW); /* 9 is none */
    assert_real(file.lifetime_days, 2, 0);
    assert_false(document_next_file(&rest, &file));
    assert_true(document_next_name(&names, &name) && text_is(name, "a"));
    assert_true(document_next_name(&names, &name) && text_is(name, "b"));
    assert_true(document_next_name(&names, &name) && text_is(name, "c"));
    assert_false(document_next_name(&names, &name));
}

static void odd_words_of_a_file_have_a_meaning(void **state)
{
    static const struct {
        const char *inside;
        double lifetime_days;
        bool is_sticky;
    } rows[] = {{"<sticky>1</sticky><exp_days>-3</exp_days>", 0, true},
                {"<sticky>0</sticky><exp_days>nan</exp_days>", FILE_EXPIRY_DAYS, false},
                {"<sticky /><exp_days>1e99</exp_days>", 36525, true},
                {"<exp_days>many</exp_days><sticky_lifetime>86400</sticky_lifetime>", 1, false},
                {"", FILE_EXPIRY_DAYS, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char document[200];
        struct document_file file;
        struct text rest;

        snprintf(document, sizeof(document), "<file_info><name>a</name>%s</file_info>",
                 rows[i].inside);
        rest = text_from(document);
        assert_true(document_next_file(&rest, &file));
        assert_real(file.lifetime_days, rows[i].lifetime_days, 0);
        assert_int_equal(file.is_sticky, rows[i].is_sticky);
    }
}

static void broken_documents_end(void **state)
{
    static const char *const documents[] = {"",
                                            "<file_info>",
                                            "<name>",
                                            "<file_info><name>x",
                                            "<file_name>",
                                            "</file_info><file_info>"};

    (void)state;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct text rest = text_from(documents[i]), name;
        struct document_file file;
        int rounds = 0;

        while (document_next_file(&rest, &file))
            assert_true(++rounds < 5);
        rest = text_from(documents[i]);
        while (document_next_name(&rest, &name))
            assert_true(++rounds < 5);
    }
}

static void files_live_sixty_days_unless_told(void **state)
{
    (void)state;
    assert_i64(file_expiry(NOW, FILE_EXPIRY_DAYS), NOW + 60 * DAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_never_fall_and_never_exceed_preferences),
        cmocka_unit_test(above_the_limit_a_deletion_counts_less),
        cmocka_unit_test(each_size_is_for_the_first_pass_that_holds_it),
        cmocka_unit_test(deletion_is_as_the_slow_one),
        cmocka_unit_test(nothing_goes_when_nothing_is_missing),
        cmocka_unit_test(documents_tell_names_priorities_and_lifetimes),
        cmocka_unit_test(odd_words_of_a_file_have_a_meaning),
        cmocka_unit_test(broken_documents_end),
        cmocka_unit_test(files_live_sixty_days_unless_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
