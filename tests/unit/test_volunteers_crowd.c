/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of an emulated crowd, against a network that these tests play: it stands in for
 * http_lines.c at link time. It answers each request with jobs, in an order drawn by chance, and
 * looks at what is under way group. */
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/base/xml.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/crowd.h"
#include "tools/lab/volunteers/crowd/http_lines.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/volunteer.h"
#include "tools/lab/volunteers/wire/metrics_page.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { HOSTS_MAX = 64 };

struct post {
    bool is_on;
    double time;
    size_t project;
    struct buffer reply;
};

/* Of one test at a time. */
struct http_lines {
    struct post posts[HTTP_LINES_MAX];
    size_t lines, busy, busy_most;
    double apart_most; /* of times under way together */
    double latest;     /* time seen */
    double back_most;  /* by which a time came after a later one */
    uint64_t posts_of[2], number;
    struct random random;
    size_t away;          /* so many are not answered by anybody */
    size_t away_from;     /* from this on none is; 0: no such */
    bool has_own_clock;   /* the server takes no time from requests */
    const char *refusal;  /* what all get for a reply; NULL: jobs */
    uint64_t posts_by[3]; /* with key-a, key-b, key-c */
};
static struct http_lines network;

struct http_lines *http_create(size_t lines)
{
    network.lines = lines;
    network.random.state = 7;
    return &network;
}

void http_destroy(struct http_lines *http)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < HTTP_LINES_MAX; i++)
        buffer_free(&http->posts[i].reply);
}

bool http_get(struct http_lines *http, const char *url, struct buffer *ret_page)
{
    (void)http;
    buffer_print(ret_page, "asked_total 1\nof_total %d\n", url[0] == 'a' ? 1 : 2);
    return url[0] != 'x';
}

static void write_reply(struct post *post, uint64_t number)
{
    buffer_free(&post->reply);
    post->reply = buffer_on_heap(0);
    if (network.refusal != NULL) {
        buffer_add_string(&post->reply, network.refusal);
        return;
    }
    buffer_print(&post->reply,
                 "<scheduler_reply>\n<request_delay>61</request_delay>\n"
                 "<workunit>\n<name>w%" PRIu64 "</name>\n<app_name>a</app_name>\n"
                 "<rsc_fpops_est>1e14</rsc_fpops_est>\n</workunit>\n"
                 "<app_version>\n<app_name>a</app_name>\n<version_num>1</version_num>\n"
                 "<flops>1e9</flops>\n</app_version>\n"
                 "<result>\n<name>r%" PRIu64 "</name>\n<wu_name>w%" PRIu64 "</wu_name>\n"
                 "<version_num>1</version_num>\n<report_deadline>%f</report_deadline>\n"
                 "</result>\n</scheduler_reply>\n",
                 number, number, number, post->time + 864000);
}

bool http_post(struct http_lines *http, size_t line, const char *url, double now, struct text body)
{
    struct post *post = &http->posts[line];

    assert_true(line < http->lines);
    assert_false(post->is_on);
    *post = (struct post){
        .is_on = true, .time = now, .project = url[0] == 'a' ? 0 : 1, .reply = post->reply};
    for (size_t i = 0; i < 3; i++) {
        char key[] = "<authenticator>key-a<";

        key[sizeof(key) - 3] = (char)('a' + i);
        http->posts_by[i] += text_contains(body, text_from(key));
    }
    write_reply(post, ++http->number);
    http->posts_of[post->project]++;
    http->busy++;
    if (http->busy > http->busy_most)
        http->busy_most = http->busy;
    for (size_t i = 0; i < http->lines; i++)
        if (http->posts[i].is_on)
            http->apart_most = fmax(http->apart_most, fabs(now - http->posts[i].time));
    http->back_most = fmax(http->back_most, http->latest - now);
    http->latest = fmax(http->latest, now);
    return true;
}

bool http_fetch(struct http_lines *http, size_t line, const char *url, double now)
{
    (void)http;
    fail_msg("line %zu reads %s at %f, where no page is a master page", line, url, now);
    return false;
}

