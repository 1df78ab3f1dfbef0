/* SPDX-License-Identifier: Apache-2.0 */
/* One host before one plan class: an ordered table of what the class can demand of a host's client,
 * CPU, system, preferences, virtual machines, containers and coprocessors; pure. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_DEMANDS_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_DEMANDS_H

#include "server/policy/plan_class/plan_class.h"

#include <stdbool.h>
#include <stdint.h>

struct coproc;
struct message;

/* The host as a class sees it. */
struct plan_host {
    const struct message *message;
    int64_t client_version, userid;
    double cpus;                  /* usable ones */
    double memory;                /* usable bytes */
    double cpu_flops;             /* of one CPU, bounded to what is credible */
    struct text primary_platform; /* by its name: 64 bits or not */
    struct text project_prefs;    /* of the user, raw */
    struct text venue;            /* of the host */
    double chance;                /* uniform in [0, 1) */
};

/* The caller sets the first three. The coprocessor is the one that the class means; NULL: the class
 * is for the CPU, or the host has none. Its type is named also where the host has none; empty: CPU.
 */
struct trial {
    const struct plan_class *class;
    const struct plan_host *host;
    struct arena *arena;
    const struct coproc *coproc;
    struct text coproc_type;
    struct text why; /* of a refusal, for people */
};

/* The type of coprocessor that jobs of the class use, as clients call it, or the pattern that the
 * type has to match; empty: none, the class is for the CPU. */
struct text plan_class_coproc(const struct plan_class *class);

/* Refused softly: the computer could run it; chance or its user's choice is against it. */
enum trial_outcome { TRIAL_PASSED, TRIAL_REFUSED_SOFTLY, TRIAL_REFUSED };
enum trial_outcome trial_judge(struct trial *trial);

/* Says why, and answers false. */
bool trial_refuse(struct trial *trial, const char *format, ...) PRINTF_LIKE(2, 3);

/* Whether the CPU has virtualisation, and it is switched on. */
bool plan_host_has_acceleration(const struct message *message);

#endif
