/* SPDX-License-Identifier: Apache-2.0 */
/* Two hash tables under one lock. An entry stays after a flush until its hour is over, so that the
 * bound of keys holds for the rows of an hour and not only for those of one flush. */
#include "server/fates/fates.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/fates/fates_parts.h"

#include <pthread.h>
#include <stdlib.h>

#define uthash_nonfatal_oom(entry) ((entry)->is_unkept = true)
#define HASH_NONFATAL_OOM          1
#include <uthash.h>

#include "server/base/banned.h"

enum { HOUR_SECONDS = 3600 };

/* Compared as bytes. */
struct key {
    int64_t appid, app_version_id, batch, fate, exit_status;
};

struct sum {
    struct key key;
    int64_t results; /* since the last flush */
    bool is_unkept;
    UT_hash_handle hh;
};

struct host_sum {
    int64_t hostid, ended, failed, counted_at;
    bool is_unkept;
    UT_hash_handle hh;
};

struct fates {
    pthread_mutex_t lock;
    int64_t process; /* in the rows */
    int64_t hour;    /* that the sums are of */
    struct sum *sums;
    size_t sum_count;
    struct host_sum *hosts;
    size_t host_count;
    /* Of hours that are over: written by the next flush. */
    struct fate_count *over;
    size_t over_count, over_capacity;
};

static const struct fate_kind kinds[] = {
#define FATE(name, number, ends, fails, word) {FATE_##name, ends, fails, word},
#include "server/fates/fates.def"
#undef FATE
};

const struct fate_kind *fate_kind_of(int64_t number)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if ((int64_t)kinds[i].fate == number)
            return &kinds[i];
    return NULL;
}

static const struct exit_status_meaning exits[] = {
#define EXIT(number, name, words) {number, name, words},
#include "server/fates/exit_statuses.def"
#undef EXIT
};

const struct exit_status_meaning *exit_status_meaning_of(int64_t number)
{
    for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
        if (exits[i].number == number)
            return &exits[i];
    return NULL;
}

struct fates *fates_create(void)
{
    struct fates *fates = calloc(1, sizeof(*fates));

    if (fates != NULL && pthread_mutex_init(&fates->lock, NULL) != 0) {
        free(fates);
        return NULL;
    }
    if (fates != NULL)
        fates->process = (int64_t)(random_u64() >> 1);
    return fates;
}

/* The table goes first, and leaves the items linked as they are. */
static void forget_sums(struct fates *fates)
{
    struct sum *sum = fates->sums, *next;

    HASH_CLEAR(hh, fates->sums);
    for (; sum != NULL; sum = next) {
        next = sum->hh.next;
        free(sum);
    }
    fates->sum_count = 0;
}

static void forget_hosts(struct fates *fates)
{
    struct host_sum *host = fates->hosts, *next;

    HASH_CLEAR(hh, fates->hosts);
    for (; host != NULL; host = next) {
        next = host->hh.next;
        free(host);
    }
    fates->host_count = 0;
}

void fates_destroy(struct fates *fates)
{
    if (fates == NULL)
        return;
    forget_sums(fates);
    forget_hosts(fates);
    free(fates->over);
    pthread_mutex_destroy(&fates->lock);
    free(fates);
}

/* --- adding ---------------------------------------------------------------------------------- */

static struct fate_count count_of(const struct fates *fates, const struct sum *sum)
{
    return (struct fate_count){.hour = fates->hour,
                               .process = fates->process,
                               .appid = sum->key.appid,
                               .app_version_id = sum->key.app_version_id,
                               .batch = sum->key.batch,
                               .fate = sum->key.fate,
                               .exit_status = sum->key.exit_status,
                               .results = sum->results};
}

/* No more than two hours are kept so: where nothing can be written, older ones are lost. */
static void keep_over(struct fates *fates, const struct fate_count *count)
{
    if (count->results == 0)
        return;
    if (fates->over_count == fates->over_capacity) {
        size_t capacity = fates->over_capacity == 0 ? 64 : 2 * fates->over_capacity;
        struct fate_count *over = capacity > 2 * (size_t)FATES_KEYS_MAX + 64
                                      ? NULL
                                      : reallocarray(fates->over, capacity, sizeof(*over));

        if (over == NULL)
            return;
        fates->over = over;
        fates->over_capacity = capacity;
    }
    fates->over[fates->over_count++] = *count;
}

/* Clocks go back, too: an hour is over when another one is counted. */
static void begin_hour(struct fates *fates, int64_t hour)
{
    if (fates->hour == hour)
        return;
    for (const struct sum *sum = fates->sums; sum != NULL; sum = sum->hh.next) {
        struct fate_count count = count_of(fates, sum);

        keep_over(fates, &count);
    }
    forget_sums(fates);
    fates->hour = hour;
}

static struct sum *sum_of(struct fates *fates, const struct key *key, size_t most)
{
    struct sum *sum;

    HASH_FIND(hh, fates->sums, key, sizeof(*key), sum);
    if (sum != NULL || fates->sum_count >= most)
        return sum;
    sum = calloc(1, sizeof(*sum));
    if (sum == NULL)
        return NULL;
    sum->key = *key;
    HASH_ADD(hh, fates->sums, key, sizeof(sum->key), sum);
    if (sum->is_unkept) {
        free(sum);
        return NULL;
    }
    fates->sum_count++;
    return sum;
}

