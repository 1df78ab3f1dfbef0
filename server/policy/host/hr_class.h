/* SPDX-License-Identifier: Apache-2.0 */
/* Homogeneous redundancy: the class of a host, by which all instances of a workunit go to
 * computers of one kind (policy(7) 7.3); pure. */
#ifndef SERVER_POLICY_HOST_HR_CLASS_H
#define SERVER_POLICY_HOST_HR_CLASS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* As stored in app.homogeneous_redundancy. */
enum hr_type { HR_NONE, HR_FINE, HR_COARSE };

/* The class that a project's database knows such a host by; the same text always gives the same
 * number, down to the quirks of substring matching, since it is stored in workunits. */
int64_t hr_class(enum hr_type type, struct text os_name, struct text p_vendor, struct text p_model);

/* "Linux": the first part of what the number stands for; "else" where it is none of these. */
const char *hr_class_system(int64_t class_number);

/* Whether a class is one of a kind that jobs can be committed to. */
bool hr_class_is_known(enum hr_type type, int64_t class_number);

#endif
