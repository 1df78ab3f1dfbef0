/* SPDX-License-Identifier: Apache-2.0 */
#include "server/join/join.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/base/password.h"
#include "server/base/random.h"
#include "server/join/join_limits.h"
#include "server/join/join_query.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum { TRIES = 3 }; /* of what the database breaks off */

/* One try. The status is the database's: anything but STATUS_OK and the request has no answer yet.
 */
struct join_attempt {
    struct join_request *request;
    const struct join_query *query;
    struct user_row user; /* id 0: there is none with this address */
    bool is_alike;        /* then: but one that the database takes for the same */
    struct text name;     /* of a new account */
    struct text key;      /* the answer, where request->error is JOIN_NO_ERROR */
};

static enum status refuse(struct join_attempt *attempt, enum join_error error)
{
    attempt->request->error = error;
    return STATUS_OK;
}

static enum status accept(struct join_attempt *attempt, int64_t userid, struct text key)
{
    attempt->key = key;
    attempt->request->userid = userid;
    attempt->request->error = JOIN_NO_ERROR;
    return STATUS_OK;
}

/* Nothing is open while a password is hashed. */
static enum status read_account(struct join_attempt *attempt)
{
    struct join_request *request = attempt->request;
    struct text email_addr = attempt->query->email_addr;
    enum status status =
        db_account_by_email(request->db, request->arena, email_addr, &attempt->user);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    /* A collation takes more for equal than the case of letters. */
    attempt->is_alike =
        status == STATUS_OK && !text_equal_nocase(attempt->user.email_addr, email_addr);
    if (status == STATUS_NOT_FOUND || attempt->is_alike)
        attempt->user = (struct user_row){.id = 0};
    return db_end(request->db);
}

/* --- passwords -------------------------------------------------------------------------------- */

enum fit { FITS_NOT, FITS, FITS_OLD_FORM };

/* Takes as long whether there is an account or not, and in whatever form its password is. */
static enum fit try_password(struct join_attempt *attempt)
{
    const struct user_row *user = &attempt->user;
    struct text hash = attempt->query->passwd_hash;
    int cost = password_cost(user->passwd_hash);
    int most = join_limits_cost(attempt->request->limits, cost);
    char of_key[MD5_HEX_SIZE];
    enum fit fit = FITS_NOT;

    md5_hex(user->authenticator, attempt->query->email_addr, of_key);
    if (password_fits(user->passwd_hash, hash) || secret_equal(hash, text_from(of_key)))
        fit = FITS;
    else if (cost == 0 && secret_equal(hash, user->passwd_hash))
        fit = FITS_OLD_FORM;
    if (user->id == 0 || user->authenticator.length == 0)
        fit = FITS_NOT;
    if (fit == FITS_NOT)
        password_spend(cost, most);
    return fit;
}

/* A failure leaves the old form, which the next log-in finds again. */
static void save_password(struct join_attempt *attempt, const char *hash)
{
    struct db *db = attempt->request->db;
    enum status status = db_account_save_passwd_hash(db, attempt->user.id,
                                                     attempt->user.passwd_hash, text_from(hash));

    if (status == STATUS_OK)
        status = db_commit(db);
    if (status != STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "password_not_rewritten", text_from(db_error(db)));
        attempt->request->database_was_away = db_rollback(db) != STATUS_OK;
    }
}

/* The key of the account for its password; `refusal` is for a wrong one. */
static enum status log_in(struct join_attempt *attempt, enum join_error refusal)
{
    struct join_request *request = attempt->request;
    struct text email_addr = attempt->query->email_addr;
    int64_t per_hour = request->project.config->join_tries_of_account;
    char hash[PASSWORD_HASH_SIZE] = "";
    enum fit fit;

    if (!join_limits_take(request->limits, JOIN_OF_ACCOUNT, email_addr, per_hour, clock_ns()))
        return refuse(attempt, JOIN_TOO_MANY_TRIES);
    if (!join_limits_enter(request->limits)) {
        join_limits_give_back(request->limits, JOIN_OF_ACCOUNT, email_addr, per_hour, clock_ns());
        return refuse(attempt, JOIN_BUSY);
    }
    fit = try_password(attempt);
    if (fit == FITS_OLD_FORM && password_hash(attempt->query->passwd_hash, hash, NULL) != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=password_not_hashed");
    join_limits_leave(request->limits);
    if (fit == FITS_NOT)
        return refuse(attempt, refusal);
    join_limits_give_back(request->limits, JOIN_OF_ACCOUNT, email_addr, per_hour, clock_ns());
    if (hash[0] != '\0')
        save_password(attempt, hash);
    return accept(attempt, attempt->user.id, attempt->user.authenticator);
}

/* --- the two pages ---------------------------------------------------------------------------- */

static bool makes_accounts(const struct join_project *project)
{
    return !project->config->disable_account_creation &&
           !project->config->disable_account_creation_rpc && !project->terms_are_lost;
}

/* Who may make an account for an address hears whether there is one; nobody else does. */
static enum status look_up(struct join_attempt *attempt)
{
    bool is_told = makes_accounts(&attempt->request->project);
    enum status status;

