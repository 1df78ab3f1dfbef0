/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/comparison.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/passes/command_run.h"
#include "server/passes/upload_folder.h"
#include "server/submit/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PIECE = 16 * 1024 };

/* --- the command ------------------------------------------------------------------------------ */

static enum status ask(const struct result_comparison *comparison,
                       const struct compared_files *first, const struct compared_files *second,
                       enum command_exit *ret_exit, struct failure *failure)
{
    size_t count = first->count + second->count;
    const char **arguments = calloc(count > 0 ? count : 1, sizeof(*arguments));
    enum status status;

    if (arguments == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < count; i++)
        arguments[i] = i < first->count ? first->paths[i] : second->paths[i - first->count];
    status = command_run(&(struct command_call){.command = comparison->command,
                                                .arguments = arguments,
                                                .argument_count = count,
                                                .environment = comparison->environment,
                                                .seconds_max = comparison->seconds_max},
                         ret_exit, failure);
    free(arguments);
    return status;
}

static enum comparison_answer ask_of_one(const struct result_comparison *comparison,
                                         const struct compared_files *files,
                                         struct failure *failure)
{
    enum command_exit found;

    if (ask(comparison, files, files, &found, failure) != STATUS_OK)
        return COMPARISON_LATER;
    if (found == COMMAND_LATER)
        (void)fail(failure, STATUS_IO, "the command wants it later");
    return found == COMMAND_YES  ? COMPARISON_SAME
           : found == COMMAND_NO ? COMPARISON_UNUSABLE
                                 : COMPARISON_LATER;
}

static enum comparison_answer ask_of_two(const struct result_comparison *comparison,
                                         const struct compared_files *first,
                                         const struct compared_files *second,
                                         struct failure *failure)
{
    enum comparison_answer answer;
    enum command_exit found;

    if (ask(comparison, first, second, &found, failure) != STATUS_OK)
        return COMPARISON_LATER;
    answer = found == COMMAND_YES  ? COMPARISON_SAME
             : found == COMMAND_NO ? COMPARISON_DIFFERENT
                                   : COMPARISON_LATER;
    if (answer == COMPARISON_LATER)
        (void)fail(failure, STATUS_IO, "the command wants it later");
    return answer;
}

/* --- byte by byte ------------------------------------------------------------------------------
 */

static enum comparison_answer cannot_read(const char *path, struct failure *failure)
{
    (void)fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    return COMPARISON_LATER;
}

/* Reads until the piece is full or the file ends; -1: errno says why. */
static ssize_t read_piece(int file, char *piece)
{
    size_t length = 0;

    while (length < PIECE) {
        ssize_t got = read(file, piece + length, PIECE - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static enum comparison_answer compare_open_files(int left, int right, const char *left_path,
                                                 const char *right_path, struct failure *failure)
{
    char left_piece[PIECE], right_piece[PIECE];
    ssize_t left_length, right_length;

    do {
        left_length = read_piece(left, left_piece);
        if (left_length < 0)
            return cannot_read(left_path, failure);
        right_length = read_piece(right, right_piece);
        if (right_length < 0)
            return cannot_read(right_path, failure);
        if (left_length != right_length ||
            memcmp(left_piece, right_piece, (size_t)left_length) != 0)
            return COMPARISON_DIFFERENT;
    } while (left_length == PIECE);
    return COMPARISON_SAME;
}

static enum comparison_answer compare_files(const char *left_path, const char *right_path,
                                            struct failure *failure)
{
    enum comparison_answer answer = COMPARISON_LATER;
    int left, right;

    if (left_path[0] == '\0' || right_path[0] == '\0') /* absent is as absent, not as empty */
        return left_path[0] == right_path[0] ? COMPARISON_SAME : COMPARISON_DIFFERENT;
    left = open(left_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (left < 0)
        return cannot_read(left_path, failure);
    right = open(right_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (right < 0)
        answer = cannot_read(right_path, failure);
    else
        answer = compare_open_files(left, right, left_path, right_path, failure);
    if (right >= 0)
        (void)close(right);
    (void)close(left);
    return answer;
}

static enum comparison_answer compare_bytes(const struct compared_files *first,
                                            const struct compared_files *second,
                                            struct failure *failure)
{
    for (size_t i = 0; i < first->count; i++) {
        enum comparison_answer answer = compare_files(first->paths[i], second->paths[i], failure);

        if (answer != COMPARISON_SAME)
            return answer;
    }
    return COMPARISON_SAME;
}

/* --- both --------------------------------------------------------------------------------------
 */

enum comparison_answer comparison_open(const struct result_comparison *comparison,
                                       struct arena *arena, struct text xml_doc_in,
                                       struct compared_files *ret_files, struct failure *failure)
{
    struct output_file *files;
    size_t count;
    enum status status;

    *ret_files = (struct compared_files){.count = 0};
    if (comparison->kind == COMPARISON_TRUST)
        return COMPARISON_SAME;
    status = output_files_read(arena, xml_doc_in, &files, &count);
    if (status == STATUS_OK)
        ret_files->paths = ARENA_ARRAY(arena, count, const char *);
    if (status != STATUS_OK || ret_files->paths == NULL) {
        (void)fail(failure, STATUS_TOO_LARGE, "its list of output files is too long");
        return COMPARISON_LATER;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].no_validate)
            continue;
        status = output_file_find(comparison->config, arena, &files[i],
                                  &ret_files->paths[ret_files->count++], failure);
        if (status == STATUS_NOT_FOUND && !files[i].optional)
            return COMPARISON_UNUSABLE;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return COMPARISON_LATER;
    }
    return comparison->kind == COMPARISON_COMMAND ? ask_of_one(comparison, ret_files, failure)
                                                  : COMPARISON_SAME;
}

enum comparison_answer comparison_make(const struct result_comparison *comparison,
                                       const struct compared_files *first,
                                       const struct compared_files *second, struct failure *failure)
{
    if (comparison->kind == COMPARISON_TRUST)
        return COMPARISON_SAME;
    if (first->count != second->count)
        return COMPARISON_DIFFERENT;
    return comparison->kind == COMPARISON_COMMAND ? ask_of_two(comparison, first, second, failure)
                                                  : compare_bytes(first, second, failure);
}
