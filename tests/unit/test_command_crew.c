/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are asked about many things: how they answer, and whatever else they do. */
#include "server/passes/command_crew.h"

#include "server/base/clock.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { FOREVER = 3600, ANSWERS_MOST = 200 };

/* What was heard of a number of questions, 1 and so on. */
struct hearing {
    struct command_crew *crew;
    struct command_answer answers[ANSWERS_MOST]; /* by id */
    int times[ANSWERS_MOST];
    int64_t order[ANSWERS_MOST];
    size_t heard;
    size_t most_waiting;
};

static struct pass_owner owner;

static void begin(struct hearing *hearing, const struct command_crew_settings *settings)
{
    struct command_crew_settings whole = *settings;

    whole.owner = &owner;
    whole.parallel = whole.parallel > 0 ? whole.parallel : 1;
    whole.seconds_max = whole.seconds_max > 0 ? whole.seconds_max : FOREVER;
    *hearing = (struct hearing){.crew = command_crew_create(&whole)};
    assert_non_null(hearing->crew);
}

static void ask(struct hearing *hearing, int64_t id)
{
    char argument[24], line[48];
    const char *arguments[] = {argument, "two words; exit 9"};

    (void)snprintf(argument, sizeof(argument), "%d", (int)id);
    (void)snprintf(line, sizeof(line), "{\"id\": %d}", (int)id);
    assert_status(STATUS_OK, command_crew_ask(hearing->crew,
                                              &(struct command_question){.id = id,
                                                                         .arguments = arguments,
                                                                         .argument_count = 2,
                                                                         .line = text_from(line)}));
}

/* As a pass does it; every question is answered, once. */
static void ask_all(struct hearing *hearing, int64_t count)
{
    int64_t next = 1;

    for (;;) {
        struct command_answer answer;

        while (next <= count && command_crew_has_room(hearing->crew))
            ask(hearing, next++);
        if (command_crew_waiting(hearing->crew) > hearing->most_waiting)
            hearing->most_waiting = command_crew_waiting(hearing->crew);
        if (command_crew_waiting(hearing->crew) == 0)
            break;
        if (!command_crew_await(hearing->crew, clock_seconds() + FOREVER, &answer))
            break;
        assert_true(answer.id >= 1 && answer.id <= count);
        hearing->answers[answer.id] = answer;
        hearing->times[answer.id]++;
        hearing->order[hearing->heard++] = answer.id;
    }
    for (int64_t id = 1; id <= count; id++)
        assert_int_equal(hearing->times[id], 1);
}

static void end(struct hearing *hearing)
{
    command_crew_destroy(hearing->crew);
}

static void assert_failed(const struct command_answer *answer, const char *why)
{
    assert_status(STATUS_IO, answer->status);
    if (strstr(answer->failure.text, why) == NULL)
        fail_msg("\"%s\", wanted \"%s\"", answer->failure.text, why);
}

/* --- a process for each ------------------------------------------------------------------------
 */

static void exit_statuses_are_answers(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing, &(struct command_crew_settings){
                        .command = "f() { [ \"$2\" = 'two words; exit 9' ] || exit 9; [ $1 != 6 ]"
                                   " || kill -9 $$; exit $(($1 - 1)); }; f",
                        .parallel = 3});
    ask_all(&hearing, 6);
    assert_int_equal(hearing.most_waiting, 3);
    assert_status(STATUS_OK, hearing.answers[1].status);
    assert_int_equal(hearing.answers[1].exit, COMMAND_YES);
    assert_int_equal(hearing.answers[2].exit, COMMAND_NO);
    assert_failed(&hearing.answers[3], "ended with status 2");
    assert_int_equal(hearing.answers[4].exit, COMMAND_LATER);
    assert_failed(&hearing.answers[5], "ended with status 4");
    assert_failed(&hearing.answers[6], "ended by signal 9");
    end(&hearing);
}

