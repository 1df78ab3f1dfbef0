/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/template_elements.h"

#include "server/base/banned.h"

const struct known_element known_elements[] = {
#define ELEMENT(context, name, fate) {CONTEXT_##context, name, TEMPLATE_##fate},
#include "server/submit/template_elements.def"
#undef ELEMENT
};
const size_t known_element_count = sizeof known_elements / sizeof known_elements[0];

const struct known_element *known_element_find(enum template_context context, struct text name)
{
    for (size_t i = 0; i < known_element_count; i++)
        if (known_elements[i].context == context && text_is(name, known_elements[i].name))
            return &known_elements[i];
    return NULL;
}

bool element_is_copied(enum template_context context, struct text name)
{
    const struct known_element *known = known_element_find(context, name);

    return known == NULL || known->fate == TEMPLATE_COPIED;
}
