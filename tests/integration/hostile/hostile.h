/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile requests over HTTP to a real server. Whatever is sent, the answer must be status 200 and
 * a reply that a client can read; malformed.sh looks at the server and at the rows afterwards. */
#ifndef TESTS_INTEGRATION_HOSTILE_HOSTILE_H
#define TESTS_INTEGRATION_HOSTILE_HOSTILE_H

#include "server/base/buffer.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define HOSTILE_ACCOUNT "1234567890abcdef1234567890abcdef" /* of the captured requests */

enum wanted {
    WANTED_ANY,    /* a reply of any kind */
    WANTED_FULL,   /* the request is taken: somebody is authenticated */
    WANTED_REFUSAL /* words, and nobody is authenticated */
};

struct hostile;

/* One request; a wrong answer is counted and told with the words of `format`. */
void hostile_send(struct hostile *hostile, struct text body, enum wanted wanted, const char *format,
                  ...) PRINTF_LIKE(4, 5);
/* How many requests were sent so far. */
size_t hostile_sent(const struct hostile *hostile);
/* A claim about anything else. */
void hostile_claim(struct hostile *hostile, bool is_so, const char *words);

/* A request with all that is needed, up to its end tag; without the one element of that name. */
struct buffer hostile_begin(const char *without);

/* Each element of the table that can hold it, with each hostile text or number in it; last of all a
 * request with `sql` as every text at once. */
void hostile_texts(struct hostile *hostile, const char *sql);
void hostile_numbers(struct hostile *hostile);
/* Whole bodies: huge, deep, entities (`secret`: a file that must not be read), other encodings. */
void hostile_bodies(struct hostile *hostile, const char *secret);

#endif
