/* SPDX-License-Identifier: Apache-2.0 */
/* A job that cannot be written must not be claimed, or it would wait for its deadline. Whether it
 * can for one client is asked of reply_jobs.c; here, whether its documents are at fault, so that
 * nobody can be sent it. */
#include "server/project/document_check.h"

#include <string.h>

#include "server/base/banned.h"

static bool can_be_written(struct text xml, struct text start, struct text end)
{
    size_t at = text_find(xml, start);

    if (at == xml.length || memchr(xml.at, '\0', xml.length) != NULL ||
        text_contains(xml, TEXT("scheduler_reply>")))
        return false;
    struct text inside = {.at = xml.at + at + start.length,
                          .length = xml.length - at - start.length};
    size_t length = text_find(inside, end);

    return length < inside.length && !text_contains(text_first(inside, length), start);
}

bool document_of_version_fits(struct text xml)
{
    return can_be_written(xml, TEXT("<app_version>"), TEXT("</app_version>"));
}

const char *documents_fault(const struct job_documents *documents)
{
    if (documents->result_name.length == 0 || documents->workunit_name.length == 0)
        return "no name";
    if (!can_be_written(documents->workunit_xml, TEXT("<workunit>\n"), TEXT("</workunit>")))
        return "workunit document";
    if (!can_be_written(documents->result_xml, TEXT("<result>\n"), TEXT("</result>")))
        return "result document";
    return NULL;
}
