/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/entity.h"

#include "server/base/text.h"

#include "server/base/banned.h"

static const struct {
    const char *entity;
    char character;
} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};

char entity_take(struct text *rest)
{
    char character = rest->at[0];
    size_t length = 1;

    for (size_t i = 0; character == '&' && i < sizeof(entities) / sizeof(entities[0]); i++)
        if (text_starts(*rest, text_from(entities[i].entity))) {
            length = text_from(entities[i].entity).length;
            character = entities[i].character;
            break;
        }
    rest->at += length;
    rest->length -= length;
    return character;
}
