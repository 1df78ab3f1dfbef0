/* SPDX-License-Identifier: Apache-2.0 */
/* A process that reads a line of JSON for each question, and answers each by a line
 * (command_answer.h) in any order. It is started with the first question, and gets some dozens
 * before it has to answer one. Where it ends, answers what cannot be understood or was not asked,
 * or gives no answer for so long as one question may take, it is ended, and started again for each
 * of the questions that it had not answered, which it then gets one at a time: what goes wrong with
 * one of them costs only that one. For command_crew.c, whose conventions it has. */
#ifndef SERVER_PASSES_LINE_PROCESS_H
#define SERVER_PASSES_LINE_PROCESS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command_answer;
struct command_crew_settings;
struct line_process;

struct line_process *line_process_create(const struct command_crew_settings *settings);
void line_process_destroy(struct line_process *line); /* NULL is fine */
bool line_process_has_room(const struct line_process *line);
size_t line_process_waiting(const struct line_process *line);
MUST_CHECK enum status line_process_ask(struct line_process *line, int64_t id, struct text text);
void line_process_drop(struct line_process *line);
bool line_process_await(struct line_process *line, double until, struct command_answer *ret_answer);

#endif
