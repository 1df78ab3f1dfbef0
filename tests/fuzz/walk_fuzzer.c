/* SPDX-License-Identifier: Apache-2.0 */
/* A whole request on any bytes, through policies, hand-out and reply, before a fake database: the
 * reply is one that the client reads, what was claimed is written in it, and what is acknowledged
 * was reported. Account, host, and the jobs that the host reports or lists are there, whatever the
 * request calls them; options follow from a hash of the bytes. */
#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "server/base/xml.h"
#include "server/parse/parse.h"
#include "server/policy/plan_class/plan_class.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/walk.h"
#include "server/rpc/world.h"
#include "tests/support/db_fake.h"
#include "tests/support/reply_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { NOW = 1795000000, USER = 17, NEW_JOBS = 24, KNOWN_JOBS = 12 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config *config;
static struct plan_classes of_file, builtin;

#define CLASS_VERSION(id_, appid_, class_)                                         \
    {                                                                              \
        .id = (id_), .appid = (appid_), .platformid = 5, .version_num = 100,       \
        .plan_class = {.at = (class_), .length = sizeof(class_) - 1}, .xml_doc = { \
            .at = "<app_version></app_version>",                                   \
            .length = 27                                                           \
        }                                                                          \
    }

static struct app_row apps[] = {
    {.id = 1, .name = {.at = "app", .length = 3}, .weight = 1},
    {.id = 2, .name = {.at = "gpu", .length = 3}, .weight = 0.5, .homogeneous_redundancy = 1},
    {.id = 3, .name = {.at = "locked", .length = 6}, .weight = 1, .homogeneous_app_version = 1},
    {.id = 4, .name = {.at = "always", .length = 6}, .weight = 1, .non_cpu_intensive = 1},
    {.id = 5, .name = {.at = "files", .length = 5}, .weight = 1, .locality_scheduling = 1},
};
static struct app_version_row versions[] = {
    CLASS_VERSION(11, 1, ""),           CLASS_VERSION(12, 1, "mt"),
    CLASS_VERSION(13, 2, "cuda_fermi"), CLASS_VERSION(14, 2, "opencl_ati_101"),
    CLASS_VERSION(15, 2, "intel_gpu"),  CLASS_VERSION(16, 3, ""),
    CLASS_VERSION(17, 4, "nci"),        CLASS_VERSION(18, 5, "vbox64"),
};
static struct platform_row platforms[] = {
    {.id = 5, .name = {.at = "x86_64-pc-linux-gnu", .length = 19}}};

/* The class that the sample file holds under that name and those that are built in. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *source = getenv("QM_SOURCE_DIR");
    struct arena *arena = arena_create(1 << 20);
    struct failure failure = {0};
    struct text document;

    (void)argc, (void)argv;
    must(source != NULL && arena != NULL);
    xml_startup();
    must(config_defaults(&config) == STATUS_OK);
    must(file_read(arena,
                   text_string(arena, text_print(arena, "%s/config/plan_class_spec.xml", source)),
                   1 << 20, &document, &failure) == STATUS_OK);
    must(plan_classes_parse(document, &of_file, &failure) == STATUS_OK);
    arena_destroy(arena);
    builtin = plan_classes_builtin();
    return 0;
}

/* --- what the request is to find -------------------------------------------------------------- */

static void choose_options(uint64_t chance)
{
    config->workload_sim = chance & 1;
    config->resend_lost_results = chance >> 1 & 1;
    config->one_result_per_user_per_wu = chance >> 2 & 1;
    config->one_result_per_host_per_wu = chance >> 3 & 1;
    config->daily_result_quota = chance >> 4 & 1 ? 3 : 0;
    config->ignore_delay_bound = chance >> 5 & 1;
    config->send_result_abort = chance >> 6 & 1;
}

static void add_job(int64_t appid, uint64_t chance)
{
    size_t at = db_fake.job_count++;
    int64_t id = (int64_t)at + 500;

    db_fake.jobs[at] =
        (struct fake_job){.result = {.id = id + 500,
                                     .workunitid = id,
                                     .appid = appid,
                                     .server_state = RESULT_UNSENT,
                                     .name = TEXT("new")},
                          .workunit = {.id = id,
                                       .appid = appid,
                                       .rsc_fpops_est = (double)(1 + chance % 7) * 1e12,
                                       .rsc_memory_bound = 1e6 * (double)(1 + chance % 5000),
                                       .rsc_disk_bound = 1e6,
                                       .batch = (int64_t)(chance % 40),
                                       .hr_class = (int64_t)(chance % 3),
                                       .app_version_id = appid == 3 && chance % 2 == 0 ? 16 : 0,
                                       .target_nresults = 1,
                                       .delay_bound = (int64_t)(60 + chance % 1000000)},
                          .others_take = chance % 11 == 0,
                          .is_faulty = chance % 13 == 0,
                          .user_had_one = chance % 17 == 0};
}

