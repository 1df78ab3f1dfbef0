/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated volunteer's machine: asks for work, reports at once what it got, and remembers what
 * it must between requests. It computes nothing.
 *
 * main.c makes as many of them as the command line says (load_arguments.h), gives each its own
 * HTTP transfer in one libcurl multi handle, has the next request written when its time has come
 * and the reply read when it is there, and counts in load_tally.h what came of it. One thread does
 * all; a host has one request under way at most. A job is on the host from the reply that brought
 * it to the reply that acknowledges its report; with --upload its output is uploaded before the
 * host's next request (load_upload.h). */
#ifndef TOOLS_LAB_QMLOAD_LOAD_HOST_H
#define TOOLS_LAB_QMLOAD_LOAD_HOST_H

#include "server/base/buffer.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What hosts take in turn: host N has item N modulo the count. */
enum { TURNS_MAX = 256 };
struct turns {
    struct text items[TURNS_MAX];
    size_t count; /* 0: what host_init says */
};

/* One kind of request of a crowd. */
struct load_kind {
    double weight;   /* so often beside the others */
    double jobs;     /* asks for so many times profile.seconds; 0: for no work */
    int64_t reports; /* of the jobs on the host so many at most */
};
enum { KINDS_MAX = 16 };

/* What all hosts have in common, and what they differ in. */
struct load_profile {
    struct turns authenticators, platforms, vendors;
    double seconds; /* of CPU work asked for */
    int64_t ncpus;
    bool keeps_jobs; /* never reports: the jobs stay in progress */
    int64_t errors;  /* of 100 jobs so many end with an error; which, follows from their names */
    uint64_t run;    /* makes the machines of one run others than those of the next */
    struct load_kind kinds[KINDS_MAX];
    size_t kind_count;    /* 0: all requests ask for profile.seconds and report all */
    int64_t upload_bytes; /* each job has a file of this length to upload; 0: none is uploaded */
    int64_t old;          /* of 100 hosts so many have a client that never lists its queue */
};

/* All on the heap. */
struct load_job {
    char *name;
    char *file;     /* file_info of its output, as the reply had it; NULL: nothing to upload */
    char *uploaded; /* file_info for the report; NULL: nothing was uploaded */
    bool is_asked;  /* how much of the file is there */
    int64_t deadline;
    int64_t came_with; /* which of the host's requests */
};

struct load_host {
    const struct load_profile *profile;
    size_t number;
    struct text authenticator, platform, vendor;
    int64_t id; /* 0 until the server gave one */
    int64_t rpc_seqno;
    int64_t requests;      /* written so far */
    char *code_sign_key;   /* as the server sent it; NULL: none yet */
    bool lists_queue;      /* the server asked for it once */
    struct load_job *jobs; /* on the host, not yet acknowledged */
    size_t job_count, job_capacity;
    size_t reported; /* of them, in the request under way: the first ones */
    size_t held;     /* so many of the newest are not reported yet */
    bool declines;   /* asks for no work */
    bool is_leaving; /* so it does, and reports whatever it has */
    double seconds;  /* of CPU work, for which the request under way asks */
};

void host_init(struct load_host *host, const struct load_profile *profile, size_t number);
void host_clear(struct load_host *host);

/* Whether the job is on the host and its report is not acknowledged. */
bool host_has_job(const struct load_host *host, struct text name);
/* Puts it there, if it is not. host_read_reply does so by itself. */
void host_add_job(struct load_host *host, struct text name);
/* Whether such a job ends with an error on a host of this profile. */
bool host_job_fails(const struct load_profile *profile, struct text name);

/* The first job whose output is not uploaded yet; NULL: none. It comes before the next request
 * (load_upload.h). */
struct load_job *host_next_upload(const struct load_host *host);

/* The next request of this host. */
void host_write_request(struct load_host *host, struct buffer *ret_request);

enum reply_kind {
    REPLY_FULL,
    REPLY_SHORT, /* refused, or sent away until later */
    REPLY_DOWN,
    REPLY_BROKEN /* no complete scheduler_reply */
};
struct reply_summary {
    enum reply_kind kind;
    size_t acked;        /* of what this request reported */
    size_t missing_acks; /* reported, and not acknowledged by a full reply */
    struct text message; /* the first one, in the reply */
    double delay;        /* request_delay, s; 0: none */
};

/* Who wants to know what is in a reply, name by name: jobs before they are on the host, and
 * acknowledgements, also of what the request did not report. Either may be NULL. */
struct reply_taker {
    void (*job)(void *context, const struct load_host *host, struct text name);
    void (*ack)(void *context, const struct load_host *host, struct text name, bool was_reported);
    void *context;
};

/* Reads the reply and changes the host accordingly. */
struct reply_summary host_read_reply(struct load_host *host, struct text reply,
                                     const struct reply_taker *taker);

/* Cuts the next <tag>...</tag> off `*rest`; false when there is none. */
bool load_element(struct text *rest, struct text begin, struct text end, struct text *ret_content);

#endif
