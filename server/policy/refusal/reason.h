/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons for "no": one list for the reply, the log, the metrics and qmctl; pure.
 *
 * Everything that a host does not get is refused for one row of reasons.def, with two figures:
 * what was needed, and what was there. A reason to refuse the whole request is noted where it is
 * found (answer_refuse in server/reply/answer.h). For each refused job, the choice of a version or
 * a check of dispatch makes a struct refusal. Struct refusals adds these up for a request, and
 * keeps for each reason the refusal that was closest to acceptance. When the reply is made,
 * server/handout/answer_work.c picks the most useful three of them, and reason_explain() writes
 * the sentences that end in the volunteer's event log. The same refusals go to the log line, to
 * the metrics, and to qmctl why.
 *
 * delay.h decides how long the client has to wait, for that or another cause. */
#ifndef SERVER_POLICY_REFUSAL_REASON_H
#define SERVER_POLICY_REFUSAL_REASON_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum reason {
#define REASON(name, word, binds, unit, message, explanation, brief) REASON_##name,
#include "server/policy/refusal/reasons.def"
#undef REASON
    REASON_COUNT /* also: none */
};

/* Whom a reason stands against, from the widest to the narrowest. */
enum reason_scope {
    BINDS_EVERYBODY,
    BINDS_ACCOUNT,
    BINDS_HOST, /* with its client and its request */
    BINDS_RESOURCE,
    BINDS_APP,
    BINDS_JOB
};

/* One refusal with its figures. */
struct refusal {
    enum reason reason;
    struct text name, type;
    struct text why; /* of a plan class, with its figures */
    double need, have;
    struct text task; /* of the host's queue, that stands in the way; empty: none is known */
    double task_left, task_due; /* s, from now */
};

const char *reason_word(enum reason reason);
/* A few words about it for the administrator, without a name. */
const char *reason_brief(enum reason reason);
enum reason_scope reason_binds(enum reason reason);
/* The same as a word for the administrator. */
const char *reason_scope_word(enum reason reason);
bool reason_is_notice(enum reason reason);
bool reason_is_silent(enum reason reason);
/* Whether a job that was refused for it was refused for a deadline. */
bool reason_is_deadline(enum reason reason);
/* The explanation with its figures; one line. */
struct text reason_explain(struct arena *arena, const struct refusal *refusal);

struct refusals;
/* Takes back all reasons that reason_is_deadline names. */
void refusals_forget_deadlines(struct refusals *refusals);

/* What a request was refused for: per reason the number of refusals and the one that came nearest
 * to being none (the least excess of need over have), so that a volunteer reads how little would be
 * enough. Zero it before use. */
struct refusals {
    struct {
        size_t count;
        struct refusal nearest;
    } by_reason[REASON_COUNT];
};
void refusals_add(struct refusals *refusals, const struct refusal *refusal);
/* As if each of the others had been added. */
void refusals_join(struct refusals *refusals, const struct refusals *others);
/* Seldom more than this many reasons help. */
enum { REASONS_SAID_MAX = 3 };
/* The most useful ones that are not silent; returns how many. */
size_t refusals_pick(const struct refusals *refusals, struct refusal ret_picked[REASONS_SAID_MAX]);

#endif
