/* SPDX-License-Identifier: Apache-2.0 */
/* Input templates: which files a job has, and its numbers (policy(7) 14.1). */
#ifndef SERVER_SUBMIT_TEMPLATE_INPUT_H
#define SERVER_SUBMIT_TEMPLATE_INPUT_H

#include "server/project/template.h"
#include "server/submit/parameters.h"

#include "server/base/crypto.h"

struct config;

enum input_kind {
    INPUT_ARGUMENT, /* named when the job is made */
    INPUT_CONSTANT, /* named in the template */
    INPUT_REMOTE    /* described whole in the template; its name is given with the job */
};

struct input_file {
    const struct template_element *element;
    enum input_kind kind;
    struct text physical_name; /* of a constant file */
    bool gzip;
    double exp_days;        /* -1: not given */
    char md5[MD5_HEX_SIZE]; /* of a remote file */
    int64_t bytes, gzipped_bytes;
};

struct input_template {
    struct template_file file;
    const struct template_element *workunit;
    struct input_file *files;
    size_t file_count;
    size_t argument_count; /* files named with the job */
    bool has_command_line;
};

/* A file as a job uses it. */
struct job_file {
    struct text name;       /* physical */
    struct text remote_url; /* where it lies, when that is not the download folder */
    char md5[MD5_HEX_SIZE];
    int64_t bytes, gzipped_bytes; /* gzipped: 0 when there is no compressed one */
};

MUST_CHECK enum status input_template_read(struct arena *arena, const char *name,
                                           struct text document, struct input_template *ret_input,
                                           struct failure *failure);

/* Numbers that the template gives; the others stay as they are. */
MUST_CHECK enum status input_template_parameters(const struct input_template *input,
                                                 struct job_parameters *values,
                                                 struct failure *failure);

struct input_document {
    const struct config *config;  /* download_url, uldl_dir_fanout */
    const struct job_file *files; /* one per file_info of the template, in its order */
    size_t file_count;
    struct text command_line; /* not escaped */
    struct text sub_appname;
    bool sticky_lifetime; /* write <sticky_lifetime> beside exp_days, for clients since 7.4.24 */
};

/* workunit.xml_doc (policy(7) 14.3). STATUS_INVALID: a command line twice; STATUS_TOO_LARGE: more
 * than the column holds. */
MUST_CHECK enum status input_template_write(const struct input_template *input,
                                            const struct input_document *document,
                                            struct buffer *buffer, struct failure *failure);

#define JOB_DOCUMENT_MAX 65535 /* bytes of a blob column */

#endif
