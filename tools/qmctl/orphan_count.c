/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/orphan_count.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/file.h"
#include "tools/qmctl/known_results.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { EVERY = 86400, AGAIN_AFTER_FAILURE = 3600, FIGURES_BYTES_MAX = 200 };
#define SECONDS_OF_A_ROUND 0.5
#define SCRATCH_BYTES      ((size_t)16 << 20)

struct orphan_group {
    struct session *session;
    struct orphan_round *round;
    struct arena *arena;
    int64_t now;
    struct text names[KNOWN_RESULTS_MOST];
    double bytes[KNOWN_RESULTS_MOST];
    size_t count;
};

static enum status count_group(struct orphan_group *group)
{
    bool known[KNOWN_RESULTS_MOST];
    enum status status =
        known_results(group->session, group->arena, group->names, group->count, known);

    for (size_t i = 0; status == STATUS_OK && i < group->count; i++)
        if (!known[i]) {
            group->round->sum.files++;
            group->round->sum.bytes += group->bytes[i];
        }
    group->count = 0;
    arena_reset(group->arena);
    return status;
}

static enum status take_file(void *context, const struct folder_found *found)
{
    struct orphan_group *group = context;
    struct text result;

    if (upload_sweep_judge(found, group->session->config->uldl_dir_fanout, group->now, &result) !=
        SWEEP_purged)
        return STATUS_OK;
    group->names[group->count] = text_copy(group->arena, result);
    group->bytes[group->count++] = (double)found->stat.st_size;
    return group->count < KNOWN_RESULTS_MOST ? STATUS_OK : count_group(group);
}

static const char *figures_path(struct session *session)
{
    return text_string(session->arena, text_print(session->arena, TEXT_FORMAT "/.orphans",
                                                  TEXT_ARG(session->config->upload_dir)));
}

static enum status end_turn(struct orphan_group *group, struct failure *failure)
{
    struct orphan_round *round = group->round;
    struct text figures = text_print(group->arena, "%" PRId64 " %" PRId64 " %.0f\n", group->now,
                                     round->sum.files, round->sum.bytes);

    round->folder = 0;
    round->sum = (struct sweep_count){.files = 0};
    round->rests_until = group->now + EVERY;
    return file_write(figures_path(group->session), figures, 0644, failure);
}

static enum status count_folders(struct orphan_group *group, int uploads, struct failure *failure)
{
    struct orphan_round *round = group->round;
    int64_t fanout = group->session->config->uldl_dir_fanout;
    double begun = clock_seconds();
    enum status status = STATUS_OK;

    while (status == STATUS_OK && round->folder < folder_look_count(fanout) &&
           clock_seconds() - begun < SECONDS_OF_A_ROUND) {
        status = folder_look(uploads, round->folder, fanout, take_file, group, failure);
        if (status == STATUS_OK)
            status = count_group(group);
        round->folder++;
    }
    return status == STATUS_OK && round->folder >= folder_look_count(fanout)
               ? end_turn(group, failure)
               : status;
}

static enum status count_some(struct orphan_group *group, struct failure *failure)
{
    const char *dir = text_string(group->session->arena, group->session->config->upload_dir);
    int uploads = folder_look_open(dir);
    enum status status;

    if (uploads < 0)
        return fail(failure, STATUS_IO, "%s", strerror(errno));
    status = count_folders(group, uploads, failure);
    (void)close(uploads);
    return status;
}

enum status orphan_count_some(struct session *session, int64_t now, struct orphan_round *round)
{
    struct orphan_group group = {.session = session, .round = round, .now = now};
    struct failure why = {.status = STATUS_OK};
    enum status status;

    if (session->config->upload_dir.length == 0 || now < round->rests_until)
        return STATUS_OK;
    group.arena = arena_create(SCRATCH_BYTES);
    if (group.arena == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    status = count_some(&group, &why);
    arena_destroy(group.arena);
    if (why.status == STATUS_OK)
        return status;
    *round = (struct orphan_round){.rests_until = now + AGAIN_AFTER_FAILURE,
                                   .complaints = round->complaints};
    complain(&round->complaints, "files that no job names, in upload_dir",
             session->config->upload_dir, why.text, AGAIN_AFTER_FAILURE);
    return STATUS_OK;
}

bool orphan_figures_read(struct session *session, struct orphan_figures *ret_figures)
{
    struct text document, moment, files;

    if (session->config->upload_dir.length == 0 ||
        file_read(session->arena, figures_path(session), FIGURES_BYTES_MAX, &document, NULL) !=
            STATUS_OK)
        return false;
    document = text_trim(document);
    moment = text_split(&document, ' ');
    files = text_split(&document, ' ');
    return text_to_i64(moment, &ret_figures->counted_at) &&
           text_to_i64(files, &ret_figures->sum.files) &&
           text_to_real(document, &ret_figures->sum.bytes);
}
