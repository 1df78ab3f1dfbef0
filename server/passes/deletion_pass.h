/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over results and workunits whose files are to be deleted. Kept are files marked
 * no_delete, and input files that another unfinished workunit or an app version names too: the
 * last workunit that names a file takes it along. Files that submitters brought stay until their
 * time, and as long as their batches may get jobs; then they go, once an hour, also if no workunit
 * named them, but not within a day after somebody counted on them. While jobs are made, input files
 * stay. Those that a killed `qmctl jobs create` has left are found by its list (placed_list.h), and
 * go where no job needs them. A file that is not there is as good as deleted, unless the whole
 * folder is not there or is empty: that is an error, which is tried again every hour. Between two
 * batches of output files it gives way to waiting hosts; between batches of input files it does
 * not, because `jobs create` waits for the pass to end. If a pass has a time limit, it applies to
 * output files and to input files separately. */
#ifndef SERVER_PASSES_DELETION_PASS_H
#define SERVER_PASSES_DELETION_PASS_H

#include "server/passes/pass.h"

/* Kept from round to round; zeroed at first. */
struct deletion_schedule {
    int64_t errors_at; /* when failures are tried again */
    double inputs_at;  /* not before this moment, as it means reading all documents */
};

/* Adds to *counts, also on failure what was done before it. Without settings->deletes_files
 * nothing. */
MUST_CHECK enum status deletion_pass(struct pass_owner *owner, const struct pass_settings *settings,
                                     struct deletion_schedule *schedule,
                                     struct pass_counts *counts);

/* How long inputs wait for their next turn, s: reading what is needed took `reading`, the turn with
 * it `all`. */
double deletion_inputs_rest(double reading, double all, bool is_cut);

#endif
