/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the reply room among themselves: lines, blobs, documents, and the writers of
 * blocks that reply_elements.def names. */
#ifndef SERVER_REPLY_REPLY_PARTS_H
#define SERVER_REPLY_REPLY_PARTS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct answer_job;
struct arena;
struct buffer;
struct reply_sources;

/* --- texts that were written already ------------------------------------------------------ */

/* A set of texts (not copied) in an arena; zero it before use. */
struct text_set {
    struct arena *arena;
    struct text *slots;
    size_t slot_count, count;
};
/* Whether `text` is new to the set; when the arena is full everything is. */
bool text_set_add(struct text_set *set, struct text text);

/* --- the reply being written -------------------------------------------------------------- */

struct reply {
    const struct reply_sources *sources;
    const struct answer *answer;
    struct buffer *out;
    int64_t version;            /* of the client; 0: unknown, treated as the oldest */
    const bool *job_is_written; /* answer.job_count of them; NULL: none is */
    struct text_set apps, app_versions, workunits, files;
};

/* --- lines -------------------------------------------------------------------------------- */

/* The longest line, without its newline. */
enum { REPLY_LINE_MAX = 254 };

/* How long `text` is once escaped as buffer_add_xml does it. */
size_t escaped_length(struct text text);
/* The longest beginning of `text` that is at most `room` long once escaped, cut between UTF-8
 * characters. */
struct text escaped_fit(struct text text, size_t room);

void line_begin(struct reply *reply, const char *name);
void line_end(struct reply *reply, const char *name);
void line_flag(struct reply *reply, const char *name);
void line_integer(struct reply *reply, const char *name, int64_t number);
void line_real(struct reply *reply, const char *name, double number); /* plain decimals */
/* Text for people: cut to the line. */
void line_text(struct reply *reply, const char *name, struct text text);
/* A name that must arrive whole: ask line_holds first. */
void line_name(struct reply *reply, const char *name, struct text text);
bool line_fits(const char *name, struct text text); /* for every client */
bool line_holds(int64_t client_version, const char *name, struct text text);
/* Verbatim, and a newline unless the text ends in one or is empty. */
void lines_verbatim(struct reply *reply, struct text text);

/* The block <element> with this content, unless it would break the reply; then a log line. */
void reply_blob(struct reply *reply, const char *element, struct text text);

/* --- blocks ------------------------------------------------------------------------------- */

double reply_delay(const struct reply *reply);
double reply_next_rpc(const struct reply *reply);
bool reply_no_apps(const struct reply *reply, const char *type);

#define REPLY_BLOCK(name) void name(struct reply *reply, const char *element)
REPLY_BLOCK(reply_messages);
REPLY_BLOCK(reply_email_hash);
REPLY_BLOCK(reply_external_cpid);
REPLY_BLOCK(reply_global_preferences);
REPLY_BLOCK(reply_project_preferences);
REPLY_BLOCK(reply_acks);
REPLY_BLOCK(reply_aborts);
REPLY_BLOCK(reply_aborts_if_not_started);
REPLY_BLOCK(reply_apps);
REPLY_BLOCK(reply_versions);
REPLY_BLOCK(reply_workunits);
REPLY_BLOCK(reply_results);
REPLY_BLOCK(reply_code_sign_key);
REPLY_BLOCK(reply_code_sign_key_signature);
REPLY_BLOCK(reply_host_messages);
REPLY_BLOCK(reply_delete_files);
REPLY_BLOCK(reply_no_rsc_apps);
REPLY_BLOCK(reply_rsc_status);
REPLY_BLOCK(reply_gui_urls);
REPLY_BLOCK(reply_rss_feeds);
REPLY_BLOCK(reply_project_files);

/* Which jobs of the answer can be written: their documents have the places where the rest is put
 * in, their names fit. NULL when the arena is full. The others are logged. */
const bool *reply_check_jobs(const struct reply *reply);

#endif
