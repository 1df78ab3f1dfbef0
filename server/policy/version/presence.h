/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the time a host can compute, learned from its contacts (policy(7) 5.1); pure.
 *
 * Clients report an average over their lifetime. But a host that asks for work is on, and hosts
 * that are on tend to stay on: over the next days it will compute more than that average says.
 * Clients since 7.4 also count the seconds in which they could compute. The growth of that count
 * between two contacts is therefore one observation of the time after a contact.
 *
 * One observation is open. The first contact that comes at least two days after the one that began
 * it closes it, and begins the next one. */
#ifndef SERVER_POLICY_VERSION_PRESENCE_H
#define SERVER_POLICY_VERSION_PRESENCE_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct message;

/* The part of the time after a contact, [0, 1]; 0 both: not known. */
struct presence_shares {
    double cpu, gpu;
};

/* Times and counts are whole seconds; begun 0: no observation is open. */
struct learned_presence {
    uint32_t begun, active, gpu_active; /* when the observation was begun, and the counts of then */
    float weight;                       /* of those that were closed, each .98 of the next */
    float cpu, gpu;                     /* their mean */
};

/* As it is kept in the guard row; of anything else, an empty one. */
struct learned_presence presence_read(struct text stored);
struct text presence_write(const struct learned_presence *presence, struct arena *arena);

/* A contact at `now` (epoch). False: it changes nothing, as that of a client that does not count.
 */
bool presence_contact(struct learned_presence *presence, double now, const struct message *message);

/* The mean of several hosts, each with the weight of its observations. Not known for fewer than 10
 * hosts that have any. */
struct presence_shares presence_of_crowd(const struct text *stored, size_t count);

/* What is expected of a host: its own mean, with the crowd's as five observations more, or
 * `reported`, if the crowd's is not known. Not known, if the host has no open observation. */
struct presence_shares presence_expect(const struct learned_presence *presence,
                                       struct presence_shares crowd,
                                       struct presence_shares reported);

#endif
