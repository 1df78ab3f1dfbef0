/* SPDX-License-Identifier: Apache-2.0 */
/* The walk and its retries, before a fake database, with steps and reply writer that this file
 * defines: each case writes down what goes wrong, and looks at what was done in which order. */
#include "server/request/availability_log.h"
#include "server/request/reason_counts.h"
#include "server/request/request_group.h"
#include "server/request/walk.h"
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/parse/parse.h"
#include "server/policy/refusal/delay.h"
#include "server/reply/reply.h"
#include "tests/support/db_fake.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* What the world does; statuses are used up one after the other, the last one stays. */
static struct world {
    enum status parse;
    size_t reports;       /* that the request holds */
    enum status step[10]; /* of the report step: STATUS_OK goes on, others fail */
    bool token_is_kept;   /* the unknown COMMIT did happen */
    bool refuses;         /* the report step answers */
    bool misses_host;     /* the first time, which another node may know */
    enum next head;
    bool screen_refuses;
    bool has_reason; /* the screen finds one against the request */
    enum reason reason;
    bool overflows;
    size_t steps;
    int logs_kept;

    uint64_t tokens[16];
    size_t token_count;
    double waits[16];
    size_t wait_count;
    size_t arena_used[16];
} world;

static struct fixture {
    struct config config;
    struct request request;
    struct buffer reply;
    struct catalog *catalog;
} fixture;

static enum status next_of(const enum status *row, size_t *at)
{
    enum status status = row[*at];

    if (row[*at + 1] != STATUS_OK || status != STATUS_OK)
        (*at)++;
    return status;
}

enum status parse_request(struct text body, const struct parse_limits *limits, struct arena *arena,
                          struct message *ret_message, struct failure *failure)
{
    (void)body, (void)limits;
    db_fake_note("parse");
    memset(ret_message, 0, sizeof(*ret_message));
    ret_message->hostid = 7;
    ret_message->result_count = world.reports;
    if (world.parse == STATUS_TOO_LARGE)
        arena_alloc(arena, 1 << 30);
    return world.parse == STATUS_OK ? STATUS_OK : (fail)(failure, world.parse, "no end tag");
}

enum next step_head(struct request *request)
{
    (void)request;
    return world.head;
}

enum next step_screen(struct request *request)
{
    db_fake_note("screen");
    answer_say(request->arena, &request->early, MESSAGE_LOW, "early words");
    if (world.has_reason)
        answer_reason(&request->early, world.reason);
    return world.screen_refuses ? NEXT_REPLY : NEXT_STEP;
}

enum next step_authenticate(struct request *request)
{
    db_fake_note("authenticate");
    world.arena_used[request->attempts] = arena_used(request->arena);
    world.tokens[world.token_count++] = request->token;
    if (world.token_is_kept)
        db_fake.token = request->token;
    assert_int_equal(request->attempt.answer.message_count, 1);
    assert_int_equal(request->attempt.jobs_sent, 0);
    request->attempt.host.id = 7;
    if (world.misses_host && request->catch_up == CATCH_UP_NOT) {
        request->catch_up = CATCH_UP_WANTED;
        return request_failed(request, STATUS_DB_RETRY, "host");
    }
    return NEXT_STEP;
}

enum next step_report(struct request *request)
{
    enum status status = next_of(world.step, &world.steps);

    db_fake_note("report");
    arena_alloc(request->arena, 1000);
    text_items_add(request->arena, &request->attempt.answer.acks, TEXT("job_1"));
    request->attempt.jobs_sent = 3;
    if (world.overflows)
        arena_alloc(request->arena, 1 << 30);
    if (world.refuses)
        return NEXT_REPLY;
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "report");
}

