/* SPDX-License-Identifier: Apache-2.0 */
/* Which version a program is. The text is made anew by each build (version.cmake) and linked with
 * the programs alone, so that a commit makes nothing else be linked again. */
#ifndef SERVER_BASE_VERSION_H
#define SERVER_BASE_VERSION_H

/* Such as "0.1.0 (commit 0123456789ab)", with ", changed" where the sources differ from that
 * commit. The commit is missing where neither git nor an archive made by it tells. */
extern const char program_version[];
/* What --version of any of our programs prints: "quartermaster " and the same. */
extern const char program_version_line[];

#endif
