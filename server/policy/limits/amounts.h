/* SPDX-License-Identifier: Apache-2.0 */
/* How much work a request asks for, per resource, and what is left of it as jobs are chosen
 * (policy(7) 6.1); pure. */
#ifndef SERVER_POLICY_LIMITS_AMOUNTS_H
#define SERVER_POLICY_LIMITS_AMOUNTS_H

#include "server/base/text.h"
#include "server/parse/message.h"

#include <stdbool.h>
#include <stddef.h>

/* Resources are data: the CPUs first, then the coprocessors as the client lists them. */
enum { RESOURCE_CPU = 0, RESOURCES_MAX = 1 + MESSAGE_COPROCS_MAX };

struct resource {
    struct text type;       /* "CPU", or the coprocessor's name */
    double count;           /* instances that the client uses */
    double seconds;         /* instance-seconds wanted */
    double instances;       /* idle instances wanted */
    bool tells_idle;        /* the client said how many these are */
    double estimated_delay; /* s until a new job would begin */
};
struct amounts {
    struct resource resources[RESOURCES_MAX];
    size_t resource_count;
    double our_cpus;       /* of the CPUs, those that our limits count */
    bool is_scalar;        /* an old request: one number for all resources */
    double scalar_seconds; /* project-normalized when share is not 1 */
    double share;          /* (0, 1], of this project; 1 unless the request is scalar */
};

/* Whether the client asks for any work: seconds or instances of any resource, or the old scalar;
 * never when it said dont_send_work. */
bool message_wants_work(const struct message *message);

/* The CPUs of a host; at least 1 each. No client obeys our bounds, so they say nothing of what runs
 * on the host: they scale limits, and bound the width of a job of ours (policy(7) 6.2). */
struct cpus {
    double usable; /* by the client, for all its projects */
    double ours;   /* of these, those that our limits count */
};

/* `cpus` is what limits_cpus says. Numbers that no host can have are bounded. With
 * `share_in_scalar` the unit of an old request is project-normalized seconds. */
void amounts_read(const struct message *message, struct cpus cpus, bool share_in_scalar,
                  struct amounts *ret_amounts);
/* The index of a type's resource; resource_count when the host has none of that name. The empty
 * name is the CPU. */
size_t amounts_resource(const struct amounts *amounts, struct text type);

/* A job's use of the request: of resource `resource` it takes `instances` for `wall_time`. */
struct amount_use {
    size_t resource;
    double instances;
    double cpus;      /* of a coprocessor job: its CPU part; counts from one whole CPU up */
    double wall_time; /* s */
};
bool amounts_wants(const struct amounts *amounts, size_t resource);
/* Whether some of its instances are wanted, whatever the seconds; never of a scalar request. */
bool amounts_wants_instances(const struct amounts *amounts, size_t resource);
/* Whether the job takes no more than what is left. */
bool amounts_fits(const struct amounts *amounts, const struct amount_use *use);
void amounts_take(struct amounts *amounts, const struct amount_use *use);
/* How many instances of each resource a job occupies, added to `occupied`: those of its own
 * resource, and of the CPUs its CPU part if that is a whole one at least. */
void amounts_occupy(double occupied[RESOURCES_MAX], const struct amount_use *use);

#endif
