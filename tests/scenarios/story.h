/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario being told: the world so far, the request at hand, the last reply. */
#ifndef TESTS_SCENARIOS_STORY_H
#define TESTS_SCENARIOS_STORY_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/files/host_files.h"
#include "server/policy/plan_class/plan_class.h"
#include "server/policy/version/buda.h"
#include "server/project/project.h"
#include "server/rpc/request.h"
#include "tests/support/reply_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct catalog;
struct config;
struct db;
struct test_database;

/* The words after a command, and the same as they were written. */
struct words {
    const struct text *items;
    size_t count;
    struct text rest; /* unsplit, of the line */
};

struct line {
    const char *file;
    int number;
    struct text text;
};

struct variable {
    struct text name, value;
    struct variable *next;
};

struct story {
    struct arena *arena; /* of the whole story */
    struct line *lines;
    size_t line_count, line_capacity, at;
    struct variable *variables;

    struct config *config;
    struct project_keys keys;
    struct plan_classes plan_classes;
    char *buda_folder; /* of the project, with buda_apps; NULL: none */
    struct buda_apps buda;
    struct test_database *database;
    struct db *db; /* the server's */
    struct files_health files_health;
    struct files *files; /* the link to the file database, as a worker has it */

    double now;        /* epoch; the only clock */
    uint64_t sequence; /* seeds and row numbers */
    bool stop_sched;
    bool database_is_away;
    double database_away_since; /* epoch */

    struct text meanwhile; /* a statement that comes between the pool and the next request */
    struct text body;      /* of the request at hand */
    struct arena *request_arena;
    struct request request; /* as it was after the last send */
    struct catalog *catalog;
    struct text reply;
    const struct reply_element *root; /* NULL: nothing was sent yet */
    int64_t sends;
};

/* Prints where, why and the last reply; ends the program. */
_Noreturn void story_fail(struct story *story, const char *format, ...) PRINTF_LIKE(2, 3);
void story_set(struct story *story, struct text name, struct text value);
double story_number(struct story *story, struct text word);
int64_t story_integer(struct story *story, struct text word);

/* The line with $name replaced; the longest name of letters, digits and underscores counts. */
struct text story_fill_in(struct story *story, struct text line);
void story_split(struct story *story, struct text line, struct words *ret_words);

/* A command: its words come after its name, variables put in. */
typedef void story_command(struct story *story, const struct words *words);

story_command world_config, world_limit, world_plan_class, world_buda_file, world_rows, world_jobs,
    world_sql, world_meanwhile, world_key, world_old_key, world_file_database;
story_command send_capture, send_element, send_without, send_add, send_replace, send_client,
    send_now;
story_command expect_anything;

void world_open(struct story *story);
/* What comes between the job pool and the next request, if there is anything. */
void world_let_meanwhile_happen(struct story *story);
/* Drops the schema. */
void world_close(struct story *story);
/* Of the file database, if there is one. */
struct text world_files_name(struct story *story);
/* The first column of the first row as text; "" if there is none or it is NULL. */
struct text world_ask(struct story *story, struct text sql);
/* col=value words as " AND "-joined comparisons. */
struct text world_conditions(struct story *story, const struct text *words, size_t count);

/* An element of the last reply by path: a, a/b; NULL: not there. */
const struct reply_element *reply_at(const struct story *story, struct text path);

#endif
