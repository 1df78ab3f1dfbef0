/* SPDX-License-Identifier: Apache-2.0 */
/* Results made for workunits that want more, from the result templates that their workunits name,
 * as `qmctl jobs create` made the first ones. Templates are read once and kept for the workunits to
 * come. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/passes/transition_parts.h"
#include "server/project/keys.h"
#include "server/project/project.h"
#include "server/submit/documents.h"

#include <inttypes.h>
#include <limits.h>

#include "server/base/banned.h"

enum { NAME_BYTES_MAX = 190 };

static enum status read_template(struct transition_pass *pass, struct text path,
                                 struct output_template *ret_output, struct failure *failure)
{
    const struct config *config = pass->owner->config;
    const struct output_options options = output_options_from(config);
    const char *name = text_string(pass->template_arena, path);
    char file[PATH_MAX];
    struct text document;
    enum status status;

    project_path(config, name, file, sizeof(file));
    status = file_read(pass->template_arena, file, TEMPLATE_BYTES_MAX, &document, failure);
    return status == STATUS_OK ? output_template_read(pass->template_arena, name, document,
                                                      &options, ret_output, failure)
                               : status;
}

/* NULL: it is not usable, which is said once. */
static const struct output_template *find_template(struct transition_pass *pass, struct text path)
{
    struct failure why = {.status = STATUS_OK};
    struct known_template *known = pass->templates;

    for (size_t i = 0; i < pass->template_count; i++, known++)
        if (text_equal(known->path, path))
            return known->is_usable ? &known->output : NULL;
    *known = (struct known_template){.path = text_copy(pass->template_arena, path)};
    pass->template_count++;
    known->is_usable = read_template(pass, known->path, &known->output, &why) == STATUS_OK;
    if (!known->is_usable)
        complain(&pass->complaints, pass->owner, "result template", known->path, why.text,
                 PASS_PUT_OFF);
    return known->is_usable ? &known->output : NULL;
}

static enum status open_documents(struct transition_pass *pass)
{
    struct pass_owner *owner = pass->owner;
    struct text key = NO_TEXT;
    enum status status = STATUS_OK;

    if (pass->documents != NULL)
        return STATUS_OK;
    if (!owner->config->dont_generate_upload_certificates)
        status = key_read(owner->arena, owner->config, "upload_private", &key, owner->failure);
    if (status == STATUS_OK)
        status = documents_create(key, &pass->documents, owner->failure);
    pass->is_over = status != STATUS_OK; /* as it would be for all others */
    return status;
}

static void add_results(struct transition_pass *pass, const struct due_workunit_row *workunit,
                        const struct transition_wanted *wanted,
                        const struct output_template *output, struct new_result *results,
                        struct document_order *orders)
{
    for (int64_t i = 0; i < wanted->count; i++) {
        results[i] = (struct new_result){.name = text_print(pass->part, TEXT_FORMAT "_%" PRId64,
                                                            TEXT_ARG(workunit->name),
                                                            wanted->first_number + i),
                                         .workunitid = workunit->id,
                                         .appid = workunit->appid,
                                         .batch = workunit->batch,
                                         .priority = wanted->priority,
                                         .size_class = workunit->size_class,
                                         .create_time = pass->rules.now};
        documents_order(output, &results[i], &orders[i]);
    }
}

/* The workunit's other changes are saved all the same. */
static void put_off(struct transition_pass *pass, struct transition_part *part, size_t index)
{
    struct due_workunit_row *workunit = &part->new.workunits[index];
    int64_t later = pass->rules.now + PASS_PUT_OFF;

    if (workunit->transition_time > later)
        workunit->transition_time = later;
    part->counts.put_off++;
}

enum status transition_make_results(struct transition_pass *pass, struct transition_part *part)
{
    struct new_result *results =
        ARENA_ARRAY(pass->part, (size_t)part->wanted_count, struct new_result);
    struct document_order *orders =
        ARENA_ARRAY(pass->part, (size_t)part->wanted_count, struct document_order);
    size_t count = 0;
    enum status status;

    if (results == NULL || orders == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < part->old.workunit_count; i++) {
        const struct due_workunit_row *workunit = &part->new.workunits[i];
        const struct output_template *output = NULL;

        if (part->wanted[i].count == 0)
            continue;
        if (workunit->name.length + 20 > NAME_BYTES_MAX)
            complain(&pass->complaints, pass->owner, "job", workunit->name,
                     "the name is too long for another result", PASS_PUT_OFF);
        else
            output = find_template(pass, workunit->result_template_file);
        if (output == NULL) {
            put_off(pass, part, i);
            continue;
        }
        add_results(pass, workunit, &part->wanted[i], output, results + count, orders + count);
        count += (size_t)part->wanted[i].count;
    }
    part->counts.made = (int64_t)count;
    if (count == 0)
        return STATUS_OK;
    if (arena_overflowed(pass->part))
        return STATUS_NO_MEMORY;
    status = open_documents(pass);
    if (status == STATUS_OK)
        status = documents_write(pass->documents, orders, count, pass->owner->failure);
    return status == STATUS_OK ? db_admin_results_add(pass->owner->db, pass->part, results, count)
                               : status;
}

void transition_tidy_results(struct transition_pass *pass)
{
    if (pass->documents != NULL)
        documents_forget(pass->documents);
    if (pass->template_count >= TRANSITION_TEMPLATES_KEPT) {
        arena_reset(pass->template_arena);
        pass->template_count = 0;
    }
}
