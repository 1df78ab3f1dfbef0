/* SPDX-License-Identifier: Apache-2.0 */
/* Laying jobs onto a load. A job runs in every segment where there is room for it, from the first
 * on, until its time is used up; so it adds at most one boundary, where it ends. Equal neighbours
 * in a leaf are joined, which keeps a load about as long as the number of jobs running at once: in
 * the part of time that is full they become one. Most loads are a single leaf.
 *
 * A long one is a tree, in which a job costs about the logarithm: of a node whose most is too
 * little nothing is looked at, and of one whose least is enough the job takes its part in one
 * stroke, which is written down there as owed to all below. Only where a job ends, and where what
 * is free changes between enough and too little, the way leads down to a leaf. (A queue can be made
 * so that it changes everywhere; the budget is there for that.)
 *
 * Leaves are never removed, though joining may leave one with a single segment. A split leaves half
 * of a node on each side and reading fills nodes by half, so the room is known beforehand. */
#include "server/policy/edf/edf_load.h"

#include "server/base/arena.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define NO_NODE UINT32_MAX

enum { HALF = EDF_FAN / 2 };

/* Units of the budget. */
enum { JOB_COST = 25, LOOK_COST = 2, WHOLE_COST = 6, RUN_COST = 10, NODE_COST = 3 * EDF_FAN / 2 };

/* What a job takes of one row, and how much of it must be free. */
struct demand {
    size_t row;
    int64_t takes, needs;
};

struct laying {
    struct demand demands[3]; /* CPUs, coprocessors or CPUs that are left, and memory */
    size_t rows;              /* demands that take something */
    bool takes_none;          /* it runs and takes nothing */
    double left, end;         /* us; end: once it is known */
    bool is_done;
    uint64_t work;
};

