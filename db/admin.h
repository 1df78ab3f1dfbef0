/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator's program asks of the database: catalog entries, accounts, jobs, figures.
 * Conventions as in db.h: nothing is committed here, NOT_FOUND is an answer, texts live in the
 * arena. A name that is taken already gives DB_REFUSED. */
#ifndef DB_ADMIN_H
#define DB_ADMIN_H

#include "db/db.h"

/* As db_open, for the calls below: an answer may take ten minutes, and on a cluster their
 * statements are prepared too, since nothing may be prepared inside a transaction there. */
MUST_CHECK enum status db_admin_open(const struct config *config, struct db **ret_db,
                                     struct failure *failure);

/* --- catalog ------------------------------------------------------------------------------ */

/* Inserts what is missing; *ret_added tells whether it was. */
MUST_CHECK enum status db_admin_platform_add(struct db *db, struct text name,
                                             struct text friendly_name, int64_t now,
                                             bool *ret_added);
MUST_CHECK enum status db_admin_platform_find(struct db *db, struct text name, int64_t *ret_id);
MUST_CHECK enum status db_admin_app_add(struct db *db, struct text name, struct text friendly_name,
                                        int64_t now, int64_t *ret_id);
MUST_CHECK enum status db_admin_app_find(struct db *db, struct arena *arena, struct text name,
                                         struct app_row *ret_app);
/* What an administrator sets of applications; all of them, by name. */
MUST_CHECK enum status db_admin_app_settings(struct db *db, struct arena *arena,
                                             struct app_setting_row **ret_rows, size_t *ret_count);
/* Locks the row until the end of the transaction. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status db_admin_app_settings_lock(struct db *db, struct arena *arena, int64_t id,
                                                  struct app_setting_row *ret_row);
/* Of a row that is locked. A column that the database lacks is passed over. DB_REFUSED: the value
 * stands in the way of another row. */
MUST_CHECK enum status db_admin_app_settings_save(struct db *db, const struct app_setting_row *row);

struct new_version {
    int64_t appid, version_num, platformid;
    struct text plan_class, xml_doc;
    int64_t now;
};
MUST_CHECK enum status db_admin_version_add(struct db *db, const struct new_version *version,
                                            int64_t *ret_id);
/* COMMIT after that. Where its answer is lost, STATUS_OK: the version is there; STATUS_DB_GONE: it
 * is not; STATUS_DB_UNKNOWN only where nobody can be asked. */
MUST_CHECK enum status db_admin_version_commit(struct db *db, int64_t id);
/* Every version with the names of its app and platform, deprecated ones too, by app, platform, plan
 * class, number. */
MUST_CHECK enum status db_admin_versions(struct db *db, struct arena *arena,
                                         struct version_entry_row **ret_rows, size_t *ret_count);
/* As for applications. */
MUST_CHECK enum status db_admin_version_settings_lock(struct db *db, struct arena *arena,
                                                      int64_t id,
                                                      struct version_setting_row *ret_row);
MUST_CHECK enum status db_admin_version_settings_save(struct db *db,
                                                      const struct version_setting_row *row);
/* After a change of the code-signing key. */
MUST_CHECK enum status db_admin_version_save_document(struct db *db, int64_t id,
                                                      struct text xml_doc);

/* The tables of a project that have no primary key and could have one, with its columns: "host_id,
 * app_version_id". */
MUST_CHECK enum status db_admin_keyless_tables(struct db *db, struct arena *arena,
                                               struct keyless_row **ret_rows, size_t *ret_count);

/* --- accounts ----------------------------------------------------------------------------- */

/* By e-mail address, or by number when `id` is not 0. */
MUST_CHECK enum status db_admin_user_find(struct db *db, struct arena *arena,
                                          struct text email_addr, int64_t id,
                                          struct user_row *ret_user);
MUST_CHECK enum status db_admin_users(struct db *db, struct arena *arena, size_t most,
                                      struct user_row **ret_rows, size_t *ret_count);

/*  Settings of an account that are an administrator's: texts and flags, by the option and the
 * column. seti_id, whose name is historic, means: only jobs that are for this user or one of its
 * hosts. */
