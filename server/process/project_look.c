/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/project_look.h"

#include "server/base/log.h"
#include "server/base/random.h"
#include "server/project/project.h"

#include <limits.h>

#include "server/base/banned.h"

struct findings {
    enum check_database database;
    struct check_counts counts;
    uint64_t hash; /* of those that are logged */
    bool logs;
};

/* What is in config.xml was logged when it was read. */
static bool is_logged(const struct findings *findings, enum check_topic topic)
{
    return findings->database == CHECK_DATABASE ? check_topic_wants_database(topic)
                                                : topic != TOPIC_config;
}

/* Critical is only what keeps this server from serving. */
static void take_finding(void *context, const struct check_finding *finding)
{
    struct findings *findings = context;

    check_count(&findings->counts, finding);
    if (!is_logged(findings, finding->topic))
        return;
    findings->hash = random_mix(findings->hash, text_hash(text_from(finding->text)));
    if (findings->logs)
        log_line_with(finding->severity == CHECK_STOPS ? LOG_LEVEL_CRITICAL : LOG_LEVEL_WARNING,
                      "why", text_from(finding->text), "event=check_finding topic=%s",
                      check_topic_word(finding->topic));
}

void project_look(const struct config *config, enum check_database database, uint64_t *logged,
                  struct check_counts *ret_counts)
{
    struct findings findings = {.database = database}, again = {.database = database, .logs = true};
    char dir[PATH_MAX];

    project_path(config, "", dir, sizeof(dir));
    project_check(dir, database, take_finding, &findings);
    *ret_counts = findings.counts;
    if (findings.hash == *logged)
        return;
    *logged = findings.hash;
    project_check(dir, database, take_finding, &again);
}
