/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/known_results.h"

#include "db/db.h"
#include "db/file_sweep.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include "server/base/banned.h"

enum status known_results(struct session *session, struct arena *arena, const struct text *names,
                          size_t count, bool *ret_known)
{
    struct text *known = NULL;
    size_t known_count = 0;
    enum status status =
        count == 0 ? STATUS_OK
                   : db_sweep_known_results(session->db, arena, names, count, &known, &known_count);

    if (status == STATUS_OK)
        status = db_end(session->db);
    if (status != STATUS_OK)
        return session_db_failed(session, status, "results");
    for (size_t i = 0; i < known_count; i++)
        known[i] = text_lower_case(arena, known[i]);
    sorted_names(known, known_count);
    for (size_t i = 0; i < count; i++)
        ret_known[i] = sorted_has_name(known, known_count, text_lower_case(arena, names[i]));
    return arena_overflowed(arena) ? fail(&session->failure, STATUS_NO_MEMORY, "no memory")
                                   : STATUS_OK;
}