/* A job of that name, which this host has got or another one. */
static void add_known_job(struct text name, int64_t hostid, uint64_t chance)
{
    struct fake_job *job = &db_fake.jobs[db_fake.job_count];

    if (name.length == 0 || db_fake.job_count >= NEW_JOBS + KNOWN_JOBS)
        return;
    add_job(1 + (int64_t)(chance % 5), chance);
    job->result.name = name;
    job->result.server_state = chance >> 8 & 1 ? RESULT_IN_PROGRESS : RESULT_OVER;
    job->result.outcome =
        job->result.server_state == RESULT_OVER && chance >> 9 & 1 ? OUTCOME_NO_REPLY : 0;
    job->result.hostid = chance >> 10 & 7 ? hostid : hostid + 1;
    job->result.userid = USER;
    job->result.app_version_id = 11 + (int64_t)(chance % 8);
    job->result.sent_time = NOW - 3600;
    job->result.report_deadline = NOW + (int64_t)(chance % 200000) - 100000;
}

static void stage(const struct message *message, struct text key, uint64_t chance)
{
    db_fake_begin(DB_FAKE_WALK);
    db_fake.users[0] = (struct user_row){.id = USER,
                                         .authenticator = key,
                                         .email_addr = TEXT("a@example.org"),
                                         .venue = TEXT("home"),
                                         .global_prefs = message->global_preferences};
    db_fake.user_count = 1;
    db_fake.hosts[0] = (struct host_row){.id = message->hostid > 0 ? message->hostid : 1,
                                         .userid = USER,
                                         .rpc_time = NOW - 5000,
                                         .p_ncpus = 4,
                                         .p_fpops = 1e9,
                                         .m_nbytes = 8e9};
    db_fake.host_count = 1;
    for (uint64_t i = 0; i < NEW_JOBS; i++)
        add_job(1 + (int64_t)(i % 5), random_mix(chance, i));
    for (size_t i = 0; i < message->result_count; i++)
        add_known_job(message->results[i].name, db_fake.hosts[0].id, random_mix(chance, 100 + i));
    for (size_t i = 0; i < message->other_result_count; i++)
        add_known_job(message->other_results[i].name, db_fake.hosts[0].id,
                      random_mix(chance, 200 + i));
    db_fake.messages[0] = TEXT("<trickle_down></trickle_down>\n");
    db_fake.message_count = chance >> 11 & 1;
}

/* --- what must be true ------------------------------------------------------------------------ */

static bool is_reported(const struct message *message, struct text name)
{
    for (size_t i = 0; i < message->result_count; i++)
        if (text_equal(message->results[i].name, name))
            return true;
    return false;
}

static void check(const struct request *request, struct text reply)
{
    const struct answer *answer = &request->attempt.answer;
    struct arena *arena = arena_create(1 << 24);
    const char *fault = NULL;
    const struct reply_element *root = reply_read(arena, reply, request->client_version, &fault);
    size_t claimed = 0;

    if (root == NULL)
        fprintf(stderr, "%s\n" TEXT_FORMAT "\n", fault, TEXT_ARG(reply));
    must(root != NULL);
    for (const struct text_item *item = answer->acks.first; item != NULL; item = item->next)
        must(is_reported(&request->message, item->text));
    for (size_t i = 0; i < db_fake.job_count; i++)
        claimed += db_fake.jobs[i].claim.resultid != 0;
    if (answer->kind == ANSWER_FULL)
        must(claimed + request->attempt.resent == answer->job_count &&
             reply_children(root, "result") == answer->job_count);
    must(answer->request_delay >= 0 && answer->request_delay <= 172800);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct parse_limits limits = {.results_max = 200, .depth_max = 100};
    static const struct project_keys keys;
    const struct text body = {(const char *)data, size};
    const uint64_t chance = random_mix(text_hash(body), 1);
    struct catalog catalog = {.rows = {.apps = apps,
                                       .app_count = sizeof(apps) / sizeof(apps[0]),
                                       .versions = versions,
                                       .version_count = sizeof(versions) / sizeof(versions[0]),
                                       .platforms = platforms,
                                       .platform_count = 1}};
    struct arena *first = arena_create(1 << 24), *arena = arena_create(1 << 26);
    struct buffer reply = buffer_on_heap(1 << 24);
    struct failure failure = {0};
    struct message message;
    struct request request = {.config = config,
                              .catalog = &catalog,
                              .keys = &keys,
                              .plan_classes = chance >> 12 & 1 ? &of_file : &builtin,
                              .db = (struct db *)&catalog,
                              .world = &database_world,
                              .arena = arena,
                              .now = NOW,
                              .seed = chance,
                              .transport = {.body = body, .remote_addr = TEXT("192.0.2.1")}};

    must(first != NULL && arena != NULL);
    message_init(&message);
    if (parse_request(body, &limits, first, &message, &failure) != STATUS_OK)
        message_init(&message);
    choose_options(chance);
    stage(&message, message.authenticator, chance);
    request_run(&request, &reply);
    check(&request, buffer_text(&reply));
    buffer_free(&reply);
    arena_destroy(arena);
    arena_destroy(first);
    return 0;
}
