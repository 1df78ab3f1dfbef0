/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/slot_words.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <math.h>

#include "server/base/banned.h"

/* The name of a total: some kinds have a word before it. */
struct total_name {
    const char *kind, *word;
};

static struct total_name name_of(int total)
{
    static const char *const steps[STATUS_STEPS] = {
#define STEP_WORD(name, brief) #name,
        REQUEST_STEPS(STEP_WORD)
#undef STEP_WORD
            "commit",
    };

    switch (total) {
#define TOTAL_CASE(name, words) \
    case STATUS_##name:         \
        return (struct total_name){"", #name};
        STATUS_TRAFFIC(TOTAL_CASE)
        STATUS_DATABASE(TOTAL_CASE)
#undef TOTAL_CASE
    case STATUS_TIMED:
        return (struct total_name){"", "timed"};
    case STATUS_SERVED_NS:
        return (struct total_name){"", "served_ns"};
    case STATUS_WAITED_NS:
        return (struct total_name){"", "waited_ns"};
    case STATUS_ASKED:
        return (struct total_name){"", "asked"};
    case STATUS_ASKED_NS:
        return (struct total_name){"", "asked_ns"};
    default:
        break;
    }
    if (total < STATUS_REASONS)
        return (struct total_name){"error.", db_error_words[total - STATUS_ERRORS].word};
    if (total < STATUS_STEP_NS)
        return (struct total_name){"reason.", reason_word((enum reason)(total - STATUS_REASONS))};
    return total < STATUS_STEP_TIMES
               ? (struct total_name){"step_ns.", steps[total - STATUS_STEP_NS]}
               : (struct total_name){"step_times.", steps[total - STATUS_STEP_TIMES]};
}

static bool is_called(struct text name, int total)
{
    struct total_name is = name_of(total);
    struct text kind = text_from(is.kind);

    return text_starts(name, kind) &&
           text_is((struct text){name.at + kind.length, name.length - kind.length}, is.word);
}

void slot_words_write(const struct slot_share *share, struct buffer *ret_words)
{
    buffer_print(ret_words, "seconds %.3f\n", share->seconds);
    if (isfinite(share->levels[STATUS_UNSENT]))
        buffer_print(ret_words, "unsent %.0f\n", share->levels[STATUS_UNSENT]);
    for (int i = 0; i < STATUS_TOTALS; i++) {
        struct total_name name = name_of(i);

        if (share->counts[i] > 0)
            buffer_print(ret_words, "%s%s %" PRIu64 "\n", name.kind, name.word, share->counts[i]);
    }
}

void slot_sum_begin(struct slot_sum *sum)
{
    *sum = (struct slot_sum){.levels = {NAN}};
}

void slot_words_add(struct text words, struct slot_sum *sum)
{
    int total = 0; /* lines come in the order of the totals, if one version has written them */

    while (words.length > 0) {
        struct text rest = text_split(&words, '\n'), name = text_split(&rest, ' ');
        double value;
        int64_t count;
        int tried = 0;

        if (text_is(name, "seconds")) {
            if (text_to_real(rest, &value) && value > 0)
                sum->seconds += value;
            continue;
        }
        if (text_is(name, "unsent")) {
            if (text_to_real(rest, &value) && value >= 0)
                sum->levels[STATUS_UNSENT] = fmax(sum->levels[STATUS_UNSENT], value);
            continue;
        }
        while (tried < STATUS_TOTALS && !is_called(name, total)) {
            total = (total + 1) % STATUS_TOTALS;
            tried++;
        }
        if (tried < STATUS_TOTALS && text_to_i64(rest, &count) && count > 0)
            sum->counts[total] += (uint64_t)count;
    }
}
