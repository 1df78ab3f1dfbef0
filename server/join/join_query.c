/* SPDX-License-Identifier: Apache-2.0 */
#include "server/join/join_query.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum {
    COLUMN_CHARACTERS_MAX = 191, /* of user.email_addr and user.name */
    LOCAL_BYTES_MAX = 64,        /* before the @ */
    LABEL_BYTES_MAX = 63,        /* between dots of a domain */
    HASH_DIGITS = 32
};

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool is_letter(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A % without two hex digits stands for itself. */
static struct text unescape(struct arena *arena, struct text value, char plus)
{
    struct buffer plain = buffer_in(arena);

    for (size_t i = 0; i < value.length; i++) {
        char character = value.at[i];

        if (character == '%' && value.length - i > 2 && text_hex_digit(value.at[i + 1]) >= 0 &&
            text_hex_digit(value.at[i + 2]) >= 0) {
            character =
                (char)(text_hex_digit(value.at[i + 1]) * 16 + text_hex_digit(value.at[i + 2]));
            i += 2;
        } else if (character == '+') {
            character = plus;
        }
        buffer_add_char(&plain, character);
    }
    return buffer_text(&plain);
}

static struct text as_utf8(struct arena *arena, struct text text)
{
    struct buffer utf8 = buffer_in(arena);

    for (size_t i = 0; i < text.length;) {
        struct text rest = {.at = text.at + i, .length = text.length - i};
        size_t length = text_character(rest);
        unsigned byte = (unsigned char)text.at[i];

        if (length > 0) {
            buffer_add(&utf8, text_first(rest, length));
        } else {
            buffer_add_char(&utf8, (char)(0xC0 | byte >> 6));
            buffer_add_char(&utf8, (char)(0x80 | (byte & 0x3F)));
        }
        i += length > 0 ? length : 1;
    }
    return buffer_text(&utf8);
}

void join_query_read(struct arena *arena, struct text query, struct join_query *ret_query)
{
    *ret_query = (struct join_query){.email_addr = NO_TEXT};
    const struct {
        const char *name;
        struct text *to;
    } values[] = {
        {"email_addr", &ret_query->email_addr}, {"passwd_hash", &ret_query->passwd_hash},
        {"user_name", &ret_query->user_name},   {"team_name", &ret_query->team_name},
        {"source", &ret_query->source},         {"consent_flag", &ret_query->consent_flag},
    };

    if (query.length > JOIN_QUERY_MAX)
        return;
    while (query.length > 0) {
        struct text value = text_split(&query, '&');
        struct text name = text_split(&value, '=');

        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            if (text_is(name, values[i].name))
                *values[i].to = value;
    }
    ret_query->email_addr = text_lower_case(arena, unescape(arena, ret_query->email_addr, '+'));
    for (size_t i = 1; i < sizeof(values) / sizeof(values[0]); i++)
        *values[i].to = as_utf8(arena, unescape(arena, *values[i].to, ' '));
}

/* --- rules ------------------------------------------------------------------------------------ */

static bool fits_column(struct text text)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.length; i++)
        characters += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    return characters <= COLUMN_CHARACTERS_MAX && text.length <= 254;
}

/* Those of Unicode too, which UTF-8 writes as C2 80 to C2 9F. */
static bool is_control(struct text character)
{
    unsigned char first = (unsigned char)character.at[0];

    if (character.length == 2)
        return first == 0xC2 && (unsigned char)character.at[1] < 0xA0;
    return first < 0x20 || first == 0x7F;
}

bool join_name_is_good(struct text name)
{
    double number;

    if (name.length == 0 || !fits_column(name) || text_trim(name).length != name.length ||
        text_to_real(name, &number))
        return false;
    while (name.length > 0) {
        size_t length = text_character(name);

        if (length == 0 || is_control(text_first(name, length)) ||
            text_contains(TEXT("<>&'\""), text_first(name, 1)))
            return false;
        name.at += length;
        name.length -= length;
    }
    return true;
}

struct text join_name_with_number(struct arena *arena, struct text name, uint64_t number)
{
    struct text numbered = NO_TEXT;

    while (name.length > 0) {
        numbered = text_print(arena, TEXT_FORMAT " %" PRIu64, TEXT_ARG(text_trim(name)), number);
        if (fits_column(numbered))
            break;
        do /* a character, whose last bytes begin with 10 */
            name.length--;
        while (name.length > 0 && ((unsigned char)name.at[name.length] & 0xC0) == 0x80);
    }
    return numbered;
}

static bool local_part_is_good(struct text local)
{
    if (local.length == 0 || local.length > LOCAL_BYTES_MAX || local.at[0] == '.' ||
        local.at[local.length - 1] == '.' || text_contains(local, TEXT("..")))
        return false;
    for (size_t i = 0; i < local.length; i++)
        if (!is_digit(local.at[i]) && !is_letter(local.at[i]) &&
            !text_contains(TEXT("!#$%&'*+-/=?^_`{|}~."),
                           (struct text){.at = local.at + i, .length = 1}))
            return false;
    return true;
}

static bool label_is_good(struct text label)
{
    if (label.length == 0 || label.length > LABEL_BYTES_MAX || label.at[0] == '-' ||
        label.at[label.length - 1] == '-')
        return false;
    for (size_t i = 0; i < label.length; i++)
        if (!is_digit(label.at[i]) && !is_letter(label.at[i]) && label.at[i] != '-')
            return false;
    return true;
}

bool join_email_is_good(struct text email_addr)
{
    struct text domain = email_addr, local = text_split(&domain, '@');
    size_t labels = 0;

    if (email_addr.length > COLUMN_CHARACTERS_MAX || !local_part_is_good(local) ||
        domain.length == 0 || domain.at[domain.length - 1] == '.')
        return false;
    while (domain.length > 0) {
        if (!label_is_good(text_split(&domain, '.')))
            return false;
        labels++;
    }
    return labels > 1;
}

bool join_hash_is_good(struct text passwd_hash)
{
    return text_is_hex(passwd_hash, HASH_DIGITS);
}
