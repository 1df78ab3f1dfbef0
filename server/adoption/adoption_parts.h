/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of this room share. */
#ifndef SERVER_ADOPTION_ADOPTION_PARTS_H
#define SERVER_ADOPTION_ADOPTION_PARTS_H

#include "server/adoption/adoption.h"

#include <stdint.h>

/* One look under way. */
struct adoption_view {
    struct arena *arena;
    const char *dir;
    const struct config *config;
    struct adoption *adoption;
    struct adoption_set *set; /* what config.xml says beside its options */
    int64_t revision;         /* of db_revision; 0: not known */
    bool has_trickles;        /* jobs of this project send messages, or get some */
};

/* --- adoption_findings.c ---------------------------------------------------------------------- */

/* Adds a finding. `where` may be "". Returns it, for a CHANGE to say what is to be done; NULL: no
 * memory. */
struct adoption_finding *adoption_found(struct adoption_view *view, enum adoption_level level,
                                        const char *topic, const char *where, const char *format,
                                        ...) PRINTF_LIKE(5, 6);
const char *adoption_path(const struct adoption_view *view, const char *name); /* DIR/NAME */

/* --- adoption_config.c ------------------------------------------------------------------------ */

/* A daemon or task of config.xml. */
struct adoption_program {
    struct text command, name; /* the name alone, without folders or what starts it */
    bool is_task, is_disabled;
    int line;
};
/* An element of <config>, whether or not it is an option of ours. */
struct adoption_element {
    struct text name, value;
    int line;
};
enum { ADOPTION_PROGRAMS_MAX = 1000, ADOPTION_ELEMENTS_MAX = 4000 };
struct adoption_set {
    struct adoption_program *programs;
    size_t program_count;
    struct adoption_element *elements;
    size_t element_count;
};
/* Of the text of a config.xml, in the arena. STATUS_TOO_LARGE: more than fits. */
MUST_CHECK enum status adoption_set_read(struct arena *arena, struct text document,
                                         struct adoption_set *ret_set, struct failure *failure);
/* "feeder" of "nice ./bin/feeder -d 3". */
struct text adoption_program_name(struct text command);
/* The document with an element more at the end of <config>; empty: there is no such place. */
struct text adoption_document_with(struct arena *arena, struct text document, const char *option,
                                   const char *value);

/*   FATE(name) */
enum adoption_fate {
    FATE_STAYS, /* may go on running */
    FATE_STOPS, /* must not run beside this server */
    FATE_IDLE,  /* harmless, and of no use any more */
    FATE_COUNT  /* nothing is known of it */
};
/* The row of adoption_programs.def that fits first. */
enum adoption_fate adoption_fate_of(struct text name, const char **ret_why);
/* What an argument of BOINC's feeder ("-random_order", "--appids") did and what does it here, as
 * the end of a sentence; NULL: nothing that changes for a project. */
const char *adoption_feeder_option(struct text word);

void adoption_look_at_programs(struct adoption_view *view);
void adoption_look_at_options(struct adoption_view *view);

/* --- adoption_folder.c ------------------------------------------------------------------------ */

enum { ADOPTION_SCHEDULERS_MAX = 16 };
/* Adds the schedulers that a client would find on this page, each once. */
void adoption_page_read(struct text page, struct text schedulers[ADOPTION_SCHEDULERS_MAX],
                        size_t *count);
/* Behind "://". */
bool adoption_has_doubled_slash(struct text url);

void adoption_look_at_folder(struct adoption_view *view);
void adoption_look_at_pages(struct adoption_view *view);
void adoption_look_at_rights(struct adoption_view *view);

/* --- adoption_tables.c ------------------------------------------------------------------------ */

void adoption_look_at_tables(struct adoption_view *view);
void adoption_look_at_delays(struct adoption_view *view);

#endif
