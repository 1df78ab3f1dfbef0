/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why beside a true request: what it says of a host, and what the host then reads. Needs
 * QM_BINARY_DIR and QM_SOURCE_DIR, and qmctl in the former. */
#ifndef TESTS_SUPPORT_WHY_H
#define TESTS_SUPPORT_WHY_H

#include "server/base/text.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct random;
struct test_database;
struct why_comparison;

/* An option of config.xml, beside those of the database. */
struct why_option {
    const char *name, *value;
};

/* Documents that can be sent, for all versions that there are. */
void why_write_versions(struct test_database *database);
/* Below `count`; and true in that part of the cases. */
size_t why_pick(struct random *random, size_t count);
bool why_happens(struct random *random, double chance);

/* A project folder for qmctl and a server, both with these options, on this database. */
struct why_comparison *why_open(struct test_database *database, const struct why_option *options,
                                size_t option_count);
void why_close(struct why_comparison *comparison);
/* A file of the project, FOLDER/NUMBER. */
void why_write_file(const struct why_comparison *comparison, const char *folder, int number,
                    const char *content);
/* The server reads plan classes and science apps of the folder, as qmctl does each time. Once. */
void why_read_project(struct why_comparison *comparison);
/* The folder. */
const char *why_project(const struct why_comparison *comparison);
/* For requests; nobody empties it but the caller. */
struct arena *why_arena(const struct why_comparison *comparison);

/* A request that is not compared: what it says is known of the host afterwards. */
void why_come(struct why_comparison *comparison, struct text request, double now);
/* Asks qmctl about the host, sends its request, and fails where one says what the other does not.
 * True: nothing was sent, and the words are the same. */
bool why_compare(struct why_comparison *comparison, int host, struct text request, double now);
/* Whether some host that was refused read this reason. */
bool why_was_told(const struct why_comparison *comparison, enum reason reason);

#endif
