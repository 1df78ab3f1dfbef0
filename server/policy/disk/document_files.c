/* SPDX-License-Identifier: Apache-2.0 */
/* Files in documents. Priority and lifetime have the defaults of policy(7) 9.3; files of
 * present-day templates may say sticky_lifetime, in seconds, instead of exp_days. */
#include "server/policy/disk/document_files.h"

#include "server/base/sorted.h"
#include "server/parse/message.h"
#include "server/policy/disk/deletion.h"

#include "server/base/banned.h"

#define SECONDS_PER_DAY   86400
#define LIFETIME_DAYS_MAX 36525.0

static struct text behind(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

/* What stands between the tags of the first such element. */
static bool content(struct text text, struct text open, struct text close, struct text *ret_content)
{
    size_t at = text_find(text, open);

    if (at == text.length)
        return false;
    text = behind(text, at + open.length);
    at = text_find(text, close);
    if (at == text.length)
        return false;
    *ret_content = text_trim(text_first(text, at));
    return true;
}

static void read_lifetime(struct text info, double *lifetime_days)
{
    struct text text;
    double number;

    if (content(info, TEXT("<exp_days>"), TEXT("</exp_days>"), &text) &&
        text_to_real(text, &number))
        *lifetime_days = number;
    else if (content(info, TEXT("<sticky_lifetime>"), TEXT("</sticky_lifetime>"), &text) &&
             text_to_real(text, &number))
        *lifetime_days = number / SECONDS_PER_DAY;
    if (!(*lifetime_days >= 0))
        *lifetime_days = 0;
    if (*lifetime_days > LIFETIME_DAYS_MAX)
        *lifetime_days = LIFETIME_DAYS_MAX;
}

static bool is_sticky(struct text info)
{
    struct text value;

    if (content(info, TEXT("<sticky>"), TEXT("</sticky>"), &value))
        return !text_is(value, "0");
    return text_contains(info, TEXT("<sticky/>")) || text_contains(info, TEXT("<sticky />"));
}

bool document_next_file(struct text *rest, struct document_file *ret_file)
{
    const struct text open = TEXT("<file_info>"), close = TEXT("</file_info>");
    struct document_file file;

    do {
        struct text info, text;
        size_t at = text_find(*rest, open), end;
        double number;

        if (at == rest->length)
            return false;
        info = behind(*rest, at + open.length);
        end = text_find(info, close);
        *rest = behind(info, end);
        info = text_first(info, end);
        file = (struct document_file){.priority = FILE_PRIORITY_LOW,
                                      .lifetime_days = FILE_EXPIRY_DAYS,
                                      .is_sticky = is_sticky(info)};
        if (content(info, TEXT("<name>"), TEXT("</name>"), &text))
            file.name = text;
        if (content(info, TEXT("<priority>"), TEXT("</priority>"), &text)) {
            int64_t priority;
            if (text_to_i64(text, &priority) && priority >= FILE_PRIORITY_LOW &&
                priority <= FILE_PRIORITY_HIGH)
                file.priority = priority;
        }
        if (content(info, TEXT("<nbytes>"), TEXT("</nbytes>"), &text) &&
            text_to_real(text, &number) && number > 0)
            file.nbytes = number;
        read_lifetime(info, &file.lifetime_days);
    } while (file.name.length == 0);
    *ret_file = file;
    return true;
}

bool document_next_name(struct text *rest, struct text *ret_name)
{
    const struct text described = TEXT("<name>"), referred = TEXT("<file_name>");
    size_t a = text_find(*rest, described), b = text_find(*rest, referred);
    size_t at = a < b ? a : b;

    if (at == rest->length)
        return false;
    *rest = behind(*rest, at + (a < b ? described.length : referred.length));
    *ret_name = text_trim(text_first(*rest, text_find(*rest, TEXT("<"))));
    return true;
}

/* --- files that a host has -------------------------------------------------------------------- */

/* A file counts when its whole name is the same. (BOINC looks for one name in the other, the wrong
 * way round, so that any file of a host counts for any job.) */

enum { STATUS_NOT_PRESENT = 0 }; /* below: errors */

size_t files_present(const struct message *message, struct text *ret_names)
{
    size_t count = 0;

    for (size_t i = 0; i < message->file_count; i++)
        if (message->files[i].status > STATUS_NOT_PRESENT)
            ret_names[count++] = message->files[i].name;
    sorted_names(ret_names, count);
    return count;
}

bool document_has_file(struct text xml_doc, const struct text *names, size_t count)
{
    const struct text tag = TEXT("<file_name>");

    while (count > 0) {
        size_t at = text_find(xml_doc, tag);
        struct text rest, name;

        if (at == xml_doc.length)
            return false;
        rest = (struct text){.at = xml_doc.at + at + tag.length,
                             .length = xml_doc.length - at - tag.length};
        xml_doc = rest;
        name = text_trim(text_split(&rest, '<'));
        if (sorted_has_name(names, count, name))
            return true;
    }
    return false;
}
