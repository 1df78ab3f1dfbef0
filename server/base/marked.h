/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that BOINC Managers translate. The English sentence is the key, so it must equal that
 * of their catalogue (BOINC-Client) byte for byte. Marks enclose the part of a message that a
 * Manager translates; names and figures are outside. Inside the server the marks are two control
 * characters, which never occur on the wire; the reply writes them for clients that know them
 * (protocol(7) 3.5), and drops them for others. */
#ifndef SERVER_BASE_MARKED_H
#define SERVER_BASE_MARKED_H

#include "server/base/text.h"

#include <stdbool.h>

struct arena;
struct buffer;

#define MARK_BEGIN   "\001"
#define MARK_END     "\002"
#define MARKED(text) MARK_BEGIN text MARK_END

#define SAYS_KEY_WRONG "Invalid or missing account key.  To fix, remove and add this project."
#define SAYS_KEY_CHANGED \
    "The project has changed its security key.  Please remove and add this project."
#define SAYS_NOT_FOR_SYSTEM "This project doesn't support operating system"
#define SAYS_NOT_FOR_CPU    "This project doesn't support CPU type"
#define SAYS_CLIENT_TOO_OLD \
    "Your BOINC client software is too old.  Please install the current version."
#define SAYS_NOT_FOR_TYPE "This project doesn't support computers of type"
#define SAYS_DRIVER_FOR_GPU \
    "Upgrade to the latest driver to process tasks using your computer's GPU"
#define SAYS_DRIVER_FOR_APPS \
    "Upgrade to the latest driver to use all of this project's GPU applications"
#define SAYS_CLIENT_FOR_CUDA                                                                    \
    "A newer version of BOINC is needed to use your NVIDIA GPU; please upgrade to the current " \
    "version"
#define SAYS_NOT_SELECTED "No tasks are available for the applications you have selected."
#define SAYS_TYPE_UNKNOWN "Your computer type is not supported by this project"
#define SAYS_NEWER_CLIENT "Newer BOINC version required; please install current version"
#define SAYS_OWN_VERSIONS "Your app_info.xml file doesn't have a usable version of"

/* Without the marks, as for people who read no Manager; in the arena where it has some. */
struct text marked_plain(struct arena *arena, struct text text);
/* As the Manager wants it, escaped for XML. What is cut in the middle of a marked part has no
 * marks: a Manager that finds one without the other waits for ever. Nor can a name bring one. */
void marked_write(struct text text, struct buffer *buffer);

#endif
