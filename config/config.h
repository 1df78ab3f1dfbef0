/* SPDX-License-Identifier: Apache-2.0 */
/* config.xml (and config_aux.xml over it): one immutable struct config per loaded text.
 *
 * A file goes this way: load.c reads it, mended by xml_repair.c where BOINC's own readers do not
 * mind that it is no XML; each element is found in the tables (option_table.c, from options.def and
 * other_options.def) and becomes a member of the struct (option_value.c; jobs_limits.c for the one
 * option that is not plain text); config.c keeps the struct as long as anybody holds it. What the
 * table knows is also written out (written_out.c): the options in force, a sample, the manual. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

struct text_list {
    const struct text *items;
    size_t count;
};

/* Regular expressions, as they were written and compiled. */
struct config_pattern;
struct config_patterns {
    struct text_list texts; /* first, so that a walk over the options finds a list */
    struct config_pattern *first;
};

#define CONFIG_FIELD_FLAG(name)    bool name;
#define CONFIG_FIELD_INTEGER(name) int64_t name;
#define CONFIG_FIELD_REAL(name)    double name;
#define CONFIG_FIELD_CHOICE(name)  enum config_##name name;
#define CONFIG_FIELD_STRING(name)  struct text name;
#define CONFIG_FIELD_SECRET(name)  struct text name;
#define CONFIG_FIELD_LIST(name)    struct text_list name;
#define CONFIG_FIELD_REGEXES(name) struct config_patterns name;

/* enum config_OPTION for each option that is one of a few words. */
#define OPTION(name, type, default_, minimum, maximum, source, help)
#define CHOICES(option, choices) enum config_##option{choices};
#define CHOICE(value, word)      value,
#include "config/options.def"
#undef OPTION
#undef CHOICES
#undef CHOICE

/* Where a value came from. */
struct config_origin {
    struct text file; /* empty: the default */
    int line;         /* 0: none */
    bool is_given;    /* by the file itself, not worked out from another option */
};

/* Limits on the jobs that a host has at a time: of the project, or of one app. */
struct jobs_limit {
    int64_t jobs; /* 0: none */
    bool per_processor;
};
struct jobs_in_progress {
    struct text app_name; /* empty: the project's */
    struct jobs_limit total, cpu;
    struct jobs_limit gpu; /* of each type by itself */
};

/* Immutable once loaded; everything it points to lives as long as it does. */
struct config {
#define OPTION(name, type, default_, minimum, maximum, source, help) CONFIG_FIELD_##type(name)
#define CHOICES(option, choices)
#include "config/options.def"
#undef OPTION
#undef CHOICES
    const struct jobs_in_progress *jobs_in_progress; /* max_jobs_in_progress */
    size_t jobs_in_progress_count;
    struct text project_dir_path;  /* where it was loaded from, absolute; empty: from no file */
    bool has_buda_apps;            /* the folder of science apps was there, or no file was read */
    struct arena *arena;           /* owns every text; released by config_release */
    struct config_origin *origins; /* of each option, as in config_options */
    uint64_t serial;               /* of all that this process has made, another for each */
    _Atomic int references;        /* see config_hold */
};

/* One finding about a file: an error makes the load fail, a warning does not (misspelt names, with
 * the nearest known one). */
struct config_finding {
    bool is_error;
    int line;
    struct text file;
    struct text text;
};
struct config_findings {
    const struct config_finding *items;
    size_t count;
};

/* Loads DIR/config.xml and DIR/config_aux.xml. STATUS_INVALID: some finding is an error;
 * `*ret_findings` (in `arena`) is set in every case. The caller owns one reference. */
MUST_CHECK enum status config_load(const char *project_dir, struct arena *arena,
                                   struct config **ret_config, struct config_findings *ret_findings,
                                   struct failure *failure);
/* The same, for a look at what else is wrong: *ret_config, unless it is NULL, has the defaults of
 * wrong values in spite of STATUS_INVALID. *ret_is_whole false: the files could not be read to
 * their end, and it has what stands before. */
MUST_CHECK enum status config_load_partly(const char *project_dir, struct arena *arena,
                                          struct config **ret_config, bool *ret_is_whole,
                                          struct config_findings *ret_findings,
                                          struct failure *failure);
