/* SPDX-License-Identifier: Apache-2.0 */
/* The orders are cut into as many shares as there are writers. A writer has an arena and a signer
 * of its own, and shares nothing with the others but templates, which nobody changes. Each works in
 * a thread that is joined by documents_end; what has no thread, as it is little or none could be
 * made, is done there. */
#include "server/submit/documents.h"

#include "db/admin.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/random.h"
#include "server/base/thread.h"
#include "server/submit/template_output.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    WRITERS_MAX = 16,
    SHARE_LEAST = 32, /* results: for fewer a thread is not worth while */
    RANDOM_COLUMN_BITS = 31
};
#define WRITER_BYTES ((size_t)256 << 20)

struct writer {
    struct arena *arena;
    struct rsa_signer *signer; /* NULL: without certificates */
    const struct document_order *orders;
    size_t count;
    enum status status;
    struct failure failure;
    pthread_t thread;
    bool has_thread;
};

struct documents {
    struct writer writers[WRITERS_MAX];
    size_t writer_count, share_count;
};

static enum status write_one(struct writer *writer, const struct document_order *order)
{
    struct failure why = {.status = STATUS_OK};
    struct buffer buffer = buffer_in(writer->arena);
    enum status status = output_template_write(order->output, writer->arena, order->result_name,
                                               order->number, writer->signer, &buffer, &why);
    if (status != STATUS_OK)
        return fail(&writer->failure, status, TEXT_FORMAT ": %s",
                    TEXT_ARG(text_first(order->result_name, 120)), why.text);
    *order->document = buffer_text(&buffer);
    return STATUS_OK;
}

static void *write_share(void *context)
{
    struct writer *writer = context;
    writer->status = STATUS_OK;
    for (size_t i = 0; i < writer->count && writer->status == STATUS_OK; i++)
        writer->status = write_one(writer, &writer->orders[i]);
    return NULL;
}

static size_t writers_wanted(bool signs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!signs || processors < 1)
        return 1;
    return processors < WRITERS_MAX ? (size_t)processors : WRITERS_MAX;
}

enum status documents_create(struct text upload_private, struct documents **ret_documents,
                             struct failure *failure)
{
    struct documents *documents = calloc(1, sizeof *documents);
    bool signs = upload_private.length > 0;
    enum status status = STATUS_OK;
    if (documents == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for documents");
    documents->writer_count = writers_wanted(signs);
    for (size_t i = 0; i < documents->writer_count && status == STATUS_OK; i++) {
        struct writer *writer = &documents->writers[i];
        writer->arena = arena_create(WRITER_BYTES);
        if (writer->arena == NULL)
            status = fail(failure, STATUS_NO_MEMORY, "no memory for documents");
        else if (signs)
            status = rsa_signer_create(upload_private, &writer->signer, failure);
    }
    if (status != STATUS_OK) {
        documents_destroy(documents);
        return status;
    }
    *ret_documents = documents;
    return STATUS_OK;
}

void documents_destroy(struct documents *documents)
{
    if (documents == NULL)
        return;
    for (size_t i = 0; i < documents->writer_count; i++) {
        rsa_signer_destroy(documents->writers[i].signer);
        arena_destroy(documents->writers[i].arena);
    }
    free(documents);
}

void documents_order(const struct output_template *output, struct new_result *result,
                     struct document_order *ret_order)
{
    uint64_t random = random_u64();

    result->server_state = result->size_class < 0 ? RESULT_UNSENT : RESULT_INACTIVE;
    result->random = (int64_t)(random >> (64 - RANDOM_COLUMN_BITS));
    *ret_order = (struct document_order){.output = output,
                                         .result_name = result->name,
                                         .number = (uint32_t)random,
                                         .document = &result->xml_doc_in};
}

void documents_forget(struct documents *documents)
{
    for (size_t i = 0; i < documents->writer_count; i++)
        arena_reset(documents->writers[i].arena);
}

void documents_begin(struct documents *documents, const struct document_order *orders, size_t count)
{
    size_t shares = count / SHARE_LEAST < documents->writer_count ? count / SHARE_LEAST
                                                                  : documents->writer_count;

    documents->share_count = shares > 0 ? shares : 1;
    for (size_t i = 0; i < documents->share_count; i++) {
        struct writer *writer = &documents->writers[i];
        size_t first = count * i / documents->share_count;
        memset(&writer->failure, 0, sizeof writer->failure);
        writer->orders = orders + first;
        writer->count = count * (i + 1) / documents->share_count - first;
        writer->has_thread =
            documents->share_count > 1 && thread_start(&writer->thread, write_share, writer);
    }
}

enum status documents_end(struct documents *documents, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < documents->share_count; i++)
        if (!documents->writers[i].has_thread)
            (void)write_share(&documents->writers[i]);
    for (size_t i = 0; i < documents->share_count; i++) {
        struct writer *writer = &documents->writers[i];
        if (writer->has_thread)
            (void)pthread_join(writer->thread, NULL);
        if (writer->status != STATUS_OK && status == STATUS_OK)
            status = fail(failure, writer->status, "%s", writer->failure.text);
    }
    documents->share_count = 0;
    return status;
}

enum status documents_write(struct documents *documents, const struct document_order *orders,
                            size_t count, struct failure *failure)
{
    documents_begin(documents, orders, count);
    return documents_end(documents, failure);
}
