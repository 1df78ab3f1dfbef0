/* SPDX-License-Identifier: Apache-2.0 */
/* The pages for joining as XML. Each is well-formed and ends with its root; every element begins a
 * line, because clients before 7.0 read lines. A client takes an answer without an error number for
 * a success, so each has either an authenticator or an error. Pure. */
#ifndef SERVER_JOIN_JOIN_PAGE_H
#define SERVER_JOIN_JOIN_PAGE_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct catalog;
struct config;

enum join_page { JOIN_NONE, JOIN_CONFIG, JOIN_CREATE, JOIN_LOOKUP };

/* Which page a path names: its last part. */
enum join_page join_page_of(struct text path);
/* By a request's method, SCRIPT_NAME and PATH_INFO: a web server may take the last part of the path
 * for a path behind a script. */
enum join_page join_page_asked(struct text method, struct text script, struct text path);
const char *join_page_word(enum join_page page); /* for the log: its name without .php */

/*       name              BOINC's number  what the volunteer reads */
#define JOIN_ERRORS(ERROR)                                                               \
    ERROR(BAD_REQUEST, -1, "The request lacks an e-mail address, a password or a name")  \
    ERROR(TOO_MANY_TRIES, -1, "There were too many tries; please wait some minutes")     \
    ERROR(NO_SUCH_ACCOUNT, -136, "There is no account with this e-mail address")         \
    ERROR(ACCOUNT_EXISTS, -137,                                                          \
          "An account with this e-mail address exists, with another "                    \
          "password")                                                                    \
    ERROR(DOWN, -183, "The project is down for the moment; please try again later")      \
    ERROR(BUSY, -183, "Many people want to join just now; please try again in a minute") \
    ERROR(BAD_NAME, -188,                                                                \
          "This name cannot be used: it must not be a number, nor begin or end "         \
          "with a blank, nor hold any of < > & ' \"")                                    \
    ERROR(NAME_TAKEN, -188, "Another account has this name; please choose another one")  \
    ERROR(BAD_EMAIL, -205, "This is not an e-mail address")                              \
    ERROR(BAD_PASSWORD, -206, "The e-mail address or the password is wrong")             \
    ERROR(CREATION_DISABLED, -208, "This project takes no new accounts in this way")     \
    ERROR(NEEDS_CONSENT, -242,                                                           \
          "An account needs your consent to the terms of use; a newer "                  \
          "version of BOINC asks for it")

enum join_error {
    JOIN_NO_ERROR,
#define JOIN_ERROR_ENUM(name, number, text) JOIN_##name,
    JOIN_ERRORS(JOIN_ERROR_ENUM)
#undef JOIN_ERROR_ENUM
        JOIN_ERROR_COUNT
};

int join_error_number(enum join_error error); /* 0: JOIN_NO_ERROR */
void join_write_error(struct buffer *page, enum join_error error);
void join_write_key(struct buffer *page, struct text authenticator);

/* What is told of the project before anybody joins. */
struct join_project {
    const struct config *config;
    const struct catalog *catalog; /* NULL: not known */
    struct text terms_of_use;      /* plain text or HTML; empty: none */
    bool terms_are_lost;           /* there are some, which cannot be shown: nobody joins */
    bool is_stopped;
};
void join_write_config(struct buffer *page, const struct join_project *project);

#endif
