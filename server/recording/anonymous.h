/* SPDX-License-Identifier: Apache-2.0 */
/* The recording room: keeps requests for a while, with what was known of their hosts and how they
 * ended, so that they can be replayed with another configuration. anonymous.c removes what
 * identifies the sender, recorded_request.c writes one record and circumstances.c what many
 * records share, both line by line (recorded_rows.c). recording.c manages the files and
 * recorded_reader.c reads them. Only data known to be harmless are written: numbers, and the texts
 * of a short list; every other text is replaced by a pseudonym or left out. */
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
