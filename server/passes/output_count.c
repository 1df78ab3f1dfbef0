/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/output_count.h"

#include "config/config.h"
#include "db/batch_outputs.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/upload_folder.h"
#include "server/submit/output_files.h"

#include "server/base/banned.h"

enum { JOBS_OF_A_PAGE = 100, REST = 100 /* times as long as the counting took */ };

struct output_count {
    struct pass_owner *owner;
    struct outputs_count_row batch;
    size_t jobs; /* of the last page */
};

/* A document that is too long lists nothing that we could count. */
static enum status add_files(struct output_count *count, struct text document)
{
    struct pass_owner *owner = count->owner;
    struct failure why = {.status = STATUS_OK};
    struct output_file *files;
    size_t file_count = 0;
    enum status status = output_files_read(owner->arena, document, &files, &file_count);

    if (status != STATUS_OK)
        return status == STATUS_TOO_LARGE ? STATUS_OK : status;
    for (size_t i = 0; i < file_count; i++) {
        struct found_file found = {.bytes = 0};

        status = output_file_find(owner->config, owner->arena, &files[i], &found, &why);
        if (status == STATUS_OK)
            count->batch.counting += found.bytes;
        else if (status != STATUS_NOT_FOUND) {
            log_event(LOG_LEVEL_DEBUG, "outputs_not_counted", text_from(why.text));
            return status;
        }
    }
    return STATUS_OK;
}

/* Nothing of the database is open while files are looked at. */
static enum status count_page(struct output_count *count)
{
    struct pass_owner *owner = count->owner;
    struct job_output_row *rows;
    size_t row_count = 0;
    int64_t last = 0;
    enum status status =
        db_batch_outputs(owner->db, owner->arena, &count->batch, JOBS_OF_A_PAGE, &rows, &row_count);

    if (status == STATUS_OK)
        status = db_end(owner->db);
    count->jobs = 0;
    for (size_t i = 0; status == STATUS_OK && i < row_count; i++) {
        struct arena_mark mark = arena_mark(owner->arena);

        count->jobs += rows[i].workunitid != last;
        last = rows[i].workunitid;
        status = add_files(count, rows[i].xml_doc_in);
        arena_rewind(owner->arena, mark);
    }
    count->batch.place = count->jobs < JOBS_OF_A_PAGE ? 0 : last;
    return status;
}

static enum status save(void *subject)
{
    struct output_count *count = subject;
    enum status status = db_batch_outputs_save(count->owner->db, &count->batch);

    return status == STATUS_OK ? db_commit(count->owner->db) : status;
}

static enum status forget(void *subject)
{
    struct pass_owner *owner = subject;
    enum status status = db_batch_outputs_forget(owner->db);

    return status == STATUS_OK ? db_commit(owner->db) : status;
}

/* A page of the batch whose turn it is. STATUS_NOT_FOUND: none has one, so the next turn begins
 * with the first. */
static enum status count_next(struct pass_owner *owner, struct output_schedule *schedule,
                              size_t *ret_jobs)
{
    struct output_count count = {.owner = owner};
    struct arena_mark mark = arena_mark(owner->arena);
    enum status status = db_batch_outputs_next(owner->db, schedule->after, &count.batch);

    *ret_jobs = 0;
    if (status == STATUS_NOT_FOUND) {
        schedule->after = 0;
        return status;
    }
    if (status == STATUS_OK)
        status = count_page(&count);
    if (status == STATUS_OK)
        status = repeat_transaction(owner->db, save, &count);
    if (status == STATUS_OK && count.batch.place == 0)
        schedule->after = count.batch.id;
    *ret_jobs = count.jobs;
    arena_rewind(owner->arena, mark);
    return status;
}

enum status output_count_pass(struct pass_owner *owner, struct output_schedule *schedule)
{
    double began = clock_seconds(), ended;
    size_t jobs = 0;
    enum status status = STATUS_OK;

    if (began < schedule->count_at || owner->config->upload_dir.length == 0 ||
        !db_has_batches(owner->db))
        return STATUS_OK;
    if (schedule->after == 0)
        status = repeat_transaction(owner->db, forget, owner);
    for (size_t left = OUTPUTS_AT_ONCE; status == STATUS_OK && left > jobs + 1; left -= jobs + 1)
        status = count_next(owner, schedule, &jobs);
    ended = clock_seconds();
    schedule->count_at = ended + REST * (ended - began);
    if (status == STATUS_NOT_FOUND || status == STATUS_IO)
        status = db_end(owner->db);
    return pass_failed(owner, status, "outputs of batches");
}
