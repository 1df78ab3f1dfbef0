/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of qmctl replay. */
#ifndef TOOLS_QMCTL_REPLAY_REPLAY_PARTS_H
#define TOOLS_QMCTL_REPLAY_REPLAY_PARTS_H

#include "server/policy/plan_class/plan_class.h"
#include "server/replay/replay_tally.h"
#include "tools/qmctl/session/project_session.h"

/* What the requests are put to, instead of what they were answered under. */
struct replay_wish {
    bool is_given;         /* there is one */
    bool has_options;      /* --config */
    struct text deciding;  /* then: its options, as config_write_deciding writes them */
    bool has_plan_classes; /* --plan-classes, or those of the folder of --config */
    struct plan_classes plan_classes;
};

/* Options of which a wish differs from what was recorded, as "NAME: THEN -> NOW". */
enum { REPLAY_OPTIONS_SAID = 64 };
struct replay_options {
    struct text lines[REPLAY_OPTIONS_SAID];
    size_t count;
};

struct replay_run {
    struct session *session;
    struct replay_wish wish;
    struct replay_options options;
    struct replay_tally *tally;
    int64_t files, skipped, damaged;
    int64_t supply_cut; /* records that tell only some of the jobs that there were */
    struct failure first_damage;
};

/* --- replay_wish.c ---------------------------------------------------------------------------- */

/* Reads --config, --set and --plan-classes. */
MUST_CHECK enum status replay_wish_read(struct session *session, struct replay_wish *ret_wish);
/* The configuration that the wish makes of a recorded one; notes where options and plan classes
 * differ. The caller owns one reference. */
MUST_CHECK enum status replay_wish_config(struct replay_run *run, const struct circumstances *then,
                                          struct config **ret_config);

/* --- replay_files.c --------------------------------------------------------------------------- */

/* Puts what stands in a file, or in the files *.recorded of a folder. */
MUST_CHECK enum status replay_path(struct replay_run *run, const char *path);

#endif
