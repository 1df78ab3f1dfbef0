/* SPDX-License-Identifier: Apache-2.0 */
/* What it would mean to move a running BOINC project over to this server: looks at the project's
 * folder as make_project left it, at config.xml with its daemons and tasks, at the pages by which
 * clients find the scheduler, and at the tables, whichever year they are of, and says of each thing
 * what works, what does not, and what has to change. Nothing is changed here: `qmctl adopt` does
 * that, with what is found here as its list.
 *
 * What is wrong with any project is found by project_check, whose findings are among these. */
#ifndef SERVER_ADOPTION_ADOPTION_H
#define SERVER_ADOPTION_ADOPTION_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct config;

/*   LEVEL(name, word) */
#define ADOPTION_LEVELS(LEVEL)                                                       \
    LEVEL(OK, "ok")           /* works as it is */                                   \
    LEVEL(NOTE, "note")       /* is otherwise than before, and needs nothing */      \
    LEVEL(CHANGE, "change")   /* has to change, and `qmctl adopt --apply` does it */ \
    LEVEL(WARNING, "warning") /* an administrator has to decide or to do it */       \
    LEVEL(ERROR, "error")     /* does not work until somebody mends it */
enum adoption_level {
#define ADOPTION_LEVEL(name, word) ADOPTION_##name,
    ADOPTION_LEVELS(ADOPTION_LEVEL)
#undef ADOPTION_LEVEL
        ADOPTION_LEVEL_COUNT
};
const char *adoption_level_word(enum adoption_level level);

/* What is to be done about a finding of level CHANGE. */
enum adoption_act {
    ACT_NONE,
    ACT_INDEX,  /* make the index needed_indexes[number] */
    ACT_TABLES, /* add or upgrade our own tables */
    ACT_OPTION  /* add the option `value` to config.xml */
};

struct adoption_finding {
    enum adoption_level level;
    const char *topic;          /* one word; of project_check its topic */
    struct text where, words;   /* in the arena */
    enum adoption_act act;      /* of a CHANGE */
    size_t number;              /* of ACT_INDEX */
    const char *option, *value; /* of ACT_OPTION */
};

struct adoption {
    struct adoption_finding *findings; /* in the arena */
    size_t count, room;
    size_t counts[ADOPTION_LEVEL_COUNT];
    bool stops; /* an error because of which nothing can be changed */
};

/* Looks at the project in the folder `dir`, whose configuration has been loaded. Errors are
 * findings. STATUS_NO_MEMORY is all that is returned beside STATUS_OK. */
MUST_CHECK enum status adoption_look(const char *dir, const struct config *config,
                                     struct arena *arena, struct adoption *ret_adoption);

/* Adds an option to config.xml, whose owner and mode stay; the file is replaced as a whole.
 * STATUS_INVALID: it has no place for one. */
MUST_CHECK enum status adoption_add_option(const char *dir, struct arena *arena, const char *option,
                                           const char *value, struct failure *failure);

#endif
