/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, counted and said: for both programs in the same words. */
#include "server/check/project_check.h"

#include "server/base/shown.h"
#include "server/base/status.h"

#include "server/base/banned.h"

static const char *const topic_words[TOPIC_COUNT] = {
#define TOPIC_WORD(name) [TOPIC_##name] = #name,
    CHECK_TOPICS(TOPIC_WORD)
#undef TOPIC_WORD
};

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
