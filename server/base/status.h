/* SPDX-License-Identifier: Apache-2.0 */
/* What a call that can fail answers, and the one place where the reason is kept.
 *
 * server/base/ is what every other room stands on, and knows nothing of scheduling: how a call
 * fails (here), text as slices (text.h, buffer.h), memory and work that are bounded for each
 * request (arena.h, budget.h), files, the log and the counters of the process (file.h, log.h,
 * counters.h), durations and random numbers (clock.h, random.h), sorted lists (sorted.h), and the
 * only users of OpenSSL and libxml2 (crypto.h, xml.h). A header here includes at most status.h and
 * text.h. The last include of every source is banned.h, which forbids some functions of the C
 * library. */
#ifndef SERVER_BASE_STATUS_H
#define SERVER_BASE_STATUS_H

#define MUST_CHECK                       __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/*      name        word            what it means to the caller */
#define STATUSES(STATUS)                                                                        \
    STATUS(OK, "ok")                                                                            \
    STATUS(NOT_FOUND, "not found") /* an answer, not an error */                                \
    STATUS(INVALID, "invalid")     /* what was given cannot be used */                          \
    STATUS(TOO_LARGE, "too large") /* a bound of ours was reached */                            \
    STATUS(NO_MEMORY, "no memory")                                                              \
    STATUS(IO, "input or output failed")                                                        \
    STATUS(DB_RETRY, "transaction to be repeated") /* deadlock, lock wait */                    \
    STATUS(DB_GONE, "database gone")               /* connection lost before COMMIT was sent */ \
    STATUS(DB_UNKNOWN, "outcome unknown")  /* connection lost while COMMIT was under way */     \
    STATUS(DB_REFUSED, "database refused") /* constraint, access */                             \
    STATUS(DB_BUG, "statement at fault")   /* syntax, missing column: ours */

enum status {
#define STATUS_ENUM(name, word) STATUS_##name,
    STATUSES(STATUS_ENUM)
#undef STATUS_ENUM
        STATUS_COUNT
};

const char *status_word(enum status status);

/* The reason of the first failure, one line. Zero it before use. */
struct failure {
    enum status status;
    char text[512];
};

/* Keeps the text if it is the first one and returns `status`, so that failing is one line:
 * return fail(failure, STATUS_INVALID, "line %d: ...", line). `failure` may be NULL. */
enum status fail(struct failure *failure, enum status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
#ifdef __clang_analyzer__
/* It answers what it is given, which the analyzer cannot see from here. */
#define fail(failure, status, ...) ((fail)(failure, status, __VA_ARGS__), (status))
#endif

/* For what can only be our own mistake: aborts with file and line, in every build. Nothing that a
 * client, a file or a row contains may reach it. */
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))
_Noreturn void must_failed(const char *condition, const char *file, int line);

#endif
