/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's score is made of, who is reliable, and the files that tell of hosts' speeds. */
#include "server/policy/dispatch/score.h"

#include "server/policy/disk/document_files.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/version/reliability.h"
#include "tests/support/test.h"

static struct config *config;
static struct app_row app;
static struct workunit_row workunit;
static struct version_option option;
static struct project_preferences project;
static struct size_census census;
static struct host_view view;
static struct job job;

static int setup(void **state)
{
    static const int64_t wanted[] = {3, 5};

    (void)state;
    assert_status(STATUS_OK, config_defaults(&config));
    app = (struct app_row){.id = 1, .name = TEXT("app"), .n_size_classes = 3};
    workunit = (struct workunit_row){.size_class = -1, .keywords = TEXT("")};
    option = (struct version_option){.app = &app, .usage = {.projected_flops = 5e9}};
    project = (struct project_preferences){0};
    census = (struct size_census){.app_name = TEXT("app"), .flops = {1e9, 4e9}, .count = 2};
    view = (struct host_view){.config = config,
                              .project = &project,
                              .availability = {.cpu = 0.5, .gpu = 1},
                              .keywords_yes = {.ids = wanted, .count = 2},
                              .size_censuses = &census,
                              .size_census_count = 1};
    job = (struct job){.workunit = &workunit, .app = &app, .option = &option};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    config_release(config);
    return 0;
}

static void assert_score(double wanted)
{
    assert_true(job_score(&view, &job) == wanted);
}

static void a_plain_job_scores_nothing(void **state)
{
    (void)state;
    assert_score(0);
}

static void each_term_has_its_weight(void **state)
{
    static const int64_t others[] = {2};

    (void)state;
    app.beta = 1;
    assert_score(1);
    app.beta = 0;
    project.app_ids = others;
    project.app_id_count = 1;
    assert_score(-1);
    project.app_id_count = 0;
    job.has_file = true;
    assert_score(10);
    config->score_locality = 2.5;
    assert_score(2.5);
}

/* Few other hosts can take a job of a workunit that is in progress on computers of this kind. */
static void committed_workunits_are_preferred(void **state)
{
    (void)state;
    workunit.hr_class = 386;
    workunit.app_version_id = 7;
    assert_score(0); /* relics of an app that was homogeneous once */
    app.homogeneous_redundancy = 1;
    assert_score(1);
    app.homogeneous_redundancy = 0;
    config->homogeneous_redundancy = 2;
    assert_score(1);
    config->homogeneous_redundancy = 0;
    app.homogeneous_app_version = 1;
    assert_score(1);
}

static void wanted_keywords_count_each(void **state)
{
    (void)state;
    workunit.keywords = TEXT("1 5  3 x");
    assert_score(0);
    config->keyword_sched = true;
    assert_score(2);
}

/* 5 GFLOPS for half of the time: the class in the middle. */
static void sizes_are_matched_to_speeds(void **state)
{
    static const double scores[] = {-1, 5, -2};

    (void)state;
    workunit.size_class = 1;
    assert_score(0); /* the option is off */
    config->size_classes = true;
    for (int64_t i = 0; i < 3; i++) {
        workunit.size_class = i;
        assert_score(scores[i]);
    }
    workunit.size_class = -1;
    assert_score(0);
    workunit.size_class = 1;
    census.count = 1; /* not of this number of classes */
    assert_score(0);
    census.count = 2;
    census.app_name = TEXT("other");
    assert_score(0);
}

/* The larger of the two parts, whether the computer is in use or not. */
static void memory_is_what_preferences_leave(void **state)
{
    static const struct {
        double busy, idle, bytes, usable;
    } rows[] = {{0.5, 0.75, 1e9, 7.5e8}, {0.75, 0.5, 1e9, 7.5e8}, {0.5, 0, 1e9, 1e9},
                {0, 0.5, 1e9, 1e9},      {0.5, 2, 1e9, 1e9},      {0.5, 0.5, 0, 3.2e7}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct global_preferences preferences = {.ram_max_used_busy_fraction = rows[i].busy,
                                                       .ram_max_used_idle_fraction = rows[i].idle};

        assert_real(memory_usable(rows[i].bytes, &preferences), rows[i].usable, 0);
    }
}

static void accelerated_jobs_come_first(void **state)
{
    (void)state;
    workunit.priority = 1;
    assert_score(0);
    config->batch_accel = true;
    assert_score(10);
    workunit.priority = 0;
    assert_score(0);
}

