/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that hand out jobs and look after those already out, before a fake database that loses
 * races, refuses statements and goes away when a case wants it. */
#include "server/rpc/request.h"
#include "server/rpc/world.h"

#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "server/handout/claim.h"
#include "server/handout/shares.h"
#include "server/handout/source_parts.h"
#include "server/parse/parse.h"
#include "server/project/catalog.h"
#include "server/request/plan_conditions.h"
#include "tests/support/db_fake.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST = 3, USER = 17, NOW = 1795000000, CHANGES = 8 };

static struct arena *arena;
static struct config *config;
static struct app_row apps[2];
static struct app_version_row app_versions[3];
static struct platform_row platforms[1];
static struct catalog catalog;
static struct request request;
static struct host_app_version_change changes[CHANGES];
static struct host_app_version_row statistics[1];
static struct other_result listed[FAKE_JOBS];
static struct coproc coprocs[1];

/* --- the stage -------------------------------------------------------------------------------- */

static int setup(void **state)
{
    struct message *message = &request.message;

    (void)state;
    arena = arena_create(1 << 24);
    assert_status(STATUS_OK, config_defaults(&config));
    db_fake_begin("savepoint rollback_to_savepoint candidates jobs_lock workunits_had results_claim"
                  " results_reject batch_owners assignments job_documents results_in_progress"
                  " jobs_in_progress jobs_by_name results_by_name jobs_resend jobs_give_up"
                  " unsent_by_id assigned_lock");
    memset(changes, 0, sizeof(changes));
    memset(statistics, 0, sizeof(statistics));
    memset(listed, 0, sizeof(listed));
    apps[0] = (struct app_row){
        .id = 1, .name = TEXT("app"), .user_friendly_name = TEXT("App"), .weight = 1};
    apps[1] = (struct app_row){.id = 2,
                               .name = TEXT("always"),
                               .user_friendly_name = TEXT("Always"),
                               .non_cpu_intensive = 1};
    app_versions[0] = (struct app_version_row){.id = 11,
                                               .appid = 1,
                                               .platformid = 5,
                                               .version_num = 100,
                                               .xml_doc = TEXT("<app_version></app_version>")};
    app_versions[1] = (struct app_version_row){
        .id = 12, .appid = 2, .platformid = 5, .xml_doc = TEXT("<app_version></app_version>")};
    app_versions[2] = (struct app_version_row){.id = 13,
                                               .appid = 1,
                                               .platformid = 5,
                                               .plan_class = TEXT("cuda_fermi"),
                                               .xml_doc = TEXT("<app_version></app_version>")};
    platforms[0] = (struct platform_row){.id = 5, .name = TEXT("x86_64-pc-linux-gnu")};
    catalog = (struct catalog){.rows = {.apps = apps,
                                        .app_count = 1,
                                        .versions = app_versions,
                                        .version_count = 1,
                                        .platforms = platforms,
                                        .platform_count = 1}};
    memset(&request, 0, sizeof(request));
    request = (struct request){.config = config,
                               .catalog = &catalog,
                               .world = &database_world,
                               .arena = arena,
                               .now = NOW,
                               .client_version = 80000,
                               .attempt = {.user = {.id = USER},
                                           .host = {.id = HOST,
                                                    .p_ncpus = 4,
                                                    .p_fpops = 1e9,
                                                    .m_nbytes = 4e9,
                                                    .os_name = TEXT("Linux")},
                                           .version_changes = changes,
                                           .version_change_capacity = CHANGES}};
    message_init(message);
    message->platforms[0] = platforms[0].name;
    message->platform_count = 1;
    message->d_free = message->d_total = 1e12;
    message->has_resource_request = true;
    message->cpu_req_seconds = 250;
    message->has_other_results = true;
    message->other_results = listed;
    return 0;
}

static int setup_with_pool(void **state)
{
    setup(state);
    request.pool = pool_create(FAKE_JOBS, false);
    return request.pool == NULL;
}

static int teardown(void **state)
{
    (void)state;
    pool_destroy(request.pool);
    arena_destroy(arena);
    config_release(config);
    return 0;
}

static const char *names[FAKE_JOBS] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"};

static struct fake_job *add_job(double seconds)
{
    struct fake_job *row = &db_fake.jobs[db_fake.job_count];

    *row = (struct fake_job){
        .result = {.id = 1000 + (int64_t)db_fake.job_count,
                   .workunitid = 500 - (int64_t)db_fake.job_count,
                   .appid = 1,
                   .name = text_from(names[db_fake.job_count % 10]),
                   .server_state = RESULT_UNSENT},
        .workunit = {.id = 500 - (int64_t)db_fake.job_count,
                     .appid = 1,
                     .rsc_fpops_est = seconds * 1e9,
                     .rsc_memory_bound = 1e6,
                     .rsc_disk_bound = 1e6,
                     .target_nresults = 1,
                     .delay_bound = 86400},
    };
    db_fake.job_count++;
    return row;
}

/* A job that this host got an hour ago. */
static struct fake_job *add_lost(double seconds)
{
    struct fake_job *row = add_job(seconds);

    row->result.server_state = RESULT_IN_PROGRESS;
    row->result.hostid = HOST;
    row->result.userid = USER;
    row->result.app_version_id = 11;
    row->result.sent_time = NOW - 3600;
    row->result.report_deadline = NOW - 3600 + 86400;
    return row;
}

static void list_job(const char *name)
{
    listed[request.message.other_result_count++] =
        (struct other_result){.name = text_from(name), .app_version = -1};
}

/* A card on which cuda_fermi runs. */
static void make_fermi(void)
{
    coprocs[0] = (struct coproc){.type = TEXT("NVIDIA"),
                                 .count = 1,
                                 .peak_flops = 1e13,
                                 .has_cuda = true,
                                 .cuda_version = 12020,
                                 .driver_version = 53512,
                                 .total_global_mem = 8e9,
                                 .compute_major = 8};
    request.message.coprocs = coprocs;
    request.message.coproc_count = 1;
    request.message.client_cap_plan_class = true;
}

static bool says(const char *part)
{
    const struct answer *answer = &request.attempt.answer;

    for (size_t i = 0; i < answer->message_count; i++)
        if (text_contains(answer->messages[i].text, text_from(part)))
            return true;
    return false;
}

/* As the filler marks it: batch 10 n belongs to user n. */
static struct stream stream_of_fake(const struct workunit_row *workunit)
{
    const struct stream_subject subject = {
        .batch = workunit->batch, .ownerid = workunit->batch / 10, .owner_weight = -1};
    struct arena *lines = arena_create(1 << 16);
    struct streams streams;
    struct stream stream;
    size_t bad;

    assert_true(streams_read(config, lines, &streams, &bad) && bad == 0);
    stream = stream_of(&streams, &subject);
    arena_destroy(lines);
    return stream;
}

/* Holds what is unsent in the database, and nothing else. */
static void fill_pool(void)
{
    pool_sweep_begin(request.pool);
    for (size_t i = 0; i < db_fake.job_count; i++) {
        const struct fake_job *row = &db_fake.jobs[i];
        const struct pool_job job = {.resultid = row->result.id,
                                     .priority = row->workunit.priority,
                                     .stream = stream_of_fake(&row->workunit),
                                     .workunit = row->workunit};

        if (row->result.server_state == RESULT_UNSENT)
            assert_status(STATUS_OK, pool_put(request.pool, &job, 1));
    }
    while (pool_sweep_end(request.pool))
        ;
}

static enum next resend(void)
{
    request.attempt.plan = request_plan_make(&request);
    return step_resend(&request);
}

/* How many jobs the pool holds after a request, which holds back none of them. */
static size_t left_in_pool(void)
{
    struct pool_figures figures;

    pool_figures(request.pool, &figures);
    assert_int_equal(figures.taken, 0);
    return figures.jobs;
}

static enum next select_in_transaction(bool is_committed)
{
    enum next next;

    request.attempt.plan = request_plan_make(&request);
    if (request.pool != NULL)
        fill_pool();
    next = step_select(&request);
    source_finish(&request, is_committed);
    if (request.pool != NULL)
        (void)left_in_pool();
    return next;
}

static enum next select_jobs(void)
{
    return select_in_transaction(true);
}

static void run(void)
{
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(select_jobs(), NEXT_STEP);
}

static size_t in_progress(void)
{
    size_t count = 0;

    for (size_t i = 0; i < db_fake.job_count; i++)
        count += db_fake.jobs[i].result.server_state == RESULT_IN_PROGRESS;
    return count;
}

/* --- new jobs --------------------------------------------------------------------------------- */

static void as_much_is_sent_as_is_asked_for(void **state)
{
    const struct answer *answer = &request.attempt.answer;

    (void)state;
    for (int i = 0; i < 6; i++)
        add_job(100);
    run();
    assert_int_equal(answer->job_count, 3);
    assert_int_equal(request.attempt.jobs_sent, 3);
    assert_int_equal(in_progress(), 3);
    assert_int_equal(answer->resources[0].state, RESOURCE_SENT);
    assert_int_equal(answer->message_count, 0);
    assert_int_equal(request.attempt.disk_pass, 1);
    assert_i64(answer->jobs[0].report_deadline, NOW + 86400);
    assert_i64(changes[0].app_version_id, 11);
    assert_i64(changes[0].jobs_sent, 3);
    assert_int_equal(db_fake_calls("savepoint"), 1);
}

static void the_database_has_the_later_deadline(void **state)
{
    (void)state;
    add_job(100);
    config->report_grace_period = 500;
    run();
    assert_i64(db_fake.jobs[0].claim.report_deadline, NOW + 86400 + 500);
    assert_i64(request.attempt.answer.jobs[0].report_deadline, NOW + 86400);
    assert_real(db_fake.jobs[0].claim.flops_estimate, 1e9, 1);
}

