/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose job or host is gone. */
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <inttypes.h>

#include "server/base/banned.h"

struct result_sweep {
    struct session *session;
    bool is_rehearsed;
    struct orphan_place place; /* when the last transaction had ended */
    struct orphan_results sums;
};

/* One transaction. */
static enum status sweep_part(void *subject)
{
    struct result_sweep *sweep = subject;
    struct session *session = sweep->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct orphan_place place = sweep->place;
    struct orphan_results part;
    enum status status = db_admin_orphan_results(session->db, session->arena, sweep->is_rehearsed,
                                                 session->now, &place, &part);

    if (status == STATUS_OK)
        status = db_commit(session->db);
    arena_rewind(session->arena, mark);
    if (status != STATUS_OK)
        return status;
    sweep->place = place;
    sweep->sums.looked_at += part.looked_at;
    sweep->sums.without_workunit += part.without_workunit;
    sweep->sums.without_host += part.without_host;
    return STATUS_OK;
}

static enum status sweep_results(struct session *session, bool is_rehearsed,
                                 struct orphan_results *ret_sums)
{
    struct result_sweep sweep = {.session = session, .is_rehearsed = is_rehearsed};
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !sweep.place.is_done) {
        status = repeat_transaction(session->db, sweep_part, &sweep);
        progress(session, "results looked at", (int64_t)sweep.sums.looked_at);
    }
    *ret_sums = sweep.sums;
    return session_db_failed(session, status, "result");
}

static struct text orphan_words(struct arena *arena, const struct orphan_results *sums)
{
    return text_print(arena, COUNT_FORMAT " whose job is gone, %" PRIu64 " whose host is gone",
                      COUNT_ARG(sums->without_workunit, "result"), sums->without_host);
}

enum exit_code command_jobs_sweep(struct session *session)
{
    static const char *const titles[] = {"without_job", "without_host", "looked_at"};
    struct output_table done = TABLE_BEGIN(session, "results", titles);
    bool deletes = option_given(session, "delete") && !option_given(session, "dry-run");
    struct orphan_results sums = {.looked_at = 0};
    enum status status = session_db(session);

    if (status == STATUS_OK && (!deletes || !option_given(session, "yes")))
        status = sweep_results(session, true, &sums);
    if (status == STATUS_OK && deletes) {
        bool is_there = sums.without_workunit + sums.without_host > 0;
        enum exit_code code =
            is_there ? confirm(session, orphan_words(session->arena, &sums), TEXT("results"))
                     : EXIT_DONE;

        if (code != EXIT_DONE)
            return code;
        status = sweep_results(session, false, &sums);
    }
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, (int64_t)sums.without_workunit);
    table_number(&done, (int64_t)sums.without_host);
    table_number(&done, (int64_t)sums.looked_at);
    table_tell(&done, text_print(session->arena, TEXT_FORMAT "%s",
                                 TEXT_ARG(orphan_words(session->arena, &sums)),
                                 deletes ? ": the former were deleted, the latter ended"
                                         : " (--delete deletes the former and ends the latter)"));
    return EXIT_DONE;
}
