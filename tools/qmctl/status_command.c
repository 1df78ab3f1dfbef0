/* SPDX-License-Identifier: Apache-2.0 */
/* Is the project up: one line for each thing that has to be, in the order in which one fails after
 * the other. A scheduler is asked as a client would reach it, by its URL. */
#include "config/config.h"
#include "db/admin.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/project.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/output.h"
#include "tools/qmctl/web_question.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PATIENCE_S = 10, PAGE_BYTES_MAX = 100000, PATH_BYTES_MAX = 4096 };

struct lines {
    struct output_table table;
    bool some_failed;
};

static void add_line(struct lines *lines, const char *what, struct text name, bool is_well,
                     struct text words)
{
    table_text(&lines->table, text_from(what));
    table_text(&lines->table, name);
    table_text(&lines->table, is_well ? TEXT("ok") : TEXT("FAILED"));
    table_words(&lines->table, words);
    lines->some_failed = lines->some_failed || !is_well;
}

/* --- schedulers ------------------------------------------------------------------------------- */

/* A look with GET is answered by the server itself, so it goes all the way. */
static void look_at_scheduler(struct session *session, struct lines *lines, struct text url)
{
    struct buffer page = buffer_on_heap(PAGE_BYTES_MAX);
    CURL *easy = web_question(session->arena, url, (long)PATIENCE_S, &page);
    CURLcode result = CURLE_FAILED_INIT;
    long status = 0;
    double seconds = 0;
    struct text words;

    if (easy != NULL) {
        result = curl_easy_perform(easy);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, &seconds);
        curl_easy_cleanup(easy);
    }
    bool is_ours = text_starts(buffer_text(&page), TEXT("This is the scheduler of "));
    if (result != CURLE_OK)
        words = text_from(curl_easy_strerror(result));
    else if (status != 200)
        words = text_print(session->arena, "HTTP status %ld", status);
    else if (text_contains(buffer_text(&page), TEXT("<project_is_down/>")))
        words = TEXT("no server process: the web server says that the project is down");
    else if (!is_ours)
        words = TEXT("something else answers");
    else
        words = text_print(session->arena, "answers in %.0f ms", seconds * 1000);
    add_line(lines, "scheduler", url, result == CURLE_OK && status == 200 && is_ours, words);
    buffer_free(&page);
}

static void look_at_schedulers(struct session *session, struct lines *lines)
{
    const struct text_list *urls = &session->config->scheduler_url;
    const char *url;
    size_t index = 0, count = 0;

    for (; (url = option_next(session, "url", &index)) != NULL; count++)
        look_at_scheduler(session, lines, text_from(url));
    for (size_t i = 0; count == 0 && i < urls->count; i++)
        look_at_scheduler(session, lines, urls->items[i]);
}

/* --- database and queue ----------------------------------------------------------------------- */

static void look_at_queue(struct session *session, struct lines *lines)
{
    struct queue_line *rows = NULL;
    size_t count = 0;
    enum status status = db_admin_queue(session->db, session->arena, false, &rows, &count);

    if (status != STATUS_OK)
        add_line(lines, "queue", TEXT("-"), false, text_from(db_error(session->db)));
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        add_line(lines, "queue", rows[i].app, true,
                 text_print(session->arena,
                            "%" PRId64 " unsent, %" PRId64 " in progress, %" PRId64 " over",
                            rows[i].unsent, rows[i].in_progress, rows[i].over));
}

static void look_at_hosts(struct session *session, struct lines *lines)
{
    int64_t last = 0, hour = 0;
    enum status status = db_admin_last_contact(session->db, session->now - 3600, &last, &hour);

    if (status != STATUS_OK)
        add_line(lines, "hosts", TEXT("-"), false, text_from(db_error(session->db)));
    else if (last == 0)
        add_line(lines, "hosts", TEXT("-"), true, TEXT("none has asked yet"));
    else
        add_line(lines, "hosts", TEXT("-"), true,
                 text_print(session->arena,
                            "the last asked %" PRId64 " s ago; in the last hour %" PRId64,
                            session->now > last ? session->now - last : 0, hour));
}

static void look_at_database(struct session *session, struct lines *lines)
{
    if (session_db(session) != STATUS_OK) {
        add_line(lines, "database", session->config->db_name, false,
                 text_from(session->failure.text));
        return;
    }
    add_line(lines, "database", session->config->db_name, true, TEXT("answers"));
    look_at_queue(session, lines);
    look_at_hosts(session, lines);
    (void)db_rollback(session->db);
}

static void look_at_folder(struct session *session, struct lines *lines)
{
    char path[PATH_BYTES_MAX];

    project_path(session->config, "stop_sched", path, sizeof path);
    if (access(path, F_OK) == 0)
        add_line(lines, "stop_sched", TEXT("-"), false,
                 TEXT("the file is there: clients are told that the project is down"));
    if (session->config->dont_send_jobs)
        add_line(lines, "config.xml", TEXT("dont_send_jobs"), false, TEXT("nobody gets jobs"));
}

enum exit_code command_status(struct session *session)
{
    static const char *const titles[] = {"what", "name", "state", "words"};
    struct lines lines = {.table = TABLE_BEGIN(session, titles)};

    if (session_config(session) != STATUS_OK)
        return session_failed(session);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    look_at_folder(session, &lines);
    look_at_database(session, &lines);
    look_at_schedulers(session, &lines);
    table_print(&lines.table);
    curl_global_cleanup();
    return lines.some_failed ? EXIT_FAILED : EXIT_DONE;
}
