/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/serving.h"

#include "server/base/arena.h"
#include "server/project/catalog.h"
#include "server/request/walk.h"
#include "server/rpc/world.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

enum { ARENA_MOST = 1 << 30 };

void serving_open(struct serving *serving, struct test_database *database)
{
    *serving = (struct serving){.db = test_database_open(database),
                                .arena = arena_create(ARENA_MOST),
                                .config = test_database_config(database),
                                .reply = buffer_on_heap(0)};
    assert_status(STATUS_OK, catalog_load(serving->db, &serving->catalog));
    db_rollback(serving->db);
}

void serving_close(struct serving *serving)
{
    buffer_free(&serving->reply);
    catalog_release(serving->catalog);
    arena_destroy(serving->arena);
    db_close(serving->db);
}

static struct text body_of(struct arena *arena, const struct asking *asking)
{
    return text_print(
        arena,
        "<scheduler_request>\n<authenticator>%s</authenticator>\n<hostid>%d</hostid>\n"
        "<rpc_seqno>1</rpc_seqno>\n<core_client_major_version>8</core_client_major_version>\n"
        "<core_client_minor_version>0</core_client_minor_version>\n"
        "<core_client_release>2</core_client_release>\n"
        "<platform_name>%s</platform_name>\n"
        "<work_req_seconds>%g</work_req_seconds>\n<cpu_req_secs>%g</cpu_req_secs>\n"
        "<host_info>\n<p_ncpus>%d</p_ncpus>\n<p_fpops>1e9</p_fpops>\n<m_nbytes>%g</m_nbytes>\n"
        "<d_total>1e12</d_total>\n<d_free>%g</d_free>\n<os_name>%s</os_name>\n"
        "<p_vendor>GenuineIntel</p_vendor>\n<p_model>Intel Core</p_model>\n</host_info>\n"
        "%s</scheduler_request>\n",
        asking->key == NULL ? "key" : asking->key, asking->host,
        asking->platform == NULL ? "x86_64-pc-linux-gnu" : asking->platform, asking->work_seconds,
        asking->work_seconds, asking->cpus == 0 ? 4 : asking->cpus,
        asking->memory > 0 ? asking->memory : 4e9, asking->disk_free > 0 ? asking->disk_free : 1e12,
        asking->os == NULL ? "Linux" : asking->os,
        asking->elements == NULL ? "<other_results>\n</other_results>\n" : asking->elements);
}

static struct request request_of(const struct serving *serving, struct arena *arena,
                                 struct text body, double now, uint64_t seed)
{
    return (struct request){.config = serving->config,
                            .catalog = serving->catalog,
                            .keys = &serving->keys,
                            .plan_classes = serving->plan_classes,
                            .buda = serving->buda,
                            .db = serving->db,
                            .world = &database_world,
                            .pool = serving->pool,
                            .files = serving->files,
                            .fates = serving->fates,
                            .arena = arena,
                            .now = now,
                            .seed = seed,
                            .transport = {.body = body}};
}

const struct answer *serving_send(struct serving *serving, struct text body, double now,
                                  uint64_t seed)
{
    serving->reply.length = 0;
    serving->request = request_of(serving, serving->arena, body, now, seed);
    request_run(&serving->request, &serving->reply);
    (void)db_end(serving->db);
    return &serving->request.attempt.answer;
}

const struct answer *serving_ask(struct serving *serving, const struct asking *asking, double now,
                                 uint64_t seed)
{
    arena_reset(serving->arena);
    return serving_send(serving, body_of(serving->arena, asking), now, seed);
}

void serving_prepare(const struct serving *serving, struct arena *arena,
                     const struct asking *asking, double now, uint64_t seed,
                     struct request *ret_request)
{
    *ret_request = request_of(serving, arena, body_of(arena, asking), now, seed);
}

void serving_add_jobs(struct test_database *database, const struct new_jobs *jobs)
{
    int last = jobs->first + jobs->count - 1, appid = jobs->appid == 0 ? 1 : jobs->appid;
    bool is_out = jobs->host != 0;

    test_sql(database,
             "SET SESSION sql_mode = ''; "
             "INSERT INTO workunit (id, name, appid, rsc_fpops_est, rsc_fpops_bound,"
             " rsc_memory_bound, rsc_disk_bound, delay_bound, transition_time, target_nresults,"
             " min_quorum, xml_doc) SELECT seq, CONCAT('w_', seq), %d, %g, 1e15, %s, %g, 86400,"
             " 2147483647, 1, 1, '<workunit>\\n</workunit>\\n' FROM seq_%d_to_%d;"
             "INSERT INTO result (id, name, workunitid, appid, server_state, priority, hostid,"
             " userid, app_version_id, sent_time, report_deadline, xml_doc_in)"
             " SELECT seq, CONCAT('r_', seq), seq, %d, %d, %d, %d, %d, 11, %d, %d,"
             " '<result>\\n</result>\\n' FROM seq_%d_to_%d",
             appid, jobs->fpops > 0 ? jobs->fpops : 1e11,
             jobs->memory == NULL ? "1e6" : jobs->memory, jobs->disk > 0 ? jobs->disk : 1e6,
             jobs->first, last, appid, is_out ? 4 : 2, jobs->priority, jobs->host, is_out,
             is_out ? SERVING_NOW - 1000 : 0, is_out ? SERVING_NOW + 86400 : 0, jobs->first, last);
}

void serving_add_hosts(struct test_database *database, int count)
{
    test_database_add_app(database);
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO user SET id = 1, name = 'user', email_addr = 'u@example.org',"
             " authenticator = 'key', create_time = 1;"
             "INSERT INTO host (id, userid, create_time, host_cpid)"
             " SELECT seq, 1, 1, CONCAT('cpid', seq) FROM seq_1_to_%d",
             count);
}