#define ACCOUNT_SETTINGS(TEXT_SETTING, FLAG_SETTING) \
    TEXT_SETTING("email", email_addr)                \
    TEXT_SETTING("name", name)                       \
    TEXT_SETTING("country", country)                 \
    TEXT_SETTING("postal-code", postal_code)         \
    FLAG_SETTING("send-email", send_email)           \
    FLAG_SETTING("show-hosts", show_hosts)           \
    FLAG_SETTING("email-validated", email_validated) \
    FLAG_SETTING("donated", donated)                 \
    FLAG_SETTING("own-jobs-only", seti_id)
/* `locks`: the row, for db_admin_user_save_settings. STATUS_NOT_FOUND: there is no such user. */
MUST_CHECK enum status db_admin_user_settings(struct db *db, struct arena *arena, int64_t id,
                                              bool locks, struct account_settings_row *ret_row);
/* All of them. Another address is noted with the former one at `now`; the password, of which a hash
 * with the address is stored, does not fit any more. */
MUST_CHECK enum status db_admin_user_save_settings(struct db *db, int64_t id,
                                                   const struct account_settings_row *row,
                                                   int64_t now);

/* --- one application ------------------------------------------------------------------------ */

/* Whether there are no jobs of it at all. */
MUST_CHECK enum status db_admin_app_is_new(struct db *db, int64_t appid, bool *ret_is_new);
/* Unfinished jobs by rising number, also those of no class (hr_class 0). */
MUST_CHECK enum status db_admin_classed_jobs(struct db *db, struct arena *arena, int64_t appid,
                                             int64_t after, size_t most,
                                             struct classed_job_row **ret_rows, size_t *ret_count);
/* Hosts by falling number, below `before`. */
MUST_CHECK enum status db_admin_host_kinds(struct db *db, struct arena *arena, int64_t before,
                                           size_t most, struct host_kind_row **ret_rows,
                                           size_t *ret_count);
struct class_released {
    uint64_t released, kept;
};
/* The next some hundred unfinished jobs of this class behind number `*last` (at first 0) are of no
 * class any more, but for those that have an answer or are with a host. `*last` becomes the number
 * of the last one, or 0: there were none. To be committed each time. */
MUST_CHECK enum status db_admin_class_release(struct db *db, int64_t appid, int64_t hr_class,
                                              int64_t *last, struct class_released *ret_released);
/* What is known of the run times of an application: of its versions, to be committed; and, some
 * hundred hosts each time, of hosts, `*last` as above. *ret_rows: rows that were changed. Quotas,
 * turnaround and rows of valid results stay. */
MUST_CHECK enum status db_admin_statistics_forget(struct db *db, int64_t appid);
MUST_CHECK enum status db_admin_host_statistics_forget(struct db *db, int64_t appid, int64_t *last,
                                                       uint64_t *ret_rows);
/* What successes took, of the `most` newest results that are over. */
MUST_CHECK enum status db_admin_run_times(struct db *db, struct arena *arena, int64_t appid,
                                          size_t most, struct run_time_row **ret_rows,
                                          size_t *ret_count);

/* --- deleting people ---------------------------------------------------------------------- */

struct db_id_list {
    int64_t *items;
    size_t count;
};
/* A user with all hosts, or one host; records that were merged into such a host go with it. */
struct person {
    int64_t userid; /* 0: only the host */
    int64_t hostid;
    bool gives_jobs_to_all; /* jobs that wait for these alone; else they end with an error */
};
enum { PERSON_RESULTS_AT_ONCE = 1000 };
/* One transaction of a deletion, which the caller commits: locks the account out, then takes the
 * person's number from some of his results, jobs in progress going to others; when none are left
 * *ret_is_over, and all else is deleted (person.def). Until then the same is to be asked again,
 * also by another process. *ret_hosts: the hosts, in the arena. Runs beside servers: it locks user,
 * hosts, workunits, results. STATUS_NOT_FOUND: there is no such user or host. */
