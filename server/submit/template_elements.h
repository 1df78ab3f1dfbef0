/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of templates that are known (template_elements.def). */
#ifndef SERVER_SUBMIT_TEMPLATE_ELEMENTS_H
#define SERVER_SUBMIT_TEMPLATE_ELEMENTS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum template_context { CONTEXT_FILE, CONTEXT_REFERENCE, CONTEXT_RESULT, CONTEXT_WORKUNIT };
enum template_fate { TEMPLATE_COPIED, TEMPLATE_READ };

struct known_element {
    enum template_context context;
    const char *name;
    enum template_fate fate;
};
extern const struct known_element known_elements[];
extern const size_t known_element_count;

/* NULL: it is not known there. */
const struct known_element *known_element_find(enum template_context context, struct text name);
/* Whether it is copied as it stands when a job is made. */
bool element_is_copied(enum template_context context, struct text name);

#endif
