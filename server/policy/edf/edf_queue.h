/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a host in order of precedence: what is known of when each is done, and what each can
 * spare; pure. All work is charged to the budget of the request. */
#ifndef SERVER_POLICY_EDF_EDF_QUEUE_H
#define SERVER_POLICY_EDF_EDF_QUEUE_H

#include "server/base/budget.h"
#include "server/policy/edf/edf_load.h"
#include "server/policy/edf/edf_profile.h"
#include "server/policy/edf/edf_shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { EDF_SAVED_MAX = 64 /* profiles kept of a group */ };

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
    size_t known;   /* places of which the finish, and the profiles kept, are of this order */
    double *higher; /* what jobs of its type before that of each place take */
    /* What may be added before the job of each place, and before it or any behind it, so that
     * they are in time for certain, however all the jobs are arranged. */
    double *spare, *least_spare;
    size_t sharp; /* places of which the spare is as sharp as the finish allows */
    struct edf_saved {
        struct edf_profile profile;
        bool is_kept;
    } * saved; /* before the places 0, places, 2 * places, ... */
};

enum { EDF_COPROCS, EDF_CPUS, EDF_GROUPS };
struct edf_queue {
    struct arena *arena;
    struct budget *budget; /* of the request */
    struct budget taking;  /* for taking jobs that are certain when the other is used up */
    struct edf_shape shape;
    struct edf_entry *entries; /* chosen ones last */
    size_t entry_count;
    struct edf_group groups[EDF_GROUPS];
    size_t room, places;     /* most jobs; places between saved profiles */
    bool is_surveyed;        /* the bounds are those of this shape */
    bool is_base_known;      /* the first profile of the CPU jobs is what coprocessor jobs leave */
    struct edf_kept kept;    /* away by that profile */
    struct edf_load work;    /* scratch */
    struct edf_profile base; /* likewise */
    size_t saved_room;       /* numbers that saved profiles may still take */
    double memory_weight;    /* of this shape: see edf_shape_memory_weight */
};

/* Room for the listed jobs of each group and `chosen` others. False: no memory; so it is with all
 * that may fail here, or the budget is used up. */
bool edf_queue_init(struct edf_queue *queue, struct arena *arena, const struct edf_shape *shape,
                    const size_t listed[EDF_GROUPS], size_t chosen, struct budget *budget);
struct edf_group *edf_queue_group(struct edf_queue *queue, const struct edf_need *need);

/* Listed jobs come first, those of a group in order of precedence, and the shape has noted them
 * all; the begin sets their limits, by `spare` us after their deadlines or what they are late
 * already. */
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

/* The load before a place, in `work`; the jobs before it are known then. */
bool edf_queue_before(struct edf_queue *queue, struct edf_group *group, size_t place);
double edf_queue_lay(struct edf_queue *queue, const struct edf_need *need);
bool edf_queue_read(struct edf_queue *queue, const struct edf_profile *profile); /* into `work` */
/* What the coprocessor jobs in `work` leave to CPU jobs, into `base`. */
bool edf_queue_write_base(struct edf_queue *queue);

/* Sees to it that the bounds of CPU jobs are those beside the present coprocessor jobs. */
bool edf_queue_find_base(struct edf_queue *queue);
/* What a job takes of its resource, and of memory by its weight: millionths times us. */
double edf_queue_amount(const struct edf_queue *queue, const struct edf_need *need);
/* Makes the bounds before a place as sharp as can be. */
bool edf_queue_sharpen(struct edf_queue *queue, const struct edf_group *group, size_t place);
/* What may be added before a job at this place so that it is in time for certain. */
double edf_queue_spare(struct edf_queue *queue, const struct edf_entry *entry, size_t place);
/* The first place from `from` on behind which all have that much to spare. */
size_t edf_queue_until(const struct edf_group *group, size_t from, double amount);

#endif
