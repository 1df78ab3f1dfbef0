/* SPDX-License-Identifier: Apache-2.0 */
/* The rpc room: one scheduler RPC as data, for all the rooms that work on it.
 *
 * A worker fills in what is given (configuration, catalog, connection, the body) and has it walked
 * (server/request/walk.h). The steps below run in order. Parse and screen run once and
 * write what does not depend on the database. The others run inside a transaction, which may be
 * tried several times; all that they find and decide stands in struct attempt, which is zeroed
 * before each try, so that trying again is the same code as trying. When the transaction is
 * committed, attempt.answer is written as the reply. Everything lives in the request's arena and
 * ends with the reply. */
#ifndef SERVER_RPC_REQUEST_H
#define SERVER_RPC_REQUEST_H

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/refusal/delay.h"
#include "server/policy/version/estimate.h"
#include "server/policy/version/presence.h"
#include "server/reply/answer.h"
#include "server/rpc/request_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog;
struct files;
struct config;
struct buda_apps;
struct plan_classes;
struct pool;
struct project_blocks;
struct project_keys;
struct pool_booking;
struct fates;
struct fate_entry;
struct world;

/* What the web server says beside the body. */
struct transport {
    struct text body;
    bool body_too_large;
    struct text remote_addr, forwarded_for; /* empty: unknown */
    /* On which account's turn the request was taken; see request_account. */
    bool has_account;
    uint64_t account;
    bool is_known; /* this process found the account's key of late */
};

/* The walk, in order; code, log line and timing come from this list.
 *
 *   STEP(name, brief)  enum next step_NAME(struct request *); a few words for the administrator
 *
 * head        of a large body the key is checked before the rest is read; once, and only where
 *             there is a database
 * parse       bytes -> message; once, before the transaction
 * screen      what can be refused or noted without the database; once, before the transaction,
 *             writing into `early`, which is the whole reply when it answers NEXT_REPLY
 * authenticate  account, host row (locked), preferences in force
 * report      finished jobs
 * resend      jobs the host should have: lost ones again, aborts
 * extend      more time for jobs that are late but under way
 * select      new jobs
 * messages    trickles and messages to the host
 * record      host, host_app_version, guard row; the commit follows
 */
#define REQUEST_STEPS(STEP)                                                   \
    STEP(head, "looks up the account of a large request before it is parsed") \
    STEP(parse, "reads the request")                                          \
    STEP(screen, "refuses what needs no database")                            \
    STEP(authenticate, "finds account and host, and locks the host")          \
    STEP(report, "books the results that the host reports")                   \
    STEP(resend, "sends lost jobs again, aborts what nobody needs")           \
    STEP(extend, "gives more time to jobs that are late but under way")       \
    STEP(select, "chooses new jobs and claims them")                          \
    STEP(messages, "takes and gives messages of jobs")                        \
    STEP(record, "writes the host and its statistics")

enum step {
#define STEP_ENUM(name, brief) STEP_##name,
    REQUEST_STEPS(STEP_ENUM)
#undef STEP_ENUM
        STEP_COUNT
};

enum next {
    NEXT_STEP,
    NEXT_REPLY, /* nothing of this transaction is to be kept: roll back, write the answer */
    NEXT_FAILED /* the database or another resource failed, see request->failure: try again */
};

/* One try at the transaction: what it found and decided; zeroed before each. */
struct attempt {
    struct answer answer;
    struct budget budget; /* what this attempt may still cost, beside parse and screen */

    /* authenticate */
    struct user_row user;
    struct text team_name;
    bool is_weak;         /* weak authenticator: preferences and cross-project id are not stored */
    struct host_row host; /* as it will be stored */
    struct host_row stored; /* the same as it was read under its lock; of a new one 0 */
    bool has_guard;         /* its guard row was there; false: not, or nobody knows */
    uint64_t said;          /* digest of what is kept of what it can do; 0: nothing, or unknown */
    struct text stored_presence; /* as its guard row has it; empty: nothing, or unknown */
    struct text presence;        /* as it will be stored; empty: as it is */
    struct presence_shares presence_shares; /* what is learned from it; 0: nothing is */
    bool contact_waits; /* the end of the transaction writes what is new of the host */
    bool host_is_new;
    bool detaches; /* jobs in progress become CLIENT_DETACHED once the reports are booked */
    struct global_preferences prefs; /* in force */
    struct project_preferences project_prefs;
    struct host_app_version_row *versions;
    size_t version_count;
    bool is_new_day;          /* of the host: n_jobs_today of every row counts as 0 */
    bool work_refused;        /* no new jobs, for a reason that was said */
    bool too_recent;          /* and the reason is no more than that the request came too early */
    struct request_plan plan; /* what the steps after this one do about jobs */

    /* report */
    size_t booked;
    struct fate_entry *reported; /* what became of the results that were booked */
    size_t reported_count;
    bool force_resend; /* a success was reported again: an earlier reply may have been lost */
    struct host_app_version_change *version_changes;
    size_t version_change_count, version_change_capacity;
    struct host_app_version_change
        spare_change; /* returned in place of NULL when the arena is full */