/* The same of one text, either of a whole config.xml or of a `config` element alone; `name` stands
 * for the file in findings. The options belong to no folder. */
MUST_CHECK enum status config_read(struct text document, struct text name, struct arena *arena,
                                   struct config **ret_config, struct config_findings *ret_findings,
                                   struct failure *failure);
/* The document made well-formed where BOINC's own readers do not mind that it is not; lines keep
 * their numbers. Every byte above 127 becomes a character reference, which config_unrepair takes
 * back, so that texts are the bytes of the file whatever their encoding. */
void config_repair(struct text document, struct buffer *ret_repaired);
/* In place; returns the new length. */
size_t config_unrepair(char *text, size_t length);

/* The defaults alone, for tests. */
MUST_CHECK enum status config_defaults(struct config **ret_config);

/* Whether one of the patterns matches; any thread. */
bool config_matches(const struct config_patterns *patterns, const char *subject);

struct config *config_hold(struct config *config);
void config_release(struct config *config); /* NULL is fine */

/* For tests and tools: sets one option from text, as config.xml would, before anyone else sees the
 * config. STATUS_NOT_FOUND: no such option; STATUS_INVALID: not a value for it. */
MUST_CHECK enum status config_set(struct config *config, struct text name, struct text value,
                                  struct failure *failure);

/* The table, for whoever walks it. */
enum config_type {
    CONFIG_FLAG,
    CONFIG_INTEGER,
    CONFIG_REAL,
    CONFIG_CHOICE,
    CONFIG_STRING,
    CONFIG_SECRET,
    CONFIG_LIST,
    CONFIG_REGEXES
};
enum config_source { CONFIG_BOINC, CONFIG_OURS };
struct config_word {
    int value; /* of the option's enum */
    const char *word;
};
struct config_option {
    const char *name;
    enum config_type type;
    const char *default_text, *minimum_text, *maximum_text;
    const struct config_word *words; /* of a choice, the last one without a word; else NULL */
    enum config_source source;
    const char *help;
    size_t offset; /* in struct config */
};
/* Those that a program reads when it starts; config.xml(5) says so of each. */
enum config_program { PROGRAM_SERVER, PROGRAM_UPLOAD, PROGRAM_SUBMIT };
struct config_at_start {
    const char *name;
    enum config_program program;
};
extern const struct config_at_start config_at_start[];
extern const size_t config_at_start_count;
extern const struct config_option config_options[];
extern const size_t config_option_count;

/* name = value, one per line, with where it came from (default, config.xml:LINE). Secrets are
 * hidden. */
void config_dump(const struct config *config, struct buffer *ret_text);
/* The options that decide about jobs, as a `config` element that config_read reads, an option a
 * line: numbers, words, patterns and max_jobs_in_progress, but neither addresses and paths nor
 * accounts and job streams, which name people. */
void config_write_deciding(const struct config *config, struct buffer *ret_text);
/* Where the option of that name was given, as "FILE:LINE: NAME"; where it was not, "config.xml:
 * NAME". In the arena. */
const char *config_place(const struct config *config, const char *name, struct arena *arena);
/* A log line for each option in which `now` differs from `before`, without what is secret, and for
 * max_jobs_in_progress; answers how many. `words`: where not NULL, the same for people, a line
 * each, with the beginning of the values. */
size_t config_log_changes(const struct config *before, const struct config *now,
                          struct buffer *words);
/* Options that the program reads when it starts, and in which `now` differs from what it began
 * with. */
size_t config_restarts_wanted(const struct config *begun, const struct config *now,
                              enum config_program program);
/* A commented sample of the whole file, from the table. */
void config_write_sample(struct buffer *ret_text);
/* The manual page of config.xml, from the table. */
void config_write_manual(struct buffer *ret_text);

/* The option without which no batch can be in a hurry (policy(7) 13.9); NULL: none lacks. Without
 * send_result_abort hosts go on with what others have answered; without a rule of one result for
 * each host the one that is late may get its job once more. */
const char *config_hurry_lacks(const struct config *config);
/* Whether a batch is in a hurry; is_wanted: by its own mark. */
bool config_hurries(const struct config *config, bool is_wanted);

#endif
