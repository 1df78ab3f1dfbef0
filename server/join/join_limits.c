/* SPDX-License-Identifier: Apache-2.0 */
#include "server/join/join_limits.h"

#include "server/base/password.h"
#include "server/base/random.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* A bucket has one of the eight places that its number leads to: 16,384 of each kind, 400 KB. */
enum { SETS = 2048, PLACES = 8 };

struct bucket {
    uint64_t number;  /* 0: free */
    uint64_t seen_ns; /* when `spent` was true */
    double spent;     /* tokens */
};

struct buckets {
    uint64_t salt;
    struct bucket sets[SETS][PLACES];
};

struct join_limits {
    struct buckets buckets[2];
    pthread_mutex_t lock; /* of all that follows and of the buckets */
    pthread_cond_t left;
    size_t threads, threads_max; /* beyond the gate or waiting */
    bool is_hashing;
    int cost;
};

struct join_limits *join_limits_create(size_t threads_max)
{
    struct join_limits *limits = calloc(1, sizeof(*limits));

    if (limits == NULL)
        return NULL;
    for (size_t i = 0; i < 2; i++)
        limits->buckets[i].salt = random_u64();
    limits->threads_max = threads_max > 0 ? threads_max : 1;
    limits->cost = PASSWORD_COST;
    pthread_mutex_init(&limits->lock, NULL);
    pthread_cond_init(&limits->left, NULL);
    return limits;
}

void join_limits_destroy(struct join_limits *limits)
{
    if (limits == NULL)
        return;
    pthread_cond_destroy(&limits->left);
    pthread_mutex_destroy(&limits->lock);
    free(limits);
}

/* --- buckets ---------------------------------------------------------------------------------- */

/* Whoever has an IPv6 address mostly has 2^64 of them. */
static uint64_t number_of(const struct buckets *buckets, enum join_bucket bucket, struct text whose)
{
    struct in6_addr address;
    char word[INET6_ADDRSTRLEN] = "";
    uint64_t number;

    if (bucket == JOIN_OF_ADDRESS && whose.length > 0 && whose.length < sizeof(word)) {
        memcpy(word, whose.at, whose.length);
        if (inet_pton(AF_INET6, word, &address) == 1 && !IN6_IS_ADDR_V4MAPPED(&address))
            whose = (struct text){.at = (const char *)&address, .length = sizeof(address) / 2};
    }
    number = random_mix(text_hash(whose), buckets->salt);
    return number == 0 ? 1 : number;
}

static double spent_at(const struct bucket *bucket, int64_t per_hour, uint64_t now_ns)
{
    double hours = now_ns > bucket->seen_ns ? (double)(now_ns - bucket->seen_ns) / 3600e9 : 0;
    double spent = bucket->spent - hours * (double)per_hour;

    return spent > 0 ? spent : 0;
}

/* Its bucket, else that of the set which has spent least: a free one has spent nothing. */
static struct bucket *find(struct buckets *buckets, uint64_t number, int64_t per_hour,
                           uint64_t now_ns)
{
    struct bucket *set = buckets->sets[number % SETS], *least = &set[0];

    for (size_t i = 0; i < PLACES; i++)
        if (set[i].number == number)
            return &set[i];
    for (size_t i = 1; i < PLACES; i++)
        if (spent_at(&set[i], per_hour, now_ns) < spent_at(least, per_hour, now_ns))
            least = &set[i];
    *least = (struct bucket){.number = number};
    return least;
}

/* False, and nothing is changed, where more than all would be spent. */
static bool spend(struct join_limits *limits, enum join_bucket kind, struct text whose,
                  int64_t per_hour, uint64_t now_ns, double tokens)
{
    struct buckets *buckets = &limits->buckets[kind];
    uint64_t number = number_of(buckets, kind, whose);
    struct bucket *bucket;
    double spent;

    pthread_mutex_lock(&limits->lock);
    bucket = find(buckets, number, per_hour, now_ns);
    spent = spent_at(bucket, per_hour, now_ns) + tokens;
    if (spent <= (double)per_hour) {
        bucket->spent = spent > 0 ? spent : 0;
        bucket->seen_ns = now_ns;
    }
    pthread_mutex_unlock(&limits->lock);
    return spent <= (double)per_hour;
}

bool join_limits_take(struct join_limits *limits, enum join_bucket bucket, struct text whose,
                      int64_t per_hour, uint64_t now_ns)
{
    return spend(limits, bucket, whose, per_hour, now_ns, 1);
}

void join_limits_give_back(struct join_limits *limits, enum join_bucket bucket, struct text whose,
                           int64_t per_hour, uint64_t now_ns)
{
    (void)spend(limits, bucket, whose, per_hour, now_ns, -1);
}

/* --- the gate --------------------------------------------------------------------------------- */

bool join_limits_enter(struct join_limits *limits)
{
    bool enters;

    pthread_mutex_lock(&limits->lock);
    enters = limits->threads < limits->threads_max;
    if (enters) {
        limits->threads++;
        while (limits->is_hashing)
            pthread_cond_wait(&limits->left, &limits->lock);
        limits->is_hashing = true;
    }
    pthread_mutex_unlock(&limits->lock);
    return enters;
}

void join_limits_leave(struct join_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    limits->threads--;
    limits->is_hashing = false;
    pthread_cond_signal(&limits->left);
    pthread_mutex_unlock(&limits->lock);
}

bool join_limits_is_full(struct join_limits *limits)
{
    bool is_full;

    pthread_mutex_lock(&limits->lock);
    is_full = limits->threads == limits->threads_max;
    pthread_mutex_unlock(&limits->lock);
    return is_full;
}

int join_limits_cost(struct join_limits *limits, int cost_seen)
{
    int cost;

    pthread_mutex_lock(&limits->lock);
    if (cost_seen > limits->cost)
        limits->cost = cost_seen;
    cost = limits->cost;
    pthread_mutex_unlock(&limits->lock);
    return cost;
}
