/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/pass_lease.h"

#include "db/db.h"
#include "db/lease.h"
#include "server/base/clock.h"
#include "server/base/random.h"
#include "server/base/thread.h"
#include "server/passes/pass.h"
#include "server/passes/pass_repeat.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

enum {
    RENEW_EVERY = 20, /* s */
    /* s; of the whole seconds that the database counts in, up to one is over already */
    SURELY_VALID = DB_LEASE_SECONDS - 2
};

struct pass_lease {
    struct pass_owner *owner;
    struct lease_key key; /* one token for all that it takes: so what any attempt left is found */
    bool may_have_row;    /* in the database */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    bool is_held;      /* false: nothing, or it was lost */
    double held_until; /* as clock_seconds(); surely till then */
    bool ends;
};

/* --- renewing ------------------------------------------------------------------------------------
 */

/* What is said of a row that was given back meanwhile may end the one that was taken then: it is
 * taken once more. */
static void note_renewal(struct pass_lease *lease, double asked_at, bool is_valid)
{
    pthread_mutex_lock(&lease->lock);
    lease->is_held = lease->is_held && is_valid;
    lease->held_until = asked_at + SURELY_VALID;
    pthread_mutex_unlock(&lease->lock);
}

/* What fails is tried again the next time; then the lease may be lost, which is seen. */
static void renew(struct pass_lease *lease, struct db **db)
{
    double asked_at = clock_seconds();
    bool is_valid = false;
    enum status status = STATUS_OK;

    if (*db == NULL)
        status = db_open(lease->owner->config, db, NULL);
    if (status == STATUS_OK)
        status = db_lease_renew(*db, &lease->key, &is_valid);
    if (status == STATUS_OK)
        status = db_commit(*db);
    if (status == STATUS_OK) {
        note_renewal(lease, asked_at, is_valid);
    } else {
        db_close(*db);
        *db = NULL;
    }
}

/* Waits for the time of the next renewal. False: it is over. */
static bool await_turn(struct pass_lease *lease)
{
    struct timespec until;
    bool goes_on;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += RENEW_EVERY;
    pthread_mutex_lock(&lease->lock);
    while (!lease->ends) {
        if (pthread_cond_timedwait(&lease->wake, &lease->lock, &until) == 0)
            continue;
        if (lease->is_held)
            break;
        until.tv_sec += RENEW_EVERY;
    }
    goes_on = !lease->ends;
    pthread_mutex_unlock(&lease->lock);
    return goes_on;
}

static void *keep(void *argument)
{
    struct pass_lease *lease = argument;
    struct db *db = NULL;

    while (await_turn(lease))
        renew(lease, &db);
    db_close(db);
    return NULL;
}

/* Without the thread a lease lasts for DB_LEASE_SECONDS. */
static void start_thread(struct pass_lease *lease)
{
    if (!lease->has_thread)
        lease->has_thread = thread_start(&lease->thread, keep, lease);
}

static void end_thread(struct pass_lease *lease)
{
    pthread_mutex_lock(&lease->lock);
    lease->ends = true;
    pthread_cond_broadcast(&lease->wake);
    pthread_mutex_unlock(&lease->lock);
    if (lease->has_thread)
        (void)pthread_join(lease->thread, NULL);
}

/* --- taking --------------------------------------------------------------------------------------
 */

static void set_held(struct pass_lease *lease, bool is_held, double until)
{
    pthread_mutex_lock(&lease->lock);
    lease->is_held = is_held;
    lease->held_until = until;
    pthread_mutex_unlock(&lease->lock);
}

struct taking {
    struct pass_lease *lease;
    pass_find *find;
    void *subject;
    int64_t *ids;
    size_t most, count;
};

static enum status add(struct pass_lease *lease, const int64_t *ids, size_t count)
{
    int64_t first = ids[0], last = ids[0];

