/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/folder.h"

#include <ftw.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { DESCRIPTORS_MOST = 16 };

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

int test_folder_remove(const char *path)
{
    return nftw(path, remove_one, DESCRIPTORS_MOST, FTW_DEPTH | FTW_PHYS);
}