/* Two of three jobs have more time than is left until times do not fit their columns any more. */
static void deadlines_that_do_not_fit_are_counted(void **state)
{
    const struct answer *answer = &request.attempt.answer;
    uint64_t before = counter_value(COUNTER_deadlines_capped);

    (void)state;
    request.now = TRANSITION_NEVER - 1 - 500 - 3000;
    config->report_grace_period = 500;
    add_job(100);
    add_job(100)->workunit.delay_bound = 3000;
    add_job(100)->workunit.delay_bound = 3001;
    run();
    assert_int_equal(answer->job_count, 3);
    assert_int_equal(counter_value(COUNTER_deadlines_capped) - before, 2);
    for (size_t i = 0; i < 3; i++) {
        assert_i64(db_fake.jobs[i].claim.report_deadline, TRANSITION_NEVER - 1);
        assert_i64(answer->jobs[i].report_deadline, TRANSITION_NEVER - 1 - 500);
    }
}

static void what_others_took_is_replaced(void **state)
{
    uint64_t before = counter_value(COUNTER_claims_lost);

    (void)state;
    for (int i = 0; i < 6; i++)
        add_job(100)->others_take = i < 2;
    run();
    assert_int_equal(request.attempt.answer.job_count, 3);
    assert_int_equal(counter_value(COUNTER_claims_lost) - before, 2);
    for (size_t i = 0; i < 3; i++)
        assert_true(request.attempt.answer.jobs[i].resultid >= 1002);
}

/* Of jobs that take most of their time each processor can do one. What was refused beside such as
 * were not got is not told. */
static void what_was_refused_beside_lost_jobs_is_not_told(void **state)
{
    (void)state;
    config->delay_jitter = 0;
    request.message.cpu_req_seconds = 28 * 86400;
    for (int i = 0; i < 10; i++)
        add_job(80000)->others_take = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_false(request.attempt.answer.no_work_deadlines);
    assert_int_equal(request.attempt.answer.reason_count, 1);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "others_faster");
    assert_real(request.attempt.answer.request_delay, 60, 0);
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_NONE);
}

/* Each round finds one small job, and loses it; the query has no more of them in the end. */
static void what_the_last_round_judged_is_told(void **state)
{
    (void)state;
    request.message.cpu_req_seconds = 1;
    for (int i = 0; i < 48; i++)
        add_job(100)->others_take = true;
    add_job(100)->workunit.app_version_num = 99;
    run();
    assert_int_equal(db_fake_calls("jobs_lock"), 48);
    assert_int_equal(db_fake_calls("results_claim"), 0);
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_true(says("Other computers have just taken"));
    assert_true(says("its version 0.99"));
}

/* In the first pass the disk is too small; in the second it is large enough, and the job late. */
static void only_what_the_last_disk_pass_judged_is_told(void **state)
{
    (void)state;
    request.message.has_project_disk_free = true;
    request.message.project_disk_free = 1e9;
    request.message.has_potentially_free_offender = true;
    request.message.potentially_free_offender = 4e9;
    add_job(90000)->workunit.rsc_disk_bound = 2e9;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_true(says("would not finish in time"));
    assert_false(says("disk space"));
    assert_int_equal(request.attempt.disk_pass, 0); /* no job was chosen in any */
}

/* Two results of one workunit: what the faulty one would have committed it to binds nobody. */
static void a_job_that_is_not_taken_commits_no_workunit(void **state)
{
    (void)state;
    apps[0].homogeneous_app_version = 1;
    config->one_result_per_user_per_wu = config->one_result_per_host_per_wu = false;
    make_fermi();
    coprocs[0].req_seconds = 1;
    request.message.cpu_req_seconds = 1;
    catalog.rows.version_count = 3;
    add_job(100)->is_faulty = true;
    add_job(100)->workunit.id = db_fake.jobs[0].workunit.id;
    db_fake.jobs[1].result.workunitid = db_fake.jobs[0].workunit.id;
    run();
    assert_int_equal(db_fake_calls("jobs_lock"), 1);
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* Likewise, but the first one is lost: nobody is told of a version that nobody is bound to. */
static void a_job_that_is_lost_commits_no_workunit(void **state)
{
    (void)state;
    apps[0].homogeneous_app_version = 1;
    config->one_result_per_user_per_wu = config->one_result_per_host_per_wu = false;
    make_fermi();
    coprocs[0].req_seconds = 1;
    request.message.cpu_req_seconds = 1;
    catalog.rows.version_count = 3;
    add_job(100)->others_take = true;
    add_job(100)->others_take = true;
    db_fake.jobs[1].workunit.id = db_fake.jobs[1].result.workunitid = db_fake.jobs[0].workunit.id;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "others_faster");
    assert_int_equal(request.attempt.answer.reason_count, 1);
}

static void a_job_that_cannot_be_written_is_not_taken(void **state)
{
    uint64_t before = counter_value(COUNTER_jobs_faulty);

    (void)state;
    add_job(100)->is_faulty = true;
    add_job(100);
    request.message.cpu_req_seconds = 1;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].resultid, 1001);
    assert_int_equal(db_fake.jobs[0].result.outcome, OUTCOME_COULDNT_SEND);
    assert_i64(db_fake.jobs[0].result.received_time, NOW);
    assert_int_equal(counter_value(COUNTER_jobs_faulty) - before, 1);
}

/* Of 16 jobs, one in each request, the user of weight 3 gets 12, because the process remembers. */
static void streams_share_over_requests(void **state)
{
    struct pool_stream *given;
    size_t of_second = 0, given_count;

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 3"), NULL));
    request.message.cpu_req_seconds = 1;
    for (int i = 0; i < 32; i++)
        add_job(100)->workunit.batch = i < 16 ? 10 : 20;
    for (int i = 0; i < 16; i++) {
        request.attempt.answer.job_count = 0;
        assert_int_equal(select_jobs(), NEXT_STEP);
        shares_commit(&request);
        assert_int_equal(request.attempt.answer.job_count, 1);
        of_second += request.attempt.answer.jobs[0].resultid >= 1016;
    }
    assert_int_equal(of_second, 12);
    assert_true(pool_streams(request.pool, request.arena, &given, &given_count));
    assert_int_equal(given_count, 2);
    assert_i64(given[0].stream.key.kind, STREAM_REST);
    assert_i64(given[1].stream.key.kind, STREAM_USER);
    assert_i64(given[1].stream.key.id, 2);
    assert_real(given[1].stream.weight, 3, 0);
    assert_real(given[1].flops / given[0].flops, 3, 1e-9);
}

/* The jobs of the first request are not committed: the rest, which comes first, is still behind. */
static void what_is_not_committed_is_not_booked_for_its_stream(void **state)
{
    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 1"), NULL));
    request.message.cpu_req_seconds = 1;
    for (int i = 0; i < 4; i++)
        add_job(100)->workunit.batch = i < 2 ? 10 : 20;
    for (int i = 0; i < 2; i++) {
        request.attempt.answer.job_count = 0;
        request.attempt.bookings = NULL; /* as before each attempt */
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 1);
        assert_true(request.attempt.answer.jobs[0].resultid < 1002);
    }
}

/* Whose batch a job is of counts, however many other batches the jobs before it are of. */
static void each_of_many_batches_has_its_owner(void **state)
{
    enum { MANY = 1500, OF_OWNER = 100 };
    struct host_view view = {0};
    struct workunit_row *workunits = ARENA_ARRAY(arena, MANY, struct workunit_row);
    struct job *jobs = ARENA_ARRAY(arena, MANY, struct job);

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 100 1"), NULL));
    assert_true(shares_read(&request, &view));
    for (int i = 0; i < MANY; i++) {
        workunits[i].batch = 10 * (MANY - i);
        jobs[i] = (struct job){.workunit = &workunits[i], .app = &apps[0]};
    }
    workunits[0].batch = 0; /* nobody's */
    assert_status(STATUS_OK, shares_mark(&request, &view, jobs, MANY));
    for (int i = 0; i < MANY; i++)
        assert_i64(jobs[i].stream.key.id, MANY - i == OF_OWNER ? OF_OWNER : 0);
}

/* Jobs by query come by falling priority; an owner's go where priority 0 is. */
static void jobs_of_owners_are_of_one_level(void **state)
{
    static const struct {
        int64_t batch, priority;
    } rows[] = {{10, 9}, {0, 5}, {20, 3}, {0, 0}, {0, -1}, {10, -7}};
    static const int64_t order[] = {1, 0, 2, 3, 5, 4};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct host_view view = {0};
    struct workunit_row workunits[ROWS] = {{0}};
    struct job jobs[ROWS];

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("submitter_streams"), TEXT("1"), NULL));
    assert_true(shares_read(&request, &view));
    for (int i = 0; i < ROWS; i++) {
        workunits[i].batch = rows[i].batch;
        jobs[i] = (struct job){.resultid = i,
                               .priority = rows[i].priority,
                               .workunit = &workunits[i],
                               .app = &apps[0]};
    }
    assert_status(STATUS_OK, shares_mark(&request, &view, jobs, ROWS));
    for (int i = 0; i < ROWS; i++)
        assert_i64(jobs[i].resultid, order[i]);
}

/* What the request got of a stream counts for what it chooses next. */
static void what_was_got_counts_in_the_same_request(void **state)
{
    struct host_view view = {0};
    struct workunit_row workunit = {.batch = 20, .rsc_fpops_est = 6e12};
    struct job first = {.workunit = &workunit, .app = &apps[0]}, next = first;

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 3"), NULL));
    assert_true(shares_read(&request, &view));
    assert_status(STATUS_OK, shares_mark(&request, &view, &first, 1));
    shares_book(&request, &view, &first);
    assert_status(STATUS_OK, shares_mark(&request, &view, &next, 1));
    assert_real(next.stream.clock - first.stream.clock, 2e12, 1);
}

static void a_refused_statement_costs_the_jobs_alone(void **state)
{
    (void)state;
    for (int calls = 1; calls < 5; calls++) {
        teardown(state);
        setup(state);
        add_job(100);
        db_fake.calls_left = calls;
        db_fake.failure = STATUS_DB_BUG;
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 0);
        assert_int_equal(request.attempt.jobs_sent, 0);
        assert_true(says("The server could not send tasks"));
        assert_int_equal(db_fake_calls("rollback_to_savepoint"), calls > 2);
        assert_string_equal(answer_first_reason(&request.attempt.answer), "server");
    }
}

