/* SPDX-License-Identifier: Apache-2.0 */
/* The record of calls, the connection and its transaction. Hosts and users: db_fake_hosts.c; jobs:
 * db_fake_jobs.c; what no unit test has an answer for yet: db_fake_rest.c. */
#include "tests/support/db_fake_parts.h"

#include "tests/support/test.h"

enum { CALLS_MOST = 200, NO_LIMIT = 1000000 };

struct db_fake db_fake;
const char *const db_fake_files[] = {&db_fake_hosts, &db_fake_jobs, &db_fake_rest};

static struct {
    const char *answered;
    struct {
        const char *name;
        int64_t id;
        bool is_note;
    } calls[CALLS_MOST];
    size_t count;
} record;

void db_fake_begin(const char *answered)
{
    memset(&db_fake, 0, sizeof(db_fake));
    memset(&record, 0, sizeof(record));
    record.answered = answered;
    db_fake.calls_left = NO_LIMIT;
    db_fake.failure = STATUS_DB_GONE;
}

/* Whether a list separated by spaces has the name. */
static bool is_among(const char *names, const char *name)
{
    struct text rest = text_from(names);

    while (rest.length > 0) {
        if (text_is(text_split(&rest, ' '), name))
            return true;
    }
    return false;
}

static void keep(const char *name, int64_t id, bool is_note)
{
    if (record.count == CALLS_MOST)
        fail_msg("the fake database remembers %d calls", CALLS_MOST);
    record.calls[record.count].name = name;
    record.calls[record.count].id = id;
    record.calls[record.count++].is_note = is_note;
}

enum status db_fake_call(const char *function, int64_t id)
{
    const char *name = function + strlen("db_");

    if (record.answered == NULL || !is_among(record.answered, name))
        fail_msg("%s was called, and this case has no answer for it: see db_fake_begin", function);
    keep(name, id, false);
    db_fake.calls_left--;
    return db_fake.calls_left >= 0 || (db_fake.fails_once && db_fake.calls_left < -1)
               ? STATUS_OK
               : db_fake.failure;
}

void db_fake_note(const char *what)
{
    keep(what, 0, true);
}

int db_fake_calls(const char *name)
{
    int calls = 0;

    for (size_t i = 0; i < record.count; i++)
        calls += name == NULL ? !record.calls[i].is_note : strcmp(record.calls[i].name, name) == 0;
    return calls;
}

const char *db_fake_record(const char *names)
{
    static char text[4000];
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < record.count; i++) {
        if (names != NULL && !is_among(names, record.calls[i].name))
            continue;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
                                   length > 0 ? " " : "", record.calls[i].name);
        if (record.calls[i].id != 0)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "(%lld)",
                                       (long long)record.calls[i].id);
        assert_true(length < sizeof(text));
    }
    return text;
}

/* --- connection and transaction -----------------------------------------------------------------
 */

const char *db_error(const struct db *db)
{
    return "words of the database";
}

const char *db_explain(struct db *db, enum status status)
{
    return status_word(status);
}

struct db_count db_count(const struct db *db)
{
    return (struct db_count){.waited_ns = db_fake.waited_ns};
}

void db_count_reset(struct db *db)
{
}

void db_count_take(struct db *db, struct db_count *count)
{
}

enum status db_reopen(struct db *db)
{
    enum status status = CALL(0);

    return status == STATUS_OK ? db_fake.reopen : status;
}

enum status db_commit(struct db *db)
{
    enum status status = CALL(0);

    assert_true(db_fake.commit_count < FAKE_COMMITS);
    return status == STATUS_OK ? db_fake.commits[db_fake.commit_count++] : status;
}

enum status db_host_commit(struct db *db, const struct host_ending *ending)
{
    db_fake.saves_contact = ending->contact != NULL;
    return db_commit(db);
}

/* Nothing hangs on it: the first statement begins as well. */
enum status db_begin(struct db *db)
{
    return STATUS_OK;
}

enum status db_rollback(struct db *db)
{
    return CALL(0);
}

enum status db_end(struct db *db)
{
    return CALL(0);
}

enum status db_savepoint(struct db *db)
{
    return CALL(0);
}

bool db_can_share(const struct db *db)
{
    return db_fake.can_share;
}

enum status db_wait_for_locks(struct db *db, bool waits)
{
    return STATUS_OK;
}

enum status db_part_begin(struct db *db)
{
    return CALL(0);
}

enum status db_part_undo(struct db *db)
{
    (void)CALL(0);
    return db_fake.part_undo;
}

enum status db_part_end(struct db *db, const struct host_ending *ending)
{
    return CALL(ending->hostid);
}

/* Works where a statement failed: that is what it is for. */
enum status db_rollback_to_savepoint(struct db *db)
{
    (void)CALL(0);
    return STATUS_OK;
}

enum status db_host_token(struct db *db, int64_t hostid, uint64_t *ret_token)
{
    enum status status = CALL(hostid);

    *ret_token = db_fake.token;
    return status == STATUS_OK ? db_fake.host_token : status;
}

bool db_may_lag(const struct db *db)
{
    return db_fake.is_cluster;
}

enum status db_catch_up(struct db *db)
{
    db_fake.lags = false;
    return CALL(0);
}

enum status db_host_guard(struct db *db, int64_t hostid, uint64_t token, int64_t now)
{
    db_fake.token = token;
    return CALL(hostid);
}
