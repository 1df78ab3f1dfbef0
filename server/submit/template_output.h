/* SPDX-License-Identifier: Apache-2.0 */
/* Result templates: which files a job gives back (policy(7) 14.2). One is compiled once
 * and then written for thousands of results. */
#ifndef SERVER_SUBMIT_TEMPLATE_OUTPUT_H
#define SERVER_SUBMIT_TEMPLATE_OUTPUT_H

#include "server/project/template.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct output_piece;
struct rsa_signer;

struct output_template {
    struct template_file file;
    struct output_piece *pieces;
    size_t piece_count;
    size_t file_count;
    bool uses_upload_url; /* a file goes to the project's, not only to URLs of the template */
};

struct output_options {
    struct text upload_url; /* "" is an error only where the template uses it */
    bool certificates;      /* every file then needs max_nbytes */
    bool sticky_lifetime;   /* write it beside exp_days */
};

/* As the project's options say; pass them on to whoever makes results of its jobs. */
struct output_options output_options_from(const struct config *config);

MUST_CHECK enum status output_template_read(struct arena *arena, const char *name,
                                            struct text document,
                                            const struct output_options *options,
                                            struct output_template *ret_output,
                                            struct failure *failure);

/* Of the largest file that a certificate covers, in bytes; 0: none does. */
int64_t output_template_largest(const struct output_template *output);

/* result.xml_doc_in (policy(7) 14.3) of the result of that name. `number` makes the names of its
 * files hard to guess. The signer (by upload_private) may be NULL unless the template was read with
 * certificates. */
MUST_CHECK enum status output_template_write(const struct output_template *output,
                                             struct arena *arena, struct text result_name,
                                             uint32_t number, struct rsa_signer *upload_signer,
                                             struct buffer *buffer, struct failure *failure);

#endif
