/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/json.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"

#include "server/base/banned.h"

/* The number of a control character: of the second range it is in the second byte. */
static unsigned control_number(struct text character)
{
    return (unsigned char)character.at[character.length - 1];
}

void json_add_string(struct buffer *buffer, struct text text)
{
    bool fit;

    buffer_add_char(buffer, '"');
    while (text.length > 0) {
        struct text character = shown_next(&text, &fit);

        if (character.at[0] == '"' || character.at[0] == '\\')
            buffer_add_char(buffer, '\\');
        if (fit)
            buffer_add(buffer, character);
        else if (text_character(character) == 0)
            buffer_add_string(buffer, "\\ufffd");
        else
            buffer_print(buffer, "\\u%04x", control_number(character));
    }
    buffer_add_char(buffer, '"');
}

bool json_can_hold(struct text text)
{
    while (text.length > 0) {
        size_t length = text_character(text);

        if (length == 0)
            return false;
        text = (struct text){text.at + length, text.length - length};
    }
    return true;
}
