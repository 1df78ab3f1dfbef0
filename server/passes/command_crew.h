/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a command of the project's (command_start.h) about many things, several at a time: a process
 * for each question, which answers by its exit status; or one process for all, which gets a line of
 * JSON for each and answers by lines (line_process.h). One thread. */
#ifndef SERVER_PASSES_COMMAND_CREW_H
#define SERVER_PASSES_COMMAND_CREW_H

#include "server/passes/command_start.h"
#include "server/passes/pass.h"

#include <stdbool.h>

struct command_crew;

struct command_crew_settings {
    const char *command;
    bool reads_lines;    /* one process for all */
    bool needs_verdict;  /* the answer says yes, no or later; otherwise yes where it says nothing */
    int64_t parallel;    /* processes at a time, where each gets one question */
    int64_t seconds_max; /* for one question */
    const struct pass_owner *owner; /* who is to end, or not */
};

/* Starts nothing yet. The settings' texts and the owner outlast it; SIGCHLD must not be ignored, as
 * a program may be started (tools/qmctl/main.c). NULL: no memory. */
struct command_crew *command_crew_create(const struct command_crew_settings *settings);
/* Ends what still runs; a process that reads lines has read the end of its input before. NULL is
 * fine. */
void command_crew_destroy(struct command_crew *crew);

struct command_question {
    int64_t id; /* of those that wait for an answer only this one has it */
    /* for a process of its own */
    const char *const *arguments;
    size_t argument_count;
    const char *const *environment;
    /* for one that reads lines: a JSON object, which has the id, without a new line at its end */
    struct text line;
};
struct command_answer {
    int64_t id;
    enum status status; /* OK, or IO: it did not do its work; why is in `failure` */
    enum command_exit exit;
    double seconds; /* that it took */
    struct failure failure;
};

bool command_crew_has_room(const struct command_crew *crew);
/* How many questions wait for an answer. */
size_t command_crew_waiting(const struct command_crew *crew);
/* There is room. What cannot be asked is answered so. STATUS_NO_MEMORY. */
MUST_CHECK enum status command_crew_ask(struct command_crew *crew,
                                        const struct command_question *question);
/* Ends what was asked: nobody wants the answers any more. A process that reads lines is started
 * again with the next question. */
void command_crew_drop(struct command_crew *crew);
/* Waits for an answer, but not beyond `until` (as clock_seconds). False: there is none; where the
 * owner is to end, or a signal ends us, all questions that waited are gone. */
bool command_crew_await(struct command_crew *crew, double until, struct command_answer *ret_answer);

#endif