    if (attempt->query->email_addr.length == 0 || !join_hash_is_good(attempt->query->passwd_hash))
        return refuse(attempt, JOIN_BAD_REQUEST);
    status = read_account(attempt);
    if (status != STATUS_OK)
        return status;
    return log_in(attempt,
                  attempt->user.id == 0 && is_told ? JOIN_NO_SUCH_ACCOUNT : JOIN_BAD_PASSWORD);
}

static struct text random_hex(struct arena *arena)
{
    return text_print(arena, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
}

static bool consents(const struct join_query *query)
{
    return query->consent_flag.length > 0 && !text_is(query->consent_flag, "0");
}

/* In one transaction. STATUS_DB_REFUSED: name or address is another's. */
static enum status write_account(struct join_attempt *attempt, const struct new_account *account)
{
    struct join_request *request = attempt->request;
    int64_t userid = 0;
    enum status status = db_account_create(request->db, account, &userid);

    if (status == STATUS_OK && request->project.terms_of_use.length > 0)
        status = db_account_consent(request->db, userid, consents(attempt->query),
                                    attempt->query->source, request->now);
    if (status == STATUS_OK)
        status = db_commit(request->db);
    if (status != STATUS_OK)
        return status;
    request->is_new = true;
    counter_add(COUNTER_accounts_created, 1);
    return accept(attempt, userid, account->authenticator);
}

/* What the database complains of may be the address. */
static struct text complaint(const struct join_attempt *attempt)
{
    struct text why = text_from(db_error(attempt->request->db));

    return text_contains(why, attempt->query->email_addr)
               ? TEXT("another account took the address meanwhile")
               : text_copy(attempt->request->arena, why);
}

/* Why a new row was refused. STATUS_DB_RETRY: somebody was quicker with this address or name. */
static enum status explain_refusal(struct join_attempt *attempt)
{
    struct db *db = attempt->request->db;
    const struct text why = complaint(attempt);
    enum status status = db_rollback(db);

    if (status == STATUS_OK)
        status = read_account(attempt);
    if (status != STATUS_OK)
        return status;
    if (attempt->user.id != 0 || attempt->is_alike)
        return STATUS_DB_RETRY;
    status = db_account_has_name(db, attempt->name);
    if (status != STATUS_NOT_FOUND)
        return status == STATUS_OK ? STATUS_DB_RETRY : status;
    log_event(LOG_LEVEL_CRITICAL, "account_refused", why);
    status = db_end(db);
    return status == STATUS_OK ? refuse(attempt, JOIN_DOWN) : status;
}

static enum status make_account(struct join_attempt *attempt)
{
    struct join_request *request = attempt->request;
    const struct join_query *query = attempt->query;
    char hash[PASSWORD_HASH_SIZE];
    struct new_account account = {
        .email_addr = query->email_addr,
        .name = attempt->name,
        .authenticator = random_hex(request->arena),
        .cross_project_id = random_hex(request->arena),
        .team_name = query->team_name,
        .hides_hosts = request->project.config->enable_privacy_by_default,
        .now = request->now,
    };
    struct failure failure = {0};
    enum status status;

    if (!join_limits_enter(request->limits))
        return refuse(attempt, JOIN_BUSY);
    status = password_hash(query->passwd_hash, hash, &failure);
    join_limits_leave(request->limits);
    if (status != STATUS_OK) {
        log_event(LOG_LEVEL_CRITICAL, "password_not_hashed", text_from(failure.text));
        return refuse(attempt, JOIN_DOWN);
    }
    account.passwd_hash = text_from(hash);
    status = write_account(attempt, &account);
    return status == STATUS_DB_REFUSED ? explain_refusal(attempt) : status;
}

static enum join_error judge_new_account(const struct join_project *project,
                                         const struct join_query *query)
{
    if (!makes_accounts(project))
        return JOIN_CREATION_DISABLED;
    if (query->email_addr.length == 0 || query->user_name.length == 0 ||
        !join_hash_is_good(query->passwd_hash))
        return JOIN_BAD_REQUEST;
    if (!join_name_is_good(query->user_name))
        return JOIN_BAD_NAME;
    if (!join_email_is_good(query->email_addr))
        return JOIN_BAD_EMAIL;
    return JOIN_NO_ERROR;
}

/* BOINC's Manager sends the name that the volunteer has on the computer, and nobody there can
 * choose another one: a name that is taken gets a number. */
static enum status choose_name(struct join_attempt *attempt, enum join_error *ret_error)
{
    struct join_request *request = attempt->request;
    enum status status;

