/* SPDX-License-Identifier: Apache-2.0 */
/* Are the output files of two results the same? Asked of nobody (--trust), of their bytes
 * (--validate bitwise), or of a command. Nothing of the database is open meanwhile.
 *
 * The command gets the files of the first result and then those of the second, as many, in the
 * order of their file_refs, without those that are no_validate; "" stands for an optional file that
 * is not there. Each result is first compared with itself; one that is not the same as itself is of
 * no use. */
#ifndef SERVER_PASSES_COMPARISON_H
#define SERVER_PASSES_COMPARISON_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct config;

struct result_comparison {
    const struct config *config;
    enum { COMPARISON_TRUST, COMPARISON_BITWISE, COMPARISON_COMMAND } kind;
    const char *command;
    int64_t seconds_max; /* for one call of the command */
    const char *const *environment;
};

/* The output files that count, of one result. */
struct compared_files {
    const char **paths; /* "": it is optional, and not there */
    size_t count;
};

/* What a comparison found. LATER: it could not be made now, which says nothing of the results; why
 * is in `failure`. */
enum comparison_answer {
    COMPARISON_SAME,
    COMPARISON_DIFFERENT,
    COMPARISON_UNUSABLE, /* of one result: a file is missing, or the command refuses it */
    COMPARISON_LATER
};

/* Finds the files of a result, and whether it can be compared at all: SAME, UNUSABLE or LATER. */
enum comparison_answer comparison_open(const struct result_comparison *comparison,
                                       struct arena *arena, struct text xml_doc_in,
                                       struct compared_files *ret_files, struct failure *failure);
/* SAME, DIFFERENT or LATER */
enum comparison_answer comparison_make(const struct result_comparison *comparison,
                                       const struct compared_files *first,
                                       const struct compared_files *second,
                                       struct failure *failure);

#endif
