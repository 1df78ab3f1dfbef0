/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a host in order of precedence: what is known of when each is done, and what each can
 * spare; pure. */
#ifndef SERVER_POLICY_EDF_EDF_QUEUE_H
#define SERVER_POLICY_EDF_EDF_QUEUE_H

#include "server/policy/edf/edf_load.h"
#include "server/policy/edf/edf_shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { EDF_SAVED_MAX = 64 /* loads kept of a group */ };

struct edf_entry {
    struct edf_need need;
    double deadline, limit; /* us; limit: until when it may end */
    double finish;          /* us; right for the places of its group that are known */
    double alone;           /* us: its finish when only listed jobs were there; INFINITY: chosen */
    ptrdiff_t listed;       /* index; negative: chosen */
    const struct edf_entry *longest; /* of the listed jobs of its group up to it */
};

/* Coprocessor jobs, or CPU jobs. A place is an index in the order. */
struct edf_group {
    struct edf_entry **order, **baseline;
    size_t count, baseline_count;
    size_t lowest;  /* place that a job was chosen for */
    size_t known;   /* places of which the finish, and the loads kept, are those of this order */
    double *higher; /* what jobs of its type before that of each place take */
    /* What may be added before the job of each place, and before it or any behind it, so that
     * they are in time for certain, however all the jobs are arranged. */
    double *spare, *least_spare;
    size_t sharp; /* places of which the spare is as sharp as the finish allows */
    struct edf_load saved[EDF_SAVED_MAX + 2]; /* before the places 0, places, 2 * places, ... */
};

enum { EDF_COPROCS, EDF_CPUS, EDF_GROUPS };
struct edf_queue {
    struct arena *arena;
    struct edf_shape shape;
    struct edf_entry *listed, *entries; /* as they came; as they are, chosen ones last */
    size_t entry_count;
    struct edf_group groups[EDF_GROUPS];
    size_t room, places;      /* most jobs; places between saved loads */
    bool is_base_known;       /* the first load of the CPU jobs is what coprocessor jobs leave */
    struct edf_cursor cursor; /* in that load */
    struct edf_load work;     /* scratch */
    struct edf_load base;     /* likewise */
    uint64_t steps, steps_max;
};

/* Room for `room` jobs. False: no memory; so it is with all that may fail here, or the work is
 * more than steps_max. */
bool edf_queue_init(struct edf_queue *queue, struct arena *arena, const struct edf_shape *shape,
                    size_t room, uint64_t steps_max);
struct edf_group *edf_queue_group(struct edf_queue *queue, const struct edf_need *need);

/* Listed jobs come first, each with its deadline; the begin sorts them and sets their limits, by
 * `spare` us after their deadlines or what they are late already. */
void edf_queue_list(struct edf_queue *queue, const struct edf_entry *entry);
bool edf_queue_begin(struct edf_queue *queue, double spare);
/* To be told of each job before anything is asked about it. */
bool edf_queue_note(struct edf_queue *queue, const struct edf_need *need);
/* Behind all jobs of the same or an earlier deadline. */
size_t edf_queue_place(const struct edf_group *group, double deadline);
/* False: no room. */
bool edf_queue_take(struct edf_queue *queue, const struct edf_entry *entry, size_t place);
/* Back to the listed jobs. */
bool edf_queue_reset(struct edf_queue *queue);

/* The load before a place, into `work`; the jobs before it are known then. */
bool edf_queue_before(struct edf_queue *queue, struct edf_group *group, size_t place);
double edf_queue_lay(struct edf_queue *queue, const struct edf_need *need);

/* Sees to it that the bounds of CPU jobs are those beside the present coprocessor jobs. */
bool edf_queue_find_base(struct edf_queue *queue);
/* What a job takes of its resource: millionths times us. */
double edf_queue_amount(const struct edf_need *need);
/* Makes the bounds before a place as sharp as can be. */
bool edf_queue_sharpen(struct edf_queue *queue, const struct edf_group *group, size_t place);
/* What may be added before a job at this place so that it is in time for certain. */
double edf_queue_spare(struct edf_queue *queue, const struct edf_entry *entry, size_t place);
/* The first place from `from` on behind which all have that much to spare. */
size_t edf_queue_until(const struct edf_group *group, size_t from, double amount);

#endif