/* Any of those under way. */
bool http_wait(struct http_lines *http, double seconds, struct http_result *ret_result)
{
    size_t nth, line = 0;

    (void)seconds;
    assert_true(http->busy > 0);
    nth = random_next(&http->random) % http->busy;
    for (;; line++)
        if (http->posts[line].is_on && nth-- == 0)
            break;
    http->posts[line].is_on = false;
    http->busy--;
    *ret_result = (struct http_result){.line = line,
                                       .end = HTTP_GOOD,
                                       .reply = buffer_text(&http->posts[line].reply),
                                       .is_simulated = !http->has_own_clock};
    if (http->away > 0 || (http->away_from > 0 && http->number >= http->away_from)) {
        http->away -= http->away > 0;
        ret_result->end = HTTP_AWAY;
        snprintf(ret_result->words, sizeof(ret_result->words), "nobody");
    }
    return true;
}

/* What an observer saw. */
struct seen {
    uint64_t outcomes[RPC_OUTCOME_COUNT], jobs, samples, first_samples, last_samples;
    double last_of_host[HOSTS_MAX], last_sample;
    double sampled_apart; /* of a host's time from that of the sample */
    double counted, of;   /* by the last sample's metrics */
    bool stepped_back;    /* some host */
};

static void see_rpc(void *context, const struct rpc *rpc)
{
    struct seen *seen = context;

    seen->outcomes[rpc->outcome]++;
    seen->jobs += rpc->jobs;
    if (rpc->time < seen->last_of_host[rpc->host])
        seen->stepped_back = true;
    seen->last_of_host[rpc->host] = rpc->time;
}

static void see_sample(void *context, const struct sample *sample)
{
    struct seen *seen = context;

    seen->samples++;
    seen->first_samples += sample->is_first;
    seen->last_samples += sample->is_last;
    seen->last_sample = sample->time;
    for (size_t i = 0; i < sample->count; i++)
        seen->sampled_apart =
            fmax(seen->sampled_apart, fabs(sample->volunteers[i].now - sample->time));
    if (sample->metrics != NULL) {
        seen->counted = metrics_value(&sample->metrics[0], "asked_total");
        seen->of = metrics_value(&sample->metrics[0], "of_total");
    }
}

static struct command_line usual_options(size_t parallel)
{
    return (struct command_line){.urls = {"a"},
                                 .keys = {"key-a"},
                                 .project_count = 1,
                                 .key_count = 1,
                                 .parallel = parallel,
                                 .window = -1,
                                 .patience = 30,
                                 .is_quiet = true};
}

static struct scenario usual_scenario(const char *rows)
{
    struct scenario scenario;

    assert_status(STATUS_OK, scenario_read(text_from(rows), &scenario, NULL));
    return scenario;
}

static void run(const struct command_line *options, const struct scenario *scenario,
                enum status wanted, struct seen *ret_seen, struct crowd_effort *ret_effort)
{
    struct crowd *crowd;

    network = (struct http_lines){.number = 0};
    *ret_seen = (struct seen){.jobs = 0};
    assert_status(STATUS_OK, crowd_create(options, scenario, &crowd, NULL));
    assert_true(crowd_observe(
        crowd, (struct observer){.context = ret_seen, .rpc = see_rpc, .sample = see_sample}));
    assert_status(wanted, crowd_run(crowd, NULL));
    *ret_effort = *crowd_effort(crowd);
    crowd_destroy(crowd);
}

static const char *const crowd_of_forty = "hosts 40\ndays 2\narrival_days 0.01\ncpus_max 2\n";

static void one_line_never_steps_back(void **state)
{
    (void)state;
    struct command_line options = usual_options(1);
    struct scenario scenario = usual_scenario(crowd_of_forty);
    struct crowd_effort effort;
    struct seen seen;

    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(network.number > 100);
    assert_int_equal(network.busy_most, 1);
    assert_int_equal(network.posts_by[0], network.number);
    assert_real(network.back_most, 0, 0);
    assert_int_equal(effort.rpcs, network.number);
    assert_int_equal(seen.outcomes[RPC_SENT], network.number);
    assert_int_equal(seen.jobs, network.number);
    assert_real(effort.end, scenario.begin + 2 * 86400, 0);
}

static void lines_carry_what_lies_within_the_window(void **state)
{
    (void)state;
    struct command_line options = usual_options(8);
    struct scenario scenario = usual_scenario(crowd_of_forty);
    struct crowd_effort effort;
    struct seen seen;

    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(network.busy_most > 2);
    assert_true(network.apart_most > 1 && network.apart_most <= 60);
    assert_int_equal(effort.rpcs, network.number);
}

