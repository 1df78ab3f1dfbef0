/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of plan classes tell each other: a host before one class. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_TRIAL_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_TRIAL_H

#include "server/policy/plan_class/plan_class.h"

#define MEGABYTE 1048576.0

/* A host before one class. */
struct trial {
    const struct plan_class *class;
    const struct plan_host *host;
    const struct coproc *coproc; /* of the class's type; NULL: CPU class */
    struct arena *arena;
    struct plan_verdict *verdict;
};

/* Answers false, for whoever refuses. */
bool trial_refuse(struct trial *trial, const char *format, ...) PRINTF_LIKE(2, 3);
/* No expression matches everything. */
bool trial_matches(const struct plan_regex *regex, struct arena *arena, struct text text);

/* Up to `most` numbers separated by dots at the beginning of the text; returns how many. */
size_t trial_read_dotted(struct text text, double *ret_numbers, size_t most);
/* What stands behind the mark; empty if it is not there. */
struct text trial_after_mark(struct text text, struct text mark);
/* "OpenCL 1.2 ..." is 102; 0: unknown. */
double trial_opencl_version(struct text text);
double trial_opencl_revision(struct text text);
/* AMD's releases exceed a thousand, hence the wide places. 0: unreadable. */
double trial_cal_version(struct text text);

bool trial_has_acceleration(const struct message *message);
/* Bytes; each type's own figure where there is one. */
double trial_coproc_memory(const struct coproc *coproc, bool opencl);
/* Finds the processor that the class means, and names its type in the verdict, whatever is refused
 * for other reasons. */
void trial_name_type(struct trial *trial);

/* The demands. False: refused, and verdict->why says why. */
bool trial_in_use(struct trial *trial);
bool trial_is_lucky(struct trial *trial);
bool trial_client_fits(struct trial *trial);
bool trial_cpu_fits(struct trial *trial);
bool trial_system_fits(struct trial *trial);
bool trial_preferences_fit(struct trial *trial);
bool trial_virtualbox_fits(struct trial *trial);
bool trial_containers_fit(struct trial *trial);
bool trial_has_coproc(struct trial *trial);
bool trial_nvidia_fits(struct trial *trial);
bool trial_amd_fits(struct trial *trial);
bool trial_apple_fits(struct trial *trial);
bool trial_opencl_fits(struct trial *trial);
bool trial_coproc_size_fits(struct trial *trial);

#endif
