/* SPDX-License-Identifier: Apache-2.0 */
/* Checks everything that a server and the administrator's command will need of a project, tells all
 * that is wrong and not only the first, and changes nothing: the one function behind
 * `quartermaster --check-config`, `qmctl check-config`, `qmctl status` and what a running server
 * says of itself. */
#ifndef SERVER_CHECK_PROJECT_CHECK_H
#define SERVER_CHECK_PROJECT_CHECK_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct buffer;

/* What is looked at, in this order; behind the first nothing is where config.xml cannot be read to
 * its end. Values that are wrong are taken for their defaults. */
#define CHECK_TOPICS(TOPIC)                                                               \
    TOPIC(config)       /* config.xml and config_aux.xml */                               \
    TOPIC(keys)         /* both pairs, and who may read them */                           \
    TOPIC(options)      /* what has to be given */                                        \
    TOPIC(folders)      /* download_dir, upload_dir */                                    \
    TOPIC(uploads)      /* what the upload handler and the jobs think of each other */    \
    TOPIC(secrets)      /* passwords that everybody can read */                           \
    TOPIC(blocks)       /* gui_urls.xml, project_files.xml */                             \
    TOPIC(joining)      /* terms_of_use.txt */                                            \
    TOPIC(templates)    /* of jobs and results */                                         \
    TOPIC(files)        /* the file database, and what the disk options mean */           \
    TOPIC(database)     /* whether a server can work with it */                           \
    TOPIC(catalog)      /* applications, platforms */                                     \
    TOPIC(versions)     /* their files and signatures */                                  \
    TOPIC(jobs)         /* what waiting ones need: files, templates, applications */      \
    TOPIC(plan_classes) /* plan_class_spec.xml, versions of unknown classes, buda_apps */ \
    TOPIC(deadlines)    /* jobs that hosts get none of because they store work */
enum check_topic {
#define CHECK_TOPIC(name) TOPIC_##name,
    CHECK_TOPICS(CHECK_TOPIC)
#undef CHECK_TOPIC
        TOPIC_PROJECT_COUNT,
    TOPIC_web = TOPIC_PROJECT_COUNT, /* how clients reach it: asked by qmctl, not looked at here */
    TOPIC_COUNT
};
const char *check_topic_word(enum check_topic topic);

enum check_severity {
    CHECK_WARNING,
    CHECK_ERROR, /* the project does not work as it should */
    CHECK_STOPS  /* no server starts with it */
};
struct check_finding {
    enum check_severity severity;
    enum check_topic topic;
    const char *text; /* with file and line where there are any; lasts as long as the call */
};
typedef void check_found(void *context, const struct check_finding *finding);

enum check_database {
    CHECK_NO_DATABASE, /* what is in it is not checked */
    CHECK_DATABASE,
    CHECK_READ_ONLY /* it is read, and not tried whether a server can work with it, as our own
                       tables may be missing */
};
/* Whether CHECK_NO_DATABASE leaves out some of it. */
bool check_topic_wants_database(enum check_topic topic);
/* Calls `report` for each finding. */
void project_check(const char *project_dir, enum check_database database, check_found *report,
                   void *context);

struct check_counts {
    unsigned errors[TOPIC_COUNT], warnings[TOPIC_COUNT];
    unsigned error_count, warning_count;
};
void check_count(struct check_counts *counts, const struct check_finding *finding);
/* What a look found by topic, as words of a row of qm_figures: who looks leaves them, and servers
 * show them for CHECKS_CURRENT_S. */
enum { CHECKS_CURRENT_S = 2 * 86400 };
void check_counts_write(const struct check_counts *counts, int64_t at, struct buffer *ret_words);
/* Lines that are not understood are passed over. */
void check_counts_read(struct text words, struct check_counts *ret_counts, int64_t *ret_at);
/* "error", "warning". */
const char *check_severity_word(enum check_severity severity);
/* "error: TEXT" in a line; and the last line, which begins with OK where nothing was found. */
void check_print(FILE *stream, const struct check_finding *finding);
void check_print_counts(FILE *stream, const struct check_counts *counts);

#endif
