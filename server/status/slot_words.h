/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a slot as the text of a row of qm_figures: a line "NAME VALUE" for each that is
 * not 0. Names are used because other versions of the server number the counts differently;
 * unknown names are skipped. */
#ifndef SERVER_STATUS_SLOT_WORDS_H
#define SERVER_STATUS_SLOT_WORDS_H

#include "server/status/slot_ring.h"
#include "server/status/status_page.h"

struct buffer;

/* The shares of several processes. */
struct slot_sum {
    double seconds;
    uint64_t counts[STATUS_TOTALS];
    double levels[SLOT_LEVELS]; /* the highest of them; NAN: not known */
};

/* `share` is of STATUS_TOTALS counts. */
void slot_words_write(const struct slot_share *share, struct buffer *ret_words);
void slot_sum_begin(struct slot_sum *sum);
void slot_words_add(struct text words, struct slot_sum *sum);

#endif
