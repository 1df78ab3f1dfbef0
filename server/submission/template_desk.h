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

#endif