    /* what in_progress.h has read */
    struct result_row *in_progress;
    size_t in_progress_count;
    bool in_progress_is_read;
    struct host_job *in_progress_jobs; /* the same with their workunits, if they were read too */
    bool in_progress_has_jobs;
    struct memory_peak *memory_peaks; /* what memory_peaks.h has read */
    size_t memory_peak_count;
    bool memory_peaks_are_read;
    struct host_variant_row *variants; /* what host_variants.h has read, and reports changed */
    size_t variant_count;
    bool variants_are_read;

    /* extend */
    double first_deadline; /* epoch: of the listed jobs, as the client has them, the first that
                              lies ahead; INFINITY: none does */

    /* resend, select */
    size_t resent;
    size_t jobs_sent;              /* new ones */
    struct pool_booking *bookings; /* what they are to be booked as, once they are committed */
    int disk_pass;                 /* in which they were chosen: 1 to 3; 0: there are none */
};

struct request {
    /* given */
    const struct config *config;
    const struct catalog *catalog; /* NULL, as db: not reached yet, the project is down */
    const struct project_keys *keys;
    const struct project_blocks *blocks;     /* NULL: none */
    const struct plan_classes *plan_classes; /* NULL: the built-in ones */
    const struct buda_apps *buda;            /* NULL: no science apps */
    struct fates *fates;                     /* what became of results; NULL: nothing is counted */
    struct db *db;
    const struct world *world; /* of whom handing out asks: see world.h */
    struct pool *pool;         /* NULL: none, jobs come by query */
    struct files *files;       /* the file database; NULL: none, or away */
    struct arena *arena;
    double now;       /* epoch, read once */
    uint64_t seed;    /* all randomness of this request comes from it */
    struct load load; /* of the server when the request came */
    struct transport transport;
    bool is_read_only;            /* nothing is to be written: a question of qmctl */
    bool stop_sched;              /* trigger file: the project is down */
    bool stop_work;               /* trigger file: it hands out no jobs, and takes reports */
    double database_away_for;     /* s; see delay_of_outage */
    void (*wait)(double seconds); /* between attempts; NULL: do not wait */

    /* parse and screen; kept over attempts */
    struct message message;
    int64_t client_version;
    bool work_forbidden; /* client, OS or CPU not accepted, or nobody gets jobs */
    struct answer
        early; /* messages and delay said before the transaction; each attempt copies it */
    struct budget budget; /* what parse and screen cost; each attempt goes on from there */

    struct attempt attempt;

    /* Candidates taken out of the pool, which no other request is offered; see source_finish. */
    struct taken_jobs {
        int64_t *ids;
        size_t count, capacity;
    } taken;

    /* bookkeeping */
    uint64_t begun_ns;      /* monotonic */
    struct arena_mark mark; /* the arena as each attempt finds it */
    bool is_joining;        /* in this attempt, the transaction of others (request_group.h) */
    const struct host_rows *host_rows; /* read for several requests at once; NULL: nothing was */
    bool others_are_read; /* in this attempt's transaction: it does not give their locks back */
    size_t group_size;    /* requests that its COMMIT kept, if it was a shared one; 0: it was not */
    struct db_count counted; /* what it asked of the database */
    struct failure failure;  /* of the last attempt */
    uint64_t step_ns[STEP_COUNT];
    uint64_t commit_ns, total_ns;
    int attempts;
    enum catch_up { CATCH_UP_NOT, CATCH_UP_WANTED, CATCH_UP_DONE } catch_up; /* see db_catch_up */
    uint64_t token;         /* of this attempt's transaction */
    bool database_was_away; /* the connection is of no use any more */
};

#define STEP_DECLARE(name, brief) enum next step_##name(struct request *request);
REQUEST_STEPS(STEP_DECLARE)
#undef STEP_DECLARE

/* The number that stands for the account of a key, before anybody knows whether the key is right.
 */
uint64_t request_account(struct text key);
/* The account key as it stands in the beginning of a body that nobody has parsed: clients write it
 * first. False: it is not there. */
bool request_find_key(struct text body, struct text *ret_key);

/* For steps: keeps the status with the database's own words and returns NEXT_FAILED. */
enum next request_failed(struct request *request, enum status status, const char *what);

/* The change record of one host_app_version row, made on first use (in order of use), with
 * reset_today set on the host's new day. Valid until the next call. */
struct host_app_version_change *request_version_change(struct request *request,
                                                       int64_t app_version_id);
/* The row as read, NULL when there is none. */
const struct host_app_version_row *request_version(const struct request *request,
                                                   int64_t app_version_id);
/* max_jobs_per_day with which a row begins that the host does not have yet, by what its others have
 * after what this request has changed. */
int64_t request_first_quota(const struct request *request);

/* The availability that the client reports, and the one that is expected from now on: the same
 * where nothing is learned (policy(7) 5.1). */
struct availability request_availability(const struct request *request);
struct availability request_expected_availability(const struct request *request);

#endif