#define SILENT_STEP(name)                          \
    enum next step_##name(struct request *request) \
    {                                              \
        (void)request;                             \
        db_fake_note(#name);                       \
        return NEXT_STEP;                          \
    }
SILENT_STEP(resend)
SILENT_STEP(select)
SILENT_STEP(messages)
SILENT_STEP(record)

void reply_write(const struct reply_sources *sources, struct buffer *ret_reply)
{
    (void)sources;
    db_fake_note("reply");
    buffer_add(ret_reply, TEXT("a reply of thirty characters.."));
}

void availability_log_keep(const struct request *of)
{
    (void)of;
    world.logs_kept++;
}

static void remember_wait(double seconds)
{
    db_fake_note("wait");
    world.waits[world.wait_count++] = seconds;
}

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    db_fake_begin("commit rollback reopen host_token catch_up part_begin part_undo part_end");
    memset(&fixture, 0, sizeof(fixture));
    fixture.config.request_tries = 4;
    fixture.config.maintenance_delay = 3600;
    fixture.config.max_results_accepted = 0;
    fixture.reply = buffer_on_heap(0);
    fixture.request = (struct request){.config = &fixture.config,
                                       .catalog = (const struct catalog *)&fixture,
                                       .db = (struct db *)&fixture,
                                       .arena = arena_create(1 << 20),
                                       .seed = 42,
                                       .wait = remember_wait};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buffer_free(&fixture.reply);
    arena_destroy(fixture.request.arena);
    return 0;
}

static const struct answer *run(void)
{
    request_run(&fixture.request, &fixture.reply);
    return &fixture.request.attempt.answer;
}

#define WALK "authenticate report resend select messages record"

static void test_replies_after_the_commit(void **state)
{
    (void)state;
    const struct answer *answer = run();

    assert_string_equal(db_fake_record(NULL), "parse screen " WALK " commit reply");
    assert_int_equal(answer->acks.count, 1);
    assert_int_equal(answer->kind, ANSWER_FULL);
    assert_int_equal(fixture.request.attempts, 1);
    assert_int_equal(world.logs_kept, 1);
}

/* One way to be refused, on a new fixture: counted once, and nothing beside it. */
static void count_one(void **state, enum reason reason, void (*break_it)(void))
{
    uint64_t before[REASON_COUNT];

    for (int i = 0; i < REASON_COUNT; i++)
        before[i] = reason_count((enum reason)i);
    (void)teardown(state);
    (void)setup(state);
    break_it();
    run();
    assert_int_equal(answer_first_reason(&fixture.request.attempt.answer) != NULL, true);
    assert_string_equal(answer_first_reason(&fixture.request.attempt.answer), reason_word(reason));
    for (int i = 0; i < REASON_COUNT; i++)
        assert_int_equal(reason_count((enum reason)i) - before[i], i == (int)reason);
}

static void stop_the_project(void)
{
    fixture.request.stop_sched = true;
}

static void lose_the_database(void)
{
    fixture.request.catalog = NULL;
}

static void break_the_text(void)
{
    world.parse = STATUS_INVALID;
}

static void make_it_large(void)
{
    world.parse = STATUS_TOO_LARGE;
}

static void fail_time_and_again(void)
{
    for (size_t i = 0; i < sizeof(world.step) / sizeof(world.step[0]); i++)
        world.step[i] = STATUS_DB_RETRY;
}

static void find_a_reason(void)
{
    world.has_reason = true;
    world.reason = REASON_OS_NOT_ACCEPTED;
}

static void end_in_the_screen(void)
{
    world.has_reason = world.screen_refuses = true;
    world.reason = REASON_TWO_KEYS;
}

static void end_in_the_transaction(void)
{
    world.has_reason = world.refuses = true;
    world.reason = REASON_ACCOUNT_KEY;
}

static void test_counts_each_reason_that_it_gives(void **state)
{
    count_one(state, REASON_STOP_SCHED, stop_the_project);
    count_one(state, REASON_DATABASE, lose_the_database);
    count_one(state, REASON_REQUEST_UNREADABLE, break_the_text);
    count_one(state, REASON_REQUEST_TOO_LARGE, make_it_large);
    count_one(state, REASON_LATER, fail_time_and_again);
    count_one(state, REASON_OS_NOT_ACCEPTED, find_a_reason);
    count_one(state, REASON_TWO_KEYS, end_in_the_screen);
    count_one(state, REASON_ACCOUNT_KEY, end_in_the_transaction);
}

static void test_repeats_the_transaction_after_a_deadlock(void **state)
{
    (void)state;
    world.step[0] = STATUS_DB_RETRY;
    db_fake.commits[0] = STATUS_DB_RETRY;
    run();
    assert_string_equal(db_fake_record(NULL), "parse screen authenticate report rollback wait " WALK
                                              " commit rollback wait " WALK " commit reply");
    assert_int_equal(fixture.request.attempts, 3);
    assert_int_equal(fixture.request.attempt.answer.acks.count, 1);
}

