/* SPDX-License-Identifier: Apache-2.0 */
/* How the clients of August 2004 shared disk space between projects. Pure; sizes in bytes, times
 * in s. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_STORAGE_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { STORAGE_LOW = 1, STORAGE_MEDIUM = 3, STORAGE_HIGH = 5 }; /* priorities of files */
#define STORAGE_LIFE (60 * 86400.0) /* s, unless a file says otherwise */

struct storage_project {
    double share;
    bool by_priority; /* deletion_policy_priority */
    bool by_expiry;   /* deletion_policy_expire */
    bool checked;     /* while making room */
};

/* In the order in which they came to the host. */
struct storage_file {
    size_t project;
    double bytes;
    int priority;
    double last_used, expires;
    bool sticky;       /* stays when nothing refers to it any more */
    size_t references; /* of results that are not over */
    bool deleted;
};

struct storage_result {
    size_t project;
    bool running;
    bool waits_for_ack; /* reported, and not yet acknowledged */
    bool dropped;
    const size_t *files;
    size_t file_count;
};

struct storage {
    double total_limit; /* of preferences and the disk */
    double core_usage;  /* of the client itself */
    struct storage_project *projects;
    size_t project_count;
    struct storage_file *files;
    size_t file_count;
    struct storage_result *results;
    size_t result_count;
};

/* A file as it comes without further attributes. */
struct storage_file storage_new_file(size_t project, double bytes, double now);

double storage_usage(const struct storage *storage, size_t project);
double storage_limit(const struct storage *storage, size_t project);
/* Of all projects' space; negative when too much is used. */
double storage_free(const struct storage *storage);
/* The project that exceeds its limit most, of those not checked; project_count if none does. */
size_t storage_greatest_offender(const struct storage *storage);

/* The file of a project to be deleted first, of those up to a priority; file_count if there is
 * none. */
size_t storage_next_file(const struct storage *storage, size_t project, int priority, double now);
/* Whether there is room for a file of a project; deletes others where that helps. The caller then
 * adds it. */
bool storage_make_room(struct storage *storage, size_t project, double bytes, double now);

/* To be asked at each poll before anything else. True: more is used than may be, and nothing can
 * be done about it; all computation is to stop. */
bool storage_enforce(struct storage *storage, double now);

/* What a request tells: free; with offending projects' files deleted; with its own as well. */
struct storage_amounts {
    double free, with_offenders, with_self;
};
struct storage_amounts storage_tell_amounts(const struct storage *storage, size_t project,
                                            double now);

#endif
