/* SPDX-License-Identifier: Apache-2.0 */
/* What the reply will say: filled by the steps, written by reply.c. Everything here lives in the
 * request's arena and is dropped when the transaction is tried again. */
#ifndef SERVER_REPLY_ANSWER_H
#define SERVER_REPLY_ANSWER_H

#include "db/db.h"
#include "server/base/text.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buda_variant;

enum answer_kind {
    ANSWER_FULL,
    ANSWER_NUCLEUS, /* messages and delay only: nobody was authenticated, or an early end */
    ANSWER_DOWN     /* nucleus with project_is_down: clients keep all they have */
};

enum message_priority { MESSAGE_LOW, MESSAGE_NOTICE };
struct answer_message {
    enum message_priority priority;
    struct text text; /* not escaped; one line */
};

/* A job in the reply, new or resent. */
struct answer_job {
    int64_t resultid, workunitid, appid;
    int64_t app_version_id;  /* as the result has it; below 0: of the anonymous platform */
    int64_t report_deadline; /* epoch, as the client is told */
    bool is_resent;
    bool is_checked;                     /* it has no fault (reply_job_fault) for this client */
    bool is_assigned;                    /* by the project, to this host or to all */
    const struct workunit_row *workunit; /* as it was chosen */
    int64_t priority;
    const struct app_row *app;
    const struct app_version_row *version;      /* NULL: anonymous platform */
    const struct client_app_version *anonymous; /* the client's own version, else NULL */
    struct text platform;                       /* of the version; empty for anonymous */
    struct usage usage;
    const struct buda_variant *variant; /* of a science app, whose files and usage go with the job;
                                           NULL: none */
    const struct usage *wrapper_usage;  /* then what the version alone is sent with, else NULL */
    double fpops_scale; /* rsc_fpops_est and _bound are sent times this; 1 but for anonymous */
    double wall_time;   /* s, estimated */
    double margin;      /* of a new one: by it that is multiplied for deadlines */
    double rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound;
    struct text keywords;
    struct job_documents documents;
};

enum resource_state {
    RESOURCE_NONE, /* nothing now, but supported */
    RESOURCE_SENT,
    RESOURCE_DEADLINE, /* work, but not in time */
    RESOURCE_UNSUPPORTED
};
struct answer_resource {
    struct text type; /* CPU first, then as the client listed them */
    enum resource_state state;
    bool is_only_allowed; /* the user's preferences leave no other type */
};

struct text_item {
    struct text text;
    struct text_item *next;
};
struct text_items { /* zero it before use */
    struct text_item *first, *last;
    size_t count;
};
void text_items_add(struct arena *arena, struct text_items *items, struct text text);

enum {
    ANSWER_MESSAGES_MAX = 64,
    ANSWER_REASONS_MAX = 12 /* more than can come together */
};

struct answer {
    enum answer_kind kind;
    double request_delay; /* s; 0: none asked for. See answer_delay */
    double next_contact;  /* s, after which the client should come without a reason; 0: any time */
    struct answer_message messages[ANSWER_MESSAGES_MAX];
    size_t message_count;
    int64_t hostid;                 /* not 0: the client must change its id */
    struct text global_preferences; /* to be sent, verbatim; empty: not */
    struct text code_sign_key, code_sign_key_signature;
    struct text_items acks, aborts, aborts_if_not_started, delete_files;
    struct answer_job *jobs;
    size_t job_count;
    bool message_ack;
    struct text_items host_messages; /* raw XML */
    struct answer_resource *resources;
    size_t resource_count;
    bool no_work_deadlines;
    bool asks_file_list;                     /* of clients that list their files only then */
    enum reason reasons[ANSWER_REASONS_MAX]; /* of a "no", the decisive one first */
    size_t reason_count;
};

/* Notes a reason for the log, the counters and recordings; again: nothing. */
void answer_reason(struct answer *answer, enum reason reason);
/* The same, and says it to the volunteer in the words of its row. */
void answer_refuse(struct arena *arena, struct answer *answer, const struct refusal *refusal);
/* The word of the decisive reason; NULL: nothing was refused. */
const char *answer_first_reason(const struct answer *answer);

/* Adds a message unless the same text is there; the last place is kept for "more". */
void answer_say(struct arena *arena, struct answer *answer, enum message_priority priority,
                const char *format, ...) PRINTF_LIKE(4, 5);
/* Raises request_delay to at least `delay` s. */
void answer_delay(struct answer *answer, double delay);

#endif