MUST_CHECK enum status db_admin_person_delete(struct db *db, struct arena *arena,
                                              const struct person *person, int64_t now,
                                              struct db_id_list *ret_hosts, size_t *ret_results,
                                              bool *ret_is_over);
/* Rows whose owners are gone, which nobody else deletes. The next ones along the key are looked at
 * without locks; *place, zeroed at first, moves behind them. */
enum { ORPHANS_LOOKED_AT = 1000 };
struct orphan_place {
    int64_t id;
    bool is_done;
};
/* Hosts whose user is gone, and records that were merged into a host that is: to be deleted as
 * above. */
MUST_CHECK enum status db_admin_orphan_hosts(struct db *db, struct arena *arena,
                                             struct orphan_place *place,
                                             struct db_id_list *ret_hosts);
struct orphan_results {
    uint64_t looked_at;
    uint64_t without_workunit; /* deleted */
    uint64_t without_host;     /* as if the host had been deleted: hostid 0; open ones have failed,
                                * and their workunit is due now */
};
/* One transaction, which the caller commits. Rehearsed: only counted. */
MUST_CHECK enum status db_admin_orphan_results(struct db *db, struct arena *arena,
                                               bool is_rehearsed, int64_t now,
                                               struct orphan_place *place,
                                               struct orphan_results *ret_counts);
/* Jobs that nothing will end (admin.def), counted up to `most`; of assignments, as many of the
 * oldest and of the newest are looked at. */
MUST_CHECK enum status db_admin_lost_jobs(struct db *db, size_t most,
                                          struct lost_jobs_row *ret_lost);
/* Rows that a clock set back has left behind: newest results and hosts, `most` of each, with times
 * after `latest`. */
MUST_CHECK enum status db_admin_clock_traces(struct db *db, int64_t latest, size_t most,
                                             struct clock_traces_row *ret_traces);

/* Whether a server of that number said of late that it works with this database. */
MUST_CHECK enum status db_admin_server_lives(struct db *db, int64_t id, bool *ret_lives);
/* Tables in which the numbers of rows will soon be used up, in the arena. */
MUST_CHECK enum status db_admin_used_ids(struct db *db, struct arena *arena,
                                         struct used_ids_row **ret_rows, size_t *ret_count);
/* Tables that person.def does not know and that seem to hold numbers of people. */
MUST_CHECK enum status db_admin_person_other_tables(struct db *db, struct arena *arena,
                                                    struct text **ret_names, size_t *ret_count);

/* --- jobs --------------------------------------------------------------------------------- */

struct new_workunit {
    struct text name, xml_doc, result_template_file, keywords;
    int64_t appid, batch, priority, delay_bound, transition_time, create_time;
    int64_t min_quorum, target_nresults;
    int64_t max_error_results, max_total_results, max_success_results;
    int64_t hr_class, size_class, app_version_num, transitioner_flags;
    double rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, rsc_bandwidth_bound;
    double credit;
};
/* ret_ids[i] becomes the number of row i. Several hundred rows a call are best. */
MUST_CHECK enum status db_admin_workunits_add(struct db *db, struct arena *arena,
                                              const struct new_workunit *rows, size_t count,
                                              int64_t *ret_ids);
/* COMMIT of jobs, the last of which has this name: as db_admin_version_commit. */
MUST_CHECK enum status db_admin_jobs_commit(struct db *db, struct text last);
/* The same for rows that may be there already; 0: there is no workunit of that name. */
MUST_CHECK enum status db_admin_workunit_ids(struct db *db, struct arena *arena,
                                             const struct new_workunit *rows, size_t count,
                                             int64_t *ret_ids, size_t *ret_found);
struct new_result {
    struct text name, xml_doc_in;
    int64_t workunitid, appid, batch, priority, server_state, size_class, random, create_time;
};
MUST_CHECK enum status db_admin_results_add(struct db *db, struct arena *arena,
                                            const struct new_result *rows, size_t count);

/* Whom jobs are for: the columns target_type, target_id and multi of table assignment. */
struct job_target {
    int64_t type;  /* ASSIGN_NONE: everybody */
    int64_t id;    /* of the host, user or team */
    bool is_multi; /* every host of them gets the job, not one */
};
MUST_CHECK enum status db_admin_target_exists(struct db *db, const struct job_target *target,
                                              bool *ret_exists);
