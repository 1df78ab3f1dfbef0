/* SPDX-License-Identifier: Apache-2.0 */
/* The lines by which a command answers (--validate-batch, --assimilate-batch); pure. */
#ifndef SERVER_PASSES_COMMAND_ANSWER_H
#define SERVER_PASSES_COMMAND_ANSWER_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_line {
    int64_t id;
    bool has_verdict;
    int64_t verdict;
};

/* A JSON object (RFC 8259) with the members "id" and, or not, "verdict", each once and a whole
 * number, in any order; nothing else. False: it is none. */
bool answer_line_read(struct text line, struct answer_line *ret_answer);

#endif
