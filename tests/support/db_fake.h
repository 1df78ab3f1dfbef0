/* SPDX-License-Identifier: Apache-2.0 */
/* The database of unit tests: the calls of db/db.h and db/files.h that requests make, answered from
 * rows that a case has written down, and kept on record. It takes the place of the room db when the
 * program is linked (qm_db_fake in tests/CMakeLists.txt), for programs that call db_fake_begin.
 *
 * A case says first which calls it has an answer for; any other call fails it, by name. Then it
 * writes rows, and what goes wrong: nothing by itself, all calls after the nth, a COMMIT whose
 * outcome is not known, another server that is quicker. What the database of a project does with
 * many rows, with locks and with time is for tests/database. */
#ifndef TESTS_SUPPORT_DB_FAKE_H
#define TESTS_SUPPORT_DB_FAKE_H

#include "db/db.h"

enum { FAKE_HOSTS = 24, FAKE_USERS = 2, FAKE_JOBS = 512, FAKE_COMMITS = 10, FAKE_MESSAGES = 4 };

/* A result with its workunit. */
struct fake_job {
    struct result_row result;
    struct workunit_row workunit;
    /* What is the matter with it. */
    bool is_faulty;                           /* the workunit's document cannot be sent */
    bool has_file;                            /* it names the input file "sky" */
    bool others_take;                         /* before the lock */
    bool others_commit;                       /* the workunit to another version, before the lock */
    bool user_had_one, host_had_one;          /* of the workunit, which is seen without a lock */
    int64_t results_of_user, results_of_host; /* counted under the lock */
    /* What became of it. */
    bool was_locked, given_up;
    struct claim claim;
};

struct db_fake {
    /* --- rows */
    struct host_row hosts[FAKE_HOSTS];
    size_t host_count;
    struct user_row users[FAKE_USERS]; /* all of the team "team" */
    size_t user_count;
    struct fake_job jobs[FAKE_JOBS];
    size_t job_count;
    const struct unsent_job
        *unsent; /* what a pool's questions find, by rising id; the case's own */
    size_t unsent_count;
    struct assignment *assignments; /* to the host */
    size_t assignment_count;
    struct text messages[FAKE_MESSAGES]; /* to the host */
    size_t message_count;
    uint64_t token;     /* of the host's guard row; also what was written last */
    bool saves_contact; /* the last commit of a host wrote what is new of it */

    /* --- what goes wrong */
    int calls_left;      /* of those that can fail; then each of them answers `failure` */
    bool fails_once;     /* only the first call after those fails */
    enum status failure; /* DB_GONE unless set */
    int64_t gone_host;   /* its row is found by searches, and is not there any more to be locked */
    uint64_t waited_ns;  /* of db_count */
    enum status commits[FAKE_COMMITS];         /* answers of db_commit, one after the other */
    size_t commit_count;                       /* that were made */
    enum status reopen, host_token, part_undo; /* answers of these calls */
    bool is_cluster, lags;                     /* hosts are not here before catch_up was called */
    bool can_share;                            /* see db_can_share */
    void (*before_reports)(void); /* what another server does just before reports are saved */
    bool books_nothing;           /* that other server booked all of them */

    /* --- what was written, the latest */
    struct result_report reports[FAKE_JOBS];
    size_t report_count;
    struct message_from_host from_host[FAKE_MESSAGES];
    size_t from_host_count;
    struct text global_prefs, cross_project_id;
    size_t in_progress_most;          /* rows that were asked for at most */
    struct memory_peak *memory_peaks; /* of the host */
    size_t memory_peak_count;
    struct counted_results counted; /* whose results a lock or a look has counted */
};
extern struct db_fake db_fake;

/* Empties it. `answered` names the calls that the case has an answer for, without "db_" and
 * separated by spaces. */
void db_fake_begin(const char *answered);
/* Every call that a request may make on its walk. */
#define DB_FAKE_WALK                                                                              \
    "rollback rollback_to_savepoint savepoint commit reopen host_token user_by_id"                \
    " user_by_authenticator user_lock host_lock host_lock_with_user catch_up"                     \
    " host_newest_by_cpid host_newest_alike host_insert host_guard host_save"                     \
    " host_say host_memory_peaks"                                                                 \
    " host_owners host_app_versions host_app_versions_save user_save_global_prefs"                \
    " user_save_cross_project_id messages_from_host_save messages_to_host_take"                   \
    " results_by_name reports_save host_detach_results results_in_progress"                       \
    " jobs_in_progress jobs_by_name jobs_resend jobs_give_up results_extend candidates jobs_lock" \
    " workunits_had results_claim results_reject job_documents batch_owners"                      \
    " assignments host_ask_ahead"
/* How often a call was made, failed ones too. NULL: all calls. */
int db_fake_calls(const char *name);
/* The calls that were made, in their order and separated by spaces, with the id that they were
 * about: "user_lock(17) commit". `names`: which ones; NULL: all. Valid until the next call of it.
 */
const char *db_fake_record(const char *names);
/* Writes something of the test's own into the record. */
void db_fake_note(const char *what);

#endif
