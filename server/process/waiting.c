/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts stand in a hash by number while they have a request that waits or is served. Those that
 * have one that waits and may be served stand in one of two rings, those with reports and those
 * without; the head of a ring has the next turn and then goes to its end. Strangers have a ring for
 * themselves. An account that holds its share stands in no ring but in a third list, from which it
 * comes back when one of its requests is finished, or when nobody else waits.
 *
 * An account that was dear is remembered while it has nothing to serve, for as long as it is held
 * to fewer threads. Those stand in a list in the order in which they are forgotten; it is bounded,
 * since who sends requests chooses the keys. */
#include "server/process/waiting.h"

#include "server/base/status.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(account) ((account)->is_unkept = true)
#include <uthash.h>
#include <utlist.h>

#include "server/base/banned.h"

/* With reports, without; strangers; and accounts that hold their share. */
enum ring {
    RING_REPORTS,
    RING_OTHERS,
    RING_COUNT,
    RING_STRANGERS = RING_COUNT,
    RING_SHARE,
    RING_NONE
};

enum {
    REMEMBERED_MAX = 1024,
    TURNS_OF_FIRST = 3 /* before one of the others, where both wait */
};

struct waiting_account {
    uint64_t number;
    size_t served;
    size_t at_most;          /* served at a time, whoever waits; 0: as many as there are threads */
    uint64_t until_ns;       /* for at_most */
    size_t turns_of_reports; /* of its own requests, as in the line */
    struct {
        struct waiting_entry *first, *last;
        size_t count;
    } waiting[RING_COUNT];
    enum ring ring;
    struct waiting_account *prev, *next;    /* in the ring */
    struct waiting_account *sooner, *later; /* among those remembered */
    bool is_unkept;                         /* the hash had no memory for it */
    UT_hash_handle hh;
};

struct waiting_line {
    size_t share, length;
    size_t with_reports;     /* of them */
    size_t accounts_waiting; /* that have an entry which waits */
    size_t turns_of_reports; /* since a request without had the turn, or none waited */
    size_t turns_of_known;   /* since a stranger had the turn, or none waited */
    struct waiting_account *accounts;
    struct waiting_account *rings[RING_NONE];
    struct waiting_entry *by_age;
    struct waiting_account *remembered; /* the first is forgotten first */
    size_t remembered_count;
};

struct waiting_line *waiting_create(size_t share)
{
    struct waiting_line *line = calloc(1, sizeof(*line));

    if (line != NULL)
        line->share = share;
    return line;
}

static void forget(struct waiting_line *line, struct waiting_account *account)
{
    if (account->at_most == 0)
        return;
    account->at_most = 0;
    DL_DELETE2(line->remembered, account, sooner, later);
    line->remembered_count--;
}

static struct waiting_account *find_account(const struct waiting_line *line, uint64_t number)
{
    struct waiting_account *account = NULL;

    HASH_FIND(hh, line->accounts, &number, sizeof(number), account);
    return account;
}

static struct waiting_account *make_account(struct waiting_line *line, uint64_t number)
{
    struct waiting_account *account = find_account(line, number);

    if (account != NULL)
        return account;
    account = calloc(1, sizeof(*account));
    if (account == NULL)
        return NULL;
    account->number = number;
    account->ring = RING_NONE;
    HASH_ADD(hh, line->accounts, number, sizeof(account->number), account);
    if (account->is_unkept) {
        free(account);
        return NULL;
    }
    return account;
}

static bool waits(const struct waiting_account *account)
{
    return account->waiting[RING_REPORTS].first != NULL ||
           account->waiting[RING_OTHERS].first != NULL;
}

/* How many of its requests are served before others go first. */
static size_t share_of(const struct waiting_line *line, const struct waiting_account *account)
{
    return account->at_most > 0 && account->at_most < line->share ? account->at_most : line->share;
}

