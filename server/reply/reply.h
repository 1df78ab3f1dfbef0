/* SPDX-License-Identifier: Apache-2.0 */
/* From the answer to the bytes of a scheduler_reply (protocol section 3, layout 1.8). */
#ifndef SERVER_REPLY_REPLY_H
#define SERVER_REPLY_REPLY_H

struct buffer;
struct request;

/* Writes the document, first line <scheduler_reply>, in lines that every client reads. */
void reply_write(const struct request *request, struct buffer *ret_reply);

#endif