static void a_lost_connection_fails_the_request_at_every_call(void **state)
{
    int calls;

    (void)state;
    for (calls = 0;; calls++) {
        enum next next;

        teardown(state);
        setup(state);
        config->send_result_abort = true;
        catalog.rows.app_count = catalog.rows.version_count = 2;
        add_lost(100);
        add_lost(1e6);
        add_job(100);
        list_job("r7");
        db_fake.calls_left = calls;
        next = resend();
        if (next == NEXT_STEP)
            next = select_jobs();
        if (next == NEXT_STEP)
            break;
        assert_int_equal(next, NEXT_FAILED);
        assert_int_equal(request.failure.status, STATUS_DB_GONE);
    }
    assert_true(calls >= 10);
}

static void work_refused_means_no_jobs_and_no_more_words(void **state)
{
    (void)state;
    add_job(100);
    add_lost(100);
    request.attempt.work_refused = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(request.attempt.answer.message_count, 0);
    assert_int_equal(request.attempt.answer.resource_count, 1);
}

/* --- rules under lock ------------------------------------------------------------------------- */

static void one_per_user_is_judged_under_lock(void **state)
{
    (void)state;
    config->one_result_per_user_per_wu = true;
    add_job(100)->results_of_user = 1;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "one_per_user");
    assert_i64(db_fake.counted.userid, USER);
    assert_i64(db_fake.counted.hostid, HOST);
    add_job(100);
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* It would be in the way of others. */
static void what_the_user_had_before_is_not_locked(void **state)
{
    struct fake_job *had, *other;

    (void)state;
    config->one_result_per_user_per_wu = true;
    had = add_job(100);
    had->user_had_one = true;
    had->results_of_user = 1;
    other = add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].resultid, other->result.id);
    assert_false(had->was_locked);
    assert_true(other->was_locked);
}

static void what_nobody_forbids_is_not_asked_for(void **state)
{
    (void)state;
    add_job(100)->user_had_one = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void a_homogeneous_workunit_is_committed_by_the_claim(void **state)
{
    (void)state;
    apps[0].homogeneous_app_version = 1;
    add_job(100)->others_commit = true;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(db_fake.jobs[1].claim.commit_app_version_id, 11);
    assert_i64(db_fake.jobs[1].claim.commit_hr_class, 0);
}

static void a_kind_of_computer_is_committed_by_the_claim(void **state)
{
    int64_t class;

    apps[0].homogeneous_redundancy = 2;
    add_job(100)->workunit.hr_class = 999;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    class = db_fake.jobs[1].claim.commit_hr_class;
    assert_true(class != 0);
    teardown(state);
    (void)(request.pool != NULL ? setup_with_pool(state) : setup(state));
    apps[0].homogeneous_redundancy = 2;
    for (int i = 0; i < 2; i++)
        add_job(100)->workunit.hr_class = class; /* by another computer of this kind */
    run();
    assert_int_equal(request.attempt.answer.job_count, 2);
}

static void an_untrusted_host_makes_the_workunit_replicated(void **state)
{
    (void)state;
    apps[0].target_nresults = 2;
    add_job(100);
    run();
    assert_i64(db_fake.jobs[0].claim.replicate_target, 2);
}

static void what_is_replicated_already_is_left_so(void **state)
{
    (void)state;
    apps[0].target_nresults = 2;
    add_job(100)->workunit.target_nresults = 2;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(db_fake.jobs[0].claim.replicate_target, 0);
}

/* --- nothing ---------------------------------------------------------------------------------- */

static void an_empty_queue_is_said(void **state)
{
    (void)state;
    run();
    assert_true(says("No tasks sent"));
    assert_true(says("No tasks are available at the moment"));
    assert_string_equal(answer_first_reason(&request.attempt.answer), "no_jobs");
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_NONE);
    assert_false(request.attempt.answer.no_work_deadlines);
}

/* The query leaves such jobs out; the words come from a second look. */
static void too_little_memory_is_said_with_figures(void **state)
{
    (void)state;
    add_job(100)->workunit.rsc_memory_bound = 8e9;
    run();
    assert_true(says("App needs 7.46 GB of memory, but BOINC may use only 3.72 GB"));
    assert_int_equal(request.attempt.answer.messages[1].priority, MESSAGE_NOTICE);
}

static void deadlines_alone_raise_the_flag(void **state)
{
    (void)state;
    add_job(90000);
    run();
    assert_true(request.attempt.answer.no_work_deadlines);
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_DEADLINE);
    assert_true(request.attempt.answer.request_delay > 0);
    assert_true(says("would not finish in time"));
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    request.message.d_free = 0;
    request.message.has_d_free = true;
    run();
    assert_false(request.attempt.answer.no_work_deadlines);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "disk");
}

/* Two jobs that would be late, and that the pool still holds when they are cancelled. */
static void select_late(void **state, bool are_cancelled)
{
    struct fake_job *jobs[2];

    teardown(state);
    setup_with_pool(state);
    for (int i = 0; i < 2; i++)
        jobs[i] = add_job(90000);
    request.attempt.plan = request_plan_make(&request);
    fill_pool();
    for (int i = 0; i < 2 && are_cancelled; i++)
        jobs[i]->workunit.error_mask = WU_ERROR_CANCELLED;
    assert_int_equal(step_select(&request), NEXT_STEP);
    source_finish(&request, true);
}

static void nobody_is_sent_away_for_jobs_that_are_gone(void **state)
{
    select_late(state, false);
    assert_true(request.attempt.answer.no_work_deadlines);
    assert_true(request.attempt.answer.request_delay >= 3600);
    select_late(state, true);
    assert_false(request.attempt.answer.no_work_deadlines);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "no_jobs");
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_NONE);
    assert_true(request.attempt.answer.request_delay < 1800);
    assert_int_equal(left_in_pool(), 1); /* the one that was offered is dropped */
}

static void only_a_resource_without_versions_is_unsupported(void **state)
{
    const struct answer *answer = &request.attempt.answer;

    (void)state;
    coprocs[0] = (struct coproc){.type = TEXT("NVIDIA"), .count = 1};
    request.message.coprocs = coprocs;
    request.message.coproc_count = 1;
    run();
    assert_int_equal(answer->resources[0].state, RESOURCE_NONE);
    assert_int_equal(answer->resources[1].state, RESOURCE_UNSUPPORTED);

    catalog.rows.version_count = 3; /* one is for such a card, but not this driver */
    select_jobs();
    assert_int_equal(answer->resources[1].state, RESOURCE_UNSUPPORTED);

    make_fermi();
    select_jobs();
    assert_int_equal(answer->resources[1].state, RESOURCE_NONE);

    catalog.rows.version_count = 0; /* maybe all of a host */
    select_jobs();
    assert_int_equal(answer->resources[0].state, RESOURCE_UNSUPPORTED);
    assert_int_equal(answer->resources[1].state, RESOURCE_UNSUPPORTED);
    assert_false(answer->resources[0].is_only_allowed || answer->resources[1].is_only_allowed);

    catalog.rows.version_count = 1; /* maybe the only one that the user leaves */
    request.attempt.project_prefs.no_cpu = true;
    select_jobs();
    assert_int_equal(answer->resources[1].state, RESOURCE_UNSUPPORTED);
    assert_true(answer->resources[1].is_only_allowed && !answer->resources[0].is_only_allowed);
}

/* Days of stored work are longer than the job's deadline is away. */
static void the_connection_period_binds_unless_the_rule_is_off(void **state)
{
    (void)state;
    request.attempt.prefs.work_buf_min_days = 2;
    config->edf_min_queue = EDF_MIN_QUEUE_ALWAYS;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_true(request.attempt.answer.no_work_deadlines);
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    config->edf_min_queue = EDF_MIN_QUEUE_NEVER;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* Of two resources the one that may get work first decides, if it is asked for, is not excluded
 * and has a version at all; what is late keeps its flag. */
static void the_delay_is_that_of_the_resource_that_may_get_work_first(void **state)
{
    static const struct {
        size_t versions;
        double gpu_seconds;
        bool excludes_gpu;
        double delay; /* 120: no work; 3600: deadlines */
    } cases[] = {
        {3, 100, false, 120},
        {3, 0, false, 3600},
        {1, 100, false, 3600},
        {3, 100, true, 3600},
    };

    (void)state;
    config->delay_jitter = 0;
    make_fermi();
    add_job(90000)->workunit.app_version_num = 0;
    apps[0].homogeneous_app_version = 1; /* a job for the CPU alone */
    db_fake.jobs[0].workunit.app_version_id = 11;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
        catalog.rows.version_count = cases[i].versions;
        coprocs[0].req_seconds = cases[i].gpu_seconds;
        request.attempt.project_prefs.no_gpus = cases[i].excludes_gpu;
        run();
        assert_int_equal(request.attempt.answer.job_count, 0);
        assert_true(request.attempt.answer.no_work_deadlines);
        assert_real(request.attempt.answer.request_delay, cases[i].delay, 0);
    }
}

static void versions_out_of_use_support_nothing(void **state)
{
    (void)state;
    apps[0].deprecated = 1;
    run();
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_UNSUPPORTED);
}

/* With one job sent, files of others stay for the sake of another one. */
static void a_reply_with_jobs_makes_no_second_disk_pass(void **state)
{
    (void)state;
    request.message.has_project_disk_free = true;
    request.message.project_disk_free = 1e9;
    request.message.has_potentially_free_offender = true;
    request.message.potentially_free_offender = 4e9;
    add_job(100);
    add_job(100)->workunit.rsc_disk_bound = 2e9;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_int_equal(in_progress(), 1);
}

/* Without a list the host's own jobs are simulated, due when the client was told. How many jobs of
 * 20000 s, due in 30000 s, go beside one of 40000 s that is due then? */
static size_t sent_beside_own(int64_t due)
{
    struct fake_job *own = add_lost(40000);

    config->report_grace_period = 20000;
    request.attempt.host.p_ncpus = 1;
    request.message.has_other_results = false;
    own->result.report_deadline = NOW + due + 20000;
    add_job(20000)->workunit.delay_bound = 30000;
    run();
    return request.attempt.answer.job_count;
}

static void own_jobs_are_due_before_the_grace_period(void **state)
{
    (void)state;
    assert_int_equal(sent_beside_own(50000), 0);
    assert_true(request.attempt.answer.no_work_deadlines);
}