static void test_waits_for_other_nodes_once(void **state)
{
    (void)state;
    world.misses_host = true;
    world.step[0] = STATUS_DB_RETRY;
    run();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen authenticate rollback catch_up authenticate report"
                        " rollback wait " WALK " commit reply");
}

static void test_gives_an_attempt_the_memory_of_the_one_before(void **state)
{
    (void)state;
    world.step[0] = world.step[1] = STATUS_DB_RETRY;
    run();
    assert_int_equal(world.arena_used[2], world.arena_used[1]);
    assert_int_equal(world.arena_used[3], world.arena_used[1]);
}

static void test_says_later_when_tries_are_used_up(void **state)
{
    (void)state;
    uint64_t before = counter_value(COUNTER_replies_later);

    for (size_t i = 0; i < 9; i++)
        world.step[i] = STATUS_DB_RETRY;
    const struct answer *answer = run();
    assert_int_equal(fixture.request.attempts, 4);
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_int_equal(answer->acks.count, 0);
    assert_int_equal(fixture.request.attempt.jobs_sent, 0);
    assert_true(answer->request_delay >= 60);
    assert_int_equal(counter_value(COUNTER_replies_later), before + 1);
}

static void test_says_later_when_it_has_waited_for_the_database(void **state)
{
    (void)state;
    world.step[0] = STATUS_DB_RETRY;
    db_fake.waited_ns = UINT64_C(4999999999);
    run();
    assert_int_equal(fixture.request.attempts, 2);
    world.steps = 0;
    db_fake.waited_ns++;
    fixture.request.attempts = 0;
    assert_int_equal(run()->kind, ANSWER_NUCLEUS);
    assert_int_equal(fixture.request.attempts, 1);
}

static void test_waits_longer_and_never_long(void **state)
{
    (void)state;
    fixture.config.request_tries = 16;
    for (size_t i = 0; i < 9; i++)
        world.step[i] = STATUS_DB_RETRY;
    world.step[9] = STATUS_OK;
    run();
    assert_int_equal(world.wait_count, 9);
    for (size_t i = 0; i < world.wait_count; i++)
        assert_true(world.waits[i] >= 0 && world.waits[i] <= 0.256);
    assert_true(world.waits[0] <= 0.004);
}

static void test_keeps_nothing_but_words_of_a_refusal(void **state)
{
    (void)state;
    world.refuses = true;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "parse screen authenticate report rollback reply");
    assert_int_equal(world.logs_kept, 0);
    assert_int_equal(answer->acks.count, 0);
    assert_int_equal(answer->message_count, 1);
    assert_int_equal(fixture.request.attempt.jobs_sent, 0);
}

static void test_screen_ends_before_the_database(void **state)
{
    (void)state;
    world.screen_refuses = true;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "parse screen reply"); /* it had begun */
    assert_text(answer->messages[0].text, "early words");
}

static void test_does_not_parse_what_a_stranger_sends(void **state)
{
    (void)state;
    world.head = NEXT_REPLY;
    run();
    assert_string_equal(db_fake_record(NULL), "reply");
}

static void test_leaves_a_failure_at_the_head_to_the_transaction(void **state)
{
    (void)state;
    world.head = NEXT_FAILED;
    run();
    assert_string_equal(db_fake_record(NULL), "parse screen " WALK " commit reply");
}

static void test_connects_again_when_the_connection_is_lost(void **state)
{
    (void)state;
    world.step[0] = STATUS_DB_GONE;
    run();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen authenticate report rollback reopen wait " WALK
                        " commit reply");
    assert_false(fixture.request.database_was_away);
}

static void test_is_down_when_the_database_stays_away(void **state)
{
    (void)state;
    world.step[0] = STATUS_DB_GONE;
    db_fake.reopen = STATUS_DB_GONE;
    const struct answer *answer = run();
    assert_int_equal(answer->kind, ANSWER_DOWN);
    assert_int_equal(answer->acks.count, 0);
    assert_real(answer->request_delay, 60, 0);
    assert_true(fixture.request.database_was_away);
    assert_non_null(strstr(fixture.request.failure.text, "words of the database"));
}

