/* SPDX-License-Identifier: Apache-2.0 */
/* The versions that a client with an anonymous platform brings, in an order in which the best one
 * for a job is found without looking at all of them; pure.
 *
 * A client may list thousands, and each is a candidate for each job. But what the server knows of
 * them is kept by app and resource, in one row of host_app_version: quota, reliability and what
 * they run on are the same for all of these. They differ in their speed here, in their number and
 * in whether they are of a 64-bit system. They are therefore sorted once, by app, resource and
 * bits, the fastest first, and again with the number before the resource, for the workunits that
 * ask for a certain number. The choice looks at the first of a run.
 *
 * Looking for a run takes the logarithm of the number of versions. It is charged to the budget of
 * the request without asking for the answer: the search ends by itself, and a request chooses for
 * a bounded number of jobs. */
#ifndef SERVER_POLICY_VERSION_OWN_VERSIONS_H
#define SERVER_POLICY_VERSION_OWN_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct budget;
struct version_option;
struct version_options;

struct own_version {
    int64_t appid;
    int64_t number; /* 0 in the order without numbers */
    size_t resource;
    int64_t app_version_id; /* one resource has one, but for those that the host does not show */
    bool is_64bit;
    const struct version_option *option;
    const struct version_option
        *first; /* of a run's first one: which of the run was listed first */
};
/* Versions beside each other; of a run all have the same app, number, resource and bits, and the
 * best one is the first. */
struct own_span {
    const struct own_version *items;
    size_t count;
};
enum { OWN_VERSION_KINDS = 5 /* ids of own versions in result: -2 to -6 */ };
struct own_versions {
    struct own_span by_speed, by_number;
    const struct version_option *of_kind[OWN_VERSION_KINDS]; /* the first listed; NULL: none */
    struct budget *budget; /* of the request; what is done here is charged to it */
};

/* Sorts options that are all a client's own. NULL: no memory. */
struct own_versions *own_versions_sort(struct arena *arena, const struct version_options *options,
                                       struct budget *budget);

/* Those of an app; `number` 0: whatever theirs is. */
struct own_span own_versions_of_app(const struct own_versions *own, int64_t appid, int64_t number);
/* Of a span of one app and number those that run on a resource, and of these the run of the bits.
 */
struct own_span own_versions_on(struct own_span span, size_t resource);
struct own_span own_versions_of_bits(struct own_span span, bool is_64bit);
/* The first listed one of an app (0: of any) with this app_version_id. NULL: there is none. */
const struct version_option *own_versions_find(const struct own_versions *own, int64_t appid,
                                               int64_t app_version_id);

#endif
