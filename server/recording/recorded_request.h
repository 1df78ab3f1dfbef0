/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the recording: a request, what the database said of its host, what became of it. */
#ifndef SERVER_RECORDING_RECORDED_REQUEST_H
#define SERVER_RECORDING_RECORDED_REQUEST_H

#include "server/base/crypto.h"

struct buffer;
struct request;

/* What a reader has to know to understand a record; raised when what stands there changes its
 * meaning. */
enum { RECORD_FORMAT = 1 };

/* Appends the record of a request that was answered, while its arena is there. It is text in lines
 * that begins with <recorded> and ends with </recorded>, so that one that was cut off is seen, and
 * holds the request as anonymous.h says. */
void record_write(const struct request *request, const struct digest_secret *secret,
                  struct buffer *ret_text);

#endif