static void own_jobs_that_have_time_hinder_nothing(void **state)
{
    (void)state;
    assert_int_equal(sent_beside_own(70000), 1);
}

static void a_lost_always_on_job_occupies_no_processor(void **state)
{
    struct fake_job *lost = add_lost(80000);

    (void)state;
    catalog.rows.app_count = catalog.rows.version_count = 2;
    request.attempt.host.p_ncpus = 1;
    lost->result.appid = lost->workunit.appid = 2;
    lost->result.app_version_id = 12;
    add_job(50000);
    run();
    assert_int_equal(request.attempt.answer.job_count, 2);
    assert_true(request.attempt.answer.jobs[0].is_resent);
}

/* --- own versions ----------------------------------------------------------------------------- */

static void own_versions_get_jobs_in_their_own_measure(void **state)
{
    static struct client_app_version own = {.version_num = 100, .avg_ncpus = 1, .flops = 2e9};
    const struct answer_job *job;

    (void)state;
    own.app_name = TEXT("app");
    request.message.anonymous_platform = true;
    request.message.app_versions = &own;
    request.message.app_version_count = 1;
    statistics[0] =
        (struct host_app_version_row){.app_version_id = 1000002, .et_n = 11, .et_avg = 1 / 8e9};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    job = &request.attempt.answer.jobs[0];
    assert_ptr_equal(job->anonymous, &own);
    assert_null(job->version);
    assert_i64(db_fake.jobs[0].claim.app_version_id, -2);
    assert_i64(changes[0].app_version_id, 1000002);
    assert_real(job->fpops_scale, 0.25, 1e-9);
    assert_real(job->wall_time, 100.0 / 8, 1e-9);
}

/* The host has one job a day of its versions of an app for the CPU, not one of each that it lists.
 */
static void own_versions_of_an_app_share_their_quota(void **state)
{
    static struct client_app_version own[10];

    (void)state;
    for (int i = 0; i < 10; i++)
        own[i] = (struct client_app_version){.app_name = TEXT("app"),
                                             .platform = i % 2 == 0 ? TEXT("x86_64-pc-linux-gnu")
                                                                    : TEXT("i686-pc-linux-gnu"),
                                             .version_num = 100 + i,
                                             .avg_ncpus = 1,
                                             .flops = 1e9};
    request.message.anonymous_platform = true;
    request.message.app_versions = own;
    request.message.app_version_count = 10;
    config->daily_result_quota = 10;
    statistics[0] = (struct host_app_version_row){.app_version_id = 1000002, .max_jobs_per_day = 1};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    for (int i = 0; i < 5; i++)
        add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(changes[0].jobs_sent, 1);
}

/* A workunit that is bound to one version is for none that the client brings. */
static void homogeneous_versions_are_not_the_clients_own(void **state)
{
    static struct client_app_version own = {.version_num = 100, .avg_ncpus = 1, .flops = 1e9};

    (void)state;
    own.app_name = TEXT("app");
    apps[0].homogeneous_app_version = 1;
    request.message.anonymous_platform = true;
    request.message.app_versions = &own;
    request.message.app_version_count = 1;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "anonymous_version");
}

/* What a reply could not say is not claimed either. */
static void an_own_version_with_words_too_long_for_a_reply_gets_no_job(void **state)
{
    static char words[255];
    static struct client_app_version own = {.version_num = 100, .avg_ncpus = 1, .flops = 2e9};

    (void)state;
    memset(words, 'p', sizeof(words));
    own.app_name = TEXT("app");
    own.platform = (struct text){.at = words, .length = sizeof(words)};
    request.message.anonymous_platform = true;
    request.message.app_versions = &own;
    request.message.app_version_count = 1;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(db_fake.jobs[0].result.server_state, RESULT_UNSENT);
    own.platform.length = 200;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void a_job_with_a_name_too_long_for_the_client_stays_for_others(void **state)
{
    static char name[250];

    (void)state;
    memset(name, 'n', sizeof(name));
    add_job(100)->result.name = (struct text){.at = name, .length = sizeof(name)};
    request.client_version = 60000;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(request.attempt.answer.reasons[0], REASON_LONG_NAMES);
    assert_int_equal(db_fake.jobs[0].result.server_state, RESULT_UNSENT);
    request.client_version = 70000;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* --- always-on apps --------------------------------------------------------------------------- */

static void an_always_on_app_gets_its_one_job(void **state)
{
    (void)state;
    catalog.rows.app_count = catalog.rows.version_count = 2;
    for (int i = 0; i < 2; i++) {
        struct fake_job *job = add_job(100);

        job->result.appid = job->workunit.appid = 2;
    }
    request.message.cpu_req_seconds = 0;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    db_fake.jobs[0].result.report_deadline = NOW + 100;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(request.attempt.answer.message_count, 0);
}

/* Of such it has one also where work is for idle processors only, and none is idle. */
static void an_always_on_app_gets_its_job_of_a_backup_project(void **state)
{
    struct fake_job *job = add_job(100);

    (void)state;
    catalog.rows.app_count = catalog.rows.version_count = 2;
    request.message.has_resource_share_fraction = true;
    request.message.resource_share_fraction = 0;
    job->result.appid = job->workunit.appid = 2;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].resultid, 1000);
}

static void only_what_is_assigned_is_looked_for_where_nothing_is_wanted(void **state)
{
    (void)state;
    config->enable_assignment_multi = true;
    request.message.cpu_req_seconds = 0;
    add_job(100);
    run();
    assert_int_equal(db_fake_calls("assignments"), 1);
    assert_int_equal(db_fake_calls("candidates"), 0);
}

static void who_asks_for_nothing_costs_nothing(void **state)
{
    (void)state;
    request.message.cpu_req_seconds = 0;
    add_job(100);
    assert_int_equal(select_jobs(), NEXT_STEP);
    assert_int_equal(db_fake_calls(NULL), 0);
}

/* Nor is an app that has its job given another one beside what is assigned. */
static void an_always_on_app_keeps_its_job_beside_assigned_ones(void **state)
{
    (void)state;
    config->enable_assignment = true;
    catalog.rows.app_count = catalog.rows.version_count = 2;
    apps[0].non_cpu_intensive = 1; /* it lacks one, and there is none */
    for (int i = 0; i < 2; i++) {
        struct fake_job *job = i == 0 ? add_lost(100) : add_job(100);

        job->result.appid = job->workunit.appid = 2;
    }
    list_job("r0");
    run();
    assert_int_equal(db_fake_calls("assignments"), 1);
    assert_int_equal(request.attempt.answer.job_count, 0);
}

/* Whatever it is that uses the budget up, that is said, and once. */
static void whatever_uses_up_the_budget_is_told(void **state)
{
    static struct ip_result queue[] = {{.name = {.at = "r9", .length = 2}, .time_remaining = 9}};
    size_t by_queue = 0, by_others = 0;

    for (uint64_t most = 1; request.attempt.answer.job_count == 0; most += 10) {
        bool is_queue, is_other;

        teardown(state);
        setup(state);
        request.attempt.budget.most = most;
        request.message.has_ip_results = true;
        request.message.ip_results = queue;
        request.message.ip_result_count = 1;
        for (int i = 0; i < 5; i++)
            list_job("r9");
        add_job(100);
        assert_int_equal(select_jobs(), NEXT_STEP);
        is_queue = says("queue");
        is_other = says("the server used up its time for this request");
        if (request.attempt.answer.job_count == 0)
            assert_true(is_queue != is_other);
        by_queue += is_queue;
        by_others += is_other;
    }
    assert_true(by_queue > 0 && by_others > 0);
}

/* --- lost jobs -------------------------------------------------------------------------------- */

static void a_lost_job_comes_again_before_new_ones(void **state)
{
    const struct answer *answer = &request.attempt.answer;

    (void)state;
    for (int i = 0; i < 4; i++)
        add_job(100);
    add_lost(100);
    run();
    assert_int_equal(answer->job_count, 3);
    assert_true(answer->jobs[0].is_resent);
    assert_i64(answer->jobs[0].resultid, 1004);
    assert_int_equal(request.attempt.resent, 1);
    assert_int_equal(request.attempt.jobs_sent, 2);
    assert_i64(changes[0].jobs_sent, 2); /* a resent job is none of today's */
    assert_true(says("Resent lost task r4"));
}

/* A list that costs too much to sort: what is lost waits, nothing is given up or aborted. */
static void beyond_the_budget_lost_jobs_wait(void **state)
{
    (void)state;
    config->send_result_abort = true;
    add_lost(100);
    list_job("r9");
    request.attempt.budget.spent = BUDGET_MOST;
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(request.attempt.answer.aborts.count, 0);
    assert_false(db_fake.jobs[0].given_up);
    request.attempt.budget.spent = BUDGET_MOST - budget_of_sorting_names(1) - 3 * BUDGET_ROW;
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_int_equal(request.attempt.answer.aborts.count, 1);
}

/* A job that the database has to be asked for by its name costs more than one that is at hand. */
static void beyond_the_budget_nobody_looks_for_strangers(void **state)
{
    (void)state;
    config->send_result_abort = true;
    list_job("r9");
    request.attempt.budget.spent = BUDGET_MOST - budget_of_sorting_names(1);
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.aborts.count, 0);
    assert_int_equal(db_fake_calls("jobs_by_name") + db_fake_calls("results_by_name"), 0);
}

/* The volunteer is told that it was the lists, and the log as well. */
static void beyond_the_budget_no_jobs_are_looked_for(void **state)
{
    const struct jobs_in_progress limits[] = {{.app_name = TEXT("app")}};

    (void)state;
    add_job(100);
    list_job("r9");
    request.attempt.budget.spent = BUDGET_MOST;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "over_budget");
    assert_true(says("the server used up its time for this request"));
    assert_int_equal(db_fake_calls("candidates"), 0);

    config->jobs_in_progress = limits;
    config->jobs_in_progress_count = 1;
    for (int i = 0; i < 2; i++) { /* a listed job costs more where limits of apps are counted */
        request.attempt.answer = (struct answer){0};
        request.attempt.budget.spent = BUDGET_MOST - (i == 0 ? 100 : 1000);
        assert_int_equal(select_jobs(), NEXT_STEP);
        if (i == 0)
            assert_string_equal(answer_first_reason(&request.attempt.answer), "over_budget");
        else if (answer_first_reason(&request.attempt.answer) != NULL)
            assert_string_not_equal(answer_first_reason(&request.attempt.answer), "over_budget");
    }
    config->jobs_in_progress_count = 0;
}