    attempt->name = attempt->query->user_name;
    status = db_account_has_name(request->db, attempt->name);
    for (uint64_t below = 1000; status == STATUS_OK && below <= 1000000000; below *= 1000) {
        attempt->name = join_name_with_number(request->arena, attempt->query->user_name,
                                              2 + random_u64() % (below - 2));
        status = db_account_has_name(request->db, attempt->name);
    }
    *ret_error = status == STATUS_OK ? JOIN_NAME_TAKEN : JOIN_NO_ERROR;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status create(struct join_attempt *attempt)
{
    struct join_request *request = attempt->request;
    const struct config *config = request->project.config;
    enum join_error error = judge_new_account(&request->project, attempt->query);
    enum status status;

    if (error != JOIN_NO_ERROR)
        return refuse(attempt, error);
    status = read_account(attempt);
    if (status != STATUS_OK)
        return status;
    if (attempt->user.id != 0) /* whoever has the password may have missed the first answer */
        return log_in(attempt, JOIN_ACCOUNT_EXISTS);
    if (attempt->is_alike)
        return refuse(attempt, JOIN_ACCOUNT_EXISTS);
    status = db_account_had_email(request->db, attempt->query->email_addr);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (status == STATUS_OK)
        error = JOIN_ACCOUNT_EXISTS;
    else if (config->account_creation_rpc_require_consent &&
             (!consents(attempt->query) || attempt->query->source.length == 0))
        error = JOIN_NEEDS_CONSENT;
    status = error == JOIN_NO_ERROR ? choose_name(attempt, &error) : STATUS_OK;
    if (status == STATUS_OK)
        status = db_end(request->db);
    if (status != STATUS_OK)
        return status;
    return error == JOIN_NO_ERROR ? make_account(attempt) : refuse(attempt, error);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Tries again what may go better: an outcome that is not known too, since an account that was made
 * after all is found by the password. */
static void try_often(struct join_attempt *attempt)
{
    struct join_request *request = attempt->request;
    enum status status = STATUS_OK;

    for (int i = 0; i < TRIES; i++) {
        status = request->page == JOIN_CREATE ? create(attempt) : look_up(attempt);
        if (status == STATUS_OK)
            return;
        if (db_rollback(request->db) != STATUS_OK && db_reopen(request->db) != STATUS_OK)
            break;
    }
    log_event(LOG_LEVEL_WARNING, "join_failed", complaint(attempt));
    request->database_was_away = status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN;
    request->error = JOIN_DOWN;
}

static void answer_account(struct join_request *request, struct text *ret_key)
{
    struct join_query query;
    struct join_attempt attempt = {.request = request, .query = &query};
    int64_t per_hour = request->project.config->join_tries_of_address;

    *ret_key = NO_TEXT;
    request->error = JOIN_DOWN;
    if (request->project.is_stopped || request->db == NULL)
        return;
    if (!join_limits_take(request->limits, JOIN_OF_ADDRESS, request->address, per_hour,
                          clock_ns())) {
        request->error = JOIN_TOO_MANY_TRIES;
        return;
    }
    join_query_read(request->arena, request->query, &query);
    try_often(&attempt);
    *ret_key = attempt.key;
    if (request->error == JOIN_DOWN || request->error == JOIN_BUSY)
        join_limits_give_back(request->limits, JOIN_OF_ADDRESS, request->address, per_hour,
                              clock_ns());
}

void join_answer(struct join_request *request, struct buffer *ret_page)
{
    struct text key = NO_TEXT;

    if (request->page == JOIN_CONFIG) {
        join_write_config(ret_page, &request->project);
        return;
    }
    answer_account(request, &key);
    if (request->error == JOIN_NO_ERROR && key.length > 0) {
        join_write_key(ret_page, key);
        return;
    }
    if (request->error == JOIN_NO_ERROR) /* the arena is full */
        request->error = JOIN_DOWN;
    counter_add(COUNTER_joins_refused, 1);
    join_write_error(ret_page, request->error);
}

bool join_refuses_guess(const struct join_request *request)
{
    return request->error == JOIN_NO_SUCH_ACCOUNT || request->error == JOIN_BAD_PASSWORD ||
           request->error == JOIN_ACCOUNT_EXISTS;
}

/* Neither address of an account nor password: a log is read by many. */
void join_log(const struct join_request *request)
{
    log_line_with(request->page == JOIN_CONFIG ? LOG_LEVEL_DEBUG : LOG_LEVEL_NORMAL, "address",
                  request->address, "event=join page=%s user=%" PRId64 " new=%d error=%d",
                  join_page_word(request->page), request->userid, request->is_new,
                  join_error_number(request->error));
}
