/* SPDX-License-Identifier: Apache-2.0 */
/* From refusals to words. The order of reasons.def is the order of usefulness. Figures are rounded
 * so that "need" never reads like less than it is, nor "have" like more. */
#include "server/policy/refusal/reason.h"

#include "server/base/buffer.h"
#include "server/base/marked.h"
#include "server/parse/message.h"

#include <math.h>

#include "server/base/banned.h"

enum unit {
    UNIT_NONE,
    UNIT_BYTES,
    UNIT_RATE,
    UNIT_SECONDS,
    UNIT_COUNT,
    UNIT_VERSION,
    UNIT_RELEASE
};
enum loudness { LOUDNESS_SILENT, LOUDNESS_LOW, LOUDNESS_NOTICE };

static const struct {
    const char *word;
    enum reason_scope binds;
    enum unit unit;
    enum loudness loudness;
    const char *explanation, *brief;
} reasons[REASON_COUNT] = {
#define REASON(name, word, binds, unit, message, explanation, brief) \
    [REASON_##name] = {word, BINDS_##binds, UNIT_##unit, LOUDNESS_##message, explanation, brief},
#include "server/policy/refusal/reasons.def"
#undef REASON
};

const char *reason_word(enum reason reason)
{
    return reason < REASON_COUNT ? reasons[reason].word : "none";
}

const char *reason_brief(enum reason reason)
{
    return reason < REASON_COUNT ? reasons[reason].brief : "";
}

enum reason_scope reason_binds(enum reason reason)
{
    return reason < REASON_COUNT ? reasons[reason].binds : BINDS_JOB;
}

const char *reason_scope_word(enum reason reason)
{
    static const char *const words[] = {
        [BINDS_EVERYBODY] = "everybody", [BINDS_ACCOUNT] = "account", [BINDS_HOST] = "host",
        [BINDS_RESOURCE] = "processor",  [BINDS_APP] = "application", [BINDS_JOB] = "job"};

    return words[reason_binds(reason)];
}

bool reason_is_notice(enum reason reason)
{
    return reason < REASON_COUNT && reasons[reason].loudness == LOUDNESS_NOTICE;
}

bool reason_is_silent(enum reason reason)
{
    return reason >= REASON_COUNT || reasons[reason].loudness == LOUDNESS_SILENT;
}

bool reason_is_deadline(enum reason reason)
{
    return reason == REASON_DEADLINE || reason == REASON_QUEUE_DEADLINE ||
           reason == REASON_QUEUE_TOO_LARGE || reason == REASON_CONNECTION;
}

void refusals_forget_deadlines(struct refusals *refusals)
{
    for (int reason = 0; reason < REASON_COUNT; reason++)
        if (reason_is_deadline((enum reason)reason))
            refusals->by_reason[reason].count = 0;
}

static void add_bytes(struct buffer *buffer, double bytes, bool round_up)
{
    bool is_large = bytes >= 1073741824.0;
    double scaled = bytes / (is_large ? 1073741824.0 : 1048576.0);

    scaled = (round_up ? ceil(scaled * 100) : floor(scaled * 100)) / 100;
    buffer_print(buffer, "%.2f %s", scaled, is_large ? "GB" : "MB");
}

static void add_seconds(struct buffer *buffer, double seconds, bool round_up)
{
    bool is_long = seconds >= 2 * 86400.0;
    double scaled;

    if (seconds < 3600) {
        double minutes = round_up ? ceil(seconds / 60) : floor(seconds / 60);

        buffer_print(buffer, "%.0f %s", minutes, minutes == 1 ? "minute" : "minutes");
        return;
    }
    scaled = seconds / (is_long ? 86400.0 : 3600.0);

    scaled = (round_up ? ceil(scaled * 100) : floor(scaled * 100)) / 100;
    buffer_print(buffer, "%.2f %s", scaled, is_long ? "days" : "hours");
}

/* `is_larger` marks the figure that must not read like less than it is. */
static void add_figure(struct buffer *buffer, enum unit unit, double figure, bool is_larger)
{
    switch (unit) {
    case UNIT_BYTES:
        add_bytes(buffer, figure, is_larger);
        break;
    case UNIT_RATE:
        add_bytes(buffer, figure, is_larger);
        buffer_add_string(buffer, " per second");
        break;
    case UNIT_SECONDS:
        add_seconds(buffer, figure, is_larger);
        break;
    case UNIT_VERSION:
        buffer_print(buffer, "%.0f.%.0f.%.0f", floor(figure / 10000),
                     floor(fmod(figure, 10000) / 100), fmod(figure, 100));
        break;
    case UNIT_RELEASE: /* 103 is 1.03 */
        buffer_print(buffer, "%.0f.%02.0f", floor(figure / 100), fmod(figure, 100));
        break;
    case UNIT_COUNT:
    case UNIT_NONE:
        buffer_print(buffer, "%.0f", figure);
        break;
    }
}

/* "task X, due 4.00 days ago, 200.00 hours left" */
static void add_task(struct buffer *buffer, const struct refusal *refusal)
{
    if (refusal->task.length == 0) {
        buffer_add_string(buffer, "tasks that are queued");
        return;
    }
    buffer_add_string(buffer, "task ");
    buffer_add(buffer, refusal->task);
    if (!isinf(refusal->task_due)) {
        buffer_add_string(buffer, refusal->task_due < 0 ? ", due " : ", due in ");
        add_seconds(buffer, fabs(refusal->task_due), refusal->task_due < 0);
        buffer_add_string(buffer, refusal->task_due < 0 ? " ago" : "");
    }
    buffer_add_string(buffer, ", ");
    add_seconds(buffer, refusal->task_left, true);
    buffer_add_string(buffer, " left");
}

struct text reason_explain(struct arena *arena, const struct refusal *refusal)
{
    struct buffer buffer = buffer_in(arena);
    struct text rest;
    /* Of a deadline the time taken is the larger figure, else the need. */
    bool have_is_larger = reason_is_deadline(refusal->reason);
    enum unit unit;

    if (refusal->reason >= REASON_COUNT)
        return NO_TEXT;
    unit = reasons[refusal->reason].unit;
    rest = text_from(reasons[refusal->reason].explanation);
    while (rest.length > 0) {
        struct text name;

        buffer_add(&buffer, text_split(&rest, '{'));
        if (rest.length == 0)
            break;
        name = text_split(&rest, '}');
        if (text_is(name, "name"))
            buffer_add(&buffer, refusal->name);
        else if (text_is(name, "type"))
            buffer_add(&buffer, message_type_name(refusal->type));
        else if (text_is(name, "why"))
            buffer_add(&buffer, refusal->why);
        else if (text_is(name, "task"))
            add_task(&buffer, refusal);
        else if (text_is(name, "behind")) { /* only where something is in the way */
            if (refusal->task.length > 0) {
                buffer_add_string(&buffer, ", behind ");
                add_task(&buffer, refusal);
            }
        } else if (text_is(name, "need"))
            add_figure(&buffer, unit, refusal->need, !have_is_larger);
        else
            add_figure(&buffer, unit, refusal->have, have_is_larger);
    }
    return buffer_text(&buffer);
}

static double distance(const struct refusal *refusal)
{
    return fabs(refusal->need - refusal->have);
}

void refusals_add(struct refusals *refusals, const struct refusal *refusal)
{
    if (refusal->reason >= REASON_COUNT)
        return;
    if (refusals->by_reason[refusal->reason].count++ == 0 ||
        distance(refusal) < distance(&refusals->by_reason[refusal->reason].nearest))
        refusals->by_reason[refusal->reason].nearest = *refusal;
}

void refusals_join(struct refusals *refusals, const struct refusals *others)
{
    for (size_t i = 0; i < REASON_COUNT; i++) {
        size_t count = others->by_reason[i].count;

        if (count == 0)
            continue;
        refusals_add(refusals, &others->by_reason[i].nearest);
        refusals->by_reason[i].count += count - 1;
    }
}

size_t refusals_pick(const struct refusals *refusals, struct refusal ret_picked[REASONS_SAID_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < REASON_COUNT && count < REASONS_SAID_MAX; i++)
        if (refusals->by_reason[i].count > 0 && !reason_is_silent((enum reason)i))
            ret_picked[count++] = refusals->by_reason[i].nearest;
    return count;
}
