/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/output_desk.h"

#include "config/config.h"
#include "db/submitted.h"
#include "server/base/arena.h"
#include "server/submit/output_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { RESULTS_AT_ONCE = 256, NAME_MOST = 254 };

static enum status find_result(struct desk *desk, const struct wanted_output *wanted,
                               struct owned_output_row *ret_row)
{
    if (wanted->name.length > NAME_MOST)
        return STATUS_NOT_FOUND;
    return wanted->kind == OUTPUT_OF_RESULT
               ? db_output_of_result(desk->db, desk->arena, wanted->name, ret_row)
               : db_output_of_job(desk->db, desk->arena, wanted->id, wanted->name, ret_row);
}

enum status desk_output_owner(struct desk *desk, const struct wanted_output *wanted,
                              int64_t *ret_userid)
{
    struct owned_output_row row;
    enum status status;

    if (wanted->kind == OUTPUTS_OF_BATCH) {
        status = db_batch_user(desk->db, wanted->id, ret_userid);
    } else {
        status = find_result(desk, wanted, &row);
        if (status == STATUS_OK)
            *ret_userid = row.user_id;
    }
    return status == STATUS_NOT_FOUND ? status : desk_failed(desk, status, "result");
}

/* -1: it is not there, or is no file. */
static int open_output(const struct desk *desk, const struct output_file *file)
{
    struct text path = output_file_path(desk->arena, file, desk->config->upload_dir,
                                        desk->config->uldl_dir_fanout);
    struct stat found;
    int descriptor = path.length > 0
                         ? open(text_string(desk->arena, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                         : -1;

    if (descriptor >= 0 && (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode))) {
        (void)close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Of one result; `number` -1: all of its files. */
static enum status each_of_result(struct desk *desk, const struct owned_output_row *row,
                                  int64_t number, output_call *call, void *context)
{
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(desk->arena, row->xml_doc_in, &files, &count);

    if (status != STATUS_OK)
        return fail(desk->failure, status, "result " TEXT_FORMAT ": its document cannot be read",
                    TEXT_ARG(row->name));
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        int descriptor = number < 0 || (size_t)number == i ? open_output(desk, &files[i]) : -1;

        if (descriptor < 0)
            continue;
        status = call(context, files[i].name, descriptor);
        (void)close(descriptor);
    }
    return status;
}

static enum status each_of_batch(struct desk *desk, int64_t batch, output_call *call, void *context)
{
    int64_t after = 0;
    size_t count = RESULTS_AT_ONCE;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == RESULTS_AT_ONCE) {
        struct arena_mark mark = arena_mark(desk->arena);
        struct owned_output_row *rows;

        status = desk_failed(desk,
                             db_outputs_of_batch(desk->db, desk->arena, batch, after,
                                                 RESULTS_AT_ONCE, &rows, &count),
                             "results");
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            after = rows[i].workunitid;
            status = each_of_result(desk, &rows[i], -1, call, context);
        }
        arena_rewind(desk->arena, mark);
    }
    return status;
}

enum status desk_each_output(struct desk *desk, const struct wanted_output *wanted,
                             output_call *call, void *context)
{
    struct owned_output_row row;
    enum status status;

    if (wanted->kind == OUTPUTS_OF_BATCH)
        return each_of_batch(desk, wanted->id, call, context);
    status = find_result(desk, wanted, &row);
    if (status != STATUS_OK)
        return desk_failed(desk, status, "result");
    return each_of_result(desk, &row, wanted->kind == OUTPUTS_OF_JOB ? -1 : wanted->number, call,
                          context);
}