MUST_CHECK enum status db_admin_assignments_add(struct db *db, struct arena *arena,
                                                const struct job_target *target,
                                                const int64_t *workunitids, size_t count,
                                                int64_t now);

/* --- transitions --------------------------------------------------------------------------- */

/* Workunits whose transition_time has come, in the order of that. A pass begins with a zeroed
 * place, which moves behind what was found. Fewer than `most`: there are no others.
 */
struct due_place {
    int64_t transition_time, id;
};
MUST_CHECK enum status db_admin_due(struct db *db, int64_t now, struct due_place *place,
                                    int64_t *ret_ids, size_t most, size_t *ret_count);
/* Locks those of them that still are due, by id, and all their results, by workunit and id. At most
 * DB_DUE_MOST. */
#define DB_DUE_MOST 256
struct due_rows {
    struct due_workunit_row *workunits;
    size_t workunit_count;
    struct due_result_row *results;
    size_t result_count;
};
MUST_CHECK enum status db_admin_due_lock(struct db *db, struct arena *arena, const int64_t *ids,
                                         size_t count, int64_t now, struct due_rows *ret_rows);
/* Writes what a transition may change of rows that are locked. */
MUST_CHECK enum status db_admin_due_save(struct db *db, struct arena *arena,
                                         const struct due_rows *changed);
/* Looks at a workunit later, if it is due now. */
MUST_CHECK enum status db_admin_due_postpone(struct db *db, int64_t id, int64_t now, int64_t until);
/* Lowers the quota of hosts that missed deadlines and ends their rows of valid results; by host and
 * version, each once. A host without statistics of the version has nothing to lose. */
struct time_outs {
    int64_t hostid, app_version_id; /* as in host_app_version */
    int64_t count;
};
MUST_CHECK enum status db_admin_time_outs_save(struct db *db, struct arena *arena,
                                               const struct time_outs *time_outs, size_t count,
                                               int64_t daily_result_quota);

/* --- messages ------------------------------------------------------------------------------ */

/* Delivered with the host's next reply where msg_to_host is set. */
MUST_CHECK enum status db_admin_message_add(struct db *db, int64_t hostid, struct text variety,
                                            struct text xml, int64_t now);

/* --- jobs and answers, to be looked at ----------------------------------------------------- */

/* What may be said of a job, in the words that people read; the SQL is {job_state} of admin.def.
 * An open job has neither its answer nor an error: then it waits for what the word says, and
 * "waiting" is for the next transition, or for the host that it is meant for. */
#define JOB_STATES(STATE)                 \
    STATE("unsent", true)                 \
    STATE("in progress", true)            \
    STATE("waiting for validation", true) \
    STATE("waiting", true)                \
    STATE("done", false)                  \
    STATE("failed", false)                \
    STATE("cancelled", false)

/* Which jobs, or results; newest first. A member that is 0 or empty does not matter. */
struct answer_filter {
    int64_t appid, batch;
    struct text name_prefix;
    struct text state; /* of jobs: one of JOB_STATES */
    bool is_open;      /* the state is one of a job that is not over */
    int64_t server_state;
    int64_t outcome; /* of results; -1: does not matter */
    int64_t before;  /* only lower ids */
    bool goes_on;    /* a further part of one long list, so that sorting all is not worth it */
    size_t most;
};
struct job_view {
    struct job_entry_row row;
    int64_t unsent, in_progress, success, failed; /* results */
};
/* An index is gone through from its end, once at most. Which: of the batch, of names, of open jobs
 * (of one application after the other), else the jobs by id, all of them where a state or an
 * application is rare. */
MUST_CHECK enum status db_admin_jobs(struct db *db, struct arena *arena,
                                     const struct answer_filter *filter, struct job_view **ret_jobs,
                                     size_t *ret_count);
/* By id, or when it is 0 by name. STATUS_NOT_FOUND. */
MUST_CHECK enum status db_admin_job(struct db *db, struct arena *arena, int64_t id,
                                    struct text name, struct job_view *ret_job);