static void a_host_never_steps_back_where_the_server_may(void **state)
{
    (void)state;
    struct command_line options = usual_options(8);
    struct scenario scenario = usual_scenario("hosts 40\ndays 2\ncpus_max 2\nwindow 600\n");
    struct crowd_effort effort;
    struct seen seen;

    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(network.back_most > 0 && network.back_most <= 600);
    assert_false(seen.stepped_back);
}

static void the_command_line_sets_the_window(void **state)
{
    (void)state;
    struct command_line options = usual_options(8);
    struct scenario scenario = usual_scenario(crowd_of_forty);
    struct crowd_effort effort;
    struct seen seen;

    options.window = 7;
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(network.apart_most > 1 && network.apart_most <= 7);
}

static void hosts_take_turns_of_the_accounts_of_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/qm-test-crowd-XXXXXX", word[64];
    int descriptor = mkstemp(path);
    struct command_line options = usual_options(1);
    struct scenario scenario = usual_scenario("hosts 30\ndays 0.1\nalways_on 1\n");
    struct crowd_effort effort;
    struct seen seen;

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "key-a\n\n key-b\nkey-c", 19), 19);
    close(descriptor);
    snprintf(word, sizeof(word), "@%s", path);
    options.keys[0] = word;
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    unlink(path);
    for (size_t i = 0; i < 3; i++)
        assert_true(network.posts_by[i] >= 10);
    assert_int_equal(network.posts_by[0] + network.posts_by[1] + network.posts_by[2], effort.rpcs);
}

static void a_crowd_without_accounts_is_none(void **state)
{
    (void)state;
    struct command_line options = usual_options(1);
    struct scenario scenario = usual_scenario("hosts 2\n");
    struct failure failure = {.status = STATUS_OK};
    struct crowd *crowd = NULL;

    options.keys[0] = "@/dev/null/nowhere";
    assert_status(STATUS_NOT_FOUND, crowd_create(&options, &scenario, &crowd, &failure));
    assert_null(crowd);
    options.keys[0] = "";
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_INVALID, crowd_create(&options, &scenario, &crowd, &failure));
    assert_string_equal(failure.text, ": 0 account keys, wanted 1 to 1000000");
}

static void samples_are_taken_at_their_time(void **state)
{
    (void)state;
    struct command_line options = usual_options(8);
    struct scenario scenario = usual_scenario("hosts 20\ndays 2\nsample_hours 12\n");
    struct crowd_effort effort;
    struct seen seen;

    options.metrics[0] = "a,b,x";
    options.metrics_count = 1;
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_int_equal(seen.samples, 5); /* 0, 12, 24, 36 and 48 h */
    assert_int_equal(seen.first_samples, 1);
    assert_int_equal(seen.last_samples, 1);
    assert_real(seen.sampled_apart, 0, 0);
    assert_real(seen.last_sample, scenario.begin + 2 * 86400, 0);
    assert_real(seen.counted, 2, 0); /* two pages of three could be read */
    assert_real(seen.of, 3, 0);
}

static void nobody_answers_in_an_outage(void **state)
{
    (void)state;
    struct command_line options = usual_options(4);
    struct scenario scenario =
        usual_scenario("hosts 20\ndays 2\noutage_begin_days 0.5\noutage_hours 12\n");
    struct crowd_effort effort;
    struct seen seen;

    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(seen.outcomes[RPC_OUTAGE] > 20);
    assert_int_equal(network.number + seen.outcomes[RPC_OUTAGE], effort.rpcs);
    assert_false(scenario_is_out(&scenario, scenario.begin + 43199));
    assert_true(scenario_is_out(&scenario, scenario.begin + 43200));
    assert_true(scenario_is_out(&scenario, scenario.begin + 86399));
    assert_false(scenario_is_out(&scenario, scenario.begin + 86400));
}

/* A crowd of five for some hours, with such a network. */
static enum status run_with(const struct http_lines *wanted, double patience, struct seen *ret_seen,
                            struct crowd_effort *ret_effort, struct failure *failure)
{
    struct command_line options = usual_options(2);
    struct scenario scenario = usual_scenario("hosts 5\ndays 0.2\n");
    struct crowd *crowd;
    enum status status;

    options.patience = patience;
    network = *wanted;
    *ret_seen = (struct seen){.jobs = 0};
    assert_status(STATUS_OK, crowd_create(&options, &scenario, &crowd, NULL));
    assert_true(crowd_observe(
        crowd, (struct observer){.context = ret_seen, .rpc = see_rpc, .sample = see_sample}));
    status = crowd_run(crowd, failure);
    *ret_effort = *crowd_effort(crowd);
    crowd_destroy(crowd);
    return status;
}

