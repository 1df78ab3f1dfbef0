/* SPDX-License-Identifier: Apache-2.0 */
/* What a command gets. For itself: the files of one result and then those of another, as many, in
 * the order of their file_refs; "" stands for an optional file that is not there. A line of JSON
 * has them in "results", one or two. Each result is first asked about alone (for itself: with
 * itself), and is of no use where the answer is no. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/json.h"
#include "server/base/sorted.h"
#include "server/passes/command_crew.h"
#include "server/passes/validation_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { VARIABLES = 4 };

bool validation_open(struct validation_pass *pass, struct validation *validation)
{
    struct quorum_result found[QUORUM_RESULTS_MAX];
    struct arena *arena = pass->arena;
    size_t count;

    verdict_select(&validation->job, found, &validation->quorum);
    count = validation->quorum.count;
    validation->files = ARENA_ARRAY(arena, count, struct compared_files);
    validation->answers = ARENA_ARRAY(arena, count * count, unsigned char);
    validation->results = ARENA_ARRAY(arena, count, struct quorum_result);
    validation->verdicts = ARENA_ARRAY(arena, count, struct quorum_result);
    if (validation->files == NULL || validation->answers == NULL || validation->results == NULL ||
        validation->verdicts == NULL)
        return false;
    if (count > 0) {
        memcpy(validation->results, found, count * sizeof(found[0]));
        memset(validation->answers, QUORUM_UNKNOWN, count * count);
    }
    validation->quorum.results = validation->results;
    validation->quorum.answers = validation->answers;
    return true;
}

/* --- what a command is asked -------------------------------------------------------------------
 */

static void add_result(struct buffer *line, const struct validation *validation, size_t index)
{
    const struct compared_files *files = &validation->files[index];

    buffer_print(line, "{\"id\": %" PRId64 ", \"files\": [", validation->results[index].id);
    for (size_t i = 0; i < files->count; i++) {
        buffer_add_string(line, i == 0 ? "" : ", ");
        json_add_string(line, text_from(files->files[i].path));
    }
    buffer_add_string(line, "]}");
}

static struct text line_of(const struct validation_pass *pass, const struct validation *validation)
{
    const struct judged_workunit_row *workunit = validation->job.workunit;
    struct buffer line = buffer_in(pass->arena);

    buffer_print(&line, "{\"id\": %" PRId64 ", \"job_id\": %" PRId64 ", \"job\": ", pass->questions,
                 workunit->id);
    json_add_string(&line, workunit->name);
    buffer_add_string(&line, ", \"app\": ");
    json_add_string(&line, pass->app->name);
    buffer_add_string(&line, ", \"results\": [");
    add_result(&line, validation, validation->first);
    if (validation->second != validation->first) {
        buffer_add_string(&line, ", ");
        add_result(&line, validation, validation->second);
    }
    buffer_add_string(&line, "]}");
    return buffer_text(&line);
}

static bool paths_fit(const struct compared_files *files, struct failure *failure)
{
    for (size_t i = 0; i < files->count; i++)
        if (!json_can_hold(text_from(files->files[i].path))) {
            (void)fail(failure, STATUS_INVALID, "%s is no UTF-8, which JSON has to be",
                       files->files[i].path);
            return false;
        }
    return true;
}

/* False: it cannot be asked. */
static bool ask(struct validation_pass *pass, struct validation *validation,
                struct failure *failure)
{
    const struct compared_files *first = &validation->files[validation->first];
    const struct compared_files *second = &validation->files[validation->second];
    const struct judged_workunit_row *workunit = validation->job.workunit;
    const char *environment[VARIABLES] = {
        command_number(pass->arena, "QM_JOB_ID", workunit->id),
        command_text(pass->arena, "QM_JOB", workunit->name),
        command_text(pass->arena, "QM_APP", pass->app->name),
    };
    const char **arguments = ARENA_ARRAY(pass->arena, first->count + second->count, const char *);
    struct command_question question = {.id = ++pass->questions,
                                        .arguments = arguments,
                                        .argument_count = first->count + second->count,
                                        .environment = environment};

