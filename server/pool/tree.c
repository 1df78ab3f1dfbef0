/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of a group as a treap: in order of rank, balanced by a number mixed from the slot
 * (which an outsider cannot choose), and every node knows the least of each amount in its subtree.
 * A search for the first class within limits passes over whatever subtree needs too much. */
#include "server/base/random.h"
#include "server/pool/pool_internal.h"

#include <float.h>
#include <math.h>

#include "server/base/banned.h"

enum { UNSUITED_STEPS = 8 };

int rank_compare(const struct class_rank *a, const struct class_rank *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->is_of_others != b->is_of_others)
        return a->is_of_others ? 1 : -1;
    return (a->resultid > b->resultid) - (a->resultid < b->resultid);
}

struct class_rank class_rank_of(const struct class_node *node)
{
    return (struct class_rank){.priority = node->key.priority,
                               .resultid = node->oldest,
                               .is_of_others = node->is_of_others};
}

static int compare_nodes(const struct class_node *a, const struct class_node *b)
{
    struct class_rank first = class_rank_of(a), second = class_rank_of(b);
    return rank_compare(&first, &second);
}

/* Never above the amount, so that nothing is left out for having been rounded. */
static float rounded_down(double amount)
{
    float rounded;

    if (amount <= -(double)FLT_MAX)
        return -HUGE_VALF;
    rounded = amount >= (double)FLT_MAX ? FLT_MAX : (float)amount;
    return (double)rounded > amount ? nextafterf(rounded, -HUGE_VALF) : rounded;
}

static void sum_up(const struct pool *pool, struct class_node *node)
{
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++) {
        float least = rounded_down(node->key.amounts[i]);

        if (node->left != 0)
            least = fminf(least, class_at(pool, node->left)->least[i]);
        if (node->right != 0)
            least = fminf(least, class_at(pool, node->right)->least[i]);
        node->least[i] = least;
    }
}

static uint64_t weight(slot number)
{
    return random_mix(UINT64_C(0x706f6f6c), number);
}

/* Those that stand before `key` to *ret_left, the others to *ret_right. */
static void split(const struct pool *pool, slot root, const struct class_node *key, slot *ret_left,
                  slot *ret_right)
{
    struct class_node *node;

    if (root == 0) {
        *ret_left = *ret_right = 0;
        return;
    }
    node = class_at(pool, root);
    if (compare_nodes(node, key) < 0) {
        slot right = node->right;
        *ret_left = root;
        split(pool, right, key, &node->right, ret_right);
    } else {
        slot left = node->left;
        *ret_right = root;
        split(pool, left, key, ret_left, &node->left);
    }
    sum_up(pool, node);
}

static slot merge(const struct pool *pool, slot left, slot right)
{
    slot root;

    if (left == 0 || right == 0)
        return left == 0 ? right : left;
    if (weight(left) > weight(right)) {
        struct class_node *node = class_at(pool, left);
        node->right = merge(pool, node->right, right);
        root = left;
    } else {
        struct class_node *node = class_at(pool, right);
        node->left = merge(pool, left, node->left);
        root = right;
    }
    sum_up(pool, class_at(pool, root));
    return root;
}

void tree_insert(const struct pool *pool, slot *root, slot number)
{
    struct class_node *node = class_at(pool, number), *top;

    if (*root == 0 || weight(number) > weight(*root)) {
        slot left, right;

        split(pool, *root, node, &left, &right);
        node->left = left;
        node->right = right;
        *root = number;
        sum_up(pool, node);
        return;
    }
    top = class_at(pool, *root);
    tree_insert(pool, compare_nodes(node, top) < 0 ? &top->left : &top->right, number);
    sum_up(pool, top);
}

void tree_remove(const struct pool *pool, slot *root, slot number)
{
    struct class_node *node = class_at(pool, number), *top;

    must(*root != 0);
    if (*root == number) {
        *root = merge(pool, node->left, node->right);
        node->left = node->right = 0;
        return;
    }
    top = class_at(pool, *root);
    tree_remove(pool, compare_nodes(node, top) < 0 ? &top->left : &top->right, number);
    sum_up(pool, top);
}

static bool may_hold(const struct class_node *node, const double *limits)
{
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
        if ((double)node->least[i] > limits[i])
            return false;
    return true;
}

static bool is_within(const struct class_node *node, const double *limits)
{
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
        if (node->key.amounts[i] > limits[i])
            return false;
    return true;
}

static bool suits(const struct class_node *node, const struct tree_search *search)
{
    return search->suits == NULL || search->suits(search->context, node);
}

bool tree_fits(const struct class_node *node, const struct tree_search *search)
{
    return is_within(node, search->limits) && suits(node, search);
}

/* One that does not suit has taken as long as many steps. */
static bool examine(const struct class_node *node, struct tree_search *search)
{
    size_t steps = 0;

    if (is_within(node, search->limits)) {
        if (suits(node, search))
            return true;
        steps = UNSUITED_STEPS;
        search->met_unsuited = true;
    }
    search->steps -= search->steps < steps ? search->steps : steps;
    search->reached = class_rank_of(node);
    return false;
}

slot tree_first(const struct pool *pool, slot root, const struct class_rank *after,
                struct tree_search *search)
{
    const struct class_node *node;
    struct class_rank rank;
    slot found = 0;

    if (root == 0 || search->steps == 0)
        return 0;
    search->steps--;
    node = class_at(pool, root);
    if (!may_hold(node, search->limits))
        return 0;
    rank = class_rank_of(node);
    if (after != NULL && rank_compare(&rank, after) <= 0)
        return tree_first(pool, node->right, after, search);
    found = tree_first(pool, node->left, after, search);
    if (found == 0 && search->steps > 0 && examine(node, search))
        found = root;
    if (found == 0)
        found = tree_first(pool, node->right, NULL, search);
    return found;
}

slot tree_least(const struct pool *pool, slot root, enum class_limit which, const double *limits,
                double *best, size_t *steps)
{
    double others[CLASS_LIMIT_COUNT];
    const struct class_node *node;
    slot found = 0, below;

    if (root == 0 || *steps == 0)
        return 0;
    (*steps)--;
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
        others[i] = limits == NULL || i == (int)which ? HUGE_VAL : limits[i];
    node = class_at(pool, root);
    if ((double)node->least[which] >= *best || !may_hold(node, others))
        return 0;
    if (node->key.amounts[which] < *best && is_within(node, others)) {
        *best = node->key.amounts[which];
        found = root;
    }
    below = tree_least(pool, node->left, which, limits, best, steps);
    if (below != 0)
        found = below;
    below = tree_least(pool, node->right, which, limits, best, steps);
    return below != 0 ? below : found;
}
