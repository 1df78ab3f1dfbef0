/* SPDX-License-Identifier: Apache-2.0 */
/* Are the output files of two results the same? Asked of nobody (--trust), of their bytes
 * (--validate bitwise), or of a command (validation_compare.c). Nothing of the database is open
 * meanwhile. */
#ifndef SERVER_PASSES_COMPARISON_H
#define SERVER_PASSES_COMPARISON_H

#include "server/base/text.h"
#include "server/passes/upload_folder.h"

#include <stddef.h>

struct arena;
struct config;

/* The output files of one result that count: without those that are no_validate, in the order of
 * their file_refs. An optional one that is not there has the path "". */
struct compared_files {
    struct found_file *files;
    size_t count;
};

/* What a comparison found. LATER: it could not be made now, which says nothing of the results; why
 * is in `failure`. */
enum comparison_answer {
    COMPARISON_SAME,
    COMPARISON_DIFFERENT,
    COMPARISON_UNUSABLE, /* of one result: a file is missing */
    COMPARISON_LATER
};

/* Finds the files of a result: SAME, UNUSABLE or LATER. */
enum comparison_answer comparison_find(const struct config *config, struct arena *arena,
                                       struct text xml_doc_in, struct compared_files *ret_files,
                                       struct failure *failure);
/* Byte by byte, unless their lengths say enough: SAME, DIFFERENT or LATER. */
enum comparison_answer comparison_bytes(const struct compared_files *first,
                                        const struct compared_files *second,
                                        struct failure *failure);

#endif
