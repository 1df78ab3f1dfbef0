/* SPDX-License-Identifier: Apache-2.0 */
/* The file database: what following a request costs, and the two questions of qmctl files. Its
 * database is made for this and dropped again, unless it was given a name: then it stays, for
 * commands that are to be timed whole (qmbench.1.md). One file of it is on all hosts. */
#include "tools/lab/qmbench/bench.h"

#include "config/config.h"
#include "db/files.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/shown.h"
#include "server/files/host_files.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { FILES = 50, HOSTS_STANDARD = 10000, REQUESTS = 1000, PART = 200, NOW = 1795000000 };

struct bench {
    struct config *config;
    struct files_health health;
    struct files *files;
    struct db *db;
    struct arena *arena;
    struct failure failure;
    int64_t hosts;
};

/* Half of a host's files are its own, the others are held by many. */
static struct text file_name(struct bench *bench, int64_t host, int number)
{
    return number % 2 == 0 ? text_print(bench->arena, "common_%d", number)
                           : text_print(bench->arena, "host_%" PRId64 "_file_%d", host, number);
}

static enum status fill(struct bench *bench)
{
    enum status status = STATUS_OK;

    for (int64_t host = 1; host <= bench->hosts && status == STATUS_OK; host += PART) {
        struct host_file_row *rows = ARENA_ARRAY(bench->arena, PART * FILES, struct host_file_row);
        size_t count = 0;

        if (rows == NULL)
            return STATUS_NO_MEMORY;
        for (int64_t i = host; i < host + PART && i <= bench->hosts; i++)
            for (int j = 0; j < FILES; j++)
                rows[count++] = (struct host_file_row){.hostid = i,
                                                       .name = file_name(bench, i, j),
                                                       .nbytes = 1e6 * j,
                                                       .status = 1,
                                                       .priority = 1,
                                                       .expiry = NOW + 5184000,
                                                       .first_seen = NOW,
                                                       .last_seen = NOW,
                                                       .last_used = NOW};
        status = db_files_save(bench->db, bench->arena, rows, count);
        if (status == STATUS_OK)
            status = db_commit(bench->db);
        arena_reset(bench->arena);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Requests of hosts in turn, `later` seconds after the filling; with `changes` one file is new and
 * one is gone. */
static enum status follow(struct bench *bench, int later, bool changes)
{
    double *times = calloc(REQUESTS, sizeof(times[0]));

    if (times == NULL)
        return STATUS_NO_MEMORY;
    for (int i = 0; i < REQUESTS; i++) {
        struct request request = {.config = bench->config,
                                  .arena = bench->arena,
                                  .now = NOW + later,
                                  .files = files_ready(bench->files, bench->config, 0)};
        double begun;

        arena_reset(bench->arena);
        request.attempt.host.id = 1 + (int64_t)i * 7919 % bench->hosts;
        request.attempt.answer.kind = ANSWER_FULL;
        request.message.files = ARENA_ARRAY(bench->arena, FILES, struct host_file);
        request.message.file_count = FILES;
        if (request.files == NULL || request.message.files == NULL) {
            free(times);
            return fail(&bench->failure, STATUS_DB_GONE, "the link broke");
        }
        for (int j = 0; j < FILES; j++)
            request.message.files[j] = (struct host_file){
                .name = file_name(bench, request.attempt.host.id, changes && j == 1 ? 1001 : j),
                .nbytes = 1e6 * j,
                .status = 1};
        begun = clock_seconds();
        files_update(&request);
        times[i] = clock_seconds() - begun;
    }
    qsort(times, REQUESTS, sizeof(times[0]), compare);
    printf("%-28s median %6.2f ms, 99 %% %6.2f ms\n",
           changes     ? "request, 1 new and 1 gone"
           : later > 1 ? "request, a day later"
                       : "request, nothing changed",
           1e3 * times[REQUESTS / 2], 1e3 * times[REQUESTS * 99 / 100]);
    free(times);
    return STATUS_OK;
}

static enum status ask(struct bench *bench)
{
    struct host_file_row *rows;
    size_t count = 0;
    double begun = clock_seconds();
    enum status status =
        db_files_of_host(bench->db, bench->arena, bench->hosts / 2 + 1, &rows, &count);

    if (status != STATUS_OK)
        return status;
    printf("%-28s %6.2f ms, %zu rows\n", "files of a host", 1e3 * (clock_seconds() - begun), count);
    begun = clock_seconds();
    status = db_files_holders(bench->db, bench->arena, TEXT("common_2"), 0, DB_FILES_MOST, &rows,
                              &count);
    if (status == STATUS_OK)
        printf("%-28s %6.2f ms, %zu rows\n", "hosts of a file", 1e3 * (clock_seconds() - begun),
               count);
    return status;
}

static enum status run(struct bench *bench)
{
    double begun;
    enum status status = db_files_make(bench->config, &bench->failure);

    if (status == STATUS_OK)
        status = db_files_open(bench->config, &bench->db, &bench->failure);
    if (status != STATUS_OK)
        return status;
    begun = clock_seconds();
    status = fill(bench);
    printf("%-28s %6.1f s for %" PRId64 " hosts with %d files each\n", "filling",
           clock_seconds() - begun, bench->hosts, FILES);
    if (status == STATUS_OK)
        status = follow(bench, 1, false);
    if (status == STATUS_OK)
        status = follow(bench, 86400, false);
    if (status == STATUS_OK)
        status = follow(bench, 86401, true);
    if (status == STATUS_OK)
        status = ask(bench);
    if (status != STATUS_OK)
        (void)fail(&bench->failure, status, "%s", db_error(bench->db));
    return status;
}

static enum status set(struct bench *bench, const char *name, struct text value)
{
    return config_set(bench->config, text_from(name), value, &bench->failure);
}

/* SOCKET [HOSTS [DATABASE]] */
int bench_files(int argc, char **argv)
{
    struct bench bench = {.hosts = HOSTS_STANDARD, .arena = arena_create((size_t)1 << 30)};
    bool stays = argc > 2;
    char name[64], drop[96];
    enum status status = config_defaults(&bench.config);

    if (argc < 1 || bench.arena == NULL || status != STATUS_OK ||
        (argc > 1 && (!text_to_i64(text_from(argv[1]), &bench.hosts) || bench.hosts < 1))) {
        fprintf(stderr, "qmbench files SOCKET [HOSTS [DATABASE]]\n");
        return EXIT_FAILURE;
    }
    if (stays)
        (void)snprintf(name, sizeof(name), "%s", argv[2]);
    else
        (void)snprintf(name, sizeof(name), "qmbench_files_%ld", (long)getpid());
    (void)snprintf(drop, sizeof(drop), "DROP DATABASE %s", name);
    bench.files = files_create(&bench.health);
    status = set(&bench, "files_db_name", text_from(name));
    if (status == STATUS_OK)
        status = set(&bench, "files_db_user", TEXT("root"));
    if (status == STATUS_OK)
        status = set(&bench, "files_db_socket", text_from(argv[0]));
    if (status == STATUS_OK)
        status = run(&bench);
    if (!stays && bench.db != NULL && db_run_text(bench.db, drop) != STATUS_OK)
        fprintf(stderr, "%s is still there\n", name);
    if (status != STATUS_OK)
        shown_line(stderr, "%s", bench.failure.text);
    files_destroy(bench.files);
    db_close(bench.db);
    config_release(bench.config);
    arena_destroy(bench.arena);
    return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
