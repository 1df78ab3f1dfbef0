/* SPDX-License-Identifier: Apache-2.0 */
/* Files of upload_dir that nothing leads to any more: uploaded, and then their job was purged, or
 * it had been purged before. Every file is looked at where it is; no link is followed. One may go
 * when all of this is so:
 *
 * - it is a plain file in the folder of its own name, and the name has the form of our results'
 *   output files (output_files.h);
 * - nobody wrote to it, or changed anything of it, for thirty days;
 * - no result of the database has the name that it begins with;
 * - an archive of `qmctl purge` has that result, and the file is one of those that it gives back,
 *   neither no_delete nor sticky.
 *
 * The last one is the proof that the file is of this project and that its job is gone. A file that
 * only looks like one of ours stays. All files stay if the archive has numbers that the database
 * has not used yet: then the database is a different one, or an older copy. */
#ifndef SERVER_PASSES_UPLOAD_SWEEP_H
#define SERVER_PASSES_UPLOAD_SWEEP_H

#include "server/base/text.h"
#include "server/passes/pass.h"
#include "server/submit/folder_look.h"

enum { SWEEP_AGE_LEAST = 30 * 86400 };

/*  KIND(name, words): what was found of a file, for the report. */
#define SWEEP_KINDS(KIND)                                                   \
    KIND(purged, "of purged jobs: qmctl files sweep --delete deletes them") \
    KIND(deleted, "of purged jobs: deleted")                                \
    KIND(failed, "of purged jobs: could not be deleted")                    \
    KIND(changed, "kept: in use, or changed meanwhile")                     \
    KIND(named, "kept: of jobs in the database")                            \
    KIND(young, "kept: changed in the last 30 days")                        \
    KIND(marked, "kept: no_delete or sticky")                               \
    KIND(unproved, "kept: no archive of purged jobs has them")              \
    KIND(misplaced, "kept: not in the folder of their name")                \
    KIND(foreign, "kept: not named as the output files of jobs")            \
    KIND(no_file, "kept: links, folders and other things that are no plain files")

enum sweep_kind {
#define SWEEP_KIND(name, words) SWEEP_##name,
    SWEEP_KINDS(SWEEP_KIND)
#undef SWEEP_KIND
        SWEEP_KIND_COUNT
};

/* By what the disk alone tells: SWEEP_purged where it may be an orphan, and then *ret_result is the
 * result whose output file it is by its name, a slice of that; else foreign, misplaced, no_file or
 * young. */
enum sweep_kind upload_sweep_judge(const struct folder_found *found, int64_t fanout, int64_t now,
                                   struct text *ret_result);

struct sweep_count {
    int64_t files;
    double bytes;
};

/* A file that was deleted, or could be: one call for each. */
typedef enum status sweep_visitor(void *context, const char *folder, struct text name,
                                  double bytes);

struct upload_sweep_settings {
    int64_t now;
    /* Where to go on, and behind the last one of folder_look_count; after so many seconds no other
     * folder is begun. NULL: all of them. */
    int64_t *folder;
    double seconds;
    const char *const *archives; /* folders; without one nothing is proved */
    size_t archive_count;
    bool deletes;
    sweep_visitor *visit; /* NULL: nobody wants to know */
    void *context;
};

/* Archives that could not be read are named on standard error: what they have counts as in none.
 * Counts are of what was looked at before a failure too. */
MUST_CHECK enum status upload_sweep(struct pass_owner *owner,
                                    const struct upload_sweep_settings *settings,
                                    struct sweep_count ret_counts[SWEEP_KIND_COUNT]);

#endif
