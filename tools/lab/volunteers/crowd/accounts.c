/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd has many accounts because with one account for all, a rule of one result per user would
 * leave it without work, and first contacts, which lock the account's row, would wait for each
 * other. */
#include "tools/lab/volunteers/crowd/accounts.h"

#include "server/base/arena.h"
#include "server/base/file.h"

#include "server/base/banned.h"

static size_t count_lines(struct text file)
{
    size_t count = 0;

    while (file.length > 0)
        count += text_trim(text_split(&file, '\n')).length > 0;
    return count;
}

enum status accounts_read(const char *word, struct arena *arena, struct accounts *ret_accounts,
                          struct failure *failure)
{
    struct accounts accounts = {.count = 0};
    struct text file = text_from(word);
    size_t lines;

    if (word[0] == '@') {
        enum status status = file_read(arena, word + 1, ACCOUNTS_BYTES_MAX, &file, failure);

        if (status != STATUS_OK)
            return status;
    }
    lines = count_lines(file);
    if (lines == 0 || lines > ACCOUNTS_MAX)
        return fail(failure, STATUS_INVALID, "%s: %zu account keys, wanted 1 to %d", word, lines,
                    ACCOUNTS_MAX);
    accounts.keys = ARENA_ARRAY(arena, lines, struct text);
    if (accounts.keys == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for account keys");
    while (file.length > 0) {
        struct text key = text_trim(text_split(&file, '\n'));

        if (key.length > 0)
            accounts.keys[accounts.count++] = key;
    }
    *ret_accounts = accounts;
    return STATUS_OK;
}

struct text accounts_of(const struct accounts *accounts, size_t host)
{
    return accounts->keys[host % accounts->count];
}
