/* SPDX-License-Identifier: Apache-2.0 */
/* What making jobs cannot be faster than: how many signatures the processors make, how many rows
 * the database takes, each alone, and both beside one another, as they share the processors. The
 * rows are those of `qmctl jobs create`, put in by its statements in transactions of 10,000 jobs,
 * and nothing is asked in between. They go with the names that begin with "bench_". */
#include "tools/lab/qmbench/bench.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/crypto.h"
#include "server/base/shown.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    JOBS_STANDARD = 50000,
    SIGNERS_MAX = 64,
    PART = 500,        /* jobs in a round trip */
    PARTS_COMMIT = 20, /* round trips of each kind to a commit */
    DOCUMENT_BYTES = 700
};

struct signer_thread {
    pthread_t thread;
    struct text key;
    int64_t wanted; /* signatures; 0: until it is stopped */
    const atomic_bool *stops;
    int64_t made;
    enum status status;
};

struct insertion {
    struct config *config;
    int64_t jobs, made;
    struct failure failure;
};

static void *sign(void *context)
{
    struct signer_thread *thread = context;
    struct arena *arena = arena_create(1 << 20);
    struct rsa_signer *signer = NULL;
    char md5[MD5_HEX_SIZE];
    struct text signature;

    thread->status =
        arena != NULL ? rsa_signer_create(thread->key, &signer, NULL) : STATUS_NO_MEMORY;
    md5_hex(TEXT("a name and a size"), NO_TEXT, md5);
    while (thread->status == STATUS_OK && !atomic_load(thread->stops) &&
           (thread->wanted == 0 || thread->made < thread->wanted)) {
        thread->status = rsa_signer_sign(signer, arena, md5, &signature, NULL);
        arena_reset(arena);
        thread->made++;
    }
    rsa_signer_destroy(signer);
    arena_destroy(arena);
    return NULL;
}

static size_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > SIGNERS_MAX ? SIGNERS_MAX : (size_t)count;
}

static size_t begin_signing(struct signer_thread *threads, struct text key, int64_t wanted,
                            const atomic_bool *stops)
{
    size_t count = processors();

    for (size_t i = 0; i < count; i++) {
        threads[i] =
            (struct signer_thread){.key = key, .wanted = wanted / (int64_t)count, .stops = stops};
        if (pthread_create(&threads[i].thread, NULL, sign, &threads[i]) != 0)
            return i;
    }
    return count;
}

static enum status end_signing(struct signer_thread *threads, size_t count, int64_t *ret_made)
{
    enum status status = count > 0 ? STATUS_OK : STATUS_NO_MEMORY;

    *ret_made = 0;
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i].thread, NULL);
        *ret_made += threads[i].made;
        if (status == STATUS_OK)
            status = threads[i].status;
    }
    return status;
}

/* The name has the number of the process, as another may have made rows before. */
static enum status insert_part(struct db *db, struct arena *arena, int64_t first)
{
    static char bytes[DOCUMENT_BYTES];
    struct admin_workunit_add_values *workunits =
        ARENA_ARRAY(arena, PART, struct admin_workunit_add_values);
    struct admin_result_add_values *results =
        ARENA_ARRAY(arena, PART, struct admin_result_add_values);
    struct text document = {bytes, sizeof(bytes)};
    enum status status;

