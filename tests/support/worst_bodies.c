/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/worst_bodies.h"

#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/base/xml.h"
#include "server/parse/parse.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/walk.h"
#include "server/rpc/world.h"
#include "tests/support/db_fake.h"
#include "tests/support/test.h"

#include <time.h>

enum { NOW = 1795000000, USER = 17, HOST = 1, DAY = 86400, MEMORY_MAX = 1 << 30 };

/* --- what is made ----------------------------------------------------------------------------- */

/* Each job ends before those that stand earlier in the queue. */
static void queue_that_falls(struct buffer *body, size_t times, const char *name, double cpus)
{
    buffer_add_string(body, "<in_progress_results>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body,
                     "<ip_result><name>%s%zu</name><report_deadline>%.1f</report_deadline>"
                     "<time_remaining>%.1f</time_remaining><avg_ncpus>%.6f</avg_ncpus>"
                     "</ip_result>\n",
                     name, i, NOW + 9.0 * DAY + (double)i, 25.0 * DAY - 5.0 * (double)i,
                     cpus * (double)(1 + i % 7));
    buffer_add_string(body, "</in_progress_results>\n");
}

static void falling_queue(struct buffer *body, size_t times)
{
    queue_that_falls(body, times, "x", 1e-5);
}

/* Jobs of the project, whose memory alone is known (stage). */
static void memory_queue(struct buffer *body, size_t times)
{
    queue_that_falls(body, times, "mine", 1e-3);
    buffer_add_string(body, "<other_results>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body, "<other_result><name>mine%zu</name></other_result>\n", i);
    buffer_add_string(body, "</other_results>\n");
}

static void honest_queue(struct buffer *body, size_t times)
{
    buffer_add_string(body, "<in_progress_results>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body,
                     "<ip_result><name>job_of_a_project_%zu_0</name><report_deadline>%zu"
                     "</report_deadline><time_remaining>%zu</time_remaining></ip_result>\n",
                     i, NOW + 14 * (size_t)DAY + i % 100000, 3600 + i % 1000);
    buffer_add_string(body, "</in_progress_results>\n");
}

static void add_own(struct buffer *body, size_t number, const char *platform)
{
    buffer_print(body,
                 "<app_version><app_name>work</app_name><version_num>%zu</version_num>"
                 "<platform>%s</platform><flops>%zu</flops></app_version>\n",
                 number % 3 + 1, platform, 1000000000 + number);
}

static void own_versions(struct buffer *body, size_t times)
{
    buffer_add_string(body, "<app_versions>\n");
    for (size_t i = 0; i < times; i++)
        add_own(body, i, "x86_64-pc-linux-gnu");
    buffer_add_string(body, "</app_versions>\n");
}

static void long_platform(struct buffer *body, size_t times)
{
    char name[256];

    memset(name, 'p', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    buffer_add_string(body, "<app_versions>\n");
    for (size_t i = 0; i < times; i++)
        add_own(body, i, name);
    buffer_add_string(body, "</app_versions>\n");
}

static void listed_own(struct buffer *body, size_t times)
{
    own_versions(body, 10000);
    buffer_add_string(body, "<other_results>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body,
                     "<other_result><name>x%zu</name><app_version>%zu</app_version>"
                     "</other_result>\n",
                     i, i % 10000);
    buffer_add_string(body, "</other_results>\n");
}

static void long_names(struct buffer *body, size_t times)
{
    static char alike[10001];

    memset(alike, 'n', sizeof(alike) - 1);
    buffer_add_string(body, "<other_results>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body, "<other_result><name>%s%zu</name></other_result>\n", alike, i);
    buffer_add_string(body, "</other_results>\n");
}

static void keywords(struct buffer *body, size_t times)
{
    buffer_add_string(body, "<user_keywords>\n");
    for (size_t i = 0; i < times; i++)
        buffer_print(body, "<yes>%zu</yes><no>%zu</no>", 1000 + i, 1000000 + i);
    buffer_add_string(body, "</user_keywords>\n");
}

const struct worst_body worst_bodies[] = {
#define ASKS      WORST_ASKS
#define LIMITS    WORST_LIMITS
#define ABORTS    WORST_ABORTS
#define KEYWORDS  WORST_KEYWORDS
#define OWN       WORST_OWN
#define MANY_CPUS WORST_MANY_CPUS
#define MEMORY    WORST_MEMORY
#define PIECES(name_, times_, settings_, before_, piece_, after_, bound_) \
    {.name = (name_),                                                     \
     .times = (times_),                                                   \
     .settings = (settings_),                                             \
     .before = (before_),                                                 \
     .piece = (piece_),                                                   \
     .after = (after_),                                                   \
     .bound = (bound_)},
#define MADE(name_, times_, settings_, make_, bound_) \
    {.name = (name_),                                 \
     .times = (times_),                               \
     .settings = (settings_),                         \
     .make = (make_),                                 \
     .bound = (bound_)},
#include "tests/support/worst_bodies.def"
#undef PIECES
#undef MADE
};
const size_t worst_body_count = sizeof(worst_bodies) / sizeof(worst_bodies[0]);

static void add_pieces(struct buffer *body, const struct worst_body *worst)
{
    struct text piece = text_from(worst->piece);
    size_t number_at = text_find(piece, TEXT("#"));
    bool has_number = number_at < piece.length;

    buffer_add_string(body, worst->before);
    for (size_t i = 0; i < worst->times; i++) {
        struct text rest = piece;

        while (has_number && text_contains(rest, TEXT("#"))) {
            buffer_add(body, text_split(&rest, '#'));
            buffer_print(body, "%zu", i);
        }
        buffer_add(body, rest);
    }
    buffer_add_string(body, worst->after);
}

struct buffer worst_body_make(const struct worst_body *worst, const char *key, int64_t hostid)
{
    struct buffer body = buffer_on_heap(0);
    unsigned settings = worst->settings;

    buffer_print(
        &body,
        "<scheduler_request>\n<authenticator>%s</authenticator>\n<hostid>%lld</hostid>\n"
        "<rpc_seqno>2147483647</rpc_seqno>\n"
        "<core_client_major_version>8</core_client_major_version>\n"
        "<core_client_minor_version>0</core_client_minor_version>\n"
        "<core_client_release>2</core_client_release>\n"
        "<platform_name>%s</platform_name>\n<client_cap_plan_class>1</client_cap_plan_class>\n"
        "<work_req_seconds>%d</work_req_seconds>\n<cpu_req_secs>%d</cpu_req_secs>\n"
        "<host_info><p_ncpus>%d</p_ncpus><p_fpops>1e9</p_fpops><m_nbytes>8e9</m_nbytes>"
        "<d_total>1e12</d_total><d_free>1e12</d_free><os_name>Linux</os_name>"
        "</host_info>\n",
        key, (long long)hostid, (settings & WORST_OWN) != 0 ? "anonymous" : "x86_64-pc-linux-gnu",
        (settings & WORST_ASKS) != 0 ? 1000000 : 0, (settings & WORST_ASKS) != 0 ? 1000000 : 0,
        (settings & WORST_MANY_CPUS) != 0 ? 256 : 4);
    if (worst->make != NULL)
        worst->make(&body, worst->times);
    else
        add_pieces(&body, worst);
    buffer_add_string(&body, "\n</scheduler_request>\n");
    return body;
}

/* --- the walk --------------------------------------------------------------------------------- */

static double cpu_ms(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double parse_alone(struct text body)
{
    static const struct parse_limits limits = {.results_max = 100000, .depth_max = 100};
    struct arena *arena = arena_create(MEMORY_MAX);
    struct message *message = ARENA_NEW(arena, struct message);
    struct failure failure = {0};
    double begun = cpu_ms();

    assert_status(STATUS_OK, parse_request(body, &limits, arena, message, &failure));
    begun = cpu_ms() - begun;
    arena_destroy(arena);
    return begun;
}

static struct app_row apps[] = {{.id = 1, .name = {.at = "work", .length = 4}, .weight = 1}};
static struct app_version_row versions[] = {
    {.id = 11,
     .appid = 1,
     .platformid = 5,
     .version_num = 100,
     .plan_class = {.at = "", .length = 0},
     .xml_doc = {.at = "<app_version></app_version>", .length = 27}}};
static struct platform_row platforms[] = {
    {.id = 5, .name = {.at = "x86_64-pc-linux-gnu", .length = 19}},
    {.id = 6, .name = {.at = "anonymous", .length = 9}}};

enum { NEW_JOBS = 64, OWN_JOBS_MAX = 300 };

/* Jobs of the host, and those that it may have. Two of the largest just fit into 90 % of its
 * memory, and any two take another amount of it. */
static double memory_of(size_t number)
{
    return number % 3 == 0 ? 3.0e9 - 5e4 * (double)number : 1.2e7 + 1e5 * (double)number;
}

static void add_own_jobs(size_t count)
{
    static char names[OWN_JOBS_MAX][16];

    assert_true(count <= OWN_JOBS_MAX);
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(names[i], sizeof(names[i]), "mine%zu", i);

        db_fake.jobs[db_fake.job_count++] =
            (struct fake_job){.result = {.id = 2000 + (int64_t)i,
                                         .workunitid = 2000 + (int64_t)i,
                                         .appid = 1,
                                         .hostid = HOST,
                                         .userid = USER,
                                         .app_version_id = 11,
                                         .server_state = RESULT_IN_PROGRESS,
                                         .report_deadline = NOW + 6 * (int64_t)DAY,
                                         .name = {.at = names[i], .length = (size_t)length}},
                              .workunit = {.id = 2000 + (int64_t)i,
                                           .appid = 1,
                                           .rsc_fpops_est = 1e12,
                                           .rsc_memory_bound = memory_of(i)}};
    }
    for (size_t i = 0; i < NEW_JOBS; i++)
        db_fake.jobs[i].workunit.rsc_memory_bound = i == 0 ? 3e9 : 1e6 * (double)(1 + i);
}

/* Jobs that the host may have, due in seven days. */
static void stage(const struct worst_body *worst)
{
    db_fake_begin(DB_FAKE_WALK);
    db_fake.users[0] = (struct user_row){
        .id = USER, .authenticator = TEXT("key"), .email_addr = TEXT("a@example.org")};
    db_fake.user_count = 1;
    db_fake.hosts[0] = (struct host_row){.id = HOST,
                                         .userid = USER,
                                         .rpc_time = NOW - 5000,
                                         .p_ncpus = 4,
                                         .p_fpops = 1e9,
                                         .m_nbytes = 8e9};
    db_fake.host_count = 1;
    for (int i = 0; i < NEW_JOBS; i++)
        db_fake.jobs[db_fake.job_count++] =
            (struct fake_job){.result = {.id = 1000 + i,
                                         .workunitid = 500 + i,
                                         .appid = 1,
                                         .server_state = RESULT_UNSENT,
                                         .name = TEXT("new")},
                              .workunit = {.id = 500 + i,
                                           .appid = 1,
                                           .rsc_fpops_est = 1e12 + 1e9 * i,
                                           .rsc_memory_bound = 1e6,
                                           .rsc_disk_bound = 1e6,
                                           .keywords = TEXT("1 2 3 4 5 6 7 8 1003 1999"),
                                           .target_nresults = 1,
                                           .delay_bound = 7 * DAY}};
    if ((worst->settings & WORST_MEMORY) != 0)
        add_own_jobs(worst->times);
}

void worst_body_walk(const struct worst_body *worst, bool times_parsing,
                     struct worst_cost *ret_cost)
{
    static const struct project_keys keys;
    const struct plan_classes builtin = plan_classes_builtin();
    const struct jobs_in_progress limits[] = {
        {.app_name = TEXT("work"), .total = {.jobs = 1000000}}};
    struct catalog catalog = {.rows = {.apps = apps,
                                       .app_count = 1,
                                       .versions = versions,
                                       .version_count = 1,
                                       .platforms = platforms,
                                       .platform_count = 2}};
    struct buffer body = worst_body_make(worst, "key", HOST), reply = buffer_on_heap(MEMORY_MAX);
    struct config *config;
    struct request request;
    double begun;

    assert_status(STATUS_OK, config_defaults(&config));
    log_set_level(LOG_LEVEL_CRITICAL);
    config->send_result_abort = (worst->settings & WORST_ABORTS) != 0;
    config->keyword_sched = (worst->settings & WORST_KEYWORDS) != 0;
    config->max_ncpus = 256;
    if ((worst->settings & WORST_LIMITS) != 0) {
        config->jobs_in_progress = limits;
        config->jobs_in_progress_count = 1;
    }
    stage(worst);
    request = (struct request){
        .config = config,
        .catalog = &catalog,
        .keys = &keys,
        .plan_classes = &builtin,
        .db = (struct db *)&catalog,
        .world = &database_world,
        .arena = arena_create(MEMORY_MAX),
        .now = NOW,
        .seed = 1,
        .transport = {.body = buffer_text(&body), .remote_addr = TEXT("192.0.2.1")}};
    assert_non_null(request.arena);
    *ret_cost = (struct worst_cost){
        .body = body.length, .parse_ms = times_parsing ? parse_alone(buffer_text(&body)) : 0};
    begun = cpu_ms();
    request_run(&request, &reply);
    ret_cost->whole_ms = cpu_ms() - begun;
    ret_cost->units = request.attempt.budget.spent;
    ret_cost->is_over_budget = budget_is_used_up(&request.attempt.budget);
    ret_cost->arena = arena_used(request.arena);
    ret_cost->reply = reply.length;
    ret_cost->calls = db_fake_calls(NULL);
    ret_cost->jobs = request.attempt.answer.job_count;
    ret_cost->reason = answer_first_reason(&request.attempt.answer);
    ret_cost->acks = request.attempt.answer.acks.count;
    assert_int_equal(request.attempt.answer.kind, ANSWER_FULL);
    config->jobs_in_progress_count = 0;
    config_release(config);
    arena_destroy(request.arena);
    buffer_free(&reply);
    buffer_free(&body);
}
