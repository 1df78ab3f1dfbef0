/* SPDX-License-Identifier: Apache-2.0 */
/* States in words, for logs and tools. */
#include "db/states.h"

#include <stddef.h>
#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *group, *word;
    int64_t number;
} states[] = {
#define STATE(group, name, number, word) {#group, word, number},
#include "db/states.def"
#undef STATE
};

const char *state_word(const char *group, int64_t number)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (states[i].number == number && strcmp(states[i].group, group) == 0)
            return states[i].word;
    return "unknown";
}
