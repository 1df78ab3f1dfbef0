/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/orphan_count.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum { EVERY = 86400, AGAIN_AFTER_FAILURE = 3600, FIGURES_BYTES_MAX = 200 };
#define SECONDS_OF_A_ROUND 0.5

static const char *figures_path(const struct config *config, struct arena *arena)
{
    return text_string(arena,
                       text_print(arena, TEXT_FORMAT "/.orphans", TEXT_ARG(config->upload_dir)));
}

static enum status end_turn(struct pass_owner *owner, int64_t now, struct orphan_round *round)
{
    struct text figures = text_print(owner->arena, "%" PRId64 " %" PRId64 " %.0f\n", now,
                                     round->sum.files, round->sum.bytes);

    round->folder = 0;
    round->sum = (struct sweep_count){.files = 0};
    round->rests_until = now + EVERY;
    return file_write(figures_path(owner->config, owner->arena), figures, 0644, owner->failure);
}

static enum status count_some(struct pass_owner *owner, int64_t now, struct orphan_round *round)
{
    const struct upload_sweep_settings settings = {
        .now = now, .folder = &round->folder, .seconds = SECONDS_OF_A_ROUND};
    struct sweep_count counts[SWEEP_KIND_COUNT];
    enum status status = upload_sweep(owner, &settings, counts);

    round->sum.files += counts[SWEEP_unproved].files;
    round->sum.bytes += counts[SWEEP_unproved].bytes;
    return status == STATUS_OK && round->folder >= folder_look_count(owner->config->uldl_dir_fanout)
               ? end_turn(owner, now, round)
               : status;
}

enum status orphan_count_some(struct pass_owner *owner, int64_t now, struct orphan_round *round)
{
    enum status status;

    if (owner->config->upload_dir.length == 0 || now < round->rests_until)
        return STATUS_OK;
    status = count_some(owner, now, round);
    if (status != STATUS_IO && status != STATUS_NOT_FOUND)
        return status;
    *round = (struct orphan_round){.rests_until = now + AGAIN_AFTER_FAILURE,
                                   .complaints = round->complaints};
    complain(&round->complaints, owner, "files that no job names, in upload_dir",
             owner->config->upload_dir, owner->failure->text, AGAIN_AFTER_FAILURE);
    *owner->failure = (struct failure){.status = STATUS_OK};
    return STATUS_OK;
}

bool orphan_figures_read(const struct config *config, struct arena *arena,
                         struct orphan_figures *ret_figures)
{
    struct text document, moment, files;

    if (config->upload_dir.length == 0 ||
        file_read(arena, figures_path(config, arena), FIGURES_BYTES_MAX, &document, NULL) !=
            STATUS_OK)
        return false;
    document = text_trim(document);
    moment = text_split(&document, ' ');
    files = text_split(&document, ' ');
    return text_to_i64(moment, &ret_figures->counted_at) &&
           text_to_i64(files, &ret_figures->sum.files) &&
           text_to_real(document, &ret_figures->sum.bytes);
}