    for (size_t i = 1; i < count; i++) {
        first = ids[i] < first ? ids[i] : first;
        last = ids[i] > last ? ids[i] : last;
    }
    return db_lease_add(lease->owner->db, &lease->key, first, last);
}

/* One transaction: what was held is given back, whether or not an attempt before this one did so.
 */
static enum status try_to_take(void *subject)
{
    struct taking *taking = subject;
    struct pass_lease *lease = taking->lease;
    double begun = clock_seconds();
    enum status status = db_lease_turn(lease->owner->db, &lease->key);

    taking->count = 0;
    if (status == STATUS_OK && !pass_is_to_end(lease->owner))
        status = taking->find(taking->subject, taking->ids, taking->most, &taking->count);
    if (status == STATUS_OK && taking->count > 0)
        status = add(lease, taking->ids, taking->count);
    if (status == STATUS_OK)
        status = db_commit(lease->owner->db);
    if (status == STATUS_OK && taking->count > 0)
        set_held(lease, true, begun + SURELY_VALID);
    return status;
}

/* Where there is nothing to take, nothing is written: most rounds of a loop find nothing. */
enum status pass_lease_take(struct pass_lease *lease, pass_find *find, void *subject,
                            int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct taking taking = {lease, find, subject, ret_ids, most, 0};
    enum status status = db_undo_idle(lease->owner->db);

    *ret_count = 0;
    set_held(lease, false, 0);
    if (status != STATUS_OK)
        return status;
    if (!lease->may_have_row) {
        status = find(subject, ret_ids, most, &taking.count);
        (void)db_end(lease->owner->db);
        if (status != STATUS_OK || taking.count == 0)
            return status;
    }
    lease->may_have_row = true;
    status = repeat_transaction(lease->owner->db, try_to_take, &taking);
    if (status != STATUS_OK)
        return status;
    lease->may_have_row = taking.count > 0;
    if (taking.count > 0)
        start_thread(lease);
    *ret_count = taking.count;
    return STATUS_OK;
}

enum status pass_lease_check(struct pass_lease *lease)
{
    bool is_valid = false;
    enum status status = db_lease_renew(lease->owner->db, &lease->key, &is_valid);

    if (status != STATUS_OK || is_valid)
        return status;
    set_held(lease, false, 0);
    return STATUS_NOT_FOUND;
}

bool pass_lease_is_held(struct pass_lease *lease)
{
    bool is_held;

    pthread_mutex_lock(&lease->lock);
    is_held = lease->is_held && lease->held_until > clock_seconds();
    pthread_mutex_unlock(&lease->lock);
    return is_held && !pass_is_to_end(lease->owner);
}

/* --- a lease ------------------------------------------------------------------------------------
 */

struct pass_lease *pass_lease_create(struct pass_owner *owner, const char *pass, int64_t appid)
{
    struct pass_lease *lease = calloc(1, sizeof(*lease));
    pthread_condattr_t attributes;

    if (lease == NULL)
        return NULL;
    lease->owner = owner;
    lease->key = (struct lease_key){
        .pass = text_from(pass), .appid = appid, .token = (int64_t)(random_u64() >> 1) | 1};
    (void)pthread_mutex_init(&lease->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&lease->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return lease;
}

static enum status try_to_release(void *subject)
{
    struct pass_lease *lease = subject;
    enum status status = db_lease_release(lease->owner->db, &lease->key);

    return status == STATUS_OK ? db_commit(lease->owner->db) : status;
}

void pass_lease_destroy(struct pass_lease *lease)
{
    if (lease == NULL)
        return;
    end_thread(lease);
    (void)db_rollback(lease->owner->db);
    if (lease->may_have_row &&
        repeat_transaction(lease->owner->db, try_to_release, lease) != STATUS_OK)
        (void)db_rollback(lease->owner->db); /* then it ends by itself */
    (void)pthread_cond_destroy(&lease->wake);
    (void)pthread_mutex_destroy(&lease->lock);
    free(lease);
}
