/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the questions that were sent whole stand before the one that is being sent, and that
 * before the others. After a misfortune all that were sent, in part too, have their second try. */
#include "server/passes/line_process.h"

#include "server/base/clock.h"
#include "server/passes/command_answer.h"
#include "server/passes/command_crew.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { QUESTIONS_MAX = 64, ANSWER_MOST = 4096 /* bytes of a line */, LAST_WORDS = 5 /* s */ };

struct line_question {
    int64_t id;
    char *text; /* on the heap, with a new line at its end */
    size_t length;
    bool is_alone; /* it has its second try */
};

struct line_process {
    struct command_crew_settings settings;
    struct line_question questions[QUESTIONS_MAX];
    size_t count;
    size_t sent;       /* whole */
    size_t written;    /* bytes of the next one */
    pid_t pid;         /* 0: none runs */
    int input, output; /* our ends of its standard input and output */
    char answer[ANSWER_MOST];
    size_t answer_length;
    double heard; /* when it answered last, or got a question while it had none */
};

struct line_process *line_process_create(const struct command_crew_settings *settings)
{
    struct line_process *line = calloc(1, sizeof(*line));

    if (line != NULL)
        line->settings = *settings;
    return line;
}

bool line_process_has_room(const struct line_process *line)
{
    return line->count < QUESTIONS_MAX;
}

size_t line_process_waiting(const struct line_process *line)
{
    return line->count;
}

enum status line_process_ask(struct line_process *line, int64_t id, struct text text)
{
    struct line_question *question = &line->questions[line->count];

    *question = (struct line_question){
        .id = id, .text = malloc(text.length + 1), .length = text.length + 1};
    if (question->text == NULL)
        return STATUS_NO_MEMORY;
    memcpy(question->text, text.at, text.length);
    question->text[text.length] = '\n';
    line->count++;
    return STATUS_OK;
}

static void forget(struct line_process *line, size_t index)
{
    free(line->questions[index].text);
    line->count--;
    memmove(&line->questions[index], &line->questions[index + 1],
            (line->count - index) * sizeof(line->questions[0]));
}

/* --- the process --------------------------------------------------------------------------------
 */

