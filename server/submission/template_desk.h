/* SPDX-License-Identifier: Apache-2.0 */
/* The templates of an application, as submitters see them. Conventions as in desk.h. */
#ifndef SERVER_SUBMISSION_TEMPLATE_DESK_H
#define SERVER_SUBMISSION_TEMPLATE_DESK_H

#include "server/submission/desk.h"

struct desk_templates {
    struct text input, output; /* documents with one root, well-formed, without a declaration */
};
MUST_CHECK enum status desk_app_templates(struct desk *desk, struct text app_name,
                                          struct desk_templates *ret_templates);

/* The rsc_fpops_est that an input template says; 0: none, or it cannot be read. `path`: from the
 * project's folder. */
void desk_template_flops(struct desk *desk, struct text path, double *ret_flops);
/* Likewise of a document, which has to be one. */
MUST_CHECK enum status desk_document_flops(struct desk *desk, struct text document,
                                           double *ret_flops);

#endif
