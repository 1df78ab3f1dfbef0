/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake database share. */
#ifndef TESTS_SUPPORT_DB_FAKE_PARTS_H
#define TESTS_SUPPORT_DB_FAKE_PARTS_H

#include "tests/support/db_fake.h"

/* Every call begins with this: keeps it on record, fails the test if it has no answer for it, and
 * says whether it is one of those that fail. `id` 0: it is about no row. */
enum status db_fake_call(const char *function, int64_t id);
#define CALL(id) db_fake_call(__func__, (id))

/* The linker takes of a library the files that something names. db_fake.c names all these, so that
 * a program has the whole of the fake database or nothing. */
extern const char db_fake_hosts, db_fake_jobs, db_fake_rest;
extern const char *const db_fake_files[];

/* Nobody needs more than a few of the arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