    for (size_t i = 0; arguments != NULL && i < first->count; i++)
        arguments[i] = first->files[i].path;
    for (size_t i = 0; arguments != NULL && i < second->count; i++)
        arguments[first->count + i] = second->files[i].path;
    if (pass->crew_reads_lines && (!paths_fit(first, failure) || !paths_fit(second, failure)))
        return false;
    if (pass->crew_reads_lines)
        question.line = line_of(pass, validation);
    validation->question = question.id;
    if (!arena_overflowed(pass->arena) && command_crew_ask(pass->crew, &question) == STATUS_OK)
        return true;
    (void)fail(failure, STATUS_NO_MEMORY, "no memory");
    return false;
}

/* --- steps -------------------------------------------------------------------------------------
 */

static void note(struct validation *validation, enum quorum_answer answer)
{
    size_t count = validation->quorum.count, first = validation->first, second = validation->second;

    if (first == second) {
        validation->results[first].is_unusable = answer != QUORUM_SAME;
        validation->opened++;
        return;
    }
    validation->answers[first * count + second] = (unsigned char)answer;
    validation->answers[second * count + first] = (unsigned char)answer;
}

/* LATER: it is to be asked, or cannot be said. */
static enum comparison_answer look(const struct validation_pass *pass,
                                   const struct validation *validation, struct failure *failure)
{
    const struct compared_files *first = &validation->files[validation->first];
    const struct compared_files *second = &validation->files[validation->second];

    if (pass->kind == BY_NOBODY)
        return COMPARISON_SAME;
    if (first->count != second->count)
        return COMPARISON_DIFFERENT;
    if (pass->kind == BY_COMMAND)
        return COMPARISON_LATER;
    return first == second ? COMPARISON_SAME : comparison_bytes(first, second, failure);
}

static struct text document_of(const struct validation_pass *pass, int64_t id)
{
    const struct output_document_row *found =
        pass->document_count == 0 ? NULL
                                  : bsearch(&id, pass->documents, pass->document_count,
                                            sizeof(pass->documents[0]), sorted_compare_ids);

    return found == NULL ? NO_TEXT : found->xml_doc_in;
}

/* Finds the next result's files, if it has not been looked at, or the next pair. False: all is
 * decided. */
static bool find_next(struct validation_pass *pass, struct validation *validation,
                      enum comparison_answer *ret_found, struct failure *failure)
{
    size_t index = validation->opened;

    *ret_found = COMPARISON_SAME;
    if (index < validation->quorum.count) {
        validation->first = validation->second = index;
        if (pass->kind != BY_NOBODY)
            *ret_found = comparison_find(pass->owner->config, pass->arena,
                                         document_of(pass, validation->results[index].id),
                                         &validation->files[index], failure);
        return true;
    }
    if (quorum_decide(&validation->quorum, validation->verdicts, &validation->decision) ==
        QUORUM_DECIDED)
        return false;
    validation->first = validation->decision.first;
    validation->second = validation->decision.second;
    return true;
}

/* False: it is not to be had now. */
static bool take_answer(struct validation *validation, const struct command_answer *answer,
                        struct failure *failure)
{
    if (answer->status != STATUS_OK) {
        *failure = answer->failure;
        return false;
    }
    if (answer->exit == COMMAND_LATER) {
        (void)fail(failure, STATUS_IO, "the command wants it later");
        return false;
    }
    note(validation, answer->exit == COMMAND_YES ? QUORUM_SAME : QUORUM_DIFFERENT);
    return true;
}

enum validation_step validation_go_on(struct validation_pass *pass, struct validation *validation,
                                      const struct command_answer *answer, struct failure *failure)
{
    enum comparison_answer found;

    if (answer != NULL && !take_answer(validation, answer, failure))
        return VALIDATION_FAILED;
    while (find_next(pass, validation, &found, failure)) {
        if (found == COMPARISON_SAME)
            found = look(pass, validation, failure);
        else if (found == COMPARISON_LATER)
            return VALIDATION_FAILED;
        if (found == COMPARISON_LATER)
            return pass->kind == BY_COMMAND && ask(pass, validation, failure) ? VALIDATION_ASKED
                                                                              : VALIDATION_FAILED;
        note(validation, found == COMPARISON_SAME ? QUORUM_SAME : QUORUM_DIFFERENT);
    }
    return VALIDATION_READY;
}
