/* SPDX-License-Identifier: Apache-2.0 */
/* Purged rows as files, for later readers: of a run that began at T, wu_archive_T.xml and
 * result_archive_T.xml, with an element for each row and in it one for each column, and
 * wu_index_T.xml and result_index_T.xml, lines of id, T and name (which are no XML). The first two
 * are whole documents whenever a part was written: the last line is overwritten by the next part.
 */
#ifndef SERVER_PASSES_ARCHIVE_H
#define SERVER_PASSES_ARCHIVE_H

#include "db/purge.h"

struct archive;

/* Makes the folder when it is not there; the files with the first rows. `now` is T, or the next
 * number that is free. */
MUST_CHECK enum status archive_open(const char *folder, int64_t now, struct archive **ret_archive,
                                    struct failure *failure);
/* Adds rows and waits until the disk has them. What is added behind a part that was not kept
 * (archive_keep) takes its place. */
MUST_CHECK enum status archive_add(struct archive *archive, const struct purge_rows *rows,
                                   struct failure *failure);
void archive_keep(struct archive *archive);
/* Cuts off what was not kept. NULL is fine. */
MUST_CHECK enum status archive_close(struct archive *archive, struct failure *failure);

#endif
