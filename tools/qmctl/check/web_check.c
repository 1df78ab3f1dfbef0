/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/check/web_check.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/master_page.h"
#include "server/check/version_files.h"
#include "server/check/web_answer.h"
#include "server/project/catalog.h"
#include "tools/qmctl/check/web_question.h"
#include "tools/qmctl/session/project_session.h"

#include "server/base/banned.h"

enum { CONNECT_S = 3, PATIENCE_S = 6, MOVES_MAX = 10, OTHER_PAGE_BYTES = 65536 };
/* A larger file would take long, and is not asked for. */
#define DOWNLOAD_BYTES_MAX ((size_t)16 << 20)

/* By GET, or by POST of a form, going after redirections as clients do. Words where nothing came.
 */
static struct text fetch(struct arena *arena, struct text url, const char *form,
                         struct buffer *page, struct web_answer *ret_answer, double *ret_seconds)
{
    CURL *easy = web_question(arena, url, (long)PATIENCE_S, page);
    struct text failure = NO_TEXT;
    CURLcode result;

    if (easy == NULL)
        return TEXT("no memory");
    if (form != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, form);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)MOVES_MAX);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    result = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &ret_answer->status);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, ret_seconds);
    ret_answer->body = buffer_text(page);
    if (result != CURLE_OK)
        failure = web_question_failure(arena, easy, result);
    curl_easy_cleanup(easy);
    return failure;
}

struct web_check master_page_check(struct session *session)
{
    struct arena *arena = session->arena;
    struct web_check check = {.asked = session->config->master_url};
    struct buffer page = buffer_on_heap(MASTER_PAGE_MAX);
    struct web_answer answer = {.status = 0};

    if (check.asked.length == 0)
        return check;
    check.problem = fetch(arena, check.asked, NULL, &page, &answer, &check.seconds);
    if (check.problem.length == 0)
        check.problem = master_page_complaint(arena, &answer, &session->config->scheduler_url);
    if (check.problem.length > 0)
        check.problem = text_print(
            arena, "clients do not find the project by " TEXT_FORMAT " (master_url): " TEXT_FORMAT,
            TEXT_ARG(check.asked), TEXT_ARG(check.problem));
    buffer_free(&page);
    return check;
}

/* As a server takes download_dir: from the project's folder where it is relative. */
static bool find_sample(struct session *session, struct version_sample *ret_sample)
{
    struct arena *arena = session->arena;
    const struct config *config = session->config;
    struct version_files files = {.config = config, .download_dir = config->download_dir};
    struct catalog *catalog = NULL;
    bool is_found;

    if (config->download_url.length == 0 || files.download_dir.length == 0 ||
        session_db(session) != STATUS_OK ||
        catalog_load_for_one(session->db, &catalog) != STATUS_OK)
        return false;
    if (!text_starts(files.download_dir, TEXT("/")))
        files.download_dir =
            text_print(arena, TEXT_FORMAT "/" TEXT_FORMAT, TEXT_ARG(config->project_dir_path),
                       TEXT_ARG(files.download_dir));
    is_found = version_files_sample(&files, catalog, arena, ret_sample);
    ret_sample->url = text_copy(arena, ret_sample->url);
    catalog_release(catalog);
    return is_found && ret_sample->bytes <= (int64_t)DOWNLOAD_BYTES_MAX;
}

struct web_check download_check(struct session *session)
{
    struct arena *arena = session->arena;
    struct web_check check = {.asked = NO_TEXT};
    struct version_sample sample;
    struct web_answer answer = {.status = 0};
    struct failure failure = {.status = STATUS_OK};
    char md5[MD5_HEX_SIZE];
    struct buffer page;

    if (!find_sample(session, &sample) ||
        md5_hex_of_file(text_string(arena, sample.path), md5, &sample.bytes, &failure) != STATUS_OK)
        return check; /* what is wrong with the file is said of the version */
    page = buffer_on_heap((size_t)sample.bytes + OTHER_PAGE_BYTES);
    check.asked = sample.url;
    check.problem = fetch(arena, check.asked, NULL, &page, &answer, &check.seconds);
    if (check.problem.length == 0)
        check.problem = download_complaint(arena, &answer, sample.bytes, md5);
    if (check.problem.length > 0)
        check.problem =
            text_print(arena, "clients cannot download " TEXT_FORMAT " as it is: " TEXT_FORMAT,
                       TEXT_ARG(check.asked), TEXT_ARG(check.problem));
    buffer_free(&page);
    return check;
}

struct web_check submission_check(struct session *session)
{
    struct arena *arena = session->arena;
    const struct config *config = session->config;
    struct web_check check = {.asked = NO_TEXT};
    struct web_answer answer = {.status = 0};
    struct buffer page;

    if (!config->submission || config->master_url.length == 0)
        return check;
    page = buffer_on_heap(OTHER_PAGE_BYTES);
    check.asked =
        text_print(arena, TEXT_FORMAT "%ssubmit_rpc_handler.php", TEXT_ARG(config->master_url),
                   text_ends(config->master_url, TEXT("/")) ? "" : "/");
    check.problem = fetch(arena, check.asked, "request=<ping/>", &page, &answer, &check.seconds);
    if (check.problem.length == 0)
        check.problem = submission_complaint(arena, &answer);
    if (check.problem.length > 0)
        check.problem =
            text_print(arena, "jobs cannot be submitted at " TEXT_FORMAT ": " TEXT_FORMAT,
                       TEXT_ARG(check.asked), TEXT_ARG(check.problem));
    buffer_free(&page);
    return check;
}
