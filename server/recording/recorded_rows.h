/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a recording: the figures of a row or struct, in the order of a table that both the
 * writer and the reader follow. */
#ifndef SERVER_RECORDING_RECORDED_ROWS_H
#define SERVER_RECORDING_RECORDED_ROWS_H

#include "db/db.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

/* What a reader has to know to understand a recording; raised when what stands there changes its
 * meaning. */
enum { RECORD_FORMAT = 3 };

struct record_column {
    const char *name; /* for messages about bad ones */
    size_t offset;
    enum { COLUMN_INTEGER, COLUMN_REAL, COLUMN_FLAG, COLUMN_TEXT } type;
};
struct record_table {
    const char *tag; /* a line is <TAG>FIGURE FIGURE ...</TAG> */
    const struct record_column *columns;
    size_t count;
    size_t size; /* of the struct */
};

/* What stands for the numbers of user and host, and for a batch that only this user may have. */
enum { RECORDED_ACCOUNT = 1, RECORDED_OTHER_ACCOUNT = 2 };

/* --- structs that are made for the recording -------------------------------------------------- */

/* What a request came with beside its text, and what became of it. */
struct record_head {
    double now;                  /* epoch */
    int64_t seed_high, seed_low; /* 32 bits each */
    double backlog;              /* s; see struct load */
    bool stop_work;
    bool host_is_new, is_new_day, only_assigned;
    bool reads_in_progress,
        reads_workunits;  /* the jobs in progress were read, with their workunits */
    bool has_supply;      /* what else was unsent is told */
    bool supply_is_cut;   /* not all of it */
    int64_t kind;         /* enum answer_kind */
    double request_delay; /* s, as the client was told */
    int64_t reports_booked;
    double presence_cpu, presence_gpu; /* see struct presence_shares */
};

/* A job of the reply. */
struct record_job {
    int64_t appid;
    int64_t app_version_id; /* 0: the client's own */
    bool is_resent, is_assigned;
    int64_t place; /* of a resent one: its line among the jobs in progress, from 1; 0: none */
    struct text coproc_type;
    double avg_ncpus, coproc_count;
    double wall_time;        /* s */
    double rsc_memory_bound; /* bytes, as sent */
    double rsc_disk_bound;   /* bytes */
    int64_t report_deadline; /* epoch */
};

/* Unsent jobs that no host can tell apart: those that this request was sent, and what was left. */
struct record_unsent {
    int64_t order; /* rises as the pool would offer them, within one priority */
    int64_t jobs, workunits;
    int64_t priority; /* of the results */
    struct workunit_row workunit;
};

/* --- tables ----------------------------------------------------------------------------------- */

extern const struct record_table record_heads;
extern const struct record_table record_hosts;           /* struct host_row */
extern const struct record_table record_host_versions;   /* struct host_app_version_row */
extern const struct record_table record_version_changes; /* struct host_app_version_change */
extern const struct record_table record_globals;         /* struct global_preferences */
extern const struct record_table record_projects;        /* struct project_preferences */
extern const struct record_table record_in_progress;     /* struct host_job */
extern const struct record_table record_memory_peaks;    /* struct memory_peak */
extern const struct record_table record_jobs;
extern const struct record_table record_unsent_jobs;
extern const struct record_table record_benchmarks; /* struct benchmarks */
extern const struct record_table record_apps;       /* struct app_row */
extern const struct record_table record_platforms;  /* struct platform_row */
extern const struct record_table record_versions;   /* struct app_version_row */
extern const struct record_table record_retired;    /* struct retired_version_row */

/* --- lines ------------------------------------------------------------------------------------ */

void record_row_write(struct buffer *text, const struct record_table *table, const void *row);
/* From what stands between the tags. Members that are in no column stay. STATUS_INVALID: too few or
 * too many figures, or one that is none or beyond 2^53. Texts are copied into the arena. */
MUST_CHECK enum status record_row_read(const struct record_table *table, struct text line,
                                       struct arena *arena, void *ret_row, struct failure *failure);

/* A text without blanks, control characters and marks; record_unquote takes it back. False: it was
 * not written so. */
void record_quote(struct buffer *text, struct text plain);
MUST_CHECK bool record_unquote(struct text quoted, struct arena *arena, struct text *ret_plain);

/* The next line of *rest as <TAG>CONTENT</TAG>; a line that is nothing of the kind is a tag without
 * content. False: there is no more. */
struct record_line {
    struct text tag, content;
};
bool record_next_line(struct text *rest, struct record_line *ret_line);
/* How many lines of this tag there are. */
size_t record_count_lines(struct text text, const char *tag);

#endif
