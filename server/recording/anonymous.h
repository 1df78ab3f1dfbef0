/* SPDX-License-Identifier: Apache-2.0 */
/* The recording room: requests, what was known of their hosts and what became of them, kept for a
 * while so that they can be put to another configuration. anonymous.c takes out what tells who
 * asked, recorded_request.c writes one record and circumstances.c what many of them have in common,
 * both line by line (recorded_rows.c), recording.c keeps the files, recorded_reader.c reads them.
 * Only what is known to be harmless is written: numbers, and the texts of a short list; every other
 * text is replaced by a pseudonym or left out. */
#ifndef SERVER_RECORDING_ANONYMOUS_H
#define SERVER_RECORDING_ANONYMOUS_H

#include "server/base/crypto.h"
#include "server/base/text.h"

struct buffer;
struct message;

/* Appends the request as a scheduler_request that the parser reads again. Left out: account key,
 * host number, signing key, preferences (the texts), outputs of jobs, trickle messages, opaque
 * data. Replaced, and the same text by the same pseudonym as long as the secret is the same: every
 * text that is not in the list of anonymous.c, and one of the list that holds the key, an address
 * or a name that the request says elsewhere. */
void anonymous_request(const struct message *message, const struct digest_secret *secret,
                       struct buffer *ret_text);

/* What stands for a text: "x" and 16 hexadecimal digits. */
struct pseudonym {
    char text[DIGEST_HEX_SIZE + 1];
};
struct pseudonym pseudonym_of(const struct digest_secret *secret, struct text text);

/* The type of a coprocessor: as it is where it is a vendor's, else a pseudonym; none stays none. */
struct pseudonym anonymous_type(const struct digest_secret *secret, struct text type);

#endif
