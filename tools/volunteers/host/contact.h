/* SPDX-License-Identifier: Apache-2.0 */
/* Whom of a project's schedulers a host contacts, and when it reads the master page that names
 * them. Failures are counted by the rules of session.h, whatever the host fetches by; a client that
 * talks in sessions has its own turns, and reads pages when a session ends. Schedulers have
 * numbers, which those who carry requests know the URLs of. */
#ifndef TOOLS_VOLUNTEERS_HOST_CONTACT_H
#define TOOLS_VOLUNTEERS_HOST_CONTACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct volunteer;

enum { CONTACT_SCHEDULERS_MAX = 16 }; /* of a project, that a host knows */

struct contact {
    uint8_t schedulers[CONTACT_SCHEDULERS_MAX]; /* by number; how many: session.h */
    size_t first;                               /* that was tried, of this contact */
    size_t turn;                                /* so many failed; another is tried at once */
};

/* The host begins to belong to the project. */
void contact_attach(struct volunteer *volunteer, size_t project);
/* The number of the one to ask, where `turn` of them have failed. */
size_t contact_scheduler(struct volunteer *volunteer, size_t project, size_t turn);

/* For those who do not talk in sessions; project_count: none. The project whose page is to be read
 * now, when the next one is to be read (INFINITY: not at all), and the one that has another
 * scheduler to be tried at once. */
size_t contact_due_master(const struct volunteer *volunteer);
double contact_next_master(const struct volunteer *volunteer);
size_t contact_unfinished(const struct volunteer *volunteer);

/* How an RPC to the project ended. is_down: by the word of a scheduler. */
void contact_succeeded(struct volunteer *volunteer, size_t project);
void contact_failed(struct volunteer *volunteer, size_t project, bool is_down);
/* What its master page names; nothing: it could not be read, or names none. */
void contact_hear_master(struct volunteer *volunteer, size_t project, const uint8_t *schedulers,
                         size_t count);

#endif
