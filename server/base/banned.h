/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that this project does without; include last. */
#ifndef SERVER_BASE_BANNED_H
#define SERVER_BASE_BANNED_H

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atof gets
#pragma GCC poison strndup /* text_keep */
#pragma GCC poison gmtime localtime ctime asctime system mktemp tmpnam

#endif
