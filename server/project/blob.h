/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that others wrote and that go into replies verbatim. */
#ifndef SERVER_PROJECT_BLOB_H
#define SERVER_PROJECT_BLOB_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

struct arena;

/* Whether a text can stand in a reply without breaking it: no control characters, its tags closed
 * in order, no end of the reply in it. Bytes above 127 and bare & are let pass: clients do. */
bool blob_is_sound(struct arena *arena, struct text text);
/* Takes the tags <name> off that may stand around the text, even twice, and judges what is
 * inside. False: it would end too early or never. */
bool blob_content(struct arena *arena, struct text text, const char *name,
                  struct text *ret_content);

/* Whether programs that want XML can read a reply with such a text in it; else `failure` has line
 * and reason. A whole file may be given: what stands before its first element is passed over. */
MUST_CHECK enum status blob_is_xml(struct arena *arena, struct text text, struct failure *failure);

#endif
