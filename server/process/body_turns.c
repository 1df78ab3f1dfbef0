/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/body_turns.h"

#include <utlist.h>

#include "server/base/banned.h"

static bool is_held(const struct body_turns *turns, uint64_t account)
{
    const struct body_turn_entry *entry;

    DL_FOREACH(turns->first, entry)
    {
        if (entry->account == account && entry->turn != BODY_TURN_WAITS)
            return true;
    }
    return false;
}

bool body_turns_ask(struct body_turns *turns, struct body_turn_entry *entry, uint64_t account)
{
    entry->turn = is_held(turns, account) ? BODY_TURN_WAITS : BODY_TURN_HAS;
    entry->account = account;
    DL_APPEND(turns->first, entry);
    return entry->turn == BODY_TURN_HAS;
}

bool body_turns_leave(struct body_turns *turns, struct body_turn_entry *entry)
{
    enum body_turn had = entry->turn;
    struct body_turn_entry *other;

    if (had == BODY_TURN_NONE)
        return false;
    DL_DELETE(turns->first, entry);
    entry->turn = BODY_TURN_NONE;
    if (had == BODY_TURN_WAITS)
        return false;
    DL_FOREACH(turns->first, other)
    {
        if (other->account == entry->account) {
            other->turn = BODY_TURN_GRANTED;
            return true;
        }
    }
    return false;
}

struct body_turn_entry *body_turns_next(struct body_turns *turns)
{
    struct body_turn_entry *entry;

    DL_FOREACH(turns->first, entry)
    {
        if (entry->turn == BODY_TURN_GRANTED) {
            entry->turn = BODY_TURN_HAS;
            return entry;
        }
    }
    return NULL;
}