/* Each of them waits until all have begun. */
static void several_run_at_a_time(void **state)
{
    char folder[] = "/tmp/qm-crew-XXXXXX", command[200];
    struct hearing hearing;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(command, sizeof(command),
                   "f() { cd %s && : >$1 && until [ -e 1 ] && [ -e 2 ] && [ -e 3 ]; do sleep 0.01;"
                   " done; }; f",
                   folder);
    begin(&hearing, &(struct command_crew_settings){.command = command, .parallel = 3});
    ask_all(&hearing, 3);
    for (int64_t id = 1; id <= 3; id++) {
        char path[64];

        assert_status(STATUS_OK, hearing.answers[id].status);
        (void)snprintf(path, sizeof(path), "%s/%d", folder, (int)id);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    end(&hearing);
}

static void plain_words_need_no_shell(void **state)
{
    static const struct {
        const char *command;
        bool is_done;
    } cases[] = {{"true", true},        {" /bin/true  x ", true}, {"false", false},
                 {"/nowhere/x", false}, {"exit 0 #", true}, /* no program, but the shell's */
                 {"exit 3 #", false},   {"A=1 true", true},       {"'true'", true},
                 {"(", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hearing hearing;

        begin(&hearing, &(struct command_crew_settings){.command = cases[i].command});
        ask_all(&hearing, 1);
        if ((hearing.answers[1].status == STATUS_OK && hearing.answers[1].exit == COMMAND_YES) !=
            cases[i].is_done)
            fail_msg("%s", cases[i].command);
        end(&hearing);
    }
}

static void what_takes_too_long_is_ended(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing,
          &(struct command_crew_settings){.command = "f() { [ $1 = 1 ] || exec sleep 1000; }; f",
                                          .parallel = 2,
                                          .seconds_max = 1});
    ask_all(&hearing, 2);
    assert_status(STATUS_OK, hearing.answers[1].status);
    assert_failed(&hearing.answers[2], "took longer than 1 s");
    end(&hearing);
}

/* --- a process that reads lines ------------------------------------------------------------------
 */

#define READ "while IFS=' }' read -r key id rest; do "

static void lines_are_answered(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing, &(struct command_crew_settings){
                        .command = READ "case $id in 2) echo \"{\\\"id\\\":2,\\\"verdict\\\":1}\";;"
                                        " 3) echo \"{\\\"verdict\\\":3, \\\"id\\\": 3}\";;"
                                        " *) echo \"{\\\"id\\\":$id}\";; esac; done",
                        .reads_lines = true});
    ask_all(&hearing, 150);
    for (int64_t id = 1; id <= 150; id++) {
        assert_status(STATUS_OK, hearing.answers[id].status);
        assert_int_equal(hearing.answers[id].exit, id == 2   ? COMMAND_NO
                                                   : id == 3 ? COMMAND_LATER
                                                             : COMMAND_YES);
    }
    assert_int_equal(hearing.most_waiting, 64);
    end(&hearing);
}

/* Also when it has 64 of them, and answers the last one first. */
static void lines_may_be_answered_in_any_order(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing, &(struct command_crew_settings){
                        .command = "all=; " READ "all=\"$id $all\"; [ $id -lt 64 ] || break; done;"
                                   " for id in $all; do echo \"{\\\"id\\\":$id}\"; done; cat",
                        .reads_lines = true});
    ask_all(&hearing, 64);
    assert_i64(hearing.order[0], 64);
    assert_i64(hearing.order[63], 1);
    end(&hearing);
}

