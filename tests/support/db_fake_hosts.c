/* SPDX-License-Identifier: Apache-2.0 */
/* Who is speaking: hosts and users of the fake database, statistics of versions, messages. */
#include "tests/support/db_fake_parts.h"

#include "server/base/arena.h"
#include "tests/support/test.h"

const char db_fake_hosts = 1;

/* --- hosts --------------------------------------------------------------------------------------
 */

static struct host_row *host_of(int64_t id)
{
    for (size_t i = 0; i < db_fake.host_count; i++) {
        if (db_fake.hosts[i].id == id)
            return &db_fake.hosts[i];
    }
    return NULL;
}

static enum status read_host(int64_t id, struct host_row *ret_host)
{
    if (db_fake.lags || host_of(id) == NULL || id == db_fake.gone_host)
        return STATUS_NOT_FOUND;
    *ret_host = *host_of(id);
    return STATUS_OK;
}

static enum status read_user(int64_t id, struct user_row *ret_user, struct text *ret_team_name)
{
    for (size_t i = 0; i < db_fake.user_count; i++) {
        if (db_fake.users[i].id == id) {
            *ret_user = db_fake.users[i];
            *ret_team_name = TEXT("team");
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}

enum status db_host_lock(struct db *db, struct arena *in, int64_t id, struct host_row *ret_host)
{
    enum status status = CALL(id);

    return status == STATUS_OK ? read_host(id, ret_host) : status;
}

enum status db_host_lock_with_user(struct db *db, struct arena *in, int64_t id,
                                   struct host_with_user *ret_host)
{
    enum status status = CALL(id);

    *ret_host = (struct host_with_user){.has_guard = true};
    if (status == STATUS_OK)
        status = read_host(id, &ret_host->host);
    if (status == STATUS_OK)
        ret_host->has_user =
            read_user(ret_host->host.userid, &ret_host->user, &ret_host->team_name) == STATUS_OK;
    return status;
}

enum status db_host_newest_by_cpid(struct db *db, struct arena *in, int64_t userid,
                                   struct text host_cpid, struct host_row *ret_host)
{
    enum status status = CALL(userid);
    bool found = false;

    for (size_t i = 0; status == STATUS_OK && i < db_fake.host_count; i++) {
        const struct host_row *host = &db_fake.hosts[i];

        if (host->userid == userid && text_equal(host->host_cpid, host_cpid)) {
            *ret_host = *host;
            found = true;
        }
    }
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

enum status db_host_newest_alike(struct db *db, struct arena *in, int64_t userid,
                                 const struct host_row *like, struct host_row *ret_host)
{
    enum status status = CALL(userid);
    bool found = false;

    for (size_t i = 0; status == STATUS_OK && i < db_fake.host_count; i++) {
        const struct host_row *host = &db_fake.hosts[i];

        if (host->userid == userid && text_equal(host->domain_name, like->domain_name) &&
            text_equal(host->last_ip_addr, like->last_ip_addr) &&
            text_equal(host->os_name, like->os_name) && text_equal(host->p_model, like->p_model) &&
            !(host->m_nbytes < like->m_nbytes) && !(host->m_nbytes > like->m_nbytes)) {
            *ret_host = *host;
            found = true;
        }
    }
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

/* The first new host has number 1000 where there was none before it, 1001 behind one. */
enum status db_host_insert(struct db *db, const struct host_row *host, int64_t *ret_id)
{
    enum status status = CALL(0);
    size_t at = db_fake.host_count;

    if (status != STATUS_OK)
        return status;
    assert_true(at < FAKE_HOSTS);
    db_fake.hosts[at] = *host;
    *ret_id = db_fake.hosts[at].id = 1000 + (int64_t)at;
    db_fake.host_count++;
    return STATUS_OK;
}

enum status db_host_save(struct db *db, const struct host_row *host)
{
    return CALL(host->id);
}

enum status db_host_say(struct db *db, int64_t hostid, uint64_t digest, struct text request)
{
    (void)digest;
    (void)request;
    return CALL(hostid);
}

bool db_host_says_the_same(const struct host_row *was, const struct host_row *host)
{
    return text_equal(was->p_model, host->p_model);
}

enum status db_host_owners(struct db *db, struct arena *in, const int64_t *hostids, size_t count,
                           int64_t *ret_userids)
{
    for (size_t i = 0; i < count; i++)
        ret_userids[i] = host_of(hostids[i]) == NULL ? -1 : host_of(hostids[i])->userid;
    return CALL(0);
}

/* --- users --------------------------------------------------------------------------------------
 */

enum status db_user_by_id(struct db *db, struct arena *in, int64_t id, struct user_row *ret_user,
                          struct text *ret_team_name)
{
    enum status status = CALL(id);

    return status == STATUS_OK ? read_user(id, ret_user, ret_team_name) : status;
}

enum status db_user_by_authenticator(struct db *db, struct arena *in, struct text authenticator,
                                     struct user_row *ret_user, struct text *ret_team_name)
{
    enum status status = CALL(0);

    for (size_t i = 0; status == STATUS_OK && i < db_fake.user_count; i++) {
        /* In any case of letters, as a collation may. */
        if (text_equal_nocase(db_fake.users[i].authenticator, authenticator)) {
            *ret_user = db_fake.users[i];
            *ret_team_name = TEXT("team");
            return STATUS_OK;
        }
    }
    return status == STATUS_OK ? STATUS_NOT_FOUND : status;
}

enum status db_user_lock(struct db *db, int64_t id)
{
    return CALL(id);
}

enum status db_user_save_global_prefs(struct db *db, int64_t userid, struct text prefs)
{
    db_fake.global_prefs = prefs;
    return CALL(userid);
}

enum status db_user_save_cross_project_id(struct db *db, int64_t userid, struct text cpid)
{
    db_fake.cross_project_id = cpid;
    return CALL(userid);
}

/* --- statistics of versions, messages -----------------------------------------------------------
 */

/* There are none: what a step is to find it is given in its struct attempt. */
enum status db_host_app_versions(struct db *db, struct arena *in, int64_t hostid,
                                 struct host_app_version_row **ret_rows, size_t *ret_count)
{
    *ret_rows = NULL;
    *ret_count = 0;
    return CALL(hostid);
}

enum status db_host_app_versions_save(struct db *db, int64_t hostid,
                                      const struct host_app_version_change *saved, size_t count)
{
    return CALL(hostid);
}

enum status db_messages_from_host_save(struct db *db, int64_t hostid, int64_t now,
                                       const struct message_from_host *messages, size_t count)
{
    if (count > FAKE_MESSAGES) /* the first are enough */
        count = FAKE_MESSAGES;
    memcpy(db_fake.from_host, messages, count * sizeof(messages[0]));
    db_fake.from_host_count = count;
    return CALL(hostid);
}

enum status db_messages_to_host_take(struct db *db, struct arena *in, int64_t hostid,
                                     struct text **ret_xml, size_t *ret_count)
{
    *ret_xml = db_fake.messages;
    *ret_count = db_fake.message_count;
    return CALL(hostid);
}
