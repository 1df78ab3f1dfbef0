/* SPDX-License-Identifier: Apache-2.0 */
/* "at", "kinds", "hosts", "jobs" and "limited" with a number, and a line "class JOBS", a tab, APP,
 * a tab, JOB, a tab, WORDS for each class. */
#include "server/status/stuck_words.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <inttypes.h>

#include "server/base/banned.h"

/* Behind a tab, and none within. */
static void add_words(struct buffer *words, struct text text)
{
    buffer_add_char(words, '\t');
    for (size_t i = 0; i < text.length; i++)
        buffer_add_char(words, text.at[i] == '\n' || text.at[i] == '\t' ? ' ' : text.at[i]);
}

void stuck_words_write(const struct stuck_jobs *stuck, struct buffer *ret_words)
{
    buffer_print(ret_words,
                 "at %" PRId64 "\nkinds %" PRId64 "\nhosts %" PRId64 "\njobs %" PRId64
                 "\nlimited %d\n",
                 stuck->at, stuck->kinds, stuck->hosts, stuck->jobs, stuck->is_limited);
    for (size_t i = 0; i < stuck->count && i < STUCK_CLASSES_MOST; i++) {
        buffer_print(ret_words, "class %" PRId64, stuck->classes[i].jobs);
        add_words(ret_words, stuck->classes[i].app);
        add_words(ret_words, stuck->classes[i].job);
        add_words(ret_words, stuck->classes[i].words);
        buffer_add_char(ret_words, '\n');
    }
}

static void read_number(struct text word, int64_t *number)
{
    if (!text_to_i64(word, number))
        *number = 0;
}

bool stuck_words_read(struct arena *arena, struct text words, struct stuck_jobs *ret_stuck)
{
    struct stuck_class *classes = ARENA_ARRAY(arena, STUCK_CLASSES_MOST, struct stuck_class);

    *ret_stuck = (struct stuck_jobs){.classes = classes};
    if (classes == NULL)
        return false;
    while (words.length > 0) {
        struct text rest = text_split(&words, '\n'), name = text_split(&rest, ' ');

        if (text_is(name, "at")) {
            read_number(rest, &ret_stuck->at);
        } else if (text_is(name, "kinds")) {
            read_number(rest, &ret_stuck->kinds);
        } else if (text_is(name, "hosts")) {
            read_number(rest, &ret_stuck->hosts);
        } else if (text_is(name, "jobs")) {
            read_number(rest, &ret_stuck->jobs);
        } else if (text_is(name, "limited")) {
            ret_stuck->is_limited = text_is(rest, "1");
        } else if (text_is(name, "class") && ret_stuck->count < STUCK_CLASSES_MOST) {
            struct stuck_class *class = &classes[ret_stuck->count++];

            read_number(text_split(&rest, '\t'), &class->jobs);
            class->app = text_copy(arena, text_split(&rest, '\t'));
            class->job = text_copy(arena, text_split(&rest, '\t'));
            class->words = text_copy(arena, rest);
        }
    }
    return !arena_overflowed(arena);
}

bool stuck_is_current(const struct stuck_jobs *stuck, int64_t now)
{
    return stuck->at > now - STUCK_CURRENT_S;
}
