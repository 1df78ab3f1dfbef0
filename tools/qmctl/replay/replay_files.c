/* SPDX-License-Identifier: Apache-2.0 */
/* A file is looked at as a whole, without being read into memory at once. What is damaged in it is
 * counted and passed over. */
#include "tools/qmctl/replay/replay_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/recording/recorded_reader.h"
#include "server/recording/recording.h"
#include "server/reply/answer.h"
#include "tools/qmctl/session/progress_line.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define REQUEST_BYTES_MAX ((size_t)256 << 20) /* what one may take in memory */

/* The circumstances of then, and what the wish makes of them. */
struct circumstances_pair {
    struct circumstances then;
    struct config *wished; /* NULL: there is no wish */
};

struct file_walk {
    struct replay_run *run;
    struct arena *arena;                                 /* of one piece */
    struct circumstances_pair pairs[CIRCUMSTANCES_KEPT]; /* the last ones */
    size_t pair_count;                                   /* of all */
};

static void note_damage(struct replay_run *run, struct failure *why)
{
    run->damaged++;
    if (run->first_damage.status == STATUS_OK)
        run->first_damage = *why;
}

/* --- circumstances ---------------------------------------------------------------------------- */

static void forget_pair(struct circumstances_pair *pair)
{
    circumstances_free(&pair->then);
    config_release(pair->wished);
    *pair = (struct circumstances_pair){.wished = NULL};
}

static const struct circumstances_pair *find_pair(const struct file_walk *walk,
                                                  const struct circumstances_key *key)
{
    for (size_t i = 0; i < CIRCUMSTANCES_KEPT && i < walk->pair_count; i++)
        if (walk->pairs[i].then.config != NULL &&
            strcmp(walk->pairs[i].then.key.text, key->text) == 0)
            return &walk->pairs[i];
    return NULL;
}

static enum status take_circumstances(struct file_walk *walk, struct text lines)
{
    struct circumstances_pair *pair = &walk->pairs[walk->pair_count % CIRCUMSTANCES_KEPT];
    struct failure why = {0};
    enum status status;

    forget_pair(pair);
    status = circumstances_read(lines, walk->arena, &pair->then, &why);
    if (status != STATUS_OK) {
        note_damage(walk->run, &why);
        return status == STATUS_NO_MEMORY ? fail(&walk->run->session->failure, status, "no memory")
                                          : STATUS_OK;
    }
    walk->pair_count++;
    if (!walk->run->wish.is_given)
        return STATUS_OK;
    return replay_wish_config(walk->run, &pair->then, &pair->wished);
}

/* --- requests --------------------------------------------------------------------------------- */

static enum status put_to(const struct file_walk *walk, const struct recorded_request *record,
                          const struct circumstances_pair *pair, bool is_wished,
                          struct replay_outcome *ret_outcome, bool *ret_asks, struct failure *why)
{
    const struct replay_wish *wish = &walk->run->wish;
    const struct replay_world world = {
        .config = is_wished ? pair->wished : pair->then.config,
        .plan_classes =
            is_wished && wish->has_plan_classes ? &wish->plan_classes : &pair->then.plan_classes,
        .catalog = pair->then.catalog,
    };

    return replay_request(record, &world, walk->arena, ret_outcome, ret_asks, why);
}

/* The record's rows are the walk's to change, so each walk reads them anew. */
static enum status put_record(struct file_walk *walk, struct text lines,
                              struct replay_comparison *ret_comparison, bool *ret_is_skipped,
                              bool *ret_supply_is_cut, struct failure *why)
{
    const struct circumstances_pair *pair;
    struct recorded_request record;
    enum status status = recorded_request_read(lines, walk->arena, &record, why);

    *ret_is_skipped = status == STATUS_OK && record.head.kind != ANSWER_FULL;
    if (status != STATUS_OK || *ret_is_skipped)
        return status;
    pair = find_pair(walk, &record.under);
    if (pair == NULL)
        return fail(why, STATUS_INVALID, "the circumstances of a record are not in its file");
    *ret_supply_is_cut = record.head.supply_is_cut;
    *ret_comparison =
        (struct replay_comparison){.host = record.host, .recorded = replay_recorded(&record)};
    status =
        put_to(walk, &record, pair, false, &ret_comparison->control, &ret_comparison->asks, why);
    ret_comparison->changed = ret_comparison->control;
    if (status != STATUS_OK || !walk->run->wish.is_given)
        return status;
    status = recorded_request_read(lines, walk->arena, &record, why);
    if (status != STATUS_OK)
        return status;
    return put_to(walk, &record, pair, true, &ret_comparison->changed, &ret_comparison->asks, why);
}

