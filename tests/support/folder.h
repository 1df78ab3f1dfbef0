/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that tests make. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

/* With all that is in it; links are not followed. 0, or -1: something stayed. */
int test_folder_remove(const char *path);

#endif
