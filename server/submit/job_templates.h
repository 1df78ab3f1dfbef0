/* SPDX-License-Identifier: Apache-2.0 */
/* The templates that the jobs of a batch name, each read once. */
#ifndef SERVER_SUBMIT_JOB_TEMPLATES_H
#define SERVER_SUBMIT_JOB_TEMPLATES_H

#include "server/submit/template_input.h"
#include "server/submit/template_output.h"

#include <stddef.h>

struct arena;
struct config;

enum { JOB_TEMPLATES_MAX = 100 /* of each kind */ };

struct named_input {
    struct text path;
    struct input_template input;
};
struct named_output {
    struct text path;
    struct text stored_path; /* relative to the project folder */
    struct output_template output;
};

/* Zeroed, but for what is given. */
struct job_templates {
    struct arena *arena; /* given, as the three below */
    const struct config *config;
    struct output_options options;
    struct stage *stage;
    struct named_input inputs[JOB_TEMPLATES_MAX];
    struct named_output outputs[JOB_TEMPLATES_MAX];
    size_t input_count, output_count;
};

/* By path or, where there is a document, that one; it lies in a file of its own then. */
MUST_CHECK enum status job_templates_input(struct job_templates *templates, struct text path,
                                           struct text document,
                                           const struct input_template **ret_input,
                                           struct failure *failure);
MUST_CHECK enum status job_templates_output(struct job_templates *templates, struct text path,
                                            struct text document,
                                            const struct named_output **ret_output,
                                            struct failure *failure);

#endif
