/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of the recording, piece by piece. A damaged piece is skipped, and no other. */
#ifndef SERVER_RECORDING_RECORDED_READER_H
#define SERVER_RECORDING_RECORDED_READER_H

#include "server/policy/limits/preferences.h"
#include "server/policy/refusal/reason.h"
#include "server/recording/circumstances.h"
#include "server/recording/recorded_rows.h"

#include <stddef.h>

struct arena;

enum recorded_piece {
    PIECE_END,
    PIECE_REQUEST,
    PIECE_CIRCUMSTANCES,
    PIECE_DAMAGED /* cut off, longer than any that is written, or nothing of ours */
};
/* Cuts the next piece off *rest; *ret_lines are what stands between its first and its last line. */
enum recorded_piece recorded_next(struct text *rest, struct text *ret_lines);

/* A record. Texts are slices of the lines or lie in the arena. */
struct recorded_request {
    struct circumstances_key under;
    struct text host, user; /* pseudonyms; empty: none */
    struct record_head head;
    struct host_row stored;
    struct host_app_version_row *versions;
    size_t version_count;
    struct host_app_version_change *changes;
    size_t change_count;
    struct global_preferences prefs;
    struct project_preferences project_prefs;
    struct host_job *in_progress; /* result.id: the place, from 1; workunit.id 0: it is gone */
    size_t in_progress_count;
    struct memory_peak *memory_peaks;
    size_t memory_peak_count;
    struct text *aborts; /* names */
    size_t abort_count;
    struct record_unsent *unsent;
    size_t unsent_count;
    struct record_job *jobs;
    size_t job_count;
    struct text *reasons; /* words of reasons.def, the decisive one first */
    size_t reason_count;
    struct text request; /* the scheduler_request */
};
MUST_CHECK enum status recorded_request_read(struct text lines, struct arena *arena,
                                             struct recorded_request *ret_request,
                                             struct failure *failure);

#endif
