/* SPDX-License-Identifier: Apache-2.0 */
/* The stored numbers of states, by name. */
#ifndef DB_STATES_H
#define DB_STATES_H

#include <stdint.h>

enum state_number {
#define STATE(group, name, number, word) group##_##name = number,
#include "db/states.def"
#undef STATE
};

/* "RESULT", 4 gives "in progress"; "unknown" for what is not in the table. */
const char *state_word(const char *group, int64_t number);

/* workunit.transition_time of a workunit that nothing is to be done about: the largest number that
 * the column holds, as BOINC's programs write it. */
#define TRANSITION_NEVER INT32_MAX

#endif