static enum status take_request(struct file_walk *walk, struct text lines)
{
    struct replay_run *run = walk->run;
    struct replay_comparison comparison;
    struct failure why = {0};
    bool is_skipped, supply_is_cut = false;
    enum status status = put_record(walk, lines, &comparison, &is_skipped, &supply_is_cut, &why);

    if (status == STATUS_OK && !is_skipped)
        status = replay_tally_add(run->tally, &comparison);
    if (status == STATUS_NO_MEMORY)
        return fail(&run->session->failure, status, "no memory");
    if (status != STATUS_OK)
        note_damage(run, &why);
    else if (is_skipped)
        run->skipped++;
    else
        run->supply_cut += supply_is_cut;
    return STATUS_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

static enum status walk_pieces(struct file_walk *walk, struct text content)
{
    struct replay_run *run = walk->run;
    struct failure cut = {.status = STATUS_INVALID, .text = "cut off, or not a recording"};
    enum status status = STATUS_OK;
    int64_t pieces = 0;

    while (status == STATUS_OK) {
        struct text lines;
        enum recorded_piece kind = recorded_next(&content, &lines);

        if (kind == PIECE_END)
            return STATUS_OK;
        arena_reset(walk->arena);
        if (kind == PIECE_DAMAGED)
            note_damage(run, &cut);
        else
            status =
                kind == PIECE_REQUEST ? take_request(walk, lines) : take_circumstances(walk, lines);
        if (++pieces % 64 == 0)
            progress(run->session, "requests replayed", replay_tally_figures(run->tally)->requests);
    }
    return status;
}

static enum status walk_content(struct replay_run *run, struct text content)
{
    struct file_walk walk = {.run = run, .arena = arena_create(REQUEST_BYTES_MAX)};
    enum status status;

    if (walk.arena == NULL)
        return fail(&run->session->failure, STATUS_NO_MEMORY, "no memory");
    status = walk_pieces(&walk, content);
    for (size_t i = 0; i < CIRCUMSTANCES_KEPT; i++)
        forget_pair(&walk.pairs[i]);
    arena_destroy(walk.arena);
    return status;
}

static enum status walk_file(struct replay_run *run, const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct failure *failure = &run->session->failure;
    enum status status = STATUS_OK;
    struct stat info;
    void *content;

    if (descriptor < 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    if (fstat(descriptor, &info) != 0) {
        status = fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    } else if (info.st_size > 0) {
        content = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (content == MAP_FAILED) {
            status = fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
        } else {
            status =
                walk_content(run, (struct text){.at = content, .length = (size_t)info.st_size});
            (void)munmap(content, (size_t)info.st_size);
        }
    }
    (void)close(descriptor);
    run->files++;
    return status;
}

/* In the order of their names, which begin with their time. */
static enum status walk_folder(struct replay_run *run, const char *path)
{
    const char *pattern =
        text_string(run->session->arena, text_print(run->session->arena, "%s/*.recorded", path));
    enum status status = STATUS_OK;
    glob_t found = {0};
    int failed = glob(pattern, 0, NULL, &found);

    if (failed == GLOB_NOMATCH)
        status = fail(&run->session->failure, STATUS_NOT_FOUND,
                      "%s: there is no recording (record_requests)", path);
    else if (failed != 0)
        status = fail(&run->session->failure, STATUS_IO, "%s: %s", path, strerror(errno));
    for (size_t i = 0; failed == 0 && status == STATUS_OK && i < found.gl_pathc; i++)
        status = walk_file(run, found.gl_pathv[i]);
    globfree(&found);
    return status;
}

enum status replay_path(struct replay_run *run, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return fail(&run->session->failure, STATUS_NOT_FOUND, "%s: %s", path, strerror(errno));
    return S_ISDIR(info.st_mode) ? walk_folder(run, path) : walk_file(run, path);
}
