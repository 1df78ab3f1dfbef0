/* SPDX-License-Identifier: Apache-2.0 */
/* What a request to upload gets: decided from its head, the project's rules and what is on the
 * disk. Pure.
 *
 * Clients understand three answers. 0: done, and the client deletes its copy, so 0 is said only
 * when the file is on the disk. 1: try again, which clients do for 90 days at growing intervals.
 * -1: given up at once, and the work is lost, so -1 is said only to what can never succeed: a bad
 * name, a forged certificate, more bytes than the certificate allows. Whatever is our own fault is
 * a 1. */
#ifndef SERVER_UPLOAD_UPLOAD_DECISION_H
#define SERVER_UPLOAD_UPLOAD_DECISION_H

#include "server/base/text.h"
#include "server/upload/upload_head.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;

enum upload_status { UPLOAD_NEVER = -1, UPLOAD_DONE = 0, UPLOAD_LATER = 1 };

/* What the project allows. */
struct upload_limits {
    bool ignores_certificates;
    struct text public_key; /* of certificates; while it is no key, none is called forged */
    int64_t bytes_max;      /* of a file without a certificate that says so */
    int64_t free_least;     /* bytes of the disk that stay free */
};

/* What is on the disk. */
struct upload_on_disk {
    int64_t finished;   /* bytes of the finished file; -1: there is none */
    bool is_older;      /* it was there before this handler first was: perhaps it is not finished */
    int64_t partial;    /* bytes of it that came before; -1: none */
    bool is_under_way;  /* another connection uploads it at this moment */
    int64_t free_bytes; /* without those that other uploads under way will take */
    const char *trouble; /* why the disk cannot be used, in words; NULL: it can */
};

enum upload_step {
    UPLOAD_ANSWER,  /* with `status` */
    UPLOAD_CONFIRM, /* the file is there: see that it stays after a fall of the machine, answer */
    UPLOAD_RECEIVE  /* the bytes that follow */
};
struct upload_decision {
    enum upload_step step;
    enum upload_status status;
    const char *words; /* for the volunteer; NULL: none */
    int64_t file_size; /* the answer to a query; -1: none */
    bool adopts;       /* UPLOAD_RECEIVE: upload_store_adopt comes first */
    bool is_our_fault; /* the project's people should hear of it */
};

/* By the head alone. UPLOAD_RECEIVE: the disk is to be asked, then upload_decide. */
struct upload_decision upload_screen(const struct upload_head *head,
                                     const struct upload_limits *limits, bool is_stopped);
struct upload_decision upload_decide(const struct upload_head *head,
                                     const struct upload_limits *limits,
                                     const struct upload_on_disk *on_disk);
/* Nothing more of the body comes, or another connection was faster. */
struct upload_decision upload_later(const char *words);
/* It cannot be taken, whatever the client does. */
struct upload_decision upload_not_possible(const char *words);

/* The reply's body. */
void upload_write_reply(const struct upload_decision *decision, struct buffer *ret_reply);

#endif