static void test_says_to_wait_as_long_as_the_database_was_away(void **state)
{
    (void)state;
    fixture.request.db = NULL;
    fixture.request.database_away_for = 700;
    assert_real(run()->request_delay, 700, 0);
    fixture.request.database_away_for = -1; /* not known */
    assert_real(run()->request_delay, 3600, 0);
}

static void test_believes_its_token_after_an_unknown_commit(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    world.token_is_kept = true;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen " WALK " commit reopen host_token(7) rollback reply");
    assert_int_equal(answer->acks.count, 1);
    assert_int_equal(answer->kind, ANSWER_FULL);
}

static void test_repeats_an_unknown_commit_that_left_no_token(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    run();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen " WALK
                        " commit reopen host_token(7) rollback rollback wait " WALK
                        " commit reply");
    assert_int_equal(world.token_count, 2);
    assert_true(world.tokens[0] != world.tokens[1]);
}

static void test_repeats_an_unknown_commit_of_a_host_without_row(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    db_fake.host_token = STATUS_NOT_FOUND;
    run();
    assert_int_equal(fixture.request.attempts, 2);
    assert_int_equal(fixture.request.attempt.answer.kind, ANSWER_FULL);
}

static void test_acknowledges_nothing_when_the_outcome_stays_unknown(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    db_fake.reopen = STATUS_DB_GONE;
    const struct answer *answer = run();
    assert_int_equal(answer->kind, ANSWER_DOWN);
    assert_int_equal(answer->acks.count, 0);
}

/* The old transaction may still be going on: another one would do everything twice. */
static void test_repeats_nothing_while_the_outcome_cannot_be_read(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    db_fake.host_token = STATUS_DB_RETRY; /* a lock that is held too long */
    assert_int_equal(run()->kind, ANSWER_NUCLEUS);
    assert_int_equal(fixture.request.attempts, 1);
    assert_int_equal(fixture.request.attempt.answer.acks.count, 0);
}

static void test_looks_again_when_the_look_up_is_lost_too(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    db_fake.host_token = STATUS_DB_GONE;
    run();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen " WALK " commit reopen host_token(7) rollback"
                        " reopen host_token(7) rollback reopen host_token(7) rollback"
                        " rollback reply");
    assert_int_equal(fixture.request.attempt.answer.kind, ANSWER_NUCLEUS);
}

static void test_says_later_when_the_database_refuses(void **state)
{
    (void)state;
    world.step[0] = STATUS_DB_REFUSED;
    const struct answer *answer = run();
    assert_int_equal(fixture.request.attempts, 1);
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_int_equal(answer->acks.count, 0);
}

static void test_is_down_without_a_connection(void **state)
{
    (void)state;
    fixture.request.db = NULL;
    assert_int_equal(run()->kind, ANSWER_DOWN);
    assert_string_equal(db_fake_record(NULL), "parse screen reply");
}

static void test_is_down_without_a_catalog(void **state)
{
    (void)state;
    fixture.request.catalog = NULL;
    assert_int_equal(run()->kind, ANSWER_DOWN);
    assert_string_equal(db_fake_record(NULL), "parse reply");
}

static void test_is_down_when_stop_sched_is_there(void **state)
{
    (void)state;
    fixture.request.stop_sched = true;
    assert_int_equal(run()->kind, ANSWER_DOWN);
    assert_false(fixture.request.database_was_away);
}

/* --- two requests in one transaction: the second joins the first ------------------------------ */

static struct request second;
static struct request_group group;

static bool others_wait(void *context)
{
    (void)context;
    return true;
}

static void begin_group(void)
{
    db_fake.can_share = true;
    group = (struct request_group){.others_wait = others_wait};
    second = fixture.request;
    second.arena = arena_create(1 << 20);
    second.seed = 43;
    assert_true(request_begin(&fixture.request));
    assert_int_equal(request_group_add(&group, &fixture.request), OUTCOME_JOINED);
    assert_true(request_begin(&second));
}

