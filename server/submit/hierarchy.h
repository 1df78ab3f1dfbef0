/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file lies below download_dir and upload_dir, and under which URL (policy(7) 14.7). */
#ifndef SERVER_SUBMIT_HIERARCHY_H
#define SERVER_SUBMIT_HIERARCHY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;

/* "DIR/NAME", or with a fanout "DIR/3ff/NAME"; the same for a URL. A slash at the end of `dir` is
 * not doubled. */
struct text hierarchy_path(struct arena *arena, struct text dir, struct text name, int64_t fanout);
/* The same into a buffer, escaped for XML. */
void hierarchy_write(struct buffer *buffer, struct text dir, struct text name, int64_t fanout);
/* The folder's name alone; empty without fanout. */
#define HIERARCHY_FOLDER_SIZE 16
void hierarchy_folder(struct text name, int64_t fanout, char ret_folder[HIERARCHY_FOLDER_SIZE]);

/* Whether it is there, with at least so many bytes (of a file that is still being uploaded there
 * are fewer). */
bool hierarchy_has_file(struct arena *arena, struct text dir, struct text name, int64_t fanout,
                        double bytes);

/* Why no client can fetch anything from this URL, in words to follow "the URL"; NULL: it may. */
const char *url_fault(struct text url);

/* Whether clients take this as the name of a file, and URLs need no escapes for it. */
bool file_name_usable(struct text name);

#endif
