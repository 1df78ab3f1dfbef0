/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts of a project that the hosts of a crowd belong to. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_ACCOUNTS_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_ACCOUNTS_H

#include "server/base/text.h"

#include <stddef.h>

struct arena;

enum { ACCOUNTS_MAX = 1000000, ACCOUNTS_BYTES_MAX = 64 << 20 };

struct accounts {
    struct text *keys;
    size_t count; /* at least 1 */
};

/* `word` is a key, or @FILE with a key in each line. The keys live in the arena. STATUS_INVALID: no
 * key, or more than ACCOUNTS_MAX. */
MUST_CHECK enum status accounts_read(const char *word, struct arena *arena,
                                     struct accounts *ret_accounts, struct failure *failure);
/* The key of a host: hosts belong to the accounts in turn. */
struct text accounts_of(const struct accounts *accounts, size_t host);

#endif