static void end_group(void)
{
    enum outcome all = request_group_commit(&group);

    assert_int_equal(group.count, 2);
    for (size_t i = 0; i < 2; i++)
        request_end(group.members[i], request_group_outcome(&group, i, all), &fixture.reply);
    arena_destroy(second.arena);
}

static void test_answers_two_after_one_commit(void **state)
{
    (void)state;
    begin_group();
    assert_int_equal(request_group_add(&group, &second), OUTCOME_JOINED);
    end_group();
    assert_string_equal(db_fake_record(NULL),
                        "parse screen " WALK " part_end(7) parse screen part_begin " WALK
                        " part_end(7) commit reply reply");
    assert_int_equal(fixture.request.attempt.answer.acks.count, 1);
    assert_int_equal(second.attempt.answer.acks.count, 1);
    assert_int_equal(world.logs_kept, 2);
}

static void test_tries_nobody_again_while_the_outcome_for_all_is_unknown(void **state)
{
    (void)state;
    db_fake.commits[0] = STATUS_DB_UNKNOWN;
    db_fake.reopen = STATUS_DB_GONE;
    begin_group();
    assert_int_equal(request_group_add(&group, &second), OUTCOME_JOINED);
    end_group();
    assert_int_equal(fixture.request.attempt.answer.kind, ANSWER_DOWN);
    assert_int_equal(second.attempt.answer.kind, ANSWER_DOWN);
    assert_int_equal(fixture.request.attempts + second.attempts, 2);
    assert_int_equal(fixture.request.attempt.answer.acks.count + second.attempt.answer.acks.count,
                     0);
    assert_int_equal(world.logs_kept, 0);
}

static void test_commits_nothing_when_a_part_cannot_be_undone(void **state)
{
    (void)state;
    db_fake.part_undo = STATUS_DB_RETRY;
    begin_group();
    world.step[0] = STATUS_DB_RETRY;
    world.steps = 0;
    assert_int_equal(request_group_add(&group, &second), OUTCOME_AGAIN);
    assert_int_equal(request_group_commit(&group), OUTCOME_AGAIN);
    assert_int_equal(db_fake_calls("commit"), 0);
    assert_int_equal(request_group_outcome(&group, 0, OUTCOME_AGAIN), OUTCOME_COMMITTED);
    assert_int_equal(db_fake_calls("commit"), 1);
    assert_int_equal(fixture.request.attempts, 2);
    assert_int_equal(world.arena_used[2], world.arena_used[1]);
    arena_destroy(second.arena);
}

/* What was tried once is not held up by others a second time. */
static void test_takes_no_members_when_it_is_tried_again(void **state)
{
    (void)state;
    db_fake.can_share = true;
    group = (struct request_group){.others_wait = others_wait};
    world.step[0] = STATUS_DB_RETRY;
    assert_true(request_begin(&fixture.request));
    assert_int_equal(request_group_add(&group, &fixture.request), OUTCOME_COMMITTED);
    assert_int_equal(fixture.request.attempts, 2);
}

static void test_tells_why_a_request_is_unreadable(void **state)
{
    (void)state;
    world.parse = STATUS_INVALID;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "parse reply");
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_int_equal(answer->messages[0].priority, MESSAGE_LOW);
    assert_true(text_contains(answer->messages[0].text, TEXT("no end tag")));
}

static void test_answers_a_body_above_the_bound(void **state)
{
    (void)state;
    fixture.request.transport.body_too_large = true;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "reply");
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_true(text_contains(answer->messages[0].text, TEXT("too large")));
}

static void test_answers_a_request_that_fills_the_memory(void **state)
{
    (void)state;
    world.parse = STATUS_TOO_LARGE;
    const struct answer *answer = run();
    assert_true(text_contains(answer->messages[0].text, TEXT("too large")));
}

/* Others come again, as those beyond the bound of the list. */
static void test_takes_as_many_reports_as_half_of_the_budget_pays_for(void **state)
{
    const struct message *message = &fixture.request.message;

    (void)state;
    for (size_t reports = 9999; reports <= 20001; reports += 5001) {
        size_t taken = reports < 10000 ? reports : 10000;

        world.reports = reports;
        (void)run();
        assert_int_equal(message->result_count, taken);
        assert_int_equal(message->results_left, reports - taken);
        assert_int_equal(fixture.request.attempt.budget.spent, taken * 2500);
        memset(&fixture.request.budget, 0, sizeof(fixture.request.budget));
        fixture.request.attempts = 0;
    }
}