static void a_listed_job_is_not_lost(void **state)
{
    (void)state;
    add_lost(100);
    list_job("r0");
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
}

static void jobs_are_lost_only_where_the_list_can_be_trusted(void **state)
{
    (void)state;
    add_lost(100);
    request.message.results_left = 1;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    request.message.results_left = 0;
    request.message.has_other_results = false;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    request.message.has_other_results = true;
    config->resend_lost_results = false;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    request.attempt.force_resend = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void what_cannot_be_finished_is_given_up(void **state)
{
    (void)state;
    add_lost(1e6);
    add_lost(100)->workunit.error_mask = WU_ERROR_CANCELLED;
    add_lost(100)->workunit.id = 0;
    add_lost(100)->is_faulty = true;
    add_lost(100)->result.appid = 77; /* no such app: no version is needed to give up */
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(db_fake.jobs[i].given_up);
        assert_i64(db_fake.jobs[i].result.report_deadline, NOW - 1);
    }
}

static void a_timed_out_job_is_left_alone(void **state)
{
    (void)state;
    add_lost(100)->result.report_deadline = NOW - 1;
    run();
    assert_false(db_fake.jobs[0].given_up);
    assert_int_equal(request.attempt.answer.job_count, 0);
}

static void a_lost_job_of_a_plan_class_needs_a_host_for_it(void **state)
{
    (void)state;
    app_versions[0].plan_class = TEXT("mt");
    add_lost(100);
    request.message.client_cap_plan_class = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_real(request.attempt.answer.jobs[0].usage.avg_ncpus, 4, 1e-9);
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    request.message.client_cap_plan_class = false;
    run();
    assert_true(db_fake.jobs[0].given_up);
}

/* There is a version for the CPU too, and only CPU work is asked for. */
static void a_lost_coprocessor_job_comes_again_as_one(void **state)
{
    (void)state;
    catalog.rows.version_count = 3;
    make_fermi();
    add_lost(100)->result.app_version_id = 13;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].version->id, 13);
    assert_text(request.attempt.answer.jobs[0].usage.coproc_type, "NVIDIA");

    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    coprocs[0].driver_version = 100; /* the card's driver was lost: another version does */
    db_fake.jobs[0].result.report_deadline = NOW + 80000;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].version->id, 11);
}

