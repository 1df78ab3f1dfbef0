/* SPDX-License-Identifier: Apache-2.0 */
/* What the documents of jobs say of files; pure. Documents are ours (policy(7) 14.3) but old ones
 * may be of any make: what cannot be read is passed over. */
#ifndef SERVER_POLICY_DISK_DOCUMENT_FILES_H
#define SERVER_POLICY_DISK_DOCUMENT_FILES_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message;

struct document_file {
    struct text name;
    bool is_sticky;
    int64_t priority;     /* 1 to 5 */
    double lifetime_days; /* until it expires */
    double nbytes;        /* 0: not known */
};
/* The next file_info of `rest`, which moves behind it. False: there is none. */
bool document_next_file(struct text *rest, struct document_file *ret_file);

/* The next name of a file that is described or referred to. */
bool document_next_name(struct text *rest, struct text *ret_name);

/* --- files that a host has, policy(7) 10.7 ---------------------------------------------------- */

/* The files that the client has, sorted by name; `ret_names` has room for message->file_count.
 * Returns how many. */
size_t files_present(const struct message *message, struct text *ret_names);

/* Whether a workunit document refers to one of these files, which are sorted by name. */
bool document_has_file(struct text xml_doc, const struct text *names, size_t count);

#endif
