/* SPDX-License-Identifier: Apache-2.0 */
/* A reply in BOINC's XML, as bytes. It has one root, named as the command, is UTF-8 and always
 * well-formed. Clients do not look at HTTP's status and take what they do not understand for a
 * success, so a failure is an element <error> with an <error_num> that is not 0, below the root.
 * Where no command is known, the root itself is <error>; it has the number once more in an <error>
 * below it, as not every client looks at the root's name. */
#ifndef SERVER_SUBMISSION_RPC_REPLY_H
#define SERVER_SUBMISSION_RPC_REPLY_H

#include "server/base/buffer.h"
#include "server/base/text.h"

#include <stdint.h>

/* Sends bytes on; what fails there is noticed elsewhere. */
typedef void rpc_send(void *context, struct text bytes);

struct rpc_reply {
    struct buffer text; /* on the heap: what is not sent yet */
    struct text root;
    rpc_send *send;
    void *context;
    bool is_begun; /* something was sent */
};

enum { RPC_REPLY_PIECE = 64 * 1024 };

/* `root`: the command; empty: none is known. It has to live as long. */
void rpc_reply_begin(struct rpc_reply *reply, struct text root, rpc_send *send, void *context);
/* Ends and sends it. `error` 0: it was answered; else everything that is not sent yet gives way to
 * the error. */
void rpc_reply_end(struct rpc_reply *reply, int error, struct text words);

void rpc_add_open(struct rpc_reply *reply, const char *name);
/* May send what there is. */
void rpc_add_close(struct rpc_reply *reply, const char *name);
void rpc_add_text(struct rpc_reply *reply, const char *name, struct text value);
void rpc_add_integer(struct rpc_reply *reply, const char *name, int64_t value);
void rpc_add_real(struct rpc_reply *reply, const char *name, double value);

/* Escaped; bytes that are no UTF-8 and characters that no XML may hold become "?". */
void rpc_escape(struct buffer *to, struct text text);

#endif
