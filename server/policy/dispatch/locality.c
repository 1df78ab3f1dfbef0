/* SPDX-License-Identifier: Apache-2.0 */
/* A file counts when its whole name is the same. (BOINC looks for one name in the other, the wrong
 * way round, so that any file of a host counts for any job.) */
#include "server/policy/dispatch/locality.h"

#include "server/base/sorted.h"
#include "server/parse/message.h"

#include "server/base/banned.h"

enum { STATUS_NOT_PRESENT = 0 }; /* below: errors */

size_t files_present(const struct message *message, struct text *ret_names)
{
    size_t count = 0;

    for (size_t i = 0; i < message->file_count; i++)
        if (message->files[i].status > STATUS_NOT_PRESENT && message->files[i].name.length > 0)
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
