/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the database can be worked with: asked by a connection of its own, since rights, limits
 * and passwords that change are first felt by new ones. Nothing that it does is seen afterwards. */
#include "db/mariadb_internal.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum {
    MADE_S = 60, /* the row that is written is younger than that, and older than this hence */
    CLOCKS_APART_S = 60 /* an answer takes a tenth of it at most */
};

const struct db_trouble_words db_trouble_words[DB_TROUBLE_COUNT] = {
#define DB_TROUBLE_WORDS(name, word, words, option) \
    [DB_TROUBLE_##name] = {word, words, option, "the database " words},
    DB_TROUBLES(DB_TROUBLE_WORDS)
#undef DB_TROUBLE_WORDS
};

/* Those that make and upgrade tables are an administrator's. */
static bool is_of_servers(enum statement statement)
{
    return statement >= STATEMENT_actual_columns && statement < STATEMENT_FILES &&
           strncmp(statement_name(statement), "schema_", strlen("schema_")) != 0;
}

size_t db_statements_of_connection(void)
{
    size_t count = 0;

    for (int i = STATEMENT_actual_columns; i < STATEMENT_FILES; i++)
        count +=
            statement_list(statement_definition((enum statement)i)) != NULL ? STATEMENT_SIZES : 1;
    return count;
}

/* A table that not every project has is missing for whoever needs it, and no trouble. */
static enum status try_statements(struct db *db)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const enum statement statement = (enum statement)i;
        enum status status;

        if (!is_of_servers(statement))
            continue;
        db->error_number = 0;
        status = db_try(db, statement_definition(statement));
        if (status != STATUS_OK && mariadb_trouble(db->error_number) != DB_TROUBLE_UNFIT)
            return status;
    }
    return STATUS_OK;
}

/* A row of a connection that there is not: no other transaction meets it. */
static enum status write_row(struct db *db)
{
    int64_t id = (int64_t)random_u64();
    enum status status = DB_RUN(db, connection_try, NULL, .id = id);

    if (status == STATUS_OK)
        status = DB_RUN(db, connection_forget, NULL, .id = id, .age = -MADE_S);
    return status == STATUS_OK ? db_commit(db) : status;
}

static enum status read_clock(struct db *db, int64_t *ret_ahead)
{
    struct database_clock_row clock;
    enum status status = DB_ONE(db, database_clock, NULL, &clock, DB_NO_VALUES);

    if (status == STATUS_OK)
        *ret_ahead = clock.now - (int64_t)time(NULL);
    return status;
}

bool db_clocks_are_apart(int64_t ahead)
{
    return ahead >= CLOCKS_APART_S || ahead <= -CLOCKS_APART_S;
}

void db_clock_words(int64_t ahead, char *ret_words, size_t size)
{
    (void)snprintf(ret_words, size, "the database's clock is %" PRId64 " s %s this machine's",
                   ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead of");
}

/* `ret_ahead` NULL: neither statements nor the clock are of interest. */
static enum db_trouble examine(const struct config *config, int64_t *ret_ahead,
                               struct failure *failure)
{
    struct db *db = NULL;
    unsigned error = 0;
    enum status status;

    if (config->db_name.length == 0) {
        (void)fail(failure, STATUS_DB_REFUSED, "the option db_name is not set");
        return DB_TROUBLE_NO_DATABASE;
    }
    status = mariadb_open_briefly(config, &db, &error, failure);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? DB_TROUBLE_OTHER : mariadb_trouble(error);
    if (ret_ahead != NULL)
        status = try_statements(db);
    if (status == STATUS_OK)
        status = write_row(db);
    if (status == STATUS_OK && ret_ahead != NULL)
        status = read_clock(db, ret_ahead);
    error = db->error_number;
    if (status != STATUS_OK)
        (void)fail(failure, status, "database: %s", db_error(db));
    db_close(db);
    if (status == STATUS_OK)
        return DB_TROUBLE_NONE;
    return error == 0 ? DB_TROUBLE_OTHER : mariadb_trouble(error);
}

enum db_trouble db_examine(const struct config *config, int64_t *ret_ahead, struct failure *failure)
{
    int64_t ahead = 0;
    enum db_trouble trouble = examine(config, &ahead, failure);

    if (ret_ahead != NULL)
        *ret_ahead = ahead;
    return trouble;
}

enum db_trouble db_examine_writing(const struct config *config, struct failure *failure)
{
    return examine(config, NULL, failure);
}
