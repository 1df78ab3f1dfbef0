/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of systems, drivers and libraries as numbers, read from what clients say of them, in the
 * forms in which plan classes write them (policy(7) 10.1); pure. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_VERSIONS_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_VERSIONS_H

#include "server/base/text.h"

#include <stddef.h>

/* Up to `most` numbers separated by dots at the beginning of the text; returns how many. */
size_t version_read_dotted(struct text text, double *ret_numbers, size_t most);
/* What stands behind the mark; empty if it is not there. */
struct text version_after(struct text text, struct text mark);

/* 10000*major + 100*minor + patch; of Windows 10^8, 10^6 and 100. -1: not to be determined. */
double plan_os_version(struct text os_name, struct text os_version);
double plan_android_version(struct text os_version);
/* 100*major + minor; 0: absent or unreadable. */
double plan_libc_version(struct text os_version);
double opencl_version(struct text text);  /* of "OpenCL 1.2 ..." */
double opencl_revision(struct text text); /* of a driver, "418.226" */
/* 10^7, 10^4 and 1: AMD's releases exceed a thousand. 0: unreadable. */
double cal_version(struct text text);

/* How a version that is a number is written. */
enum version_form {
    VERSION_PLAIN,
    VERSION_OF_CLIENT,  /* 80206: 8.2.6; also systems but Windows, and VirtualBox */
    VERSION_OF_WINDOWS, /* 1001904500: 10.0.19045 */
    VERSION_OF_LIBRARY, /* 236: 2.36, 102: 1.2; also compute capabilities */
    VERSION_OF_CUDA,    /* 11040: 11.4 */
    VERSION_OF_DRIVER,  /* 53512: 535.12 */
    VERSION_OF_CAL      /* 10041741: 1.4.1741 */
};
struct version_words {
    char text[48];
};
/* As people write it; one that is negative is "unknown". */
struct version_words version_words(enum version_form form, double version);

#endif