/* Counts by application and state: goes through all jobs that match. */
MUST_CHECK enum status db_admin_job_counts(struct db *db, struct arena *arena,
                                           const struct answer_filter *filter,
                                           struct job_count_row **ret_rows, size_t *ret_count);
MUST_CHECK enum status db_admin_results(struct db *db, struct arena *arena,
                                        const struct answer_filter *filter,
                                        struct result_entry_row **ret_rows, size_t *ret_count);

/* Answers: the canonical results of jobs, or all successful ones. */
MUST_CHECK enum status db_admin_answers_of_job(struct db *db, struct arena *arena,
                                               int64_t workunitid, struct answer_row **ret_rows,
                                               size_t *ret_count);
/* Those behind an id (of the job, or with `all` of the result), by rising id. */
MUST_CHECK enum status db_admin_answers(struct db *db, struct arena *arena,
                                        const struct answer_filter *filter, bool all, int64_t after,
                                        struct answer_row **ret_rows, size_t *ret_count);
/* Those of these jobs, or with `all` these results. */
MUST_CHECK enum status db_admin_answers_of(struct db *db, struct arena *arena,
                                           const struct answer_filter *filter, bool all,
                                           const int64_t *ids, size_t count,
                                           struct answer_row **ret_rows, size_t *ret_count);
/* What may still become an answer: the ids of jobs, or with `all` of results, that are not over,
 * and the highest id that is given so far. Of an application without other conditions only an index
 * is read. */
MUST_CHECK enum status db_admin_open_ids(struct db *db, struct arena *arena,
                                         const struct answer_filter *filter, bool all,
                                         int64_t **ret_ids, size_t *ret_count, int64_t *ret_newest);

/* Results that timed out, whose hosts may still report them: those with higher ids, in any order,
 * or those of `ids`. */
MUST_CHECK enum status db_admin_lapsed_ids(struct db *db, struct arena *arena,
                                           const struct answer_filter *filter, int64_t after,
                                           int64_t **ret_ids, size_t *ret_count);
MUST_CHECK enum status db_admin_lapsed_of(struct db *db, struct arena *arena, const int64_t *ids,
                                          size_t count, int64_t **ret_ids, size_t *ret_count);
/* Jobs that are not over and whose transition became due between two moments (epochs). */
MUST_CHECK enum status db_admin_due_jobs(struct db *db, struct arena *arena,
                                         const struct answer_filter *filter, int64_t since,
                                         int64_t now, int64_t *ret_jobs);

/* --- figures ------------------------------------------------------------------------------ */

struct queue_line {
    struct text app;
    int64_t appid; /* 0 where states are not counted up to a bound */
    int64_t batch; /* 0 when not by batch */
    int64_t inactive, unsent, in_progress, over;
    int64_t oldest_unsent; /* epoch; 0: none */
};
/* Reads the index entries of all results. */
MUST_CHECK enum status db_admin_queue(struct db *db, struct arena *arena, bool by_batch,
                                      struct queue_line **ret_rows, size_t *ret_count);
/* What is unsent, in progress and over of each application, counted up to `most` each. */
MUST_CHECK enum status db_admin_queue_counted(struct db *db, struct arena *arena, int64_t most,
                                              struct queue_line **ret_rows, size_t *ret_count);

/* Jobs of each science app among `most` unsent ones and as many in progress, with the number and
 * the name that they give it. */
MUST_CHECK enum status db_admin_buda_jobs(struct db *db, struct arena *arena, int64_t most,
                                          struct buda_jobs_row **ret_rows, size_t *ret_count);

/* Of each variant of science apps, by its number: what became of the `most` newest results that
 * were sent with one; and how fast the hosts are that ran it, of `most` variants. Where the project
 * has no tables for them yet: none. */
MUST_CHECK enum status db_admin_variant_jobs(struct db *db, struct arena *arena, int64_t most,
                                             struct variant_jobs_row **ret_rows, size_t *ret_count);
MUST_CHECK enum status db_admin_variant_speeds(struct db *db, struct arena *arena, int64_t most,
                                               struct variant_speed_row **ret_rows,
                                               size_t *ret_count);
