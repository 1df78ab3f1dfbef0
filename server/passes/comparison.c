/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/comparison.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/submit/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PIECE = 16 * 1024 };

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

/* Of a gzip file (RFC 1952) the header also says when, how fast and on which system it was
 * compressed: nothing of its content, and not the same for clients on Windows and on Linux. */
static void forget_compressor(char *piece, ssize_t length)
{
    static const char gzip_mark[] = {'\x1f', '\x8b', '\x08'};
    enum { ORIGIN_AT = 4, ORIGIN_END = 10 };

    if (length >= ORIGIN_END && memcmp(piece, gzip_mark, sizeof(gzip_mark)) == 0)
        memset(piece + ORIGIN_AT, 0, ORIGIN_END - ORIGIN_AT);
}

static enum comparison_answer compare_open_files(int left, int right, const char *left_path,
                                                 const char *right_path, struct failure *failure)
{
    char left_piece[PIECE], right_piece[PIECE];
    ssize_t left_length, right_length;
    bool is_first = true;

    do {
        left_length = read_piece(left, left_piece);
        if (left_length < 0)
            return cannot_read(left_path, failure);
        right_length = read_piece(right, right_piece);
        if (right_length < 0)
            return cannot_read(right_path, failure);
        if (is_first) {
            forget_compressor(left_piece, left_length);
            forget_compressor(right_piece, right_length);
        }
        is_first = false;
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

static bool is_there(const struct found_file *file)
{
    return file->path[0] != '\0';
}

enum comparison_answer comparison_bytes(const struct compared_files *first,
                                        const struct compared_files *second,
                                        struct failure *failure)
{
    if (first->count != second->count)
        return COMPARISON_DIFFERENT;
    for (size_t i = 0; i < first->count; i++) /* absent is as absent, not as empty */
        if (first->files[i].bytes != second->files[i].bytes ||
            is_there(&first->files[i]) != is_there(&second->files[i]))
            return COMPARISON_DIFFERENT;
    for (size_t i = 0; i < first->count; i++) {
        enum comparison_answer answer = COMPARISON_SAME;

        if (is_there(&first->files[i]))
            answer = compare_files(first->files[i].path, second->files[i].path, failure);
        if (answer != COMPARISON_SAME)
            return answer;
    }
    return COMPARISON_SAME;
}

enum comparison_answer comparison_find(const struct config *config, struct arena *arena,
                                       struct text xml_doc_in, struct compared_files *ret_files,
                                       struct failure *failure)
{
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(arena, xml_doc_in, &files, &count);

    *ret_files = (struct compared_files){.count = 0};
    if (status == STATUS_OK)
        ret_files->files = ARENA_ARRAY(arena, count, struct found_file);
    if (status != STATUS_OK || ret_files->files == NULL) {
        (void)fail(failure, STATUS_TOO_LARGE, "its list of output files is too long");
        return COMPARISON_LATER;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].no_validate)
            continue;
        status = output_file_find(config, arena, &files[i], &ret_files->files[ret_files->count++],
                                  failure);
        if (status == STATUS_NOT_FOUND && !files[i].optional)
            return COMPARISON_UNUSABLE;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return COMPARISON_LATER;
    }
    return COMPARISON_SAME;
}
