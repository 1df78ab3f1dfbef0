/* SPDX-License-Identifier: Apache-2.0 */
/* The question is the one that a client asks before it sends the rest of a file: how much of it is
 * there. Every upload handler answers it, and it changes nothing. */
#include "tools/qmctl/check/upload_check.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/check/web_answer.h"
#include "server/project/hierarchy.h"
#include "server/submit/template_output.h"
#include "tools/qmctl/check/web_question.h"
#include "tools/qmctl/session/project_session.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    CONNECT_S = 3,
    PATIENCE_S = 6,
    MOVES_MAX = 10,
    PAGE_BYTES_MAX = 100000,
    REQUEST_BYTES = 10000
};

static const char question[] =
    "<data_server_request>\n"
    "    <core_client_major_version>8</core_client_major_version>\n"
    "    <core_client_minor_version>0</core_client_minor_version>\n"
    "    <core_client_release>0</core_client_release>\n"
    "    <get_file_size>qmctl_asks_whether_uploads_work</get_file_size>\n"
    "</data_server_request>\n";

/* As clients go after redirections: a POST stays one after a status of 301, 307 and 308; by 302 and
 * 303 it becomes a GET, and no byte arrives (*ret_is_lost). */
static CURLcode ask(struct arena *arena, struct text url, struct buffer *page, long *ret_status,
                    bool *ret_is_lost, struct text *ret_failure)
{
    char *method = NULL;
    CURL *easy = web_question(arena, url, (long)PATIENCE_S, page);
    CURLcode result = CURLE_FAILED_INIT;

    if (easy == NULL)
        return result;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, question);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)MOVES_MAX);
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_301);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    result = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, ret_status);
    curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_METHOD, &method);
    *ret_is_lost = text_is(text_from(method), "GET");
    if (result != CURLE_OK)
        *ret_failure = web_question_failure(arena, easy, result);
    curl_easy_cleanup(easy);
    return result;
}

/* What stands between the tags; empty: they are not there. */
static struct text element(struct text page, struct text open, struct text close)
{
    size_t at = text_find(page, open);

    if (at == page.length)
        return NO_TEXT;
    page = (struct text){page.at + at + open.length, page.length - at - open.length};
    return text_trim(text_first(page, text_find(page, close)));
}

static struct text judge(struct arena *arena, long status, struct text page)
{
    if (status != 200)
        return text_print(arena, "HTTP status %ld", status);
    if (!text_contains(page, TEXT("<data_server_reply>")))
        return page.length == 0 ? TEXT("an empty page, no upload handler")
                                : text_print(arena, "another page answers: \"" TEXT_FORMAT "\"",
                                             TEXT_ARG(web_beginning(arena, page)));
    if (text_is(element(page, TEXT("<status>"), TEXT("</status>")), "0"))
        return NO_TEXT;
    return text_print(
        arena, "the upload handler there takes nothing: \"" TEXT_FORMAT "\"",
        TEXT_ARG(web_beginning(arena, element(page, TEXT("<message>"), TEXT("</message>")))));
}

static struct text ask_all(struct arena *arena, struct text url, int64_t largest)
{
    struct buffer page = buffer_on_heap(PAGE_BYTES_MAX);
    struct text found = TEXT("no memory");
    bool is_lost = false;
    long status = 0;

    if (ask(arena, url, &page, &status, &is_lost, &found) == CURLE_OK)
        found = is_lost ? TEXT("it redirects by a status of 302 or 303, after which clients "
                               "send no file; 301, 307 or 308 keep it")
                        : judge(arena, status, buffer_text(&page));
    buffer_free(&page);
    if (found.length == 0 && web_question_is_too_large(arena, url, largest + REQUEST_BYTES))
        found = text_print(arena,
                           "the web server refuses files of %" PRId64
                           " bytes, which templates allow (HTTP status 413; nginx: "
                           "client_max_body_size 0)",
                           largest);
    return found;
}

static struct text problem_of(struct session *session, int64_t largest)
{
    struct text url = session->config->upload_url, found;

    if (url.length == 0)
        return TEXT("output files cannot be uploaded: config.xml has no upload_url");
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    found = ask_all(session->arena, url, largest);
    if (found.length > 0)
        found = text_print(session->arena,
                           "output files cannot be uploaded to " TEXT_FORMAT
                           " (upload_url): " TEXT_FORMAT,
                           TEXT_ARG(url), TEXT_ARG(found));
    curl_global_cleanup();
    return found;
}

struct text upload_url_problem(struct session *session)
{
    struct text url = session->config->upload_url;

    if (url.length > 0 && url_upload_fault(url) != NULL)
        return text_print(session->arena,
                          "output files cannot be uploaded to " TEXT_FORMAT " (upload_url): it %s",
                          TEXT_ARG(url), url_upload_fault(url));
    return problem_of(session, 0);
}

/* Of its largest file, in bytes; -1: none goes to upload_url. */
static int64_t template_largest(struct session *session, const char *name)
{
    struct arena *arena = session->arena;
    const char *path =
        text_string(arena, text_print(arena, "%s/templates/%s", session->project, name));
    struct output_options options = output_options_from(session->config);
    struct output_template output = {.file_count = 0};
    struct text document;

    if (!text_ends(text_from(name), TEXT("out")) && !text_ends(text_from(name), TEXT("out.xml")))
        return -1;
    if (file_read(arena, path, TEMPLATE_BYTES_MAX, &document, NULL) != STATUS_OK ||
        output_template_read(arena, name, document, &options, &output, NULL) != STATUS_OK ||
        !output.uses_upload_url)
        return -1;
    return output_template_largest(&output);
}

struct text upload_templates_problem(struct session *session)
{
    DIR *folder = opendir(
        text_string(session->arena, text_print(session->arena, "%s/templates", session->project)));
    struct dirent *entry;
    int64_t largest = -1;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct arena_mark mark = arena_mark(session->arena);
        int64_t bytes = entry->d_name[0] == '.' ? -1 : template_largest(session, entry->d_name);

        if (bytes > largest)
            largest = bytes;
        arena_rewind(session->arena, mark);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return largest < 0 ? NO_TEXT : problem_of(session, largest);
}
