/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as JSON has them. */
#ifndef SERVER_BASE_JSON_H
#define SERVER_BASE_JSON_H

#include "server/base/text.h"

#include <stdbool.h>

struct buffer;

/* "TEXT", quoted and escaped; what is no UTF-8 becomes U+FFFD. */
void json_add_string(struct buffer *buffer, struct text text);
/* Whether the whole text comes back as it is: it is UTF-8. */
bool json_can_hold(struct text text);

#endif