/* While the first requests find nobody. */
static enum status run_while_away(double patience, size_t away, struct seen *ret_seen,
                                  struct crowd_effort *ret_effort, struct failure *failure)
{
    const struct http_lines absent = {.away = away};

    return run_with(&absent, patience, ret_seen, ret_effort, failure);
}

static void a_server_that_comes_back_has_missed_nothing(void **state)
{
    (void)state;
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_OK, run_while_away(30, 3, &seen, &effort, NULL));
    assert_int_equal(network.number, effort.rpcs + 3);
    assert_int_equal(seen.outcomes[RPC_FAILED], 0);
    assert_int_equal(effort.failures[CROWD_AWAY], 1);
    assert_true(effort.away_seconds > 0);
}

static void a_server_that_stays_away_ends_the_run(void **state)
{
    (void)state;
    struct failure failure = {.status = STATUS_OK};
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_IO, run_while_away(0.3, SIZE_MAX, &seen, &effort, &failure));
    assert_string_equal(failure.text, "a: no answer for 0.3 s: nobody");
    assert_int_equal(effort.rpcs, 0);
}

static void without_patience_hosts_hear_nothing(void **state)
{
    (void)state;
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_OK, run_while_away(0, 3, &seen, &effort, NULL));
    assert_int_equal(network.number, effort.rpcs);
    assert_int_equal(seen.outcomes[RPC_FAILED], 3);
    assert_int_equal(effort.failures[CROWD_AWAY], 3);
}

static void a_server_that_goes_away_leaves_what_was_seen(void **state)
{
    (void)state;
    const struct http_lines absent = {.away_from = 12};
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_IO, run_with(&absent, 0.3, &seen, &effort, NULL));
    assert_true(seen.outcomes[RPC_SENT] > 5);
    assert_int_equal(seen.last_samples, 1);
    assert_real(seen.last_sample, effort.end, 0);
    assert_true(effort.end < 1767225600 + 0.2 * 86400);
}

static void a_server_with_a_clock_of_its_own_is_none_for_a_crowd(void **state)
{
    (void)state;
    const struct http_lines own = {.has_own_clock = true};
    struct failure failure = {.status = STATUS_OK};
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_INVALID, run_with(&own, 30, &seen, &effort, &failure));
    assert_string_equal(failure.text, "a: this server uses its own clock: "
                                      "start it with --clock=request");
    assert_true(network.number <= 2);
}

static void a_project_that_serves_nobody_is_a_mistake(void **state)
{
    (void)state;
    static const struct {
        const char *reply, *wanted;
        enum crowd_failure kind;
    } cases[] = {
        {"<scheduler_reply><message priority=\"low\">Wrong key</message></scheduler_reply>",
         "a: none of the first 20 requests was served: Wrong key", CROWD_REFUSED},
        {"<html>Welcome</html>", "a: none of the first 20 requests was served: not a whole reply",
         CROWD_UNREADABLE},
        /* They come back after the end only. */
        {"<scheduler_reply><request_delay>90000</request_delay>"
         "<message priority=\"low\">Wrong key</message></scheduler_reply>",
         "a: none of the first 5 requests was served: Wrong key", CROWD_REFUSED},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct http_lines refuses = {.refusal = cases[i].reply};
        struct failure failure = {.status = STATUS_OK};
        struct crowd_effort effort;
        struct seen seen;

        assert_status(STATUS_INVALID, run_with(&refuses, 30, &seen, &effort, &failure));
        assert_string_equal(failure.text, cases[i].wanted);
        assert_int_equal(effort.failures[cases[i].kind], effort.rpcs);
    }
}

static void a_project_that_is_down_at_first_is_waited_for(void **state)
{
    (void)state;
    const struct http_lines down = {
        .refusal = "<scheduler_reply><project_is_down/><message priority=\"low\">No database"
                   "</message></scheduler_reply>"};
    struct failure failure = {.status = STATUS_OK};
    struct crowd_effort effort;
    struct seen seen;

    assert_status(STATUS_IO, run_with(&down, 0.3, &seen, &effort, &failure));
    assert_string_equal(failure.text, "a: down for 0.3 s: No database");
    assert_int_equal(effort.rpcs, 0);
    assert_true(network.number > 2);
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_INVALID, run_with(&down, 0, &seen, &effort, &failure));
    assert_string_equal(failure.text, "a: none of the first 20 requests was served: No database");
}