/* Puts the account where it belongs now, at the end of that ring; drops one that has nothing. */
static void place(struct waiting_line *line, struct waiting_account *account)
{
    enum ring ring = !waits(account)                                ? RING_NONE
                     : account->served >= share_of(line, account)   ? RING_SHARE
                     : account->number == WAITING_STRANGERS         ? RING_STRANGERS
                     : account->waiting[RING_REPORTS].first != NULL ? RING_REPORTS
                                                                    : RING_OTHERS;

    if (account->ring != RING_NONE) {
        DL_DELETE(line->rings[account->ring], account);
        line->accounts_waiting--;
    }
    account->ring = ring;
    if (ring != RING_NONE) {
        DL_APPEND(line->rings[ring], account);
        line->accounts_waiting++;
    } else if (account->served == 0 && account->at_most == 0) {
        HASH_DELETE(hh, line->accounts, account);
        free(account);
    }
}

/* Lets go of those whose time is over, and of the first ones where there are too many. */
static void forget_some(struct waiting_line *line, uint64_t now_ns)
{
    while (line->remembered != NULL &&
           (line->remembered->until_ns <= now_ns || line->remembered_count > REMEMBERED_MAX)) {
        struct waiting_account *account = line->remembered;

        forget(line, account);
        if (account->ring == RING_SHARE || account->ring == RING_NONE)
            place(line, account);
    }
}

static void remember(struct waiting_line *line, struct waiting_account *account,
                     struct thread_use use)
{
    size_t at_most = use.cpu_ns >= WAITING_DEAR_NS    ? 1
                     : use.held_ns >= WAITING_LONG_NS ? line->share
                                                      : 0;

    if (at_most == 0)
        return;
    if (account->at_most > 0 && account->at_most < at_most)
        at_most = account->at_most;
    forget(line, account);
    account->at_most = at_most;
    account->until_ns = use.now_ns + WAITING_MEMORY_NS;
    DL_APPEND2(line->remembered, account, sooner, later);
    line->remembered_count++;
}

void waiting_destroy(struct waiting_line *line)
{
    if (line != NULL)
        forget_some(line, UINT64_MAX);
    free(line);
}

bool waiting_add(struct waiting_line *line, struct waiting_entry *entry)
{
    struct waiting_account *account;
    enum ring kind = entry->has_reports ? RING_REPORTS : RING_OTHERS;

    forget_some(line, entry->arrived_ns);
    account = make_account(line, entry->account);
    if (account == NULL)
        return false;
    entry->of = account;
    entry->next = NULL;
    if (account->waiting[kind].last != NULL)
        account->waiting[kind].last->next = entry;
    else
        account->waiting[kind].first = entry;
    account->waiting[kind].last = entry;
    account->waiting[kind].count++;
    DL_APPEND2(line->by_age, entry, older, newer);
    line->length++;
    line->with_reports += entry->has_reports;
    /* One that stands in its ring keeps its turn; its first report brings it forward. */
    if (account->ring == RING_NONE || (account->ring == RING_OTHERS && entry->has_reports))
        place(line, account);
    return true;
}

/* Of those that hold their share: the first whom nothing else binds. */
static struct waiting_account *next_in_share(const struct waiting_line *line)
{
    struct waiting_account *account = line->rings[RING_SHARE];

    while (account != NULL && account->at_most > 0)
        account = account->next;
    return account;
}

/* Three turns of four are for those that go first, where both wait. `turns` counts. */
static bool is_turn_of_first(bool first_wait, bool others_wait, size_t *turns)
{
    if (first_wait && others_wait && *turns < TURNS_OF_FIRST) {
        (*turns)++;
        return true;
    }
    *turns = 0;
    return !others_wait;
}

/* The account that has the next turn; NULL: none may be served. */
static struct waiting_account *next_account(struct waiting_line *line)
{
    struct waiting_account *reports = line->rings[RING_REPORTS], *others = line->rings[RING_OTHERS],
                           *strangers = line->rings[RING_STRANGERS];
    bool known_wait = reports != NULL || others != NULL;

    if (!known_wait && strangers == NULL)
        return next_in_share(line);
    if (!is_turn_of_first(known_wait, strangers != NULL, &line->turns_of_known))
        return strangers;
    return is_turn_of_first(reports != NULL, others != NULL, &line->turns_of_reports) ? reports
                                                                                      : others;
}

