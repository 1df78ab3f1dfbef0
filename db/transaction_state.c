/* SPDX-License-Identifier: Apache-2.0 */
#include "db/transaction_state.h"

#include "server/base/banned.h"

enum { NO = -1, SAME = -2 };

/* The state behind each event. NO: it is refused; SAME: as before. */
static const int done_after[TRANSACTION_EVENT_COUNT][TRANSACTION_DONE_COUNT] = {
#define FROM(idle, reading, writing, spoiled)                                \
    {                                                                        \
        [TRANSACTION_IDLE] = (idle), [TRANSACTION_READING] = (reading),      \
        [TRANSACTION_WRITING] = (writing), [TRANSACTION_SPOILED] = (spoiled) \
    }
#define IDLE    TRANSACTION_IDLE
#define READING TRANSACTION_READING
#define WRITING TRANSACTION_WRITING
#define SPOILED TRANSACTION_SPOILED
    [TRANSACTION_ASKS] = FROM(READING, SAME, SAME, SAME),
    [TRANSACTION_WRITES] = FROM(NO, WRITING, SAME, SAME),
    [TRANSACTION_FAILS] = FROM(NO, SPOILED, SPOILED, SAME),
    [TRANSACTION_COMMITS] = FROM(NO, IDLE, IDLE, NO),
    [TRANSACTION_ROLLS_BACK] = FROM(SAME, IDLE, IDLE, IDLE),
    [PART_BEGINS] = FROM(NO, SAME, SAME, SAME),
    [PART_IS_MARKED] = FROM(NO, SAME, SAME, SAME),
    [PART_IS_SAVED] = FROM(NO, SAME, SAME, SAME),
    [PART_IS_MIXED] = FROM(NO, SAME, SAME, SAME),
    [PART_ENDS] = FROM(NO, SAME, SAME, SAME),
#undef FROM
#undef IDLE
#undef READING
#undef WRITING
#undef SPOILED
};

static const int part_after[TRANSACTION_EVENT_COUNT][PART_COUNT] = {
#define FROM(none, begun, marked, saved, mixed, ended)                          \
    {                                                                           \
        [PART_NONE] = (none), [PART_BEGUN] = (begun), [PART_MARKED] = (marked), \
        [PART_SAVED] = (saved), [PART_MIXED] = (mixed), [PART_ENDED] = (ended)  \
    }
#define NONE   PART_NONE
#define BEGUN  PART_BEGUN
#define MARKED PART_MARKED
#define SAVED  PART_SAVED
#define MIXED  PART_MIXED
#define ENDED  PART_ENDED
    [TRANSACTION_ASKS] = FROM(SAME, SAME, SAME, SAME, SAME, SAME),
    [TRANSACTION_WRITES] = FROM(SAME, SAME, SAME, SAME, SAME, SAME),
    [TRANSACTION_FAILS] = FROM(SAME, SAME, SAME, SAME, SAME, SAME),
    [TRANSACTION_COMMITS] = FROM(NONE, NONE, NONE, NONE, NONE, NONE),
    [TRANSACTION_ROLLS_BACK] = FROM(NONE, NONE, NONE, NONE, NONE, NONE),
    [PART_BEGINS] = FROM(BEGUN, BEGUN, NO, NO, NO, BEGUN),
    [PART_IS_MARKED] = FROM(NO, MARKED, NO, NO, NO, NO),
    [PART_IS_SAVED] = FROM(NO, NO, SAVED, SAVED, NO, NO),
    [PART_IS_MIXED] = FROM(NO, NO, MIXED, MIXED, MIXED, NO),
    [PART_ENDS] = FROM(NO, ENDED, ENDED, ENDED, ENDED, NO),
#undef FROM
#undef NONE
#undef BEGUN
#undef MARKED
#undef SAVED
#undef MIXED
#undef ENDED
};

bool transaction_state_after(struct transaction_state state, enum transaction_event event,
                             struct transaction_state *ret_state)
{
    int done = done_after[event][state.done], part = part_after[event][state.part];

    if (done == NO || part == NO)
        return false;
    if (done != SAME)
        state.done = (enum transaction_done)done;
    if (part != SAME)
        state.part = (enum transaction_part)part;
    *ret_state = state;
    return true;
}

bool transaction_state_has_begun(struct transaction_state state)
{
    return state.done == TRANSACTION_WRITING || state.done == TRANSACTION_SPOILED;
}

bool transaction_state_is_marked(struct transaction_state state)
{
    return state.part == PART_MARKED || state.part == PART_SAVED || state.part == PART_MIXED;
}

bool transaction_state_has_part(struct transaction_state state)
{
    return state.part == PART_BEGUN || transaction_state_is_marked(state);
}