static void commands_are_run_as_time_passes(void **state)
{
    (void)state;
    char path[] = "/tmp/qm-test-crowd-XXXXXX", command[128], words[64];
    int descriptor = mkstemp(path);
    struct command_line options = usual_options(4);
    struct scenario scenario = usual_scenario("hosts 5\ndays 1\ntransition_hours 8\n");
    struct crowd_effort effort;
    struct seen seen;
    ssize_t length;

    assert_true(descriptor >= 0);
    snprintf(command, sizeof(command), "echo {now} >>%s", path);
    options.transitions[0] = command;
    options.transition_count = 1;
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    length = read(descriptor, words, sizeof(words));
    close(descriptor);
    unlink(path);
    /* After 8 and 16 h; at its very end a run is over. */
    assert_int_equal(effort.transitions, 2);
    assert_int_equal(length, 22);
    assert_memory_equal(words, "1767254400\n1767283200\n", 22);
}

static void a_command_that_fails_ends_the_run(void **state)
{
    (void)state;
    struct command_line options = usual_options(1);
    struct scenario scenario = usual_scenario("hosts 5\ndays 1\n");
    struct failure failure = {.status = STATUS_OK};
    struct crowd *crowd;

    network = (struct http_lines){.number = 0};
    options.transitions[0] = "exit 3 # {now}";
    options.transition_count = 1;
    assert_status(STATUS_OK, crowd_create(&options, &scenario, &crowd, NULL));
    assert_status(STATUS_IO, crowd_run(crowd, &failure));
    assert_string_equal(failure.text, "exit 3 # 1767247200: exit status 3");
    crowd_destroy(crowd);
}

static void on_signal(int number)
{
    (void)number;
    crowd_stop();
}

static void a_command_that_is_stopped_with_the_run_is_no_failure(void **state)
{
    (void)state;
    struct command_line options = usual_options(2);
    struct scenario scenario = usual_scenario("hosts 5\ndays 2\n");
    struct crowd_effort effort;
    struct seen seen;

    options.transitions[0] = "kill -USR1 $PPID; exit 3";
    options.transition_count = 1;
    signal(SIGUSR1, on_signal);
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_true(effort.rpcs > 0);
    assert_int_equal(effort.transitions, 1);
    assert_true(effort.end < scenario.begin + 12 * 3600);
}

static void a_stopped_run_is_a_short_one(void **state)
{
    (void)state;
    struct command_line options = usual_options(4);
    struct scenario scenario = usual_scenario(crowd_of_forty);
    struct crowd_effort effort;
    struct seen seen;

    crowd_stop(); /* nothing takes it back: these two tests are the last */
    run(&options, &scenario, STATUS_OK, &seen, &effort);
    assert_int_equal(effort.rpcs, 0);
    assert_int_equal(seen.last_samples, 1);
    assert_true(effort.end < scenario.begin + 86400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_never_steps_back),
        cmocka_unit_test(lines_carry_what_lies_within_the_window),
        cmocka_unit_test(a_host_never_steps_back_where_the_server_may),
        cmocka_unit_test(the_command_line_sets_the_window),
        cmocka_unit_test(hosts_take_turns_of_the_accounts_of_a_file),
        cmocka_unit_test(a_crowd_without_accounts_is_none),
        cmocka_unit_test(samples_are_taken_at_their_time),
        cmocka_unit_test(nobody_answers_in_an_outage),
        cmocka_unit_test(a_server_that_comes_back_has_missed_nothing),
        cmocka_unit_test(a_server_that_stays_away_ends_the_run),
        cmocka_unit_test(without_patience_hosts_hear_nothing),
        cmocka_unit_test(a_server_that_goes_away_leaves_what_was_seen),
        cmocka_unit_test(a_server_with_a_clock_of_its_own_is_none_for_a_crowd),
        cmocka_unit_test(a_project_that_serves_nobody_is_a_mistake),
        cmocka_unit_test(a_project_that_is_down_at_first_is_waited_for),
        cmocka_unit_test(commands_are_run_as_time_passes),
        cmocka_unit_test(a_command_that_fails_ends_the_run),
        cmocka_unit_test(a_command_that_is_stopped_with_the_run_is_no_failure),
        cmocka_unit_test(a_stopped_run_is_a_short_one),
    };
    int failed;

    xml_startup();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    xml_shutdown();
    return failed;
}