/* Forgets how fast some hundred hosts are with these variants, those after *last, which gets the
 * last one's id: 0 when there are no more. */
MUST_CHECK enum status db_admin_variants_forget(struct db *db, const int64_t *variants,
                                                size_t count, int64_t *last, uint64_t *ret_rows);

/* How many connections this user may have, and how many prepared statements all together. */
MUST_CHECK enum status db_admin_connection_limits(struct db *db,
                                                  struct connection_limits_row *ret_limits);
/* The database server's own variables of these names, in no order, and what it did since it
 * started: bytes and pages; uptime in s. Texts of the arena. */
MUST_CHECK enum status db_admin_settings(struct db *db, struct arena *arena,
                                         const struct text *names, size_t count,
                                         struct setting_row **ret_rows, size_t *ret_count,
                                         struct database_load_row *ret_load);
/* Statements that a connection of a server may have prepared. */
size_t db_statements_of_connection(void);

/* Of jobs to be validated and finished ones to be assimilated. */
MUST_CHECK enum status db_admin_oldest_waiting(struct db *db,
                                               struct oldest_waiting_row *ret_oldest);
/* Jobs whose input files may be deleted; `most` at most are counted. */
MUST_CHECK enum status db_admin_deletions_waiting(struct db *db, int64_t most, int64_t *ret_jobs);

/* Applications of whose newest workunits, as many as are looked at, some leave less time than
 * `below` (s) from sending to the deadline, and the shortest of them (s). */
MUST_CHECK enum status db_admin_short_deadlines(struct db *db, struct arena *arena,
                                                size_t looked_at, int64_t below,
                                                struct short_deadline_row **ret_rows,
                                                size_t *ret_count);

/* Of the newest workunits (`looked_at` of all) the applications and priorities of which some have
 * so many times as long until their deadline, for each operation, as others; and the two extremes,
 * s per FLOP. */
MUST_CHECK enum status db_admin_slacks(struct db *db, struct arena *arena, size_t looked_at,
                                       double times, struct app_slack_row **ret_rows,
                                       size_t *ret_count);

/* Those of the `most` newest hosts that asked since then, and the preferences of their users. */
MUST_CHECK enum status db_admin_recent_hosts(struct db *db, struct arena *arena, int64_t since,
                                             size_t most, struct recent_host_row **ret_rows,
                                             size_t *ret_count);

/* Unsent jobs that are alike in all that decides who may have them. */
struct job_class {
    struct candidate job; /* one of them */
    int64_t count;
    bool user_has_one, host_has_one; /* an instance of the same workunit */
};
struct job_class_filter {
    int64_t appid;          /* 0: any */
    int64_t userid, hostid; /* of user_has_one and host_has_one; 0: does not matter */
    bool by_batch;          /* batches matter */
    bool by_keywords;       /* keywords matter */
    size_t most;            /* classes returned */
};
/* In order of falling priority; goes through all unsent jobs. */
MUST_CHECK enum status db_admin_job_classes(struct db *db, struct arena *arena,
                                            const struct job_class_filter *filter,
                                            struct job_class **ret_rows, size_t *ret_count);
struct waiting_filter {
    int64_t appid;
    bool by_holders; /* how many have had an instance matters; then user_has_one: some have */
    bool by_batch, by_keywords;
    size_t looked_at; /* the oldest unsent jobs, and as many of the newest */
    size_t most;      /* classes returned: those with most jobs */
};
/* Of one application, those with most jobs first; along an index, whatever else waits. Without
 * jobs that are assigned to somebody, or of workunits that need no result any more. */
MUST_CHECK enum status db_admin_waiting_classes(struct db *db, struct arena *arena,
                                                const struct waiting_filter *filter,
                                                struct job_class **ret_rows, size_t *ret_count);
/* The unsent results of one job as a class, of count 0 where it has none; no row: there is no such
 * job. by_holders: as above. */
MUST_CHECK enum status db_admin_waiting_job(struct db *db, struct arena *arena, struct text name,
                                            bool by_holders, struct job_class **ret_rows,
                                            size_t *ret_count);
