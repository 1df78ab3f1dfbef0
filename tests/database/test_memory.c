/* SPDX-License-Identifier: Apache-2.0 */
/* A request whose memory ends somewhere: whichever allocation fails, the reply is whole, and what
 * it says is what the database holds. The same request is sent again and again, each time with a
 * little more memory, until it needs no more. */
#include "tests/support/serving.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

enum { HOST = 1, REPORTED = 100, REPORTS = 3, LOST = 200, LOST_COUNT = 2, LISTED = 300 };
enum { UNSENT = 1000, UNSENT_COUNT = 20, STEPS = 300, MOST = 64 * 1024 * 1024 };

#define CASE(name) cmocka_unit_test(test_##name)

static struct test_database *database;
static struct serving server;
static bool is_used; /* the scene */

static int setup(void **state)
{
    (void)state;
    log_set_level(LOG_LEVEL_CRITICAL);
    database = test_database_create(true, NULL);
    serving_add_hosts(database, 1);
    serving_open(&server, database);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pool_destroy(server.pool);
    serving_close(&server);
    test_database_destroy(database);
    return 0;
}

/* The rows as each request finds them: jobs that are reported, lost, listed and unsent. */
static void set_scene(void)
{
    test_sql(database, "DELETE FROM result; DELETE FROM workunit; DELETE FROM host_app_version;"
                       "DELETE FROM msg_from_host; DELETE FROM msg_to_host;"
                       "UPDATE host SET rpc_time = 0, rpc_seqno = 0 WHERE id = 1;"
                       "INSERT INTO msg_to_host SET hostid = 1, create_time = 1, xml = '<a/>'");
    serving_add_jobs(database,
                     &(struct new_jobs){.first = REPORTED, .count = REPORTS, .host = HOST});
    serving_add_jobs(database,
                     &(struct new_jobs){.first = LOST, .count = LOST_COUNT, .host = HOST});
    serving_add_jobs(database, &(struct new_jobs){.first = LISTED, .count = 1, .host = HOST});
    serving_add_jobs(database, &(struct new_jobs){.first = UNSENT, .count = UNSENT_COUNT});
}

static struct pool *fill_pool(void)
{
    struct pool *pool = pool_create(1000, server.config->user_filter);
    struct filler *filler = filler_create(pool, server.config, 1);
    struct pool_figures figures = {0};

    assert_non_null(filler);
    for (double now = 1; !figures.is_filled; now += 0.1) {
        double pause;

        assert_status(STATUS_OK, filler_step(filler, server.db, now, &pause));
        pool_figures(pool, &figures);
    }
    assert_status(STATUS_OK, filler_leave(filler, server.db));
    filler_destroy(filler);
    return pool;
}

static void write_body(struct buffer *body, const char *elements)
{
    buffer_print(
        body,
        "<scheduler_request>\n<authenticator>key</authenticator>\n<hostid>%d</hostid>\n"
        "<rpc_seqno>1</rpc_seqno>\n<core_client_major_version>8</core_client_major_version>\n"
        "<core_client_minor_version>0</core_client_minor_version>\n"
        "<core_client_release>2</core_client_release>\n%s"
        "<work_req_seconds>1000</work_req_seconds>\n<cpu_req_secs>1000</cpu_req_secs>\n"
        "<host_info>\n<p_ncpus>4</p_ncpus>\n<p_fpops>1e9</p_fpops>\n<m_nbytes>4e9</m_nbytes>\n"
        "<d_total>1e12</d_total>\n<d_free>1e12</d_free>\n<os_name>Linux</os_name>\n"
        "<p_vendor>GenuineIntel</p_vendor>\n<p_model>Intel Core</p_model>\n"
        "<domain_name>a</domain_name>\n</host_info>\n"
        "<global_preferences>\n<mod_time>5</mod_time>\n<work_buf_min_days>0.1</work_buf_min_days>\n"
        "</global_preferences>\n"
        "<msg_from_host>\n<result_name>r_%d</result_name>\n<time>5</time>\n<variety>v</variety>\n"
        "<text>words</text>\n</msg_from_host>\n",
        HOST, elements, LISTED);
    for (int i = REPORTED; i < REPORTED + REPORTS; i++)
        buffer_print(body,
                     "<result>\n<name>r_%d</name>\n<state>5</state>\n<exit_status>0</exit_status>\n"
                     "<final_cpu_time>90</final_cpu_time>\n"
                     "<final_elapsed_time>100</final_elapsed_time>\n"
                     "<stderr_out>some &lt; words</stderr_out>\n</result>\n",
                     i);
    buffer_print(body,
                 "<other_results>\n<other_result>\n<name>r_%d</name>\n</other_result>\n"
                 "</other_results>\n<in_progress_results>\n<ip_result>\n<name>r_%d</name>\n"
                 "<report_deadline>%d</report_deadline>\n<time_remaining>50</time_remaining>\n"
                 "</ip_result>\n</in_progress_results>\n</scheduler_request>\n",
                 LISTED, LISTED, SERVING_NOW + 86400);
}

/* Sends the request with so much memory. Answers whether all was done. */
static bool is_served(size_t memory, bool with_pool, struct text body)
{
    const struct answer *answer;
    long booked, held;

    if (is_used) {
        set_scene();
        pool_destroy(server.pool);
        server.pool = with_pool ? fill_pool() : NULL;
    }
    arena_destroy(server.arena);
    server.arena = arena_create(memory);
    answer = serving_send(&server, body, SERVING_NOW, 1);
    assert_true(text_contains(buffer_text(&server.reply), TEXT("</scheduler_reply>")));
    assert_true(text_contains(buffer_text(&server.reply), TEXT("<scheduler_reply>")));
    booked = (long)test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 5");
    held = (long)test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 4");
    assert_int_equal(answer->acks.count, booked);
    assert_int_equal(held, REPORTS - booked + LOST_COUNT + 1 +
                               (long)(answer->job_count > 0 ? answer->job_count - LOST_COUNT : 0));
    is_used = booked > 0 || answer->job_count > 0;
    return booked == REPORTS && answer->job_count > LOST_COUNT && !arena_overflowed(server.arena);
}

static void serve_in_steps(bool with_pool, const char *elements)
{
    struct buffer body = buffer_on_heap(0);
    size_t needed = MOST, too_little = 0;
    int served = 0;

    is_used = true;
    write_body(&body, elements);
    assert_true(is_served(MOST, with_pool, buffer_text(&body)));
    while (needed - too_little > 64) { /* it needs less after a rewind than at its peak */
        size_t middle = (too_little + needed) / 2;

        if (is_served(middle, with_pool, buffer_text(&body)))
            needed = middle;
        else
            too_little = middle;
    }
    for (size_t i = 1; i < STEPS; i++)
        served += is_served(needed * i / STEPS, with_pool, buffer_text(&body));
    assert_true(is_served(needed, with_pool, buffer_text(&body)));
    assert_int_equal(served, 0);
    buffer_free(&body);
}

static void test_with_candidates_of_the_database(void **state)
{
    (void)state;
    serve_in_steps(false, "<platform_name>x86_64-pc-linux-gnu</platform_name>\n");
}

static void test_with_a_job_pool(void **state)
{
    (void)state;
    serve_in_steps(true, "<platform_name>x86_64-pc-linux-gnu</platform_name>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(with_candidates_of_the_database),
        CASE(with_a_job_pool),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
