/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for tests: the captured ones, and parsing in one line. */
#ifndef TESTS_SUPPORT_REQUESTS_H
#define TESTS_SUPPORT_REQUESTS_H

#include "server/base/text.h"
#include "server/parse/message.h"
#include "server/parse/parse.h"

struct arena;

struct parsed {
    struct arena *arena;
    enum status status;
    struct failure failure;
    struct message message; /* all defaults unless STATUS_OK */
};

/* The body is copied to a heap block of exactly its size first, so that a sanitizer sees a read
 * beyond it; the block lives as long as the answer. */
struct parsed *parse_body(struct text body);
struct parsed *parse_string(const char *body);
struct parsed *parse_within(struct text body, const struct parse_limits *limits, size_t memory_max);
/* Fails the test unless it is accepted. */
struct parsed *parse_accepted(const char *body);
void parsed_free(struct parsed *parsed);

/* What a modest host of today says of itself: four CPUs, 4 GB, Linux. */
void message_of_a_host(struct message *ret_message);

/* "029" finds tests/captures/029-*.xml; on the heap, to be freed by its `at`. */
struct text capture_read(const char *number);
/* All captures in turn: NULL after the last. Paths live until the next call with NULL. */
const char *const *capture_paths(void);
struct text capture_read_path(const char *path);
void text_free(struct text text);

#endif
