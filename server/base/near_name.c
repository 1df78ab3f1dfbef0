/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/near_name.h"

#include "server/base/banned.h"

enum { NAME_LENGTH_MAX = 64 /* of names worth comparing; all known ones are shorter */ };

/* How many letters have to be put in, taken out or changed (Levenshtein). */
static size_t distance(struct text a, struct text b)
{
    size_t row[NAME_LENGTH_MAX + 1]; /* from the first letters of a to the first j of b */

    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 0; i < a.length; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.length; j++) {
            size_t best = diagonal + (a.at[i] != b.at[j]);
            if (best > row[j] + 1)
                best = row[j] + 1;
            if (best > row[j + 1] + 1)
                best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[b.length];
}

void near_name_begin(struct near_name *near, struct text typed)
{
    *near = (struct near_name){
        .typed = typed,
        /* A quarter of the letters wrong and one more; beyond that it is another name. */
        .wrong_letters_below = 2 + typed.length / 4,
    };
}

void near_name_try(struct near_name *near, const char *known)
{
    struct text name = text_from(known);

    if (near->typed.length == 0 || near->typed.length > NAME_LENGTH_MAX ||
        name.length > NAME_LENGTH_MAX)
        return;
    size_t wrong_letters = distance(near->typed, name);
    if (wrong_letters < near->wrong_letters_below) {
        near->wrong_letters_below = wrong_letters;
        near->nearest = known;
    }
}