static void close_both(const int *ends)
{
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static enum status start(struct line_process *line, const sigset_t *mask, struct failure *failure)
{
    struct command_call call = {.command = line->settings.command};
    int to[2], from[2];
    enum status status;

    if (pipe2(to, O_CLOEXEC) != 0)
        return fail(failure, STATUS_IO, "no pipe: %s", strerror(errno));
    if (pipe2(from, O_CLOEXEC) != 0) {
        close_both(to);
        return fail(failure, STATUS_IO, "no pipe: %s", strerror(errno));
    }
    call.input = to[0];
    call.output = from[1];
    status = command_start(&call, mask, &line->pid, failure);
    if (status != STATUS_OK) {
        close_both(to);
        close_both(from);
        line->pid = 0;
        return status;
    }
    (void)close(to[0]);
    (void)close(from[1]);
    line->input = to[1];
    line->output = from[0];
    (void)fcntl(line->input, F_SETFL, O_NONBLOCK);
    (void)fcntl(line->output, F_SETFL, O_NONBLOCK);
    line->answer_length = 0;
    return STATUS_OK;
}

static void end(struct line_process *line)
{
    if (line->pid == 0)
        return;
    (void)close(line->input);
    (void)close(line->output);
    command_end(&line->pid, 1);
    line->pid = 0;
}

/* It has closed its output: most likely because it ended. */
static void hear_end(struct line_process *line, struct failure *failure)
{
    enum command_exit found;
    int status;

    if (!command_has_ended(line->pid, 1, &status)) {
        (void)fail(failure, STATUS_IO, "the command closed its output");
        end(line);
        return;
    }
    (void)close(line->input);
    (void)close(line->output);
    line->pid = 0;
    if (command_judge(status, &found, failure) == STATUS_OK)
        (void)fail(failure, STATUS_IO, "the command ended with status %d before it had answered",
                   (int)found);
}

void line_process_drop(struct line_process *line)
{
    if (line->count > 0)
        end(line);
    while (line->count > 0)
        forget(line, line->count - 1);
}

void line_process_destroy(struct line_process *line)
{
    int status;

    if (line == NULL)
        return;
    if (line->pid != 0 && line->count == 0) {
        (void)close(line->input);
        line->input = -1;
        if (command_has_ended(line->pid, LAST_WORDS, &status)) {
            (void)close(line->output);
            line->pid = 0;
        }
    }
    line_process_drop(line);
    end(line);
    free(line);
}

/* --- talking ------------------------------------------------------------------------------------
 */

/* The process is gone, or is to go, and why is in ret_answer->failure. True: that is the answer to
 * a question, which had its second try; false: others begin theirs. */
static bool is_answered_by_end(struct line_process *line, struct command_answer *ret_answer)
{
    size_t tried = line->sent + (line->written > 0);

    end(line);
    line->sent = line->written = 0;
    if (tried == 0) /* it ended before it was told anything */
        tried = 1;
    if (tried == 1 && line->questions[0].is_alone) {
        ret_answer->id = line->questions[0].id;
        ret_answer->status = STATUS_IO;
        ret_answer->seconds = clock_seconds() - line->heard;
        forget(line, 0);
        return true;
    }
    for (size_t i = 0; i < tried; i++)
        line->questions[i].is_alone = true;
    ret_answer->failure = (struct failure){.status = STATUS_OK};
    return false;
}

/* Another question may be sent now. */
static bool may_send(const struct line_process *line)
{
    return line->sent < line->count && (line->sent == 0 || (!line->questions[0].is_alone &&
                                                            !line->questions[line->sent].is_alone));
}

/* As much as it takes. False: it reads no more. */
static bool send(struct line_process *line)
{
    const struct timespec no_time = {0};
    sigset_t pipe_signal;

    while (may_send(line)) {
        const struct line_question *question = &line->questions[line->sent];
        ssize_t length =
            write(line->input, question->text + line->written, question->length - line->written);

        if (length < 0 && errno == EPIPE) {
            (void)sigemptyset(&pipe_signal);
            (void)sigaddset(&pipe_signal, SIGPIPE);
            (void)sigtimedwait(&pipe_signal, NULL, &no_time);
            return false;
        }
        if (length < 0)
            return errno == EAGAIN || errno == EINTR;
        if (line->sent == 0 && line->written == 0)
            line->heard = clock_seconds();
        line->written += (size_t)length;
        if (line->written == question->length) {
            line->sent++;
            line->written = 0;
        }
    }
    return true;
}

/* False: it has closed its output. */
static bool receive(struct line_process *line)
{
    ssize_t length =
        read(line->output, line->answer + line->answer_length, ANSWER_MOST - line->answer_length);

    if (length < 0)
        return errno == EAGAIN || errno == EINTR;
    line->answer_length += (size_t)length;
    return length > 0;
}

static bool is_verdict(const struct line_process *line, const struct answer_line *said)
{
    if (!said->has_verdict)
        return !line->settings.needs_verdict;
    return said->verdict == COMMAND_YES || said->verdict == COMMAND_NO ||
           said->verdict == COMMAND_LATER;
}

/* OK: *ret_answer is one; NOT_FOUND: no whole line is here; INVALID: nonsense, and what is in
 * ret_answer->failure. */
static enum status take_answer(struct line_process *line, struct command_answer *ret_answer)
{
    const char *line_end =
        line->answer_length == 0 ? NULL : memchr(line->answer, '\n', line->answer_length);
    struct text text = {line->answer,
                        line_end == NULL ? line->answer_length : (size_t)(line_end - line->answer)};
    struct answer_line said;
    size_t index = 0;

    if (line_end == NULL && line->answer_length < ANSWER_MOST)
        return STATUS_NOT_FOUND;
    if (line_end == NULL || !answer_line_read(text, &said))
        return fail(&ret_answer->failure, STATUS_INVALID,
                    "the command answered what is no answer: " TEXT_FORMAT,
                    TEXT_ARG(text_first(text, 100)));
    if (!is_verdict(line, &said))
        return fail(&ret_answer->failure, STATUS_INVALID,
                    "the command answered without a verdict of 0, 1 or 3: " TEXT_FORMAT,
                    TEXT_ARG(text_first(text, 100)));
    while (index < line->sent && line->questions[index].id != said.id)
        index++;
    if (index == line->sent)
        return fail(&ret_answer->failure, STATUS_INVALID,
                    "the command answered what it was not asked: " TEXT_FORMAT,
                    TEXT_ARG(text_first(text, 100)));
    ret_answer->id = said.id;
    ret_answer->exit = said.has_verdict ? (enum command_exit)said.verdict : COMMAND_YES;
    ret_answer->seconds = clock_seconds() - line->heard;
    line->heard = clock_seconds();
    forget(line, index);
    line->sent--;
    line->answer_length -= text.length + 1;
    memmove(line->answer, line_end + 1, line->answer_length);
    return STATUS_OK;
}

/* Waits until it can be told more, or has said something. False: for too long. */
static bool wait_for_process(struct line_process *line, double until, const sigset_t *mask)
{
    double deadline = line->heard + (double)line->settings.seconds_max;
    double now = clock_seconds(), wakes = until < deadline ? until : deadline;
    struct timespec span = {.tv_sec = (time_t)(wakes > now ? wakes - now : 0)};
    struct pollfd ends[] = {{.fd = line->output, .events = POLLIN},
                            {.fd = line->input, .events = POLLOUT}};

    if (now >= deadline && line->sent + line->written > 0)
        return false;
    if (wakes > now)
        span.tv_nsec = (long)((wakes - now - (double)span.tv_sec) * 1e9);
    (void)ppoll(ends, may_send(line) ? 2 : 1, &span, mask);
    return true;
}

static bool await_line(struct line_process *line, double until, const sigset_t *mask,
                       struct command_answer *ret_answer)
{
    while (line->count > 0) {
        bool goes_on = true;

        if (pass_is_to_end(line->settings.owner)) {
            end(line);
            while (line->count > 0)
                forget(line, line->count - 1);
            line->sent = line->written = 0;
            break;
        }
        if (line->pid == 0) {
            goes_on = start(line, mask, &ret_answer->failure) == STATUS_OK;
        } else {
            enum status status = take_answer(line, ret_answer);

            if (status == STATUS_OK)
                return true;
            goes_on = status == STATUS_NOT_FOUND;
        }
        if (goes_on && clock_seconds() >= until)
            break;
        if (goes_on && (!send(line) || !receive(line))) {
            hear_end(line, &ret_answer->failure);
            goes_on = false;
        }
        if (goes_on && !memchr(line->answer, '\n', line->answer_length) &&
            !wait_for_process(line, until, mask)) {
            (void)fail(&ret_answer->failure, STATUS_IO,
                       "the command did not answer within %" PRId64
                       " s (does it flush its output after each line?)",
                       line->settings.seconds_max);
            goes_on = false;
        }
        if (!goes_on && is_answered_by_end(line, ret_answer))
            return true;
    }
    return false;
}

bool line_process_await(struct line_process *line, double until, struct command_answer *ret_answer)
{
    static const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    sigset_t signals, before;
    bool has_one;

    *ret_answer = (struct command_answer){.status = STATUS_OK};
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
        (void)sigaddset(&signals, blocked[i]);
    (void)pthread_sigmask(SIG_BLOCK, &signals, &before);
    has_one = await_line(line, until, &before, ret_answer);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return has_one;
}