static void test_rolls_back_when_a_step_fills_the_memory(void **state)
{
    (void)state;
    world.overflows = true;
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "parse screen authenticate report rollback reply");
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_int_equal(answer->acks.count, 0);
    assert_true(text_contains(answer->messages[0].text, TEXT("too large")));
}

static void test_never_sends_half_a_reply(void **state)
{
    (void)state;
    fixture.reply.length_max = 40;
    buffer_add(&fixture.reply, TEXT("twenty characters..."));
    const struct answer *answer = run();
    assert_string_equal(db_fake_record(NULL), "parse screen " WALK " commit reply reply");
    assert_int_equal(answer->kind, ANSWER_NUCLEUS);
    assert_false(fixture.reply.overflowed);
    assert_text(buffer_text(&fixture.reply), "a reply of thirty characters..");
}

static void test_has_one_change_record_per_version(void **state)
{
    (void)state;
    run();
    fixture.request.attempt.is_new_day = true;
    for (int64_t id = 1; id <= 100; id++)
        request_version_change(&fixture.request, id)->jobs_sent = id;
    for (int64_t id = 1; id <= 100; id++) {
        assert_i64(request_version_change(&fixture.request, id)->jobs_sent, id);
        assert_i64(fixture.request.attempt.version_changes[id - 1].app_version_id, id);
        assert_true(fixture.request.attempt.version_changes[id - 1].reset_today);
    }
    assert_int_equal(fixture.request.attempt.version_change_count, 100);
}

static void test_finds_the_row_of_a_version(void **state)
{
    (void)state;
    struct host_app_version_row rows[] = {{.app_version_id = 4}, {.app_version_id = 9}};

    fixture.request.attempt.versions = rows;
    fixture.request.attempt.version_count = 2;
    assert_ptr_equal(request_version(&fixture.request, 9), &rows[1]);
    assert_null(request_version(&fixture.request, 5));
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(replies_after_the_commit),
        CASE(counts_each_reason_that_it_gives),
        CASE(repeats_the_transaction_after_a_deadlock),
        CASE(waits_for_other_nodes_once),
        CASE(gives_an_attempt_the_memory_of_the_one_before),
        CASE(says_later_when_tries_are_used_up),
        CASE(says_later_when_it_has_waited_for_the_database),
        CASE(waits_longer_and_never_long),
        CASE(keeps_nothing_but_words_of_a_refusal),
        CASE(screen_ends_before_the_database),
        CASE(does_not_parse_what_a_stranger_sends),
        CASE(leaves_a_failure_at_the_head_to_the_transaction),
        CASE(connects_again_when_the_connection_is_lost),
        CASE(is_down_when_the_database_stays_away),
        CASE(says_to_wait_as_long_as_the_database_was_away),
        CASE(believes_its_token_after_an_unknown_commit),
        CASE(repeats_an_unknown_commit_that_left_no_token),
        CASE(repeats_an_unknown_commit_of_a_host_without_row),
        CASE(acknowledges_nothing_when_the_outcome_stays_unknown),
        CASE(repeats_nothing_while_the_outcome_cannot_be_read),
        CASE(looks_again_when_the_look_up_is_lost_too),
        CASE(says_later_when_the_database_refuses),
        CASE(is_down_without_a_connection),
        CASE(is_down_without_a_catalog),
        CASE(is_down_when_stop_sched_is_there),
        CASE(answers_two_after_one_commit),
        CASE(tries_nobody_again_while_the_outcome_for_all_is_unknown),
        CASE(commits_nothing_when_a_part_cannot_be_undone),
        CASE(takes_no_members_when_it_is_tried_again),
        CASE(tells_why_a_request_is_unreadable),
        CASE(answers_a_body_above_the_bound),
        CASE(answers_a_request_that_fills_the_memory),
        CASE(takes_as_many_reports_as_half_of_the_budget_pays_for),
        CASE(rolls_back_when_a_step_fills_the_memory),
        CASE(never_sends_half_a_reply),
        CASE(has_one_change_record_per_version),
        CASE(finds_the_row_of_a_version),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