static void small_jobs_come_first_above_the_share_of_the_disk(void **state)
{
    (void)state;
    workunit.rsc_disk_bound = 3e9;
    assert_score(0);
    view.is_above_disk_share = true;
    assert_score(-3);
    config->score_disk = -0.5;
    assert_score(-1.5);
    workunit.rsc_disk_bound = -1;
    assert_score(0);
}

static void census_files_are_read(void **state)
{
    struct size_census read = {0};

    (void)state;
    assert_true(size_census_read(TEXT("1e9\n\n 2.5e9\r\n4e9"), &read));
    assert_int_equal(read.count, 3);
    assert_true(read.flops[1] == 2.5e9);
    assert_i64(size_census_class(&read, 0.9e9), 0);
    assert_i64(size_census_class(&read, 1e9), 1);
    assert_i64(size_census_class(&read, 1e12), 3);
    assert_false(size_census_read(TEXT("2\n1\n"), &read));
    assert_false(size_census_read(TEXT("fast\n"), &read));
    assert_false(size_census_read(TEXT("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), &read));
}

/* The whole name, not a part of it in either direction. */
static void files_are_known_by_their_whole_name(void **state)
{
    struct host_file files[] = {{.name = TEXT("sky_9"), .status = 1},
                                {.name = TEXT("gone"), .status = 0},
                                {.name = TEXT("bad"), .status = -119},
                                {.name = TEXT("ear"), .status = 2}};
    struct message message = {.files = files, .file_count = 4};
    struct text names[4];
    const struct text document = TEXT("<file_info>\n<name>ear</name>\n</file_info>\n<workunit>\n"
                                      "<file_ref>\n<file_name>sky_99</file_name>\n</file_ref>\n"
                                      "<file_ref>\n<file_name>sk</file_name>\n</file_ref>\n");

    (void)state;
    assert_int_equal(files_present(&message, names), 2);
    assert_text(names[0], "ear");
    assert_false(document_has_file(document, names, 2));
    files[0].name = TEXT("sky_99");
    assert_int_equal(files_present(&message, names), 2);
    assert_true(document_has_file(document, names, 2));
    assert_false(document_has_file(document, names, 0));
    assert_false(document_has_file(TEXT("<file_name>"), names, 2));
}

static void reliable_is_who_is_quick_and_right(void **state)
{
    const struct text linux_name = TEXT("Linux Debian"), darwin = TEXT("Darwin");
    struct host_app_version_row row = {
        .consecutive_valid = 10, .turnaround_n = 11, .turnaround_avg = 1500};

    (void)state;
    assert_true(version_is_reliable(&row, config, linux_name, NO_TEXT));
    config->reliable_max_avg_turnaround = 1000;
    assert_false(version_is_reliable(&row, config, linux_name, NO_TEXT));
    assert_true(version_is_reliable(&row, config, TEXT("FreeBSD"), NO_TEXT)); /* 1.8 times */
    assert_true(version_is_reliable(&row, config, darwin, TEXT("Power Macintosh")));
    assert_true(version_is_reliable(&row, config, darwin, TEXT("Macintosh")));
    assert_true(version_is_reliable(&row, config, darwin, TEXT("PowerPC")));
    config->reliable_max_avg_turnaround = 1;
    assert_false(version_is_reliable(&row, config, linux_name, NO_TEXT));
    config->reliable_max_avg_turnaround = 1000;
    assert_false(version_is_reliable(&row, config, darwin, TEXT("Apple")));
    row.turnaround_n = 10; /* too few to say */
    assert_true(version_is_reliable(&row, config, linux_name, NO_TEXT));
    row.consecutive_valid = 9;
    assert_false(version_is_reliable(&row, config, linux_name, NO_TEXT));
    row.consecutive_valid = 10;
    config->daily_result_quota = 50;
    assert_true(version_is_reliable(&row, config, linux_name, NO_TEXT)); /* not yet set */
    row.max_jobs_per_day = 49;
    assert_false(version_is_reliable(&row, config, linux_name, NO_TEXT));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        CASE(a_plain_job_scores_nothing),
        CASE(each_term_has_its_weight),
        CASE(committed_workunits_are_preferred),
        CASE(wanted_keywords_count_each),
        CASE(sizes_are_matched_to_speeds),
        CASE(memory_is_what_preferences_leave),
        CASE(accelerated_jobs_come_first),
        CASE(small_jobs_come_first_above_the_share_of_the_disk),
        CASE(files_are_known_by_their_whole_name),
        CASE(census_files_are_read),
        CASE(reliable_is_who_is_quick_and_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
