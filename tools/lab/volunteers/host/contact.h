/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a project's schedulers a host contacts, when it reads the master page that names them,
 * and when it may contact the project again. Failures are counted by client/rpc_session.h for all
 * fetch policies; a policy that works in sessions chooses schedulers and reads pages in its own
 * order. Schedulers have numbers here; the code that carries the requests knows their URLs. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_CONTACT_H
#define TOOLS_LAB_VOLUNTEERS_HOST_CONTACT_H

#include "tools/lab/volunteers/client/client.h"
#include "tools/lab/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct volunteer;

/* The host begins to belong to the project. */
void contact_attach(struct volunteer *volunteer, size_t project);
/* The number of the scheduler to ask, where `turn` of them have failed in this contact. in_order:
 * as the master page names them; else the first one is drawn. */
size_t contact_scheduler(struct volunteer *volunteer, size_t project, size_t turn, bool in_order);

/* For policies without sessions: the project whose master page is to be read now, or project_count;
 * when the next one is to be read, or INFINITY; and the project of which another scheduler is to be
 * tried at once, or project_count. */
size_t contact_due_master(const struct volunteer *volunteer);
double contact_next_master(const struct volunteer *volunteer);
size_t contact_unfinished(const struct volunteer *volunteer);

/* How an RPC to the project ended. is_down: a scheduler answered that the project is down. */
void contact_succeeded(struct volunteer *volunteer, size_t project);
void contact_failed(struct volunteer *volunteer, size_t project, bool is_down);
/* The schedulers that its master page names; none: it could not be read, or names none. */
void contact_hear_master(struct volunteer *volunteer, size_t project, const uint8_t *schedulers,
                         size_t count);

/* The project's minimum RPC time lies ahead. */
bool contact_is_deferred(const struct volunteer *volunteer, size_t project);
/* For policies without back-offs of resources: a project that sent no job waits, longer each time,
 * as after a failed RPC. Those clients knew no such waiting and thought of fetching once a second,
 * so a project without work that asks for no delay would be asked each second. */
void contact_wait_if_empty(struct volunteer *volunteer, const struct fetch_request *request,
                           const enum fetch_answer answers[CLIENT_RESOURCES]);
/* When the first project that has to be waited for may be asked again. */
double contact_next_free(const struct volunteer *volunteer);

#endif