/* What a command does at the third line, each time that it gets that, and whether only then. */
static void what_goes_wrong_costs_only_one(void **state)
{
    static const struct {
        const char *at_three, *why;
    } cases[] = {
        {"exit 7", "ended with status 7"},
        {"exit 0", "ended with status 0 before it had answered"},
        {"kill -9 $$", "ended by signal 9"},
        {"exec >&-; sleep 1000", "closed its output"},
        {"printf '{\\\"id\\\":'; exit 0", "ended with status 0"}, /* half a line */
        {"printf '{\\\"id\\\":3'; sleep 1000", "within 1 s"},     /* the same, and stays */
        {"sleep 1000", "did not answer within 1 s"},              /* never */
        {"echo 'done with 3'", "what is no answer: done with 3"}, /* nonsense */
        {"echo '{\"id\":999}'; continue", "what it was not asked: {\"id\":999}"},
        {"echo '{\"id\":1}'; continue", "what it was not asked"}, /* answered before */
        {"echo '{\"id\":3,\"verdict\":2}'; continue", "without a verdict of 0, 1 or 3"},
        {"head -c 5000 /dev/zero | tr '\\0' x", "what is no answer: xxxx"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hearing hearing;
        char command[400];

        (void)snprintf(command, sizeof(command),
                       READ "if [ $id = 3 ]; then %s; fi; echo \"{\\\"id\\\":$id}\"; done",
                       cases[i].at_three);
        begin(&hearing, &(struct command_crew_settings){
                            .command = command, .reads_lines = true, .seconds_max = 1});
        ask_all(&hearing, 6);
        for (int64_t id = 1; id <= 6; id++)
            if (id != 3 && hearing.answers[id].status != STATUS_OK)
                fail_msg("%s: %d: %s", cases[i].at_three, (int)id,
                         hearing.answers[id].failure.text);
        assert_failed(&hearing.answers[3], cases[i].why);
        end(&hearing);
    }
}

/* Once: the second try does it. */
static void a_second_try_may_do_it(void **state)
{
    char folder[] = "/tmp/qm-crew-XXXXXX", command[300], mark[64];
    struct hearing hearing;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(mark, sizeof(mark), "%s/mark", folder);
    (void)snprintf(command, sizeof(command),
                   READ "if [ $id = 3 ] && [ ! -e %s ]; then : >%s; exit 1; fi;"
                        " echo \"{\\\"id\\\":$id}\"; done",
                   mark, mark);
    begin(&hearing, &(struct command_crew_settings){.command = command, .reads_lines = true});
    ask_all(&hearing, 100);
    for (int64_t id = 1; id <= 100; id++)
        assert_status(STATUS_OK, hearing.answers[id].status);
    end(&hearing);
    assert_int_equal(unlink(mark), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_command_that_is_not_there_fails_for_each(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing, &(struct command_crew_settings){.command = "/nowhere/x 2>/dev/null",
                                                    .reads_lines = true});
    ask_all(&hearing, 3);
    for (int64_t id = 1; id <= 3; id++)
        assert_failed(&hearing.answers[id], "ended with status 127");
    end(&hearing);
}

/* Where a verdict is wanted, silence is none. */
static void a_verdict_may_be_needed(void **state)
{
    struct hearing hearing;

    (void)state;
    begin(&hearing,
          &(struct command_crew_settings){.command = READ "echo \"{\\\"id\\\":$id}\"; done",
                                          .reads_lines = true,
                                          .needs_verdict = true});
    ask_all(&hearing, 1);
    assert_failed(&hearing.answers[1], "without a verdict");
    end(&hearing);
}

/* It reads the end of its input, and may do something before it ends. */
static void the_end_is_told(void **state)
{
    char folder[] = "/tmp/qm-crew-XXXXXX", command[200], mark[64];
    struct hearing hearing;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(mark, sizeof(mark), "%s/mark", folder);
    (void)snprintf(command, sizeof(command),
                   READ "echo \"{\\\"id\\\":$id}\"; done; sleep 0.1; : >%s", mark);
    begin(&hearing, &(struct command_crew_settings){.command = command, .reads_lines = true});
    ask_all(&hearing, 2);
    end(&hearing);
    assert_int_equal(unlink(mark), 0);
    assert_int_equal(rmdir(folder), 0);
}

static bool wants_to_end(void *context)
{
    int *left = context;

    return (*left)-- <= 0;
}

/* Others have the jobs now: what was asked of them is answered by nobody, and numbers are free. */
static void what_is_dropped_is_not_answered(void **state)
{
    (void)state;
    for (int reads_lines = 0; reads_lines < 2; reads_lines++) {
        struct hearing hearing;
        double begun = clock_seconds();

        begin(&hearing,
              &(struct command_crew_settings){
                  .command = reads_lines ? "while read line; do case $line in *2*) sleep 3600;; "
                                           "esac; echo \"$line\"; done"
                                         : "f() { [ $1 != 2 ] || sleep 3600; }; f",
                  .reads_lines = reads_lines == 1,
                  .parallel = 2});
        ask(&hearing, 2);
        command_crew_drop(hearing.crew);
        assert_int_equal(command_crew_waiting(hearing.crew), 0);
        assert_true(command_crew_has_room(hearing.crew));
        ask_all(&hearing, 1);
        assert_status(STATUS_OK, hearing.answers[1].status);
        assert_true(clock_seconds() - begun < FOREVER);
        end(&hearing);
    }
}

static void who_is_to_end_waits_for_nobody(void **state)
{
    (void)state;
    for (int reads_lines = 0; reads_lines < 2; reads_lines++) {
        struct command_answer answer;
        struct hearing hearing;
        int left = 1;

        owner = (struct pass_owner){.is_to_end = wants_to_end, .context = &left};
        begin(&hearing, &(struct command_crew_settings){.command = "exec sleep 1000 #",
                                                        .reads_lines = reads_lines != 0,
                                                        .parallel = 2});
        ask(&hearing, 1);
        ask(&hearing, 2);
        assert_false(command_crew_await(hearing.crew, clock_seconds(), &answer)); /* no time */
        assert_int_equal(command_crew_waiting(hearing.crew), 2);
        assert_false(command_crew_await(hearing.crew, clock_seconds() + FOREVER, &answer));
        assert_int_equal(command_crew_waiting(hearing.crew), 0);
        end(&hearing);
        owner = (struct pass_owner){.context = NULL};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_statuses_are_answers),
        cmocka_unit_test(several_run_at_a_time),
        cmocka_unit_test(plain_words_need_no_shell),
        cmocka_unit_test(what_takes_too_long_is_ended),
        cmocka_unit_test(lines_are_answered),
        cmocka_unit_test(lines_may_be_answered_in_any_order),
        cmocka_unit_test(what_goes_wrong_costs_only_one),
        cmocka_unit_test(a_second_try_may_do_it),
        cmocka_unit_test(a_command_that_is_not_there_fails_for_each),
        cmocka_unit_test(a_verdict_may_be_needed),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(what_is_dropped_is_not_answered),
        cmocka_unit_test(who_is_to_end_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
