/* SPDX-License-Identifier: Apache-2.0 */
/* Recent failures of the passes of all programs: a row for each pass and application. Conventions
 * as in db.h. */
#ifndef DB_PASS_NOTE_H
#define DB_PASS_NOTE_H

#include "db/db.h"
#include "db/rows.h"

struct pass_note {
    struct text pass;
    int64_t appid;     /* 0: of a pass that goes by no app */
    int64_t now;       /* epoch */
    int64_t failures;  /* to be added; forgotten an hour after the first of them */
    struct text words; /* why the last of them; cut to 250 bytes */
    bool has_done;     /* something else succeeded */
};
MUST_CHECK enum status db_pass_note(struct db *db, const struct pass_note *note);
/* By pass and application. */
MUST_CHECK enum status db_pass_notes(struct db *db, struct arena *arena,
                                     struct pass_note_row **ret_rows, size_t *ret_count);

#endif
