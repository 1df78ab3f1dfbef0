/* SPDX-License-Identifier: Apache-2.0 */
#include "db/pass_note.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum { WORDS_BYTES = 250 };

enum status db_pass_note(struct db *db, const struct pass_note *note)
{
    return DB_RUN(
        db, pass_note, NULL, .pass = note->pass, .appid = note->appid, .failures = note->failures,
        .now = note->now, .failed_at = note->failures > 0 ? note->now : 0,
        .done_at = note->has_done ? note->now : 0, .words = text_first(note->words, WORDS_BYTES));
}

enum status db_pass_notes(struct db *db, struct arena *arena, struct pass_note_row **ret_rows,
                          size_t *ret_count)
{
    return DB_ALL(db, pass_notes, arena, ret_rows, ret_count, DB_NO_VALUES);
}
