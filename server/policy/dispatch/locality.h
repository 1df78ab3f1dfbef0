/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs go to hosts that hold their files (policy(7) 10.7); pure. */
#ifndef SERVER_POLICY_DISPATCH_LOCALITY_H
#define SERVER_POLICY_DISPATCH_LOCALITY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct message;

/* The files that the client has, sorted by name; `ret_names` has room for message->file_count.
 * Returns how many. */
size_t files_present(const struct message *message, struct text *ret_names);

/* Whether a workunit document refers to one of these files, which are sorted by name. */
bool document_has_file(struct text xml_doc, const struct text *names, size_t count);

#endif