struct waiting_entry *waiting_take(struct waiting_line *line)
{
    struct waiting_account *account = next_account(line);
    struct waiting_entry *entry;
    enum ring kind;

    if (account == NULL)
        return NULL;
    kind = is_turn_of_first(account->waiting[RING_REPORTS].first != NULL,
                            account->waiting[RING_OTHERS].first != NULL, &account->turns_of_reports)
               ? RING_REPORTS
               : RING_OTHERS;
    entry = account->waiting[kind].first;
    must(entry != NULL); /* who stands in a ring has one that waits */
    account->waiting[kind].first = entry->next;
    if (entry->next == NULL)
        account->waiting[kind].last = NULL;
    account->waiting[kind].count--;
    DL_DELETE2(line->by_age, entry, older, newer);
    line->length--;
    line->with_reports -= entry->has_reports;
    account->served++;
    place(line, account);
    return entry;
}

bool waiting_is_dear(const struct waiting_entry *entry)
{
    return entry->of->at_most > 0;
}

/* After its share, or what it holds, has changed. One that stands in its ring keeps its turn. */
static void place_again(struct waiting_line *line, struct waiting_account *account)
{
    if (account->ring == RING_SHARE || account->ring == RING_NONE ||
        account->served >= share_of(line, account))
        place(line, account);
}

/* Without memory for an account that has nothing else here nothing is held against it. */
static void charge(struct waiting_line *line, uint64_t number, struct thread_use use)
{
    struct waiting_account *account = make_account(line, number);

    if (account == NULL)
        return;
    remember(line, account, use);
    place_again(line, account);
}

void waiting_finish(struct waiting_line *line, struct waiting_entry *entry, struct thread_use use)
{
    struct waiting_account *account = entry->of;

    entry->of = NULL;
    account->served--;
    if (account->number != WAITING_STRANGERS)
        remember(line, account, use);
    else if (entry->account != WAITING_STRANGERS)
        charge(line, entry->account, use);
    place_again(line, account);
}

size_t waiting_length(const struct waiting_line *line)
{
    return line->length;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Those that take turns with one another. */
struct side {
    size_t accounts, reports, others;
};

static struct side strangers_of(const struct waiting_line *line)
{
    const struct waiting_account *strangers = find_account(line, WAITING_STRANGERS);
    struct side side = {.accounts = 0};

    if (strangers != NULL) {
        side.accounts = strangers->ring != RING_NONE;
        side.reports = strangers->waiting[RING_REPORTS].count;
        side.others = strangers->waiting[RING_OTHERS].count;
    }
    return side;
}

static size_t ahead_on_side(struct side side, size_t own, bool has_reports)
{
    size_t turns = (own + 1) * side.accounts; /* of each account one before each of ours */

    if (has_reports) {
        size_t reports = least(side.reports, turns);

        return reports + least(reports / TURNS_OF_FIRST, side.others);
    }
    return least(side.reports + side.others, turns + least(side.reports, turns * TURNS_OF_FIRST));
}

size_t waiting_ahead(const struct waiting_line *line, const struct waiting_entry *entry)
{
    const struct waiting_account *account = find_account(line, entry->account);
    enum ring kind = entry->has_reports ? RING_REPORTS : RING_OTHERS;
    size_t own = account == NULL ? 0 : account->waiting[kind].count;
    struct side strangers = strangers_of(line);
    struct side known = {.accounts = line->accounts_waiting - strangers.accounts,
                         .reports = line->with_reports - strangers.reports};
    size_t ahead;

    known.others = line->length - line->with_reports - strangers.others;
    if (entry->account == WAITING_STRANGERS) {
        ahead = ahead_on_side(strangers, own, entry->has_reports);
        return ahead + least(known.reports + known.others, (ahead + 1) * TURNS_OF_FIRST);
    }
    ahead = ahead_on_side(known, own, entry->has_reports);
    return ahead + least(strangers.reports + strangers.others, ahead / TURNS_OF_FIRST);
}

uint64_t waiting_oldest_ns(const struct waiting_line *line)
{
    return line->by_age == NULL ? 0 : line->by_age->arrived_ns;
}
