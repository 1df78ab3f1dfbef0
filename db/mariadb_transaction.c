/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: with autocommit off one begins with its first statement, so none is begun here; it
 * ends here, by db_commit or db_rollback, and savepoints lie within it. What is to happen at the
 * beginning or the end of every transaction belongs into this file: every command of a connection
 * passes mariadb_before_command first.
 *
 * One command may be sent ahead of its answer (db_savepoint): the answer is read before the next
 * command, which then fails in its stead. */
#include "db/mariadb_internal.h"

#include "server/base/arena.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* Reads the answer of the command that was sent ahead, if any, and gives a test its turn. */
enum status mariadb_before_command(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->fail_at > 0 && --db->fail_at == 0) {
        (void)snprintf(db->error, sizeof(db->error), "failure asked for by a test");
        return db->fail_with;
    }
    if (db->mysql == NULL) {
        (void)snprintf(db->error, sizeof(db->error), "not connected");
        return STATUS_DB_GONE;
    }
    if (db->awaits_answer) {
        db->awaits_answer = false;
        if (mysql_read_query_result(db->mysql) != 0)
            return mariadb_note_connection(db, "command sent ahead", false);
    }
    return STATUS_OK;
}

enum status db_run_text(struct db *db, const char *sql)
{
    enum status status = mariadb_before_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    if (mysql_real_query(db->mysql, sql, strlen(sql)) != 0)
        return mariadb_note_connection(db, text_string(db->scratch, text_first(text_from(sql), 60)),
                                       false);
    return STATUS_OK;
}

enum status db_commit(struct db *db)
{
    enum status status = mariadb_before_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    db->count.commits++;
    return mysql_real_query(db->mysql, "COMMIT", 6) == 0
               ? STATUS_OK
               : mariadb_note_connection(db, "COMMIT", true);
}

enum status db_rollback(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->mysql == NULL)
        return STATUS_DB_GONE;
    if (db->awaits_answer) { /* whatever it was, it is undone now */
        db->awaits_answer = false;
        (void)mysql_read_query_result(db->mysql);
    }
    db->count.statements++;
    db->count.round_trips++;
    return mysql_real_query(db->mysql, "ROLLBACK", 8) == 0
               ? STATUS_OK
               : mariadb_note_connection(db, "ROLLBACK", false);
}

enum status mariadb_refuse_writes(struct db *db)
{
    return db_run_text(db, "SET SESSION TRANSACTION READ ONLY");
}

enum status db_read_only(struct db *db)
{
    enum status status = db_rollback(db);

    must(db->magic == DB_MAGIC);
    db->reads_only = true;
    return status == STATUS_OK ? mariadb_refuse_writes(db) : status;
}

/* Nothing hangs on the answer, and jobs are being chosen meanwhile: nobody waits for it, so it is
 * no round trip. */
enum status db_savepoint(struct db *db)
{
    static const char sql[] = "SAVEPOINT qm";
    enum status status = mariadb_before_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    if (mysql_send_query(db->mysql, sql, sizeof(sql) - 1) != 0)
        return mariadb_note_connection(db, sql, false);
    db->awaits_answer = true;
    return STATUS_OK;
}

enum status db_rollback_to_savepoint(struct db *db)
{
    return db_run_text(db, "ROLLBACK TO SAVEPOINT qm");
}

struct db_count db_count(const struct db *db)
{
    return db->count;
}

void db_count_reset(struct db *db)
{
    db->count = (struct db_count){0};
}

void db_fail_nth(struct db *db, uint64_t nth, enum status status)
{
    db->fail_at = nth;
    db->fail_with = status;
}

int64_t db_inserted_id(const struct db *db)
{
    return db->inserted_id;
}

const struct actual_columns *db_actual_columns(const struct db *db)
{
    return &db->facts.columns;
}

bool db_is_cluster(const struct db *db)
{
    return db->facts.is_cluster;
}
