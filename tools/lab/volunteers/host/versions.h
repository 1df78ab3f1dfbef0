/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of applications that a host has of one project, in the order in which they came. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_VERSIONS_H
#define TOOLS_LAB_VOLUNTEERS_HOST_VERSIONS_H

#include <stddef.h>
#include <stdint.h>

struct incoming_job;

enum { VERSIONS_MAX = 32, VERSIONS_NONE = VERSIONS_MAX };

struct host_version {
    char *app, *platform, *plan_class;
    int64_t number;
    double cpus, flops; /* flops 0: not told */
    size_t coproc;      /* the kind that it uses besides, or CLIENT_CPU: none */
    double coprocs;
};
struct host_versions {
    struct host_version *at;
    size_t count;
};

/* Adds the version of the job, or brings its figures up to date. Returns its index; VERSIONS_NONE:
 * the reply does not say it, or there is no room or memory. */
size_t versions_note(struct host_versions *versions, const struct incoming_job *job);
void versions_free(struct host_versions *versions);

#endif
