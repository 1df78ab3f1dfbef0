/* SPDX-License-Identifier: Apache-2.0 */
/* How long the processors of a host are busy with jobs in danger: what clients tell servers as the
 * estimated delay of a resource. */
#ifndef TOOLS_VOLUNTEERS_HOST_BUSY_H
#define TOOLS_VOLUNTEERS_HOST_BUSY_H

#include <stddef.h>

struct volunteer;

/* s of wall time until an instance of the resource is free of them. */
double busy_delay(const struct volunteer *volunteer, size_t resource);

#endif
