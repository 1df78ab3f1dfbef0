/* SPDX-License-Identifier: Apache-2.0 */
/* What clients get of a version of an application (policy(7) 14.4). */
#ifndef SERVER_SUBMIT_VERSION_DOCUMENT_H
#define SERVER_SUBMIT_VERSION_DOCUMENT_H

#include "server/submit/template_input.h"

struct version_file {
    struct job_file file;
    struct text open_name; /* empty: none, and then it is found by its physical name */
    bool is_main, is_executable, copy_file;
    struct text signature;
    const struct text *urls; /* where clients get it, instead of from the project */
    size_t url_count;
};

struct version_document {
    const struct config *config; /* download_url */
    struct text app_name, api_version, file_prefix;
    int64_t version_num;
    bool dont_throttle, needs_network, is_wrapper;
    const struct version_file *files; /* exactly one is_main */
    size_t file_count;
};

#define VERSION_DOCUMENT_MAX                                            \
    262144 /* bytes; other programs of a project have no larger buffers \
            */

MUST_CHECK enum status version_document_write(const struct version_document *version,
                                              struct buffer *buffer, struct failure *failure);
/* "1.03" is 103, and so is "103". STATUS_INVALID: it is no version; or it is "1.3", which some take
 * for 1.03 and others for 1.30: *ret_number is then 103, as BOINC's programs read it. */
MUST_CHECK enum status version_number_read(struct text text, int64_t *ret_number,
                                           struct failure *failure);

/* What a document says of a file that clients download. */
struct version_file_info {
    struct text name, signature; /* trimmed; empty: not given */
    int64_t bytes;               /* -1: not given */
    struct text info;            /* all of it */
};
/* The next one of `rest`, which moves behind it. False: there is none. */
bool version_document_next_file(struct text *rest, struct version_file_info *ret_info);
/* Where clients download it first; empty: nowhere. */
struct text version_file_url(const struct version_file_info *info);
/* Whether clients may download it from there. */
bool version_file_has_url(const struct version_file_info *info, struct text url);

/* Signs every file that a document names anew, from its content in download_dir. */
MUST_CHECK enum status version_document_resign(struct arena *arena, const struct config *config,
                                               struct text document, struct text private_key,
                                               struct text *ret_document, struct failure *failure);

#endif
