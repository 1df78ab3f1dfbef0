/* SPDX-License-Identifier: Apache-2.0 */
/* Which of some known names was meant by one that nobody knows. */
#ifndef SERVER_BASE_NEAR_NAME_H
#define SERVER_BASE_NEAR_NAME_H

#include "server/base/text.h"

struct near_name {
    struct text typed;   /* borrowed, as are the known names */
    const char *nearest; /* of those tried so far; NULL: none is near */
    size_t wrong_letters_below;
};

void near_name_begin(struct near_name *near, struct text typed);
void near_name_try(struct near_name *near, const char *known);

#endif
