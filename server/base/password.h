/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of libcrypt: passwords as bcrypt hashes ($2y$10$..., 60 characters), which BOINC's
 * web pages read and write. One hash costs about 50 ms of a CPU at cost 10, twice as much for each
 * step of cost above. */
#ifndef SERVER_BASE_PASSWORD_H
#define SERVER_BASE_PASSWORD_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

enum {
    PASSWORD_HASH_SIZE = 61, /* 60 characters and the final NUL */
    PASSWORD_COST = 10,      /* of a new hash */
    PASSWORD_COST_MAX = 14   /* about a second; a hash that costs more is never tried */
};

/* A new salt each time. STATUS_IO: the library refuses. */
MUST_CHECK enum status password_hash(struct text password, char ret_hash[PASSWORD_HASH_SIZE],
                                     struct failure *failure);
/* The cost of a stored hash; 0: it is no bcrypt hash, or one of more than PASSWORD_COST_MAX. */
int password_cost(struct text hash);
/* Whether the hash is one of this password; it is false, and costs nothing, where password_cost is
 * 0. */
bool password_fits(struct text hash, struct text password);
/* Spends the time that hashes of cost `most` take more than one of cost `spent` (0: nothing was
 * spent): whoever was refused cannot tell by the time what was compared. */
void password_spend(int spent, int most);

#endif