/* Of the oldest unsent results of an application, and as many of the newest: their jobs. */
MUST_CHECK enum status db_admin_unsent_documents(struct db *db, struct arena *arena, int64_t appid,
                                                 size_t looked_at,
                                                 struct waiting_document_row **ret_rows,
                                                 size_t *ret_count);
/* Of the oldest unfinished jobs of an application, and as many of the newest: the result templates
 * that they name, how many do, and one of them. */
MUST_CHECK enum status db_admin_unfinished_templates(struct db *db, struct arena *arena,
                                                     int64_t appid, size_t looked_at,
                                                     struct job_template_row **ret_rows,
                                                     size_t *ret_count);
/* Likewise: those whose quorum is larger than the number of users, in a row; no row: none is. */
MUST_CHECK enum status db_admin_large_quorums(struct db *db, struct arena *arena, int64_t appid,
                                              size_t looked_at, struct large_quorum_row **ret_rows,
                                              size_t *ret_count);
/* Who had an instance of the workunit. */
MUST_CHECK enum status db_admin_holders(struct db *db, struct arena *arena, int64_t workunitid,
                                        size_t most, struct holder_row **ret_rows,
                                        size_t *ret_count);
/* All of them, deprecated ones too. */
MUST_CHECK enum status db_admin_apps(struct db *db, struct arena *arena, struct app_row **ret_rows,
                                     size_t *ret_count);
/* The lowest and the highest id of the hosts of which it is kept what they said (0: there is none),
 * and how many they are, counted up to `most`. */
MUST_CHECK enum status db_admin_said_span(struct db *db, size_t most, struct id_span_row *ret_span);
struct said_filter {
    int64_t first;    /* the lowest id */
    int64_t since;    /* they asked then or later */
    size_t looked_at; /* hosts whose row is read */
    size_t most;      /* ids returned */
};
/* Such hosts by rising id. */
MUST_CHECK enum status db_admin_said_since(struct db *db, struct arena *arena,
                                           const struct said_filter *filter,
                                           struct id_row **ret_rows, size_t *ret_count);
/* STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status db_admin_host(struct db *db, struct arena *arena, int64_t id,
                                     struct host_row *ret_host);
/* How many unfinished jobs are for this host, its user or its team alone (0: it has none). */
MUST_CHECK enum status db_admin_assigned_jobs(struct db *db, int64_t hostid, int64_t userid,
                                              int64_t teamid, int64_t *ret_count);
/* How many hosts there are, when one of them asked last (epoch; 0: never), and how many asked since
 * `since`; where there are more than `most`, of a sample of `most` or fewer. */
MUST_CHECK enum status db_admin_last_contact(struct db *db, int64_t since, int64_t most,
                                             struct last_contact_row *ret_contact,
                                             bool *ret_is_sample);
/* What the host said last of what it can do, as a scheduler_request; empty: nothing is kept. */
MUST_CHECK enum status db_admin_host_said(struct db *db, struct arena *arena, int64_t hostid,
                                          struct text *ret_request);
/* What is learned of the host's presence, as its guard row has it; empty: nothing is. */
MUST_CHECK enum status db_admin_host_presence(struct db *db, struct arena *arena, int64_t hostid,
                                              struct text *ret_presence);
/* The platforms of the versions that a host has had jobs of. */
MUST_CHECK enum status db_admin_host_platforms(struct db *db, struct arena *arena, int64_t hostid,
                                               struct text **ret_names, size_t *ret_count);

struct host_entry {
    struct host_row row;
    int64_t in_progress, success, error;
};
/* One host by number, or with id 0 those of a user, newest first. */
MUST_CHECK enum status db_admin_hosts(struct db *db, struct arena *arena, int64_t id,
                                      int64_t userid, size_t most, struct host_entry **ret_rows,
                                      size_t *ret_count);
/* Its results, latest first, with the names of their apps. */
MUST_CHECK enum status db_admin_host_results(struct db *db, struct arena *arena, int64_t hostid,
                                             size_t most, struct host_result_row **ret_rows,
                                             size_t *ret_count);

#endif
