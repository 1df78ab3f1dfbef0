/* SPDX-License-Identifier: Apache-2.0 */
/* Any query string of a page for joining: what is read of it is no longer than it and valid UTF-8,
 * and what the rules let pass can be stored and be written into a line. */
#include "server/base/arena.h"
#include "server/join/join_query.h"

#include "server/base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(struct text value, size_t size)
{
    must(value.length <= 2 * size); /* a byte of ISO-8859-1 becomes two */
    while (value.length > 0) {
        size_t length = text_character(value);

        must(length > 0);
        value.at += length;
        value.length -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 20);
    struct join_query query;

    must(arena != NULL);
    join_query_read(arena, (struct text){.at = (const char *)data, .length = size}, &query);
    check_value(query.user_name, size);
    check_value(query.team_name, size);
    check_value(query.source, size);
    if (join_name_is_good(query.user_name)) {
        must(query.user_name.length <= 254);
        must(!text_contains(query.user_name, TEXT("\n")));
    }
    if (join_email_is_good(query.email_addr)) {
        must(query.email_addr.length <= 191 && text_contains(query.email_addr, TEXT("@")));
        for (size_t i = 0; i < query.email_addr.length; i++)
            must(query.email_addr.at[i] > ' ' && query.email_addr.at[i] < 127);
    }
    must(!join_hash_is_good(query.passwd_hash) || query.passwd_hash.length == 32);
    arena_destroy(arena);
    return 0;
}