static void a_lost_job_comes_again_whatever_resource_is_asked_for(void **state)
{
    (void)state;
    coprocs[0] = (struct coproc){.type = TEXT("NVIDIA"), .count = 1, .req_seconds = 100};
    request.message.coprocs = coprocs;
    request.message.coproc_count = 1;
    request.message.cpu_req_seconds = 0;
    add_lost(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void a_quota_does_not_hold_back_a_lost_job(void **state)
{
    (void)state;
    config->daily_result_quota = 1;
    statistics[0] = (struct host_app_version_row){
        .app_version_id = 11, .max_jobs_per_day = 1, .n_jobs_today = 1};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    add_lost(100);
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_true(request.attempt.answer.jobs[0].is_resent);
}

/* --- aborts ----------------------------------------------------------------------------------- */

/* Two jobs for the one coprocessor, though there are four CPUs. */
static void a_quota_is_for_each_processor_of_the_resource(void **state)
{
    (void)state;
    catalog.rows.version_count = 3;
    make_fermi();
    coprocs[0].req_seconds = 1e6;
    request.message.cpu_req_seconds = 0;
    config->daily_result_quota = 2;
    statistics[0] = (struct host_app_version_row){.app_version_id = 13, .max_jobs_per_day = 2};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    for (int i = 0; i < 5; i++)
        add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 2);
}

static void who_is_reliable_is_said_by_the_statistics(void **state)
{
    (void)state;
    config->reliable_on_priority = 10;
    statistics[0] = (struct host_app_version_row){.app_version_id = 11, .consecutive_valid = 9};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    add_job(100)->workunit.priority = 10;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    statistics[0].consecutive_valid = 10;
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    request_version_change(&request, 11)->resets_consecutive_valid =
        true; /* by a report just now */
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    request.attempt.version_change_count = 0;
    memset(changes, 0, sizeof(changes));
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void a_quota_that_a_report_has_just_cut_binds(void **state)
{
    struct host_app_version_change *change;

    (void)state;
    config->daily_result_quota = 10;
    statistics[0] = (struct host_app_version_row){.app_version_id = 11, .max_jobs_per_day = 10};
    request.attempt.versions = statistics;
    request.attempt.version_count = 1;
    for (int i = 0; i < 3; i++)
        add_job(50);
    change = request_version_change(&request, 11);
    change->sets_max_jobs_per_day = true;
    change->max_jobs_per_day = 1;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* A client without a list of its jobs: what the database has in progress counts. */
static void jobs_of_an_app_are_counted_in_the_database(void **state)
{
    static const struct jobs_in_progress given = {.app_name = {.at = "app", .length = 3},
                                                  .total = {.jobs = 2}};

    (void)state;
    config->jobs_in_progress = &given;
    config->jobs_in_progress_count = 1;
    request.message.has_other_results = false;
    add_lost(50);
    for (int i = 0; i < 3; i++)
        add_job(50);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void place_is_made_beside_what_is_reserved(void **state)
{
    (void)state;
    assert_true(source_make_place(&request, 200));
    request.taken.count = 200;
    assert_true(source_make_place(&request, 100));
    assert_true(request.taken.capacity >= 300);
}

static void what_is_sent_leaves_the_pool(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 3);
    assert_int_equal(left_in_pool(), 3);
}

static void what_is_not_committed_stays_in_the_pool(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        add_job(100);
    assert_int_equal(select_in_transaction(false), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 3);
    assert_int_equal(left_in_pool(), 6);
}

/* A second result of a workunit: that the first one was sent is known from the commit on, and the
 * database is asked for the reason only. */
static void what_was_sent_is_remembered(void **state)
{
    for (int rule = 0; rule < 2; rule++) {
        struct fake_job *first, *second;

        teardown(state);
        setup_with_pool(state);
        config->one_result_per_user_per_wu = rule == 0;
        config->one_result_per_host_per_wu = rule == 1;
        request.message.cpu_req_seconds = 1;
        first = add_job(100);
        second = add_job(100);
        second->workunit.id = second->result.workunitid = first->workunit.id;
        for (int turn = 0; turn < 3; turn++) { /* the first one is not committed */
            first->result.server_state = turn < 2 ? RESULT_UNSENT : RESULT_IN_PROGRESS;
            second->user_had_one = second->host_had_one = turn == 2;
            memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
            request.attempt.jobs_sent = 0;
            assert_int_equal(select_in_transaction(turn == 1), NEXT_STEP);
            assert_int_equal(request.attempt.answer.job_count, turn < 2);
            assert_int_equal(db_fake_calls("workunits_had"), turn + 1);
        }
    }
}

/* What was chosen beside a job whose claim fails is not judged: a job that would be late beside it
 * says nothing of deadlines. */
static void what_a_failed_claim_judged_is_not_told(void **state)
{
    (void)state;
    add_job(100);
    add_job(90000);
    db_fake.failure = STATUS_DB_BUG;
    for (int calls = 0; db_fake_calls("results_claim") == 0; calls++) {
        memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
        db_fake.calls_left = calls;
        assert_int_equal(select_jobs(), NEXT_STEP);
    }
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(request.attempt.answer.resources[0].state, RESOURCE_NONE);
}

/* Nothing else is there to be told of. */
static void jobs_of_an_app_out_of_use_are_told_of(void **state)
{
    (void)state;
    apps[0].deprecated = 1;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    assert_int_equal(db_fake_calls("candidates"), 1);
    assert_string_equal(answer_first_reason(&request.attempt.answer), "app_gone");
}

/* Users may exclude a type of coprocessors by its name, in any case of letters. */
static void a_type_that_the_user_excludes_gets_no_job(void **state)
{
    static const struct text types[] = {{.at = "miner", .length = 5},
                                        {.at = "nvidia", .length = 6}};

    (void)state;
    make_fermi();
    coprocs[0].req_seconds = 1000;
    request.message.cpu_req_seconds = 0;
    catalog.rows.version_count = 3;
    request.attempt.project_prefs.no_resources = types;
    request.attempt.project_prefs.no_resource_count = 1;
    add_job(100);
    add_job(100);
    run();
    assert_true(request.attempt.answer.job_count > 0);
    memset(&request.attempt.answer, 0, sizeof(request.attempt.answer));
    request.attempt.project_prefs.no_resource_count = 2;
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
}

/* Where a bandwidth is not known it forbids nothing. */
static void an_unknown_bandwidth_refuses_no_job(void **state)
{
    (void)state;
    add_job(100);
    add_job(100)->workunit.rsc_bandwidth_bound = 1e6;
    run();
    assert_int_equal(request.attempt.answer.job_count, 2);
}

/* The file outweighs what the job's disk space takes off, also for the first candidate. */
static void the_first_job_may_be_the_one_whose_file_is_here(void **state)
{
    static struct host_file files[] = {{.name = {.at = "sky", .length = 3}, .status = 1}};
    struct fake_job *first = add_job(100);

    (void)state;
    apps[0].locality_scheduling = 1;
    config->score_locality = 1000;
    request.message.cpu_req_seconds = 1;
    request.message.d_project_share = 5e9;
    request.message.d_boinc_used_project = 9e9;
    request.message.files = files;
    request.message.file_count = 1;
    first->has_file = true;
    first->workunit.rsc_disk_bound = 1e11;
    add_job(100);
    assert_int_equal(select_jobs(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].resultid, 1000);
}

/* Large jobs come last only where the project uses more of the disk than its share. */
static void what_takes_much_disk_comes_last_beyond_the_share(void **state)
{
    (void)state;
    add_job(100)->workunit.rsc_disk_bound = 1e11;
    add_job(100);
    request.message.cpu_req_seconds = 1;
    request.message.d_project_share = 5e9;
    for (int i = 0; i < 2; i++) {
        request.attempt.answer = (struct answer){0};
        request.attempt.jobs_sent = 0;
        request.message.d_boinc_used_project = i == 0 ? 9e9 : 1e9;
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 1);
        assert_i64(request.attempt.answer.jobs[0].resultid, i == 0 ? 1001 : 1000);
        db_fake.jobs[1].result.server_state = RESULT_UNSENT;
    }
}

/* Each of two rules by itself. */
static void what_another_host_of_the_user_had_is_no_rule_of_hosts(void **state)
{
    (void)state;
    config->one_result_per_host_per_wu = true;
    config->one_result_per_user_per_wu = false;
    request.message.cpu_req_seconds = 1;
    add_job(100)->user_had_one = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

static void what_the_host_had_under_another_user_is_no_rule_of_users(void **state)
{
    (void)state;
    config->one_result_per_host_per_wu = false;
    config->one_result_per_user_per_wu = true;
    request.message.cpu_req_seconds = 1;
    add_job(100)->host_had_one = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* A listed job whose version the client does not list is of no app that it names. */
static void a_listed_job_of_no_listed_version_is_of_no_known_app(void **state)
{
    static struct jobs_in_progress limits[] = {
        {.app_name = {.at = "app", .length = 3}, .total = {.jobs = 1}}};

    (void)state;
    config->jobs_in_progress = limits;
    config->jobs_in_progress_count = 1;
    list_job("r9");
    listed[0].app_version = 5;
    add_job(100);
    run();
    config->jobs_in_progress_count = 0;
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* More disk space is looked for only where the disk was a reason, or where a reason may not have
 * been seen. */
static void another_disk_pass_wants_a_reason(void **state)
{
    int calls;

    (void)state;
    request.message.has_project_disk_free = true;
    request.message.project_disk_free = 1e9;
    request.message.has_potentially_free_offender = true;
    request.message.potentially_free_offender = 4e9;
    add_job(100)->workunit.rsc_memory_bound = 8e9;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
    calls = db_fake_calls("candidates");
    assert_true(calls <= 2);
}

/* Behind as many jobs as are looked at for the reasons there is one that more disk space lets in.
 */
static void a_reason_that_was_not_seen_may_be_the_disk(void **state)
{
    (void)state;
    request.message.has_project_disk_free = true;
    request.message.project_disk_free = 1e9;
    request.message.has_potentially_free_offender = true;
    request.message.potentially_free_offender = 4e9;
    for (int i = 0; i < 50; i++)
        add_job(100)->workunit.rsc_memory_bound = 8e9;
    add_job(100)->workunit.rsc_disk_bound = 2e9;
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_int_equal(request.attempt.disk_pass, 2);
}

/* Its workunit went between the look at the assignments and its lock. */
static void an_assigned_job_that_is_gone_costs_nothing(void **state)
{
    struct assignment given = {.id = 1, .workunit = {.id = 77, .appid = 1, .delay_bound = 86400}};

    (void)state;
    config->enable_assignment = true;
    db_fake.assignments = &given;
    db_fake.assignment_count = 1;
    add_job(100);
    run();
    assert_int_equal(db_fake_calls("assigned_lock"), 1);
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_i64(request.attempt.answer.jobs[0].resultid, 1000);
}

/* One that the client still has, and the server gave up: it may be done in time by others. */
static void a_listed_job_that_was_given_up_need_not_be_started(void **state)
{
    struct fake_job *job = add_lost(100);

    (void)state;
    config->send_result_abort = true;
    job->result.server_state = RESULT_OVER;
    job->result.outcome = OUTCOME_NO_REPLY;
    list_job("r0");
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.aborts.count, 0);
    assert_int_equal(request.attempt.answer.aborts_if_not_started.count, 1);
}

/* A success that was reported before says that a reply was lost, but without a list nobody knows
 * which jobs were. */
static void without_a_list_a_lost_reply_brings_nothing_again(void **state)
{
    (void)state;
    add_lost(100);
    config->resend_lost_results = false;
    request.message.has_other_results = false;
    request.attempt.force_resend = true;
    run();
    assert_int_equal(request.attempt.answer.job_count, 0);
}

static void a_claim_is_judged_by_what_the_lock_shows(void **state)
{
    static const struct {
        struct locked_workunit row;
        enum job_assignment assignment;
        bool per_user, per_host;
        int hr;
        enum reason reason;
    } cases[] = {
        {{0}, JOB_GENERAL, true, true, 0, REASON_COUNT},
        {{.error_mask = 1}, JOB_GENERAL, false, false, 0, REASON_WORKUNIT_OVER},
        {{.canonical_resultid = 1}, JOB_GENERAL, false, false, 0, REASON_WORKUNIT_OVER},
        {{.canonical_resultid = 1}, JOB_TARGETED, false, false, 0, REASON_WORKUNIT_OVER},
        {{.canonical_resultid = 1}, JOB_BROADCAST, false, false, 0, REASON_COUNT},
        {{.results_of_user = 1}, JOB_GENERAL, true, false, 0, REASON_ONE_PER_USER},
        {{.results_of_user = 1}, JOB_GENERAL, false, true, 0, REASON_COUNT},
        {{.results_of_user = 1}, JOB_TARGETED, true, false, 0, REASON_COUNT},
        {{.results_of_host = 1}, JOB_GENERAL, false, true, 0, REASON_ONE_PER_HOST},
        {{.results_of_host = 1}, JOB_GENERAL, true, false, 0, REASON_COUNT},
        {{.results_of_host = 1}, JOB_BROADCAST, false, false, 0, REASON_ONE_PER_HOST},
        {{.app_version_id = 12}, JOB_GENERAL, false, false, 0, REASON_COMMITTED_VERSION},
        {{.app_version_id = 11}, JOB_GENERAL, false, false, 0, REASON_COUNT},
        {{.hr_class = 999}, JOB_GENERAL, false, false, 0, REASON_COUNT},
        {{.hr_class = 999}, JOB_GENERAL, false, false, 2, REASON_HR_COMMITTED},
    };
    const struct version_option option = {.app_version_id = 11};
    const struct workunit_row workunit = {.id = 500};

    (void)state;
    apps[0].homogeneous_app_version = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct host_view view = {.config = config};
        const struct job job = {.app = &apps[0],
                                .workunit = &workunit,
                                .option = &option,
                                .assignment = cases[i].assignment};

        config->one_result_per_user_per_wu = cases[i].per_user;
        config->one_result_per_host_per_wu = cases[i].per_host;
        apps[0].homogeneous_redundancy = cases[i].hr;
        assert_int_equal(job_check_locked(&view, &job, &cases[i].row), cases[i].reason);
    }
    assert_int_equal(job_check_locked(&(struct host_view){.config = config},
                                      &(struct job){.app = &apps[0], .option = &option}, NULL),
                     REASON_WORKUNIT_OVER);
}

/* A million kinds of jobs, each a little too large for the host in one way: how many of them a
 * request looks at before it says so. */
static void of_a_million_classes_few_are_looked_at(void **state)
{
    enum { CLASSES = 1000000, PIECE = 1000, EXAMINED_MOST = 81335 };
    struct pool_job *piece = calloc(PIECE, sizeof(*piece));
    struct random random = {.state = 1};
    struct pool_figures figures;

    (void)state;
    assert_non_null(piece);
    request.attempt.host.n_bwdown = 1e6;
    request.pool = pool_create(CLASSES, false);
    assert_non_null(request.pool);
    pool_sweep_begin(request.pool);
    for (int64_t i = 0; i < CLASSES; i += PIECE) {
        for (int64_t j = 0; j < PIECE; j++) {
            uint64_t excess = random_next(&random) % 4;

            piece[j] = (struct pool_job){
                .resultid = 1 + i + j,
                .workunit = {.id = 1 + i + j,
                             .appid = 1,
                             .rsc_memory_bound = (excess == 0 ? 4e9 : 1e6) + (double)(1 + i + j),
                             .rsc_disk_bound = (excess == 1 ? 1e12 : 1e11) + (double)(i + j),
                             .rsc_bandwidth_bound = (excess == 2 ? 1e6 : 5e5) + (double)(1 + j) / 2,
                             .rsc_fpops_est = (excess == 3 ? 8.7e13 : 6e13) + (double)(i + j),
                             .delay_bound = 86400}};
        }
        assert_status(STATUS_OK, pool_put(request.pool, piece, PIECE));
    }
    while (pool_sweep_end(request.pool))
        ;
    pool_figures(request.pool, &figures);
    assert_int_equal(figures.classes, CLASSES);
    assert_true(figures.is_complete);
    request.message.cpu_req_seconds = 4 * 7e4;
    request.attempt.plan = request_plan_make(&request);
    assert_int_equal(step_select(&request), NEXT_STEP);
    source_finish(&request, false);
    pool_figures(request.pool, &figures);
    assert_in_range(figures.examined, 1, EXAMINED_MOST);
    free(piece);
}

/* Whatever allocation is the one that fails: nothing is answered that was not got, and nothing of
 * the pool is lost. */
static void without_memory_a_request_fails_as_a_whole(void **state)
{
    enum next next = NEXT_FAILED;
    size_t bytes = 0, failed = 0;

    while (next != NEXT_STEP) {
        teardown(state);
        setup_with_pool(state);
        arena_destroy(arena);
        request.arena = arena = arena_create(bytes);
        config->one_result_per_user_per_wu = true;
        assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 3"), NULL));
        for (int i = 0; i < 8; i++) {
            struct fake_job *job = add_job(100);

            job->workunit.batch = 10 * (1 + i % 2);
            job->user_had_one = i < 2;
            job->others_take = i == 2;
        }
        next = select_in_transaction(false);
        assert_int_equal(left_in_pool() > 0, true);
        if (next == NEXT_STEP)
            break;
        assert_int_equal(next, NEXT_FAILED);
        assert_int_equal(request.failure.status, STATUS_NO_MEMORY);
        assert_true(arena_lacked(arena) > bytes);
        bytes = arena_lacked(arena);
        failed++;
    }
    assert_int_equal(request.attempt.answer.job_count, 3);
    assert_true(failed > 20);
}

/* Of those after one that is given up no more either. */
static void no_more_lost_jobs_come_again_than_a_reply_holds(void **state)
{
    (void)state;
    config->max_wus_to_send = 1; /* for each processor */
    add_lost(1e6);
    for (int i = 0; i < 6; i++)
        add_lost(100);
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 4);
}

/* Of very many each has no line of its own. */
static void few_of_many_lost_jobs_are_named(void **state)
{
    enum { NAMED = 20, AGAIN = 22, OVER = 23 };
    static char words[AGAIN + OVER][16];
    size_t named = 0, over = 0;

    (void)state;
    config->max_wus_to_send = 100;
    for (int i = 0; i < AGAIN + OVER; i++) {
        snprintf(words[i], sizeof(words[i]), "lost_%d", i);
        add_lost(i < AGAIN ? 1 : 1e6)->result.name = text_from(words[i]);
    }
    assert_int_equal(resend(), NEXT_STEP);
    for (size_t i = 0; i < request.attempt.answer.message_count; i++) {
        named += text_starts(request.attempt.answer.messages[i].text, TEXT("Resent lost task"));
        over += text_starts(request.attempt.answer.messages[i].text, TEXT("Didn't resend"));
    }
    assert_int_equal(request.attempt.answer.job_count, AGAIN);
    assert_int_equal(named, NAMED);
    assert_int_equal(over, NAMED);
    assert_true(says("Resent 22 lost tasks in all"));
}

static void the_one_job_that_a_limit_allows_is_sent(void **state)
{
    static struct jobs_in_progress limit = {.total = {.jobs = 1}};

    (void)state;
    config->jobs_in_progress = &limit;
    config->jobs_in_progress_count = 1;
    add_job(100);
    add_job(100);
    run();
    assert_int_equal(request.attempt.answer.job_count, 1);
}

/* To find out which app a listed job is of is dear, and needed for limits of apps alone. */
static void listed_jobs_cost_more_where_apps_have_limits(void **state)
{
    static struct jobs_in_progress limit = {.total = {.jobs = 50}};
    enum { LISTED = 20, MORE = 100 };
    uint64_t spent[2];

    limit.app_name = TEXT("app");
    for (int limited = 0; limited < 2; limited++) {
        teardown(state);
        setup(state);
        config->jobs_in_progress = &limit;
        config->jobs_in_progress_count = (size_t)limited;
        for (int i = 0; i < LISTED; i++)
            list_job("r9");
        assert_int_equal(select_jobs(), NEXT_STEP);
        spent[limited] = request.attempt.budget.spent;
    }
    assert_true(spent[1] >= spent[0] + (uint64_t)LISTED * MORE);
}

/* All at once: lost and unknown jobs, an assigned one, apps that are always on, streams, keywords,
 * files, limits; of a client that tells its queue, or does not, or has a version of its own. */
static void ask_for_everything(int kind, struct assignment *given)
{
    static struct client_app_version own = {.version_num = 100, .avg_ncpus = 1, .flops = 2e9};
    static struct host_file files[] = {{.name = {.at = "sky", .length = 3}, .status = 1}};
    static struct jobs_in_progress limits[] = {{.total = {.jobs = 50}}};
    static struct ip_result queue[] = {{.name = {.at = "r7", .length = 2}, .time_remaining = 9}};

    config->send_result_abort = config->enable_assignment = config->keyword_sched = true;
    config->one_result_per_user_per_wu = true;
    config->jobs_in_progress = limits;
    config->jobs_in_progress_count = 1;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 3"), NULL));
    apps[0].locality_scheduling = 1;
    catalog.rows.app_count = catalog.rows.version_count = 2;
    db_fake.assignments = given;
    db_fake.assignment_count = 1;
    request.message.files = files;
    request.message.file_count = 1;
    request.message.has_ip_results = kind == 1;
    request.message.ip_results = queue;
    request.message.ip_result_count = kind == 1;
    if (kind == 2) {
        own.app_name = TEXT("app");
        request.message.anonymous_platform = true;
        request.message.app_versions = &own;
        request.message.app_version_count = 1;
    }
    add_lost(100);
    add_lost(1e6);
    for (int i = 0; i < 6; i++) {
        struct fake_job *job = add_job(100);

        job->workunit.batch = 10 * (1 + i % 2);
        job->workunit.keywords = TEXT("3 5");
        job->user_had_one = i == 0;
        job->others_take = i == 1;
        job->has_file = i == 2;
        job->result.appid = job->workunit.appid = 1 + i / 5;
    }
    list_job("r9");
    list_job("unknown");
}

/* Whichever allocation of an attempt fails: it fails as a whole, or nothing is answered that was
 * not got. */
static void whatever_memory_lacks_there_is_an_answer(void **state)
{
    struct assignment given = {.id = 1, .workunit = {.id = 77, .appid = 1, .delay_bound = 86400}};
    bool has_pool = request.pool != NULL;

    for (int kind = 0; kind < 3; kind++) {
        bool lacks_some = true;
        size_t bytes = 0, failed = 0;

        while (lacks_some) {
            enum next next;

            teardown(state);
            (void)(has_pool ? setup_with_pool(state) : setup(state));
            arena_destroy(arena);
            request.arena = arena = arena_create(bytes);
            ask_for_everything(kind, &given);
            next = resend();
            if (next == NEXT_STEP)
                next = select_in_transaction(false);
            lacks_some = arena_overflowed(arena);
            assert_true(!lacks_some || arena_lacked(arena) > bytes);
            bytes = arena_lacked(arena);
            failed += next == NEXT_FAILED;
            if (next == NEXT_FAILED)
                assert_int_equal(request.failure.status, STATUS_NO_MEMORY);
            else
                assert_true(request.attempt.jobs_sent <= in_progress());
        }
        assert_true(request.attempt.answer.job_count > 1);
        assert_true(failed > 50);
    }
}

/* What only this user, host or client may not have stays for others; what nobody may have goes. */
static void what_others_may_have_stays_in_the_pool(void **state)
{
    static char name[250];

    memset(name, 'n', sizeof(name));
    for (int i = 0; i < 6; i++) {
        struct fake_job *job;

        teardown(state);
        setup_with_pool(state);
        config->one_result_per_user_per_wu = i == 0;
        config->one_result_per_host_per_wu = i == 1;
        job = add_job(100);
        job->results_of_user = i == 0;
        job->results_of_host = i == 1;
        if (i == 2)
            job->result.name = (struct text){.at = name, .length = sizeof(name)};
        request.client_version = i == 2 ? 60000 : 80000;
        job->is_faulty = i == 3;
        job->others_take = i == 4;
        apps[0].homogeneous_app_version = i == 5;
        job->others_commit = i == 5;
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 0);
        assert_int_equal(left_in_pool(), i < 3);
    }
}

/* All that the user had stands before the one that he may have, in one class or each in its own. It
 * is found without a query of candidates, in pages that grow. */
static void behind_what_was_had_one_is_found(void **state)
{
    enum { HAD = 40 };

    for (int kinds = 0; kinds < 2; kinds++) {
        teardown(state);
        setup_with_pool(state);
        config->one_result_per_user_per_wu = true;
        config->candidate_rows = kinds == 0 ? 500 : 10;
        request.message.cpu_req_seconds = 1;
        for (int i = 0; i < HAD; i++) {
            struct fake_job *job = add_job(100);

            job->user_had_one = true;
            job->workunit.rsc_memory_bound = 1e6 + (kinds == 0 ? 0 : i);
        }
        add_job(100)->workunit.rsc_memory_bound = 1e6 + (kinds == 0 ? 0 : HAD);
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 1);
        assert_i64(request.attempt.answer.jobs[0].resultid, 1000 + HAD);
        assert_int_equal(db_fake_calls("candidates"), 0);
        assert_in_range(db_fake_calls("workunits_had"), 2, kinds == 0 ? 4 : 5);
    }
}

