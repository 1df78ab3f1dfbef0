/* SPDX-License-Identifier: Apache-2.0 */
/* project_check for a running server: findings are counted, and logged if they differ from the
 * last ones. */
#ifndef SERVER_PROCESS_PROJECT_LOOK_H
#define SERVER_PROCESS_PROJECT_LOOK_H

#include "server/check/project_check.h"

#include <stdint.h>

struct config;

/* With CHECK_DATABASE only what is found in the database is logged: a look without it logs the
 * rest. *logged: a digest of what this kind of look logged last, 0 at first. Takes as long as a
 * check, so it is for threads that no request waits for. */
void project_look(const struct config *config, enum check_database database, uint64_t *logged,
                  struct check_counts *ret_counts);

#endif
