/* SPDX-License-Identifier: Apache-2.0 */
/* How far a connection's transaction is, and the part of it that is going on. Pure: what changes
 * the database changes this with it, by mariadb_move and by nothing else.
 *
 * What the transaction has done, and by what it goes on to the next (the function that does it):
 *
 *          +--------------------->  IDLE  <----------------------+
 *          |                         |                           |
 *          |                 ASKS (mariadb_check)                |
 *          |                         v                           |
 *          +--- COMMITS --------  READING  ------ ROLLS_BACK ----+
 *          |   (mariadb_commit_if)   |   |     (db_rollback,     |
 *          |                         |   |   mariadb_disconnect) |
 *          |              WRITES     |   |                       |
 *          |        (mariadb_begin,  v   |                       |
 *          +--- COMMITS - db_begin) WRITING ----- ROLLS_BACK ----+
 *                                    |   |                       |
 *                                    |   | FAILS (mariadb_spoil) |
 *                                    v   v                       |
 *                                  SPOILED  ----- ROLLS_BACK ----+
 *
 *   IDLE      nothing was asked since the last transaction; no answer is due, nothing waits
 *   READING   no statement has locked or written; no token is in the database
 *   WRITING   one did, or is just going to; where transactions begin with a token it was sent
 *   SPOILED   what was sent ahead, COMMIT, or going back has failed: only ROLLBACK is right
 *
 * What its part has. The parts' events are possible in every state but IDLE, which has no part:
 *
 *        NONE ------ PART_BEGINS ------> BEGUN <---+
 *         (db_part_begin)               |  |   PART_BEGINS
 *                                       |  |       |
 *                 PART_IS_MARKED        |  +-- PART_ENDS --> ENDED
 *              (mariadb_mark_part)      v                     ^
 *                                     MARKED --- PART_ENDS ---+  (db_part_end,
 *    PART_IS_SAVED (mariadb_save_part)  |                     |   db_part_undo)
 *                                       v                     |
 *                                     SAVED ---- PART_ENDS ---+
 *       PART_IS_MIXED (from both)       v                     |
 *               (mariadb_settle)      MIXED ---- PART_ENDS ---+
 *
 *   NONE      no part has begun: what is done is the transaction's own, the first request's
 *   BEGUN     the part has not written, so that it has no savepoint; the trace tells whether the
 *             transaction is still there. Another may begin: this one has nothing to be undone
 *   MARKED    savepoint qm_part is in front of its first write
 *   SAVED     the same, and the savepoint qm, to which the part can go back, is behind that
 *   MIXED     MARKED or SAVED, but what waited of earlier parts was written behind qm_part: it
 *             cannot be undone by itself
 *   ENDED     the last part has ended or is undone; the next may begin
 *
 * COMMITS and ROLLS_BACK leave NONE. Whatever is not drawn is refused. */
#ifndef DB_TRANSACTION_STATE_H
#define DB_TRANSACTION_STATE_H

#include <stdbool.h>

enum transaction_done {
    TRANSACTION_IDLE,
    TRANSACTION_READING,
    TRANSACTION_WRITING,
    TRANSACTION_SPOILED,
    TRANSACTION_DONE_COUNT
};

enum transaction_part {
    PART_NONE,
    PART_BEGUN,
    PART_MARKED,
    PART_SAVED,
    PART_MIXED,
    PART_ENDED,
    PART_COUNT
};

struct transaction_state {
    enum transaction_done done;
    enum transaction_part part;
};

enum transaction_event {
    TRANSACTION_ASKS,   /* something is sent */
    TRANSACTION_WRITES, /* it may lock or write */
    TRANSACTION_FAILS,
    TRANSACTION_COMMITS,
    TRANSACTION_ROLLS_BACK, /* or the connection is closed */
    PART_BEGINS,
    PART_IS_MARKED,
    PART_IS_SAVED,
    PART_IS_MIXED,
    PART_ENDS,
    TRANSACTION_EVENT_COUNT
};

/* False: the event is refused. */
bool transaction_state_after(struct transaction_state state, enum transaction_event event,
                             struct transaction_state *ret_state);
/* Whether something has locked or written, or is just going to. */
bool transaction_state_has_begun(struct transaction_state state);
/* Whether the part has a savepoint of its own. */
bool transaction_state_is_marked(struct transaction_state state);
/* Whether a part is going on. */
bool transaction_state_has_part(struct transaction_state state);

#endif
