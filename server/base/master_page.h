/* SPDX-License-Identifier: Apache-2.0 */
/* The master page of a project, by which clients find its schedulers. Pure. */
#ifndef SERVER_BASE_MASTER_PAGE_H
#define SERVER_BASE_MASTER_PAGE_H

#include "server/base/text.h"

#include <stddef.h>

/* MASTER_LINE_MAX: clients read lines in pieces of so many bytes. */
enum { MASTER_SCHEDULERS_MAX = 16, MASTER_LINE_MAX = 255, MASTER_PAGE_MAX = 1 << 20 };

struct master_page {
    char schedulers[MASTER_SCHEDULERS_MAX][MASTER_LINE_MAX + 1]; /* URLs, each once, in order */
    size_t count;
};

/* What the beginning of the page names; what is no URL of HTTP, or too much, is left out. */
void master_read(struct text page, struct master_page *ret_page);

#endif
