/* SPDX-License-Identifier: Apache-2.0 */
/* The log is the process's own, so its descriptor and level are the process's. A line is put
 * together on the stack and leaves in one write(2) of at most 4,096 bytes, which pipes and files
 * opened for appending take whole: lines of several threads and processes never mix. Reopening puts
 * the new file behind the old descriptor number, so that a thread in the middle of a line needs no
 * lock. Logging never fails in the caller's face; where the log cannot be written, nothing
 * else can report it. */
#include "server/base/log.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { LINE_BYTES_MAX = 4096 };
_Static_assert(LINE_BYTES_MAX <= PIPE_BUF, "a longer write to a pipe may be mixed with others");

static const struct {
    const char *word;
    int priority; /* of syslog, which the journal reads as <n> */
} levels[] = {
    [LOG_LEVEL_CRITICAL] = {"critical", 2},
    [LOG_LEVEL_WARNING] = {"warning", 4},
    [LOG_LEVEL_NORMAL] = {"normal", 6},
    [LOG_LEVEL_DEBUG] = {"debug", 7},
};

static struct {
    int descriptor;
    char path[PATH_MAX]; /* empty: standard error */
    bool journal;
    _Atomic int level;
} sink = {.descriptor = STDERR_FILENO, .level = LOG_LEVEL_NORMAL};

static int open_for_append(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

enum status log_open(const char *path, bool journal, struct failure *failure)
{
    int descriptor = STDERR_FILENO;

    if (path != NULL) {
        if (strlen(path) >= sizeof(sink.path))
            return fail(failure, STATUS_INVALID, "log path too long");
        descriptor = open_for_append(path);
        if (descriptor < 0)
            return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
        memcpy(sink.path, path, strlen(path) + 1);
    } else {
        sink.path[0] = '\0';
    }
    if (sink.descriptor != STDERR_FILENO)
        (void)close(sink.descriptor);
    sink.descriptor = descriptor;
    sink.journal = journal && path == NULL; /* a file is nobody's journal */
    return STATUS_OK;
}

enum status log_reopen(void)
{
    if (sink.path[0] == '\0')
        return STATUS_OK;
    int descriptor = open_for_append(sink.path);
    if (descriptor < 0)
        return STATUS_IO; /* the old file goes on being written */
    bool is_replaced = dup3(descriptor, sink.descriptor, O_CLOEXEC) >= 0;
    (void)close(descriptor);
    return is_replaced ? STATUS_OK : STATUS_IO;
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&sink.level, (int)level, memory_order_relaxed);
}

bool log_wants(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&sink.level, memory_order_relaxed);
}

/* Returns the length of the line's beginning, which is always far below the bound. */
static size_t print_head(char *line, size_t size, enum log_level level)
{
    struct timespec now = {0};
    struct tm utc = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t length = 0;
    if (sink.journal)
        length = (size_t)snprintf(line, size, "<%d>", levels[level].priority);
    length += strftime(line + length, size - length, "time=%Y-%m-%dT%H:%M:%S", &utc);
    length += (size_t)snprintf(line + length, size - length, ".%03ldZ level=%s ",
                               now.tv_nsec / 1000000, levels[level].word);
    return length;
}

void log_line(enum log_level level, const char *format, ...)
{
    char line[LINE_BYTES_MAX];

    if (!log_wants(level))
        return;
    must(level >= LOG_LEVEL_CRITICAL && level <= LOG_LEVEL_DEBUG);
    size_t head = print_head(line, sizeof(line), level);
    va_list arguments;
    va_start(arguments, format);
    int printed = vsnprintf(line + head, sizeof(line) - head, format, arguments);
    va_end(arguments);
    size_t length = head + (printed < 0 ? 0 : (size_t)printed);
    if (length > sizeof(line) - 1)
        length = sizeof(line) - 1;
    shown_blank(line + head, length - head);
    line[length] = '\n';
    while (write(sink.descriptor, line, length + 1) < 0 && errno == EINTR)
        continue;
}

static bool is_bare(char character)
{
    return character > ' ' && character < 127 && character != '"' && character != '=' &&
           character != '\\';
}

static void add_escaped(struct buffer *buffer, char character)
{
    switch (character) {
    case '"':
        buffer_add_string(buffer, "\\\"");
        break;
    case '\\':
        buffer_add_string(buffer, "\\\\");
        break;
    case '\n':
        buffer_add_string(buffer, "\\n");
        break;
    case '\r':
        buffer_add_string(buffer, "\\r");
        break;
    case '\t':
        buffer_add_string(buffer, "\\t");
        break;
    default:
        if (character >= ' ' && character < 127)
            buffer_add_char(buffer, character);
        else /* whatever a client sends, the log stays plain ASCII */
            buffer_print(buffer, "\\x%02x", (unsigned char)character);
        break;
    }
}

void log_add_pair(struct buffer *buffer, const char *key, struct text value)
{
    bool needs_quotes = value.length == 0;

    for (size_t i = 0; i < value.length && !needs_quotes; i++)
        needs_quotes = !is_bare(value.at[i]);
    if (buffer->length > 0)
        buffer_add_char(buffer, ' ');
    buffer_add_string(buffer, key);
    buffer_add_char(buffer, '=');
    if (!needs_quotes) {
        buffer_add(buffer, value);
        return;
    }
    buffer_add_char(buffer, '"');
    for (size_t i = 0; i < value.length; i++)
        add_escaped(buffer, value.at[i]);
    buffer_add_char(buffer, '"');
}

void log_line_with(enum log_level level, const char *key, struct text value, const char *format,
                   ...)
{
    char begin[LINE_BYTES_MAX];
    struct buffer line;
    va_list arguments;

    if (!log_wants(level))
        return;
    va_start(arguments, format);
    (void)vsnprintf(begin, sizeof(begin), format, arguments);
    va_end(arguments);
    line = buffer_on_heap((size_t)2 * LINE_BYTES_MAX);
    buffer_add_string(&line, begin);
    log_add_pair(&line, key, value);
    log_line(level, TEXT_FORMAT, TEXT_ARG(buffer_text(&line)));
    buffer_free(&line);
}

void log_event(enum log_level level, const char *event, struct text why)
{
    struct buffer line;

    if (!log_wants(level))
        return;
    line = buffer_on_heap(LINE_BYTES_MAX);
    log_add_pair(&line, "event", text_from(event));
    log_add_pair(&line, "why", why);
    log_line(level, TEXT_FORMAT, TEXT_ARG(buffer_text(&line)));
    buffer_free(&line);
}