static int64_t more(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* --- nodes ----------------------------------------------------------------------------------- */

static bool alloc_nodes(struct edf_nodes *nodes, struct arena *arena, size_t room, size_t rows,
                        bool is_inner)
{
    size_t places = room * EDF_FAN;

    *nodes = (struct edf_nodes){.room = room};
    nodes->sizes = ARENA_ARRAY(arena, room, uint32_t);
    nodes->starts = ARENA_ARRAY(arena, places, double);
    nodes->low = ARENA_ARRAY(arena, places * rows, int64_t);
    if (is_inner) {
        nodes->children = ARENA_ARRAY(arena, places, uint32_t);
        nodes->high = ARENA_ARRAY(arena, places * rows, int64_t);
        nodes->owed = ARENA_ARRAY(arena, places * rows, int64_t);
        if (nodes->children == NULL || nodes->high == NULL || nodes->owed == NULL)
            return false;
    }
    return nodes->sizes != NULL && nodes->starts != NULL && nodes->low != NULL;
}

void edf_load_init(struct edf_load *load, size_t room)
{
    *load = (struct edf_load){.room = room};
}

static bool alloc_tree(struct edf_load *load, struct arena *arena, size_t rows)
{
    size_t leaves = load->room > EDF_FAN ? load->room / HALF + 3 : 1, inner = 0;

    /* But for the one on top, each node above is at least half full. */
    for (size_t level = leaves; level > 1; inner += level)
        level = level / HALF > 1 ? level / HALF : 1;
    load->rows_room = rows;
    return alloc_nodes(&load->leaves, arena, leaves, rows, false) &&
           alloc_nodes(&load->inner, arena, inner, rows, true);
}

static bool read_slots(struct edf_load *load, struct arena *arena, const struct edf_profile *from,
                       const struct edf_shape *shape)
{
    if (load->slots.until == NULL)
        load->slots.until = ARENA_ARRAY(arena, load->room, double);
    if (load->slots.until == NULL)
        return false;
    memcpy(load->slots.until, from->starts, from->count * sizeof(double));
    load->slots.count = from->count;
    load->slots.most = (size_t)edf_shape_slots(shape);
    return true;
}

/* The entries of a node in one row. */
static int64_t *row_of(const struct edf_load *load, int64_t *values, uint32_t node, size_t row)
{
    return values + (node * load->rows + row) * EDF_FAN;
}

static double *starts_of(const struct edf_nodes *nodes, uint32_t node)
{
    return nodes->starts + (size_t)node * EDF_FAN;
}

static uint32_t *children_of(const struct edf_nodes *nodes, uint32_t node)
{
    return nodes->children + (size_t)node * EDF_FAN;
}

/* All that an entry says goes from one place to another, in the same node or in another one. */
static void move(const struct edf_load *load, struct edf_nodes *nodes, uint32_t from, size_t first,
                 uint32_t to, size_t at, size_t count)
{
    int64_t *const values[] = {nodes->low, nodes->high, nodes->owed};

    memmove(starts_of(nodes, to) + at, starts_of(nodes, from) + first, count * sizeof(double));
    if (nodes->children != NULL)
        memmove(children_of(nodes, to) + at, children_of(nodes, from) + first,
                count * sizeof(uint32_t));
    for (size_t i = 0; i < (nodes->children != NULL ? 3 : 1); i++)
        for (size_t row = 0; row < load->rows; row++)
            memmove(row_of(load, values[i], to, row) + at,
                    row_of(load, values[i], from, row) + first, count * sizeof(int64_t));
}

static uint32_t new_node(struct edf_nodes *nodes)
{
    uint32_t node = (uint32_t)nodes->count++;

    nodes->sizes[node] = 0;
    return node;
}

/* Makes place for an entry. A full node is split first; the new half is returned, else NO_NODE.
 * *node and *at become the place's own. */
static uint32_t make_place(struct edf_load *load, struct edf_nodes *nodes, uint32_t *node,
                           size_t *at)
{
    uint32_t sibling = NO_NODE;

    if (nodes->sizes[*node] == EDF_FAN) {
        sibling = new_node(nodes);
        move(load, nodes, *node, HALF, sibling, 0, HALF);
        nodes->sizes[*node] = nodes->sizes[sibling] = HALF;
        if (*at > HALF) {
            *node = sibling;
            *at -= HALF;
        }
    }
    move(load, nodes, *node, *at, *node, *at + 1, nodes->sizes[*node] - *at);
    nodes->sizes[*node]++;
    return sibling;
}

static struct edf_nodes *nodes_at(struct edf_load *load, size_t level)
{
    return level == 0 ? &load->leaves : &load->inner;
}

/* The bounds of an entry in one row, from the node below. */
static void refresh_row(struct edf_load *load, size_t level, uint32_t node, size_t at, size_t row)
{
    const struct edf_nodes *below = nodes_at(load, level - 1);
    uint32_t child = children_of(&load->inner, node)[at];
    const int64_t *lows = row_of(load, below->low, child, row);
    const int64_t *highs = level == 1 ? lows : row_of(load, below->high, child, row);
    int64_t low = lows[0], high = highs[0];

    for (size_t i = 1; i < below->sizes[child]; i++) {
        low = lows[i] < low ? lows[i] : low;
        high = highs[i] > high ? highs[i] : high;
    }
    row_of(load, load->inner.low, node, row)[at] = low;
    row_of(load, load->inner.high, node, row)[at] = high;
}

static void set_entry(struct edf_load *load, size_t level, uint32_t node, size_t at, uint32_t child)
{
    struct edf_nodes *nodes = &load->inner;

    starts_of(nodes, node)[at] = starts_of(nodes_at(load, level - 1), child)[0];
    children_of(nodes, node)[at] = child;
    for (size_t row = 0; row < load->rows; row++) {
        row_of(load, nodes->owed, node, row)[at] = 0;
        refresh_row(load, level, node, at, row);
    }
}

/* What is owed to all below an entry is given to the node below. Returns what it cost. */
static uint64_t pay(struct edf_load *load, size_t level, uint32_t node, size_t at)
{
    struct edf_nodes *below = nodes_at(load, level - 1);
    uint32_t child = children_of(&load->inner, node)[at];
    size_t count = below->sizes[child];
    uint64_t work = load->rows;

    for (size_t row = 0; row < load->rows; row++) {
        int64_t *owed = &row_of(load, load->inner.owed, node, row)[at];
        int64_t *low = row_of(load, below->low, child, row);

        if (*owed == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            low[i] += *owed;
        for (size_t i = 0; i < count && level > 1; i++) {
            row_of(load, below->high, child, row)[i] += *owed;
            row_of(load, below->owed, child, row)[i] += *owed;
        }
        *owed = 0;
        work += level > 1 ? 3 * count : count;
    }
    return work;
}

/* --- reading and writing --------------------------------------------------------------------- */

/* How many entries the next of the nodes gets that `left` are to be put into. */
static size_t portion(size_t left)
{
    return left <= EDF_FAN ? left : HALF;
}

static void read_leaves(struct edf_load *load, const struct edf_profile *from)
{
    for (size_t at = 0; at < from->count;) {
        uint32_t node = new_node(&load->leaves);
        size_t count = portion(from->count - at);

        memcpy(starts_of(&load->leaves, node), from->starts + at, count * sizeof(double));
        for (size_t row = 0; row < load->rows; row++)
            memcpy(row_of(load, load->leaves.low, node, row), from->free + row * from->room + at,
                   count * sizeof(int64_t));
        load->leaves.sizes[node] = (uint32_t)count;
        at += count;
    }
}

bool edf_load_read(struct edf_load *load, struct arena *arena, const struct edf_profile *from,
                   const struct edf_shape *shape, uint64_t *work)
{
    size_t first = 0, count;

    load->rows = from->rows;
    load->memory = from->memory;
    load->floor = edf_shape_floor(shape);
    load->leaves.count = load->inner.count = load->height = load->root = 0;
    *work += (1 + load->rows) * (from->count + EDF_FAN);
    if (from->rows == 0)
        return read_slots(load, arena, from, shape);
    if (load->rows_room < from->rows) {
        if (!alloc_tree(load, arena, from->rows))
            return false;
        *work += load->room * from->rows * 4;
    }
    read_leaves(load, from);
    for (count = load->leaves.count; count > 1; count = load->inner.count - first) {
        size_t begin = load->height++ == 0 ? 0 : first;

        first = load->inner.count;
        for (size_t at = begin; at < begin + count;) {
            uint32_t node = new_node(&load->inner);
            size_t size = portion(begin + count - at);

            for (size_t i = 0; i < size; i++)
                set_entry(load, load->height, node, i, (uint32_t)at++);
            load->inner.sizes[node] = (uint32_t)size;
        }
        load->root = (uint32_t)first;
    }
    return true;
}

size_t edf_load_size(const struct edf_load *load)
{
    size_t count = 0;

    if (load->rows == 0)
        return load->slots.count;
    for (size_t i = 0; i < load->leaves.count; i++)
        count += load->leaves.sizes[i];
    return count;
}

static bool is_like_last(const struct edf_profile *profile, const int64_t *free)
{
    if (profile->count == 0)
        return false;
    for (size_t row = 0; row < profile->rows; row++)
        if (profile->free[row * profile->room + profile->count - 1] != free[row])
            return false;
    return true;
}

/* While CPU jobs are laid: whether there is a row of what of the CPUs they have left. */
static bool has_second(const struct edf_load *load)
{
    return load->rows - (load->memory > 0) > 1;
}

struct writing {
    const struct edf_load *load;
    struct edf_profile *profile;
    bool may_skip;
    bool has_second;  /* what of the CPUs the CPU jobs have left */
    int64_t least[2]; /* that any CPU job needs */
    uint64_t work;
};

static void write_leaf(struct writing *writing, uint32_t node, const int64_t *owed)
{
    const struct edf_load *load = writing->load;
    struct edf_profile *profile = writing->profile;
    size_t count = load->leaves.sizes[node], rows = load->rows, first = 0;
    int64_t free[EDF_ROWS_MAX];

    if (writing->may_skip && profile->count == 0)
        while (first < count &&
               (row_of(load, load->leaves.low, node, 0)[first] + owed[0] < writing->least[0] ||
                (writing->has_second &&
                 row_of(load, load->leaves.low, node, 1)[first] + owed[1] < writing->least[1])))
            first++;
    writing->work += (1 + rows) * (count + 2);
    if (first == count)
        return;
    for (size_t row = 0; row < rows; row++)
        free[row] = row_of(load, load->leaves.low, node, row)[first] + owed[row];
    if (is_like_last(profile, free) && ++first == count)
        return;
    memcpy(profile->starts + profile->count, starts_of(&load->leaves, node) + first,
           (count - first) * sizeof(double));
    for (size_t row = 0; row < rows; row++) {
        const int64_t *from = row_of(load, load->leaves.low, node, row) + first;
        int64_t *to = profile->free + row * profile->room + profile->count;

        for (size_t i = 0; i < count - first; i++)
            to[i] = from[i] + owed[row];
    }
    profile->count += count - first;
}

static void write_node(struct writing *writing, size_t level, uint32_t node, const int64_t *owed)
{
    const struct edf_load *load = writing->load;
    const struct edf_nodes *nodes = &load->inner;

    if (level == 0) {
        write_leaf(writing, node, owed);
        return;
    }
    for (size_t i = 0; i < nodes->sizes[node]; i++) {
        int64_t sums[EDF_ROWS_MAX] = {0};

        for (size_t row = 0; row < load->rows; row++)
            sums[row] = owed[row] + row_of(load, nodes->owed, node, row)[i];
        write_node(writing, level - 1, children_of(nodes, node)[i], sums);
    }
}

void edf_load_write(const struct edf_load *load, const struct edf_shape *shape, bool is_of_cpus,
                    struct edf_profile *profile, uint64_t *work)
{
    static const int64_t nothing[EDF_ROWS_MAX] = {0};
    struct writing writing = {.load = load,
                              .profile = profile,
                              .may_skip = is_of_cpus,
                              .has_second = has_second(load),
                              .least = {shape->cpus_taken[RESOURCE_CPU].least, 1}};

    if (!has_second(load))
        writing.least[0] = more(writing.least[0], load->floor);
    profile->count = 0;
    profile->rows = load->rows;
    profile->memory = load->memory;
    if (load->rows == 0) {
        profile->count = load->slots.count;
        memcpy(profile->starts, load->slots.until, profile->count * sizeof(double));
        *work += profile->count;
        return;
    }
    write_node(&writing, load->height, load->root, nothing);
    *work += writing.work;
}

/* --- laying ---------------------------------------------------------------------------------- */

/* What is not demanded is a demand of nothing, which the first row always has. */
static struct laying laying_of(const struct edf_load *load, const struct edf_need *need)
{
    struct laying laying = {.demands = {{.takes = need->cpus, .needs = need->cpus}},
                            .rows = 1,
                            .takes_none = need->cpus == 0 && need->count == 0 && need->memory == 0,
                            .left = need->wall_time};

    if (need->type > 0)
        laying.demands[laying.rows++] =
            (struct demand){.row = need->type, .takes = need->count, .needs = need->count};
    else if (has_second(load)) /* any CPU that is not in use will do */
        laying.demands[laying.rows++] = (struct demand){.row = 1, .takes = need->cpus, .needs = 1};
    else
        laying.demands[0].needs = more(need->cpus, load->floor);
    if (need->memory > 0)
        laying.demands[laying.rows++] =
            (struct demand){.row = load->memory, .takes = need->memory, .needs = need->memory};
    return laying;
}

static bool is_like_next(const struct edf_load *load, uint32_t leaf, size_t at)
{
    for (size_t row = 0; row < load->rows; row++) {
        const int64_t *free = row_of(load, load->leaves.low, leaf, row);
        if (free[at] != free[at + 1])
            return false;
    }
    return true;
}

static void drop(struct edf_load *load, uint32_t leaf, size_t at)
{
    load->leaves.sizes[leaf]--;
    move(load, &load->leaves, leaf, at + 1, leaf, at, load->leaves.sizes[leaf] - at);
}

/* Takes what is demanded `times` times: once, or less than nothing to give it back. */
static void take(struct edf_load *load, const struct laying *laying, uint32_t leaf, size_t from,
                 size_t to, int64_t times)
{
    for (size_t d = 0; d < laying->rows; d++) {
        int64_t *free = row_of(load, load->leaves.low, leaf, laying->demands[d].row);
        int64_t takes = laying->demands[d].takes * times;

        for (size_t i = from; i < to; i++)
            free[i] -= takes;
    }
}

/* The segment before `at` stays as it was from the job's end on: it is divided. */
static uint32_t divide(struct edf_load *load, struct laying *laying, uint32_t leaf, size_t at)
{
    uint32_t sibling = make_place(load, &load->leaves, &leaf, &at);

    laying->work += (1 + load->rows) * (load->leaves.sizes[leaf] - at) / 4;
    starts_of(&load->leaves, leaf)[at] = laying->end;
    for (size_t row = 0; row < load->rows; row++) {
        int64_t *free = row_of(load, load->leaves.low, leaf, row);
        free[at] = free[at - 1];
    }
    take(load, laying, leaf, at, at + 1, -1);
    return sibling;
}

/* A run of segments that the job takes, from `from` to before `*to`. Joins those at both ends with
 * neighbours that are like them now; *to becomes the segment that follows. Returns a new leaf that
 * follows, or NO_NODE. */
static uint32_t occupy(struct edf_load *load, struct laying *laying, uint32_t leaf, size_t from,
                       size_t *to, bool divides)
{
    bool joins;

    if (laying->takes_none)
        return NO_NODE;
    take(load, laying, leaf, from, *to, 1);
    joins = from > 0 && is_like_next(load, leaf, from - 1);
    if (divides && !joins)
        return divide(load, laying, leaf, *to);
    laying->work += (1 + load->rows) * (load->leaves.sizes[leaf] - from) / 4;
    if (divides) { /* the first one makes place for the rest of the last */
        move(load, &load->leaves, leaf, from + 1, leaf, from, *to - from - 1);
        starts_of(&load->leaves, leaf)[*to - 1] = laying->end;
        take(load, laying, leaf, *to - 1, *to, -1);
        return NO_NODE;
    }
    if (*to < load->leaves.sizes[leaf] && is_like_next(load, leaf, *to - 1))
        drop(load, leaf, *to);
    if (joins) {
        drop(load, leaf, from);
        --*to;
    }
    return NO_NODE;
}

/* The leaf ends at `stop`. Returns a new leaf that follows it, or NO_NODE. */
static uint32_t lay_in_leaf(struct edf_load *load, struct laying *laying, uint32_t leaf,
                            double stop)
{
    const struct demand *one = &laying->demands[0], *two = &laying->demands[1];
    const struct demand *three = &laying->demands[2];
    const int64_t *first = row_of(load, load->leaves.low, leaf, one->row);
    const int64_t *second = row_of(load, load->leaves.low, leaf, two->row);
    const int64_t *third = row_of(load, load->leaves.low, leaf, three->row);
    const double *starts = starts_of(&load->leaves, leaf);
    uint32_t sibling = NO_NODE;

    laying->work += load->leaves.sizes[leaf];
    for (size_t at = 0; !laying->is_done;) {
        size_t count = load->leaves.sizes[leaf], from;
        double reached;

        while (at < count &&
               (first[at] < one->needs || second[at] < two->needs || third[at] < three->needs))
            at++;
        if (at == count)
            break;
        from = at;
        laying->end = starts[from] + laying->left;
        do
            at++;
        while (at < count && starts[at] < laying->end && first[at] >= one->needs &&
               second[at] >= two->needs && third[at] >= three->needs);
        reached = at < count ? starts[at] : stop;
        laying->is_done = reached >= laying->end;
        laying->left -= laying->is_done ? 0 : reached - starts[from];
        sibling = occupy(load, laying, leaf, from, &at, reached > laying->end);
        laying->work += RUN_COST;
    }
    return sibling;
}

/* The job takes its part of all below an entry. */
static void take_whole(struct edf_load *load, const struct laying *laying, uint32_t node, size_t at)
{
    for (size_t d = 0; d < laying->rows; d++) {
        const struct demand *demand = &laying->demands[d];

        row_of(load, load->inner.low, node, demand->row)[at] -= demand->takes;
        row_of(load, load->inner.high, node, demand->row)[at] -= demand->takes;
        row_of(load, load->inner.owed, node, demand->row)[at] -= demand->takes;
    }
}

static uint32_t lay_in(struct edf_load *load, struct laying *laying, size_t level, uint32_t node,
                       double stop);

/* The way down. Returns a new node that follows this one, or NO_NODE. */
static uint32_t lay_below(struct edf_load *load, struct laying *laying, size_t level, uint32_t node,
                          size_t at, double stop)
{
    struct edf_nodes *nodes = &load->inner;
    uint32_t child = children_of(nodes, node)[at], added, sibling;

    laying->work += pay(load, level, node, at) + NODE_COST * laying->rows;
    added = lay_in(load, laying, level - 1, child, stop);
    if (added == NO_NODE) {
        for (size_t d = 0; d < laying->rows; d++)
            refresh_row(load, level, node, at, laying->demands[d].row);
        return NO_NODE;
    }
    laying->work += NODE_COST * load->rows;
    set_entry(load, level, node, at, child);
    at++;
    sibling = make_place(load, nodes, &node, &at);
    set_entry(load, level, node, at, added);
    return sibling;
}

static uint32_t lay_in(struct edf_load *load, struct laying *laying, size_t level, uint32_t node,
                       double stop)
{
    const struct edf_nodes *nodes = &load->inner;
    const struct demand *one = &laying->demands[0], *two = &laying->demands[1];
    const struct demand *three = &laying->demands[2];
    const double *starts;
    const int64_t *low_one, *low_two, *low_three, *high_one, *high_two, *high_three;
    uint32_t sibling = NO_NODE;
    size_t at, size;

    if (level == 0)
        return lay_in_leaf(load, laying, node, stop);
    starts = starts_of(nodes, node);
    low_one = row_of(load, nodes->low, node, one->row);
    low_two = row_of(load, nodes->low, node, two->row);
    low_three = row_of(load, nodes->low, node, three->row);
    high_one = row_of(load, nodes->high, node, one->row);
    high_two = row_of(load, nodes->high, node, two->row);
    high_three = row_of(load, nodes->high, node, three->row);
    size = nodes->sizes[node];
    for (at = 0; at < size && !laying->is_done; at++) {
        double end;

        if (high_one[at] < one->needs || high_two[at] < two->needs || high_three[at] < three->needs)
            continue;
        end = at + 1 < size ? starts[at + 1] : stop;
        if (end - starts[at] > laying->left || low_one[at] < one->needs ||
            low_two[at] < two->needs || low_three[at] < three->needs) {
            sibling = lay_below(load, laying, level, node, at, end); /* the last, if it is new */
            continue;
        }
        take_whole(load, laying, node, at);
        laying->left -= end - starts[at];
        laying->end = end;
        laying->is_done = laying->left <= 0;
        laying->work += WHOLE_COST;
    }
    laying->work += LOOK_COST * at;
    return sibling;
}

double edf_load_add(struct edf_load *load, const struct edf_need *need, uint64_t *work)
{
    struct laying laying;
    uint32_t added;

    if (load->rows == 0)
        return edf_slots_take(&load->slots, need->wall_time, work);
    laying = laying_of(load, need);
    *work += JOB_COST;
    if (need->wall_time <= 0)
        return 0; /* nothing left to do is done */
    added = lay_in(load, &laying, load->height, load->root, INFINITY);
    if (added != NO_NODE) {
        uint32_t root = new_node(&load->inner);

        load->height++;
        load->inner.sizes[root] = 2;
        set_entry(load, load->height, root, 0, load->root);
        set_entry(load, load->height, root, 1, added);
        load->root = root;
    }
    *work += laying.work;
    return laying.end;
}
