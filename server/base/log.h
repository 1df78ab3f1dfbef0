/* SPDX-License-Identifier: Apache-2.0 */
/* One line per event, logfmt (key=value), on standard error or a file; never two lines mixed. */
#ifndef SERVER_BASE_LOG_H
#define SERVER_BASE_LOG_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

/* BOINC's four levels (sched_debug_level 1..4). */
enum log_level { LOG_LEVEL_CRITICAL = 1, LOG_LEVEL_WARNING, LOG_LEVEL_NORMAL, LOG_LEVEL_DEBUG };

/* Before the first thread. `path` NULL: standard error. With `journal`, lines begin with <n>. */
MUST_CHECK enum status log_open(const char *path, bool journal, struct failure *failure);
MUST_CHECK enum status log_reopen(void); /* after rotation, same path */
void log_set_level(enum log_level level);
bool log_wants(enum log_level level);

/* Writes "time=... level=... " and the text, which is logfmt already; cut at 4,096 bytes. */
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same, and at its end key=value, quoted and escaped where the value needs it. Words of a
 * database or a client go into the log in this way only, or one of them could end its quotes. */
void log_line_with(enum log_level level, const char *key, struct text value, const char *format,
                   ...) PRINTF_LIKE(4, 5);

/* "event=EVENT why=..." with the value quoted where it needs it. */
void log_event(enum log_level level, const char *event, struct text why);

/* Appends key="value" with quotes and escapes where the value needs them. */
struct buffer;
void log_add_pair(struct buffer *buffer, const char *key, struct text value);

#endif
