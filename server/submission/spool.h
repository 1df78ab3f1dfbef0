/* SPDX-License-Identifier: Apache-2.0 */
/* A document while it comes, in a file that has no name: a request may hold 100,000 jobs, and is
 * read twice. */
#ifndef SERVER_SUBMISSION_SPOOL_H
#define SERVER_SUBMISSION_SPOOL_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/base/xml.h"

#include <stddef.h>
#include <stdint.h>

enum { SPOOL_PIECE = 64 * 1024 };

struct spool {
    int file; /* -1: nothing was added yet */
    int64_t length, length_max;
    int64_t at; /* where the reading stands */
    char piece[SPOOL_PIECE];
};

void spool_begin(struct spool *spool, int64_t length_max);
/* STATUS_TOO_LARGE: more than length_max bytes. */
MUST_CHECK enum status spool_add(struct spool *spool, struct text bytes, struct failure *failure);
/* The document from its beginning, for one reading at a time. */
struct xml_source spool_source(struct spool *spool);
void spool_end(struct spool *spool);

#endif
