/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a page of server/status/ is what every page of it has to be. */
#ifndef TESTS_SUPPORT_PAGE_LOOK_H
#define TESTS_SUPPORT_PAGE_LOOK_H

#include "server/base/text.h"

struct buffer;

/* It is XML, behind the line that says that it is HTML; nothing leads out of the pages, nothing is
 * inline that the policy does not let through, and what a table or a picture needs to be read aloud
 * is there. */
void assert_page_is_sound(struct text page);
/* The same without the titles of columns that cells repeat. */
void page_without_labels(struct text page, struct buffer *ret_plain);

#endif
