/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, counted and said: for both programs in the same words. */
#include "server/check/project_check.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"
#include "server/base/status.h"

#include <inttypes.h>

#include "server/base/banned.h"

static const char *const topic_words[TOPIC_COUNT] = {
#define TOPIC_WORD(name) [TOPIC_##name] = #name,
    CHECK_TOPICS(TOPIC_WORD)
#undef TOPIC_WORD
        [TOPIC_web] = "web",
};

bool check_topic_wants_database(enum check_topic topic)
{
    return topic == TOPIC_files || (topic >= TOPIC_database && topic < TOPIC_PROJECT_COUNT);
}

const char *check_topic_word(enum check_topic topic)
{
    must((unsigned)topic < TOPIC_COUNT);
    return topic_words[topic];
}

const char *check_severity_word(enum check_severity severity)
{
    return severity == CHECK_WARNING ? "warning" : "error";
}

void check_count(struct check_counts *counts, const struct check_finding *finding)
{
    must((unsigned)finding->topic < TOPIC_COUNT);
    if (finding->severity == CHECK_WARNING) {
        counts->warnings[finding->topic]++;
        counts->warning_count++;
    } else {
        counts->errors[finding->topic]++;
        counts->error_count++;
    }
}

/* "at EPOCH", and a line "TOPIC ERRORS WARNINGS" for each topic with findings. */
void check_counts_write(const struct check_counts *counts, int64_t at, struct buffer *ret_words)
{
    buffer_print(ret_words, "at %" PRId64 "\n", at);
    for (int i = 0; i < TOPIC_COUNT; i++)
        if (counts->errors[i] + counts->warnings[i] > 0)
            buffer_print(ret_words, "%s %u %u\n", topic_words[i], counts->errors[i],
                         counts->warnings[i]);
}

static unsigned read_count(struct text word)
{
    int64_t count;

    return text_to_i64(word, &count) && count > 0 && count <= UINT16_MAX ? (unsigned)count : 0;
}

void check_counts_read(struct text words, struct check_counts *ret_counts, int64_t *ret_at)
{
    *ret_counts = (struct check_counts){.error_count = 0};
    *ret_at = 0;
    while (words.length > 0) {
        struct text rest = text_split(&words, '\n'), name = text_split(&rest, ' ');

        if (text_is(name, "at") && !text_to_i64(rest, ret_at))
            *ret_at = 0;
        for (int i = 0; i < TOPIC_COUNT; i++)
            if (text_is(name, topic_words[i])) {
                ret_counts->errors[i] = read_count(text_split(&rest, ' '));
                ret_counts->warnings[i] = read_count(rest);
            }
    }
    for (int i = 0; i < TOPIC_COUNT; i++) {
        ret_counts->error_count += ret_counts->errors[i];
        ret_counts->warning_count += ret_counts->warnings[i];
    }
}

void check_print(FILE *stream, const struct check_finding *finding)
{
    shown_line(stream, "%s: %s", check_severity_word(finding->severity), finding->text);
}

void check_print_counts(FILE *stream, const struct check_counts *counts)
{
    shown_line(stream, "%s" COUNT_FORMAT ", " COUNT_FORMAT,
               counts->error_count + counts->warning_count == 0 ? "OK: " : "",
               COUNT_ARG(counts->error_count, "error"),
               COUNT_ARG(counts->warning_count, "warning"));
}
