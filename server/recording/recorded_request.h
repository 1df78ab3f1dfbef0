/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the recording: a request, what the database and the pool said, what became of it.
 */
#ifndef SERVER_RECORDING_RECORDED_REQUEST_H
#define SERVER_RECORDING_RECORDED_REQUEST_H

#include "server/base/crypto.h"

struct buffer;
struct circumstances_key;
struct request;

/* Of what was left in the pool, so many classes and jobs are told at most. */
enum { RECORDED_CLASSES_MAX = 128, RECORDED_JOBS_MAX = 2000 };

/* Appends the record of a request that was answered, while its arena is there. It is text in lines
 * that begins with <recorded> and ends with </recorded>, so that one that was cut off is seen, and
 * holds the request as anonymous.h says. `key` names what it was answered under. */
void record_write(const struct request *request, const struct digest_secret *secret,
                  const struct circumstances_key *key, struct buffer *ret_text);

#endif
