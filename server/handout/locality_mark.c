/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a job's files are in its document, which candidates come without. So documents are
 * read, but of a bounded number of jobs, the first ones: they are of the highest priority. */
#include "server/handout/locality_mark.h"

#include "server/base/arena.h"
#include "server/policy/disk/document_files.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum { DOCUMENTS_MAX = 256, LOCALITY_LITE = 1 };

enum status locality_mark(struct request *request, struct job *jobs, size_t count)
{
    int64_t ids[DOCUMENTS_MAX];
    struct job *of[DOCUMENTS_MAX];
    size_t wanted = 0, name_count;
    struct job_documents *documents;
    struct text *names;
    enum status status;

    for (size_t i = 0; i < count && wanted < DOCUMENTS_MAX && request->message.file_count > 0; i++)
        if (jobs[i].app != NULL && jobs[i].app->locality_scheduling == LOCALITY_LITE) {
            of[wanted] = &jobs[i];
            ids[wanted++] = jobs[i].resultid;
        }
    if (wanted == 0)
        return STATUS_OK;
    names = ARENA_ARRAY(request->arena, request->message.file_count, struct text);
    documents = ARENA_ARRAY(request->arena, wanted, struct job_documents);
    if (names == NULL || documents == NULL)
        return STATUS_NO_MEMORY;
    name_count = files_present(&request->message, names);
    if (name_count == 0)
        return STATUS_OK;
    status = db_job_documents(request->db, request->arena, ids, wanted, documents);
    for (size_t i = 0; status == STATUS_OK && i < wanted; i++)
        of[i]->has_file = document_has_file(documents[i].workunit_xml, names, name_count);
    return status;
}