    if (workunits == NULL || results == NULL)
        return STATUS_NO_MEMORY;
    memset(bytes, 'x', sizeof(bytes));
    for (int64_t i = 0; i < PART; i++) {
        struct text name = text_print(arena, "bench_%ld_%" PRId64, (long)getpid(), first + i);

        workunits[i] =
            (struct admin_workunit_add_values){.create_time = 1795000000,
                                               .appid = 1,
                                               .name = name,
                                               .xml_doc = text_first(document, DOCUMENT_BYTES / 3),
                                               .rsc_fpops_est = 1e12,
                                               .transition_time = INT32_MAX,
                                               .delay_bound = 604800,
                                               .min_quorum = 1,
                                               .target_nresults = 1,
                                               .result_template_file = TEXT("templates/out"),
                                               .size_class = -1};
        results[i] = (struct admin_result_add_values){
            .create_time = 1795000000,
            .workunitid = first + i,
            .server_state = 1, /* inactive, so that no server hands them out */
            .name = text_print(arena, TEXT_FORMAT "_0", TEXT_ARG(name)),
            .xml_doc_in = document,
            .random = first * 7919 % INT32_MAX,
            .appid = 1,
            .size_class = -1};
    }
    status = DB_RUN_BULK(db, admin_workunit_add, workunits, PART, NULL);
    return status == STATUS_OK ? DB_RUN_BULK(db, admin_result_add, results, PART, NULL) : status;
}

static enum status insert(struct insertion *insertion, int64_t first)
{
    struct arena *arena = arena_create(64 << 20);
    struct db *db = NULL;
    enum status status = arena == NULL ? STATUS_NO_MEMORY
                                       : db_admin_open(insertion->config, &db, &insertion->failure);
    int parts = 0;

    for (insertion->made = 0; status == STATUS_OK && insertion->made < insertion->jobs;
         insertion->made += PART) {
        status = insert_part(db, arena, first + insertion->made);
        arena_reset(arena);
        if (status == STATUS_OK && ++parts % PARTS_COMMIT == 0)
            status = db_commit(db);
    }
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status != STATUS_OK && db != NULL)
        (void)fail(&insertion->failure, status, "%s", db_error(db));
    db_close(db);
    arena_destroy(arena);
    return status;
}

static enum status measure(struct insertion *insertion, struct text key)
{
    struct signer_thread threads[SIGNERS_MAX];
    atomic_bool stops = false;
    int64_t made;
    double begun = clock_seconds();
    size_t count = begin_signing(threads, key, insertion->jobs, &stops);
    enum status status = end_signing(threads, count, &made);

    printf("signatures by %zu threads       %8.0f a second\n", count,
           (double)made / (clock_seconds() - begun));
    begun = clock_seconds();
    if (status == STATUS_OK)
        status = insert(insertion, 0);
    if (status != STATUS_OK)
        return status;
    printf("jobs inserted, none signed      %8.0f a second\n",
           (double)insertion->made / (clock_seconds() - begun));
    begun = clock_seconds();
    count = begin_signing(threads, key, insertion->jobs, &stops);
    status = insert(insertion, insertion->made);
    if (status != STATUS_OK)
        atomic_store(&stops, true);
    enum status signed_status = end_signing(threads, count, &made);
    printf("both, both at the same time     %8.0f a second\n",
           (double)insertion->made / (clock_seconds() - begun));
    return status == STATUS_OK ? signed_status : status;
}

int bench_jobs(int argc, char **argv)
{
    struct arena *arena = arena_create(64 << 20);
    struct config_findings findings = {0};
    struct insertion insertion = {.jobs = JOBS_STANDARD};
    struct rsa_key_texts keys;
    enum status status = STATUS_NO_MEMORY;

    if (argc == 2 && (!text_to_i64(text_from(argv[1]), &insertion.jobs) || insertion.jobs < 1))
        argc = 0;
    if (arena != NULL && argc >= 1 && argc <= 2)
        status = config_load(argv[0], arena, &insertion.config, &findings, &insertion.failure);
    if (status == STATUS_OK)
        status = rsa_generate(arena, &keys, &insertion.failure);
    if (status == STATUS_OK)
        status = measure(&insertion, keys.private_key);
    if (status != STATUS_OK)
        shown_line(stderr, "qmbench: %s",
                   argc < 1 || argc > 2                ? "jobs PROJECT_DIR [JOBS]"
                   : insertion.failure.text[0] != '\0' ? insertion.failure.text
                                                       : status_word(status));
    config_release(insertion.config);
    arena_destroy(arena);
    return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
