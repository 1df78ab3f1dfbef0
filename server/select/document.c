/* SPDX-License-Identifier: Apache-2.0 */
/* A job that cannot be written must not be claimed, or it would wait for its deadline; so its
 * documents are looked at first. reply_jobs.c looks again, with the client's own limits. */
#include "server/select/document.h"

#include <stdbool.h>
#include <string.h>

#include "server/base/banned.h"

static bool can_be_written(struct text xml, struct text start, struct text end)
{
    size_t at = text_find(xml, start);

    return at < xml.length && memchr(xml.at, '\0', xml.length) == NULL &&
           text_contains((struct text){.at = xml.at + at, .length = xml.length - at}, end) &&
           !text_contains(xml, TEXT("scheduler_reply>"));
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
