/* SPDX-License-Identifier: Apache-2.0 */
/* Many files are deleted by several threads, since a deletion mostly waits: for the journal of the
 * file system, or for a file server. */
#ifndef SERVER_PASSES_UNLINKING_H
#define SERVER_PASSES_UNLINKING_H

#include <stddef.h>

struct pass_lease;

enum { UNLINK_NOT_TRIED = -1 };

struct unlinking {
    const char *path;
    int error; /* 0: deleted; UNLINK_NOT_TRIED; or errno */
};

/* Neighbours in the list are best in one folder. Soon after the lease is not held any more, none is
 * begun. */
void unlink_files(struct unlinking *files, size_t count, struct pass_lease *lease);

#endif