/* Reasons are not looked for where some was sent. */
static void nothing_is_explained_beside_what_is_sent(void **state)
{
    (void)state;
    config->one_result_per_user_per_wu = true;
    add_job(100);
    add_job(100)->user_had_one = true;
    assert_int_equal(select_jobs(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 1);
    assert_int_equal(db_fake_calls("workunits_had"), 1);
}

static void the_pool_forgets_deadlines_where_the_project_does(void **state)
{
    (void)state;
    config->ignore_delay_bound = true;
    request.message.cpu_req_seconds = 1e6;
    for (int i = 0; i < 3; i++)
        add_job(90000); /* longer than the delay bound */
    assert_int_equal(select_jobs(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 3);
    assert_int_equal(db_fake_calls("candidates"), 0);
}

/* A batch of few rows has a place for each stream. */
static void each_stream_has_its_place_in_a_batch(void **state)
{
    size_t of_second = 0;

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 2 1"), NULL));
    config->candidate_rows = 10;
    request.message.cpu_req_seconds = 750;
    for (int i = 0; i < 25; i++) {
        struct fake_job *job = add_job(100);

        job->workunit.batch = i < 20 ? 10 : 20;
        job->workunit.rsc_memory_bound = 1e6 + i;
    }
    assert_int_equal(select_jobs(), NEXT_STEP);
    for (size_t i = 0; i < request.attempt.answer.job_count; i++)
        of_second += request.attempt.answer.jobs[i].resultid >= 1020;
    assert_int_equal(request.attempt.answer.job_count, 8);
    assert_int_equal(of_second, 4);
}

/* Where the client names no keywords, those of the project's file hold: a line of wanted ones, a
 * line of refused ones. What is no number there is passed over. */
static void keywords_that_the_client_does_not_name_are_the_projects(void **state)
{
    char dir[] = "/tmp/qm-handout.XXXXXX", folder[64], path[80];
    int64_t wanted[] = {3};

    assert_non_null(mkdtemp(dir));
    snprintf(folder, sizeof(folder), "%s/kw_prefs", dir);
    snprintf(path, sizeof(path), "%s/%d", folder, USER);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_status(STATUS_OK, file_write(path, TEXT("5 x\n7 9\n"), 0600, NULL));
    for (int client_names_some = 0; client_names_some < 2; client_names_some++) {
        teardown(state);
        setup(state);
        config->project_dir_path = text_from(dir);
        config->keyword_sched = true;
        request.message.cpu_req_seconds = 1;
        request.message.keywords_yes = wanted;
        request.message.keyword_yes_count = (size_t)client_names_some;
        add_job(100)->workunit.keywords = TEXT("9");
        add_job(100);
        add_job(100)->workunit.keywords = TEXT("5");
        add_job(100)->workunit.keywords = TEXT("3");
        assert_int_equal(select_jobs(), NEXT_STEP);
        assert_int_equal(request.attempt.answer.job_count, 1);
        assert_i64(request.attempt.answer.jobs[0].resultid, client_names_some ? 1003 : 1002);
    }
    teardown(state);
    setup(state);
    config->project_dir_path = text_from(dir);
    config->keyword_sched = true;
    add_job(100)->workunit.keywords = TEXT("9");
    assert_int_equal(select_jobs(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.job_count, 0);
    unlink(path);
    rmdir(folder);
    rmdir(dir);
}

static void aborts_only_where_nobody_needs_the_job(void **state)
{
    const struct answer *answer = &request.attempt.answer;

    (void)state;
    config->send_result_abort = true;
    add_lost(100); /* r0: fine */
    add_lost(100)->workunit.error_mask = WU_ERROR_CANCELLED;
    add_lost(100)->workunit.assimilate_state = ASSIMILATE_DONE;
    add_lost(100)->result.hostid = HOST + 1; /* a copied data folder */
    for (int i = 0; i < 4; i++)
        list_job(names[i]);
    list_job("r9"); /* nobody knows it */
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(answer->aborts.count, 2);
    assert_text(answer->aborts.first->text, "r1");
    assert_text(answer->aborts.last->text, "r9");
    assert_int_equal(answer->aborts_if_not_started.count, 1);
    assert_text(answer->aborts_if_not_started.first->text, "r2");
}

static void a_failing_look_up_aborts_nothing(void **state)
{
    (void)state;
    config->send_result_abort = true;
    request.message.cpu_req_seconds = 0;
    list_job("r9");
    db_fake.calls_left = 1;
    db_fake.failure = STATUS_DB_BUG;
    assert_int_equal(resend(), NEXT_STEP);
    assert_int_equal(request.attempt.answer.aborts.count, 0);
}

/* Whether candidates come by query or out of a job pool. */
#define EITHER_WAY(CASE)                                                                         \
    CASE(as_much_is_sent_as_is_asked_for), CASE(the_database_has_the_later_deadline),            \
        CASE(deadlines_that_do_not_fit_are_counted), CASE(what_others_took_is_replaced),         \
        CASE(what_was_refused_beside_lost_jobs_is_not_told),                                     \
        CASE(what_the_last_round_judged_is_told),                                                \
        CASE(only_what_the_last_disk_pass_judged_is_told),                                       \
        CASE(a_job_that_is_lost_commits_no_workunit),                                            \
        CASE(a_job_that_cannot_be_written_is_not_taken),                                         \
        CASE(work_refused_means_no_jobs_and_no_more_words),                                      \
        CASE(one_per_user_is_judged_under_lock), CASE(what_the_user_had_before_is_not_locked),   \
        CASE(what_nobody_forbids_is_not_asked_for),                                              \
        CASE(a_homogeneous_workunit_is_committed_by_the_claim),                                  \
        CASE(a_kind_of_computer_is_committed_by_the_claim),                                      \
        CASE(an_untrusted_host_makes_the_workunit_replicated),                                   \
        CASE(what_is_replicated_already_is_left_so), CASE(an_empty_queue_is_said),               \
        CASE(too_little_memory_is_said_with_figures), CASE(deadlines_alone_raise_the_flag),      \
        CASE(only_a_resource_without_versions_is_unsupported),                                   \
        CASE(the_connection_period_binds_unless_the_rule_is_off),                                \
        CASE(the_delay_is_that_of_the_resource_that_may_get_work_first),                         \
        CASE(versions_out_of_use_support_nothing),                                               \
        CASE(a_reply_with_jobs_makes_no_second_disk_pass),                                       \
        CASE(own_jobs_are_due_before_the_grace_period),                                          \
        CASE(own_jobs_that_have_time_hinder_nothing),                                            \
        CASE(a_lost_always_on_job_occupies_no_processor),                                        \
        CASE(own_versions_get_jobs_in_their_own_measure),                                        \
        CASE(own_versions_of_an_app_share_their_quota),                                          \
        CASE(homogeneous_versions_are_not_the_clients_own),                                      \
        CASE(an_own_version_with_words_too_long_for_a_reply_gets_no_job),                        \
        CASE(a_job_with_a_name_too_long_for_the_client_stays_for_others),                        \
        CASE(an_always_on_app_gets_its_one_job), CASE(a_lost_job_comes_again_before_new_ones),   \
        CASE(beyond_the_budget_lost_jobs_wait),                                                  \
        CASE(beyond_the_budget_nobody_looks_for_strangers),                                      \
        CASE(beyond_the_budget_no_jobs_are_looked_for), CASE(a_listed_job_is_not_lost),          \
        CASE(jobs_are_lost_only_where_the_list_can_be_trusted),                                  \
        CASE(what_cannot_be_finished_is_given_up), CASE(a_timed_out_job_is_left_alone),          \
        CASE(a_lost_job_of_a_plan_class_needs_a_host_for_it),                                    \
        CASE(a_lost_coprocessor_job_comes_again_as_one),                                         \
        CASE(a_lost_job_comes_again_whatever_resource_is_asked_for),                             \
        CASE(a_quota_does_not_hold_back_a_lost_job),                                             \
        CASE(a_quota_is_for_each_processor_of_the_resource),                                     \
        CASE(who_is_reliable_is_said_by_the_statistics),                                         \
        CASE(a_quota_that_a_report_has_just_cut_binds),                                          \
        CASE(jobs_of_an_app_are_counted_in_the_database),                                        \
        CASE(aborts_only_where_nobody_needs_the_job),                                            \
        CASE(what_a_failed_claim_judged_is_not_told), CASE(an_unknown_bandwidth_refuses_no_job), \
        CASE(the_first_job_may_be_the_one_whose_file_is_here),                                   \
        CASE(what_takes_much_disk_comes_last_beyond_the_share),                                  \
        CASE(what_another_host_of_the_user_had_is_no_rule_of_hosts),                             \
        CASE(what_the_host_had_under_another_user_is_no_rule_of_users),                          \
        CASE(a_listed_job_of_no_listed_version_is_of_no_known_app),                              \
        CASE(another_disk_pass_wants_a_reason), CASE(a_failing_look_up_aborts_nothing)

int main(void)
{
#define BY_QUERY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define OUT_OF_POOL(name) \
    ((struct CMUnitTest){#name ", out of a pool", name, setup_with_pool, teardown, NULL})
    const struct CMUnitTest tests[] = {
        EITHER_WAY(BY_QUERY),
        BY_QUERY(of_a_million_classes_few_are_looked_at),
        BY_QUERY(a_job_that_is_not_taken_commits_no_workunit),
        BY_QUERY(a_refused_statement_costs_the_jobs_alone),
        BY_QUERY(a_lost_connection_fails_the_request_at_every_call),
        BY_QUERY(whatever_memory_lacks_there_is_an_answer),
        BY_QUERY(a_reason_that_was_not_seen_may_be_the_disk),
        BY_QUERY(an_assigned_job_that_is_gone_costs_nothing),
        BY_QUERY(a_listed_job_that_was_given_up_need_not_be_started),
        BY_QUERY(without_a_list_a_lost_reply_brings_nothing_again),
        BY_QUERY(a_claim_is_judged_by_what_the_lock_shows),
        BY_QUERY(each_of_many_batches_has_its_owner),
        BY_QUERY(jobs_of_owners_are_of_one_level),
        BY_QUERY(what_was_got_counts_in_the_same_request),
        BY_QUERY(place_is_made_beside_what_is_reserved),
        BY_QUERY(keywords_that_the_client_does_not_name_are_the_projects),
        BY_QUERY(no_more_lost_jobs_come_again_than_a_reply_holds),
        BY_QUERY(few_of_many_lost_jobs_are_named),
        BY_QUERY(who_asks_for_nothing_costs_nothing),
        BY_QUERY(an_always_on_app_keeps_its_job_beside_assigned_ones),
        BY_QUERY(whatever_uses_up_the_budget_is_told),
        BY_QUERY(jobs_of_an_app_out_of_use_are_told_of),
        BY_QUERY(a_type_that_the_user_excludes_gets_no_job),
        BY_QUERY(the_one_job_that_a_limit_allows_is_sent),
        BY_QUERY(an_always_on_app_gets_its_job_of_a_backup_project),
        BY_QUERY(only_what_is_assigned_is_looked_for_where_nothing_is_wanted),
        BY_QUERY(listed_jobs_cost_more_where_apps_have_limits),
        EITHER_WAY(OUT_OF_POOL),
        OUT_OF_POOL(without_memory_a_request_fails_as_a_whole),
        OUT_OF_POOL(whatever_memory_lacks_there_is_an_answer),
        OUT_OF_POOL(what_others_may_have_stays_in_the_pool),
        OUT_OF_POOL(nobody_is_sent_away_for_jobs_that_are_gone),
        OUT_OF_POOL(behind_what_was_had_one_is_found),
        OUT_OF_POOL(nothing_is_explained_beside_what_is_sent),
        OUT_OF_POOL(the_pool_forgets_deadlines_where_the_project_does),
        OUT_OF_POOL(what_is_not_committed_is_not_booked_for_its_stream),
        OUT_OF_POOL(streams_share_over_requests),
        OUT_OF_POOL(each_stream_has_its_place_in_a_batch),
        OUT_OF_POOL(what_is_sent_leaves_the_pool),
        OUT_OF_POOL(what_is_not_committed_stays_in_the_pool),
        OUT_OF_POOL(what_was_sent_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
