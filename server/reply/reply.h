/* SPDX-License-Identifier: Apache-2.0 */
/* From the answer to the bytes of a scheduler_reply (protocol(7) 1.5, 3.1 to 3.8). */
#ifndef SERVER_REPLY_REPLY_H
#define SERVER_REPLY_REPLY_H

struct buffer;
struct request;

/* Writes the document, first line <scheduler_reply>, in lines that every client reads. */
void reply_write(const struct request *request, struct buffer *ret_reply);

#endif
