/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a project's web server answers is what clients need. Pure. */
#ifndef SERVER_CHECK_WEB_ANSWER_H
#define SERVER_CHECK_WEB_ANSWER_H

#include "server/base/text.h"

#include <stdint.h>

struct arena;
struct text_list;

/* A page that was asked for and came, redirections followed. */
struct web_answer {
    long status; /* of HTTP */
    struct text body;
};

/* What is wrong with it, in words; empty: nothing.
 *
 * The page at master_url, by which clients find the project's schedulers (none: any will do). */
struct text master_page_complaint(struct arena *arena, const struct web_answer *answer,
                                  const struct text_list *schedulers);
/* A file that clients download, of so many bytes with this MD5. */
struct text download_complaint(struct arena *arena, const struct web_answer *answer, int64_t bytes,
                               const char *md5);
/* What the process for submissions answers to "ping". */
struct text submission_complaint(struct arena *arena, const struct web_answer *answer);

/* The first words of a page, on one line. */
struct text web_beginning(struct arena *arena, struct text page);

#endif