/* Exit statuses are what hosts say, and anybody may say very many. A quarter of the keys is kept
 * for those without one, and a few for those without a version. */
static void add(struct fates *fates, struct key key, int64_t results)
{
    const size_t with_status = FATES_KEYS_MAX * 3 / 4;
    const size_t with_version = FATES_KEYS_MAX - 2 * sizeof(kinds) / sizeof(kinds[0]);
    struct sum *sum = sum_of(fates, &key, with_status);

    if (sum == NULL) {
        key.exit_status = 0;
        sum = sum_of(fates, &key, with_version);
    }
    if (sum == NULL) {
        key = (struct key){.fate = key.fate, .batch = key.batch != 0 ? -1 : 0};
        sum = sum_of(fates, &key, FATES_KEYS_MAX);
    }
    if (sum != NULL)
        sum->results += results;
}

static void add_host(struct fates *fates, const struct host_fates *more)
{
    struct host_sum *host;

    HASH_FIND(hh, fates->hosts, &more->hostid, sizeof(more->hostid), host);
    if (host == NULL && fates->host_count < FATES_HOSTS_MAX) {
        host = calloc(1, sizeof(*host));
        if (host == NULL)
            return;
        host->hostid = more->hostid;
        HASH_ADD(hh, fates->hosts, hostid, sizeof(host->hostid), host);
        if (host->is_unkept) {
            free(host);
            return;
        }
        fates->host_count++;
    }
    if (host == NULL)
        return;
    host->ended += (int64_t)more->ended;
    host->failed += (int64_t)more->failed;
    host->counted_at = more->counted_at;
}

static void add_entry(struct fates *fates, int64_t now, const struct fate_entry *entry)
{
    const struct fate_kind *fate = fate_kind_of((int64_t)entry->fate);
    struct key key = {.appid = entry->appid,
                      .app_version_id = entry->app_version_id,
                      .fate = (int64_t)entry->fate,
                      .exit_status = entry->exit_status};

    add(fates, key, 1);
    if (entry->batch != 0) {
        key = (struct key){.appid = entry->appid, .batch = entry->batch, .fate = key.fate};
        add(fates, key, 1);
    }
    if (entry->hostid != 0 && (fate->ends || fate->fails)) {
        struct host_fates more = {
            .hostid = entry->hostid, .ended = fate->ends, .failed = fate->fails, .counted_at = now};
        add_host(fates, &more);
    }
}

void fates_add(struct fates *fates, int64_t now, const struct fate_entry *entries, size_t count)
{
    if (fates == NULL || count == 0)
        return;
    pthread_mutex_lock(&fates->lock);
    begin_hour(fates, now / HOUR_SECONDS);
    for (size_t i = 0; i < count; i++)
        add_entry(fates, now, &entries[i]);
    pthread_mutex_unlock(&fates->lock);
}

/* --- for a flush ----------------------------------------------------------------------------- */

static bool take(struct fates *fates, struct arena *arena, struct fates_sums *ret_sums)
{
    ret_sums->counts = ARENA_ARRAY(arena, fates->over_count + fates->sum_count, struct fate_count);
    ret_sums->hosts = ARENA_ARRAY(arena, fates->host_count, struct host_fates);
    if (ret_sums->counts == NULL || ret_sums->hosts == NULL)
        return false;
    for (size_t i = 0; i < fates->over_count; i++)
        ret_sums->counts[ret_sums->count++] = fates->over[i];
    fates->over_count = 0;
    for (struct sum *sum = fates->sums; sum != NULL; sum = sum->hh.next) {
        if (sum->results == 0)
            continue;
        ret_sums->counts[ret_sums->count++] = count_of(fates, sum);
        sum->results = 0;
    }
    for (const struct host_sum *host = fates->hosts; host != NULL; host = host->hh.next)
        ret_sums->hosts[ret_sums->host_count++] =
            (struct host_fates){.hostid = host->hostid,
                                .ended = (double)host->ended,
                                .failed = (double)host->failed,
                                .counted_at = host->counted_at};
    forget_hosts(fates);
    return true;
}

bool fates_take(struct fates *fates, struct arena *arena, struct fates_sums *ret_sums)
{
    bool is_taken;

    *ret_sums = (struct fates_sums){0};
    pthread_mutex_lock(&fates->lock);
    ret_sums->hour = fates->hour;
    is_taken = take(fates, arena, ret_sums);
    pthread_mutex_unlock(&fates->lock);
    return is_taken;
}

void fates_give_back(struct fates *fates, const struct fates_sums *sums)
{
    pthread_mutex_lock(&fates->lock);
    for (size_t i = 0; i < sums->count; i++) {
        const struct fate_count *count = &sums->counts[i];
        struct key key = {.appid = count->appid,
                          .app_version_id = count->app_version_id,
                          .batch = count->batch,
                          .fate = count->fate,
                          .exit_status = count->exit_status};

        if (count->hour == fates->hour)
            add(fates, key, count->results);
        else
            keep_over(fates, count);
    }
    for (size_t i = 0; i < sums->host_count; i++)
        add_host(fates, &sums->hosts[i]);
    pthread_mutex_unlock(&fates->lock);
}
