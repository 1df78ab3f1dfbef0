/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of many results at once. Signatures are nearly all of what making a job costs, so
 * they are made by as many threads as there are processors. */
#ifndef SERVER_SUBMIT_DOCUMENTS_H
#define SERVER_SUBMIT_DOCUMENTS_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

struct documents;
struct new_result;
struct output_template;

struct document_order {
    const struct output_template *output;
    struct text result_name;
    uint32_t number; /* in the names of its files */
    struct text *document;
};

/* Completes a new result whose name, appid, batch, priority, size_class and create_time are set:
 * gives it its first state and its random number, and makes the order for its document. */
void documents_order(const struct output_template *output, struct new_result *result,
                     struct document_order *ret_order);

/* `upload_private` empty: without certificates. The caller owns *ret_documents. */
MUST_CHECK enum status documents_create(struct text upload_private,
                                        struct documents **ret_documents, struct failure *failure);
void documents_destroy(struct documents *documents); /* NULL is fine */

/* Fills in the document of every order; the texts live until the next call of documents_forget. */
MUST_CHECK enum status documents_write(struct documents *documents,
                                       const struct document_order *orders, size_t count,
                                       struct failure *failure);
void documents_forget(struct documents *documents);
/* The same in two steps, so that the caller does something else while documents are written. The
 * orders stay until documents_end has returned, which has to follow. */
void documents_begin(struct documents *documents, const struct document_order *orders,
                     size_t count);
MUST_CHECK enum status documents_end(struct documents *documents, struct failure *failure);

#endif
