/* SPDX-License-Identifier: Apache-2.0 */
/* What BOINC clients make of a project's address, master_url; pure. A client that refuses it tells
 * the volunteer nothing by boinccmd, so it has to be said where the address is chosen.
 *
 * A client first brings the address into the form in which it then knows the project: the scheme in
 * small letters, slashes in a row joined, a slash at the end; later clients also write the host in
 * small letters. Then it wants a dot somewhere behind the "//", since addresses of single words are
 * mostly typing errors: http://localhost/ is refused, http://127.0.0.1/ is not. */
#ifndef SERVER_CHECK_MASTER_URL_H
#define SERVER_CHECK_MASTER_URL_H

#include "server/base/text.h"

struct arena;

/*   FAULT(name, words behind the address) */
#define MASTER_URL_FAULTS(FAULT)                                                                  \
    FAULT(NONE, "")                                                                               \
    FAULT(SCHEME, "begins neither with http:// nor with https://")                                \
    FAULT(HOST, "names no host")                                                                  \
    FAULT(CHARACTER, "has a character that no URL has")                                           \
    FAULT(NO_DOT, "has no dot behind the \"//\", and BOINC clients refuse such an address: take " \
                  "127.0.0.1 for this machine alone, else a host name with a dot")                \
    FAULT(DOT_FIRST, "has a dot directly behind the \"//\", and BOINC clients refuse such an "    \
                     "address: take a whole host name")                                           \
    FAULT(DOT_LAST, "has its first dot directly before a slash, and BOINC clients refuse such "   \
                    "an address: take a host name with a dot inside")
enum master_url_fault {
#define MASTER_URL_FAULT(name, words) MASTER_URL_##name,
    MASTER_URL_FAULTS(MASTER_URL_FAULT)
#undef MASTER_URL_FAULT
        MASTER_URL_FAULT_COUNT
};

/* Why nobody can join at this address. */
enum master_url_fault master_url_judge(struct text url);
/* To follow the address in a sentence. */
const char *master_url_fault_words(enum master_url_fault fault);
/* The form in which clients know the project, in the arena. Of a URL without a fault. */
struct text master_url_spelled(struct arena *arena, struct text url);

#endif
