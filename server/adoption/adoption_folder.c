/* SPDX-License-Identifier: Apache-2.0 */
/* The project's folder as make_project and twenty years of administrators left it. */
#include "config/config.h"
#include "server/adoption/adoption_parts.h"
#include "server/base/arena.h"
#include "server/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PAGE_BYTES_MAX = 1024 * 1024, FOLDERS_LOOKED_AT = 5000, FOLDERS_NAMED = 3 };

/* --- what is there -----------------------------------------------------------------------------
 */

static bool is_there(const struct adoption_view *view, const char *name)
{
    return access(adoption_path(view, name), F_OK) == 0;
}

/* Of the folders log_HOST the first; NULL: none. */
static const char *log_folder(const struct adoption_view *view)
{
    DIR *folder = opendir(view->dir);
    struct dirent *entry;
    const char *found = NULL;

    if (folder == NULL)
        return NULL;
    while (found == NULL && (entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "log_", 4) == 0)
            found = text_string(view->arena, text_from(entry->d_name));
    (void)closedir(folder);
    return found;
}

static void look_at_logs(struct adoption_view *view)
{
    const char *logs = log_folder(view);

    if (logs != NULL)
        adoption_found(view, ADOPTION_OK, "project", logs,
                       "BOINC's daemons keep logging there; this server logs to the journal, or to "
                       "the file of --log");
    if (logs != NULL && is_there(view, "log"))
        adoption_found(view, ADOPTION_NOTE, "project", "log",
                       "a second folder for logs, besides %s: no program writes there, so if it is "
                       "empty, remove it with rmdir",
                       logs);
}

static void look_at_revision(struct adoption_view *view)
{
    struct failure failure = {.status = STATUS_OK};
    struct text text;
    int64_t revision = 0;

    if (file_read(view->arena, adoption_path(view, "db_revision"), 64, &text, &failure) !=
            STATUS_OK ||
        !text_to_i64(text_trim(text), &revision))
        adoption_found(view, ADOPTION_NOTE, "project", "db_revision",
                       "BOINC's number of the tables' version is unknown; the tables themselves "
                       "are examined");
    else
        adoption_found(view, ADOPTION_OK, "project", "db_revision",
                       "%lld; BOINC's html/ops/db_update.php maintains this number, and stays in "
                       "charge of the project's tables",
                       (long long)revision);
    view->revision = revision;
}

void adoption_look_at_folder(struct adoption_view *view)
{
    static const struct {
        const char *name, *there, *missing; /* NULL: nothing is said */
    } parts[] = {
        {"project.xml", "BOINC's xadd reads it, and this server does not", NULL},
        {"gui_urls.xml", "it goes into replies, as before", NULL},
        {"project_files.xml", "it goes into replies, as before", NULL},
        {"plan_class_spec.xml", "plan classes are read from it, as before",
         "BOINC's built-in plan classes apply; write into this file what the project had changed "
         "in sched_customize.cpp"},
        {"cgi-bin",
         "BOINC's programs stay there, so that you can go back; of these the web server starts at "
         "most file_upload_handler",
         NULL},
        {"bin/start", "bin/start, bin/stop and bin/status keep controlling BOINC's daemons", NULL},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *words = is_there(view, parts[i].name) ? parts[i].there : parts[i].missing;

        if (words != NULL)
            adoption_found(view, words == parts[i].there ? ADOPTION_OK : ADOPTION_NOTE, "project",
                           parts[i].name, "%s", words);
    }
    look_at_revision(view);
    look_at_logs(view);
    if (is_there(view, "stop_sched"))
        adoption_found(view, ADOPTION_WARNING, "project", "stop_sched",
                       "while this file exists, clients are told that the project is down: "
                       "bin/stop made it, and bin/start removes it");
}

/* --- how clients find the scheduler ------------------------------------------------------------
 */

static struct text behind(struct text text, size_t length)
{
    return (struct text){text.at + length, text.length - length};
}

/* What PHP or a shell would put in is no URL yet. */
static bool is_literal(struct text url)
{
    for (size_t i = 0; i < url.length; i++)
        if ((unsigned char)url.at[i] <= ' ' || strchr("$<>?{}", url.at[i]) != NULL)
            return false;
    return text_starts(url, TEXT("http://")) || text_starts(url, TEXT("https://"));
}

static void add_scheduler(struct text url, struct text *schedulers, size_t *count)
{
    if (!is_literal(url) || *count == ADOPTION_SCHEDULERS_MAX)
        return;
    for (size_t i = 0; i < *count; i++)
        if (text_equal(schedulers[i], url))
            return;
    schedulers[(*count)++] = url;
}

void adoption_page_read(struct text page, struct text schedulers[ADOPTION_SCHEDULERS_MAX],
                        size_t *count)
{
    const struct {
        struct text before, after;
    } forms[] = {{TEXT("<scheduler>"), TEXT("</scheduler>")},
                 {TEXT("<link rel=\"boinc_scheduler\" href=\""), TEXT("\"")}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct text rest = page;
        size_t at;

        while ((at = text_find(rest, forms[i].before)) < rest.length) {
            size_t end;

            rest = behind(rest, at + forms[i].before.length);
            end = text_find(rest, forms[i].after);
            add_scheduler(text_trim(text_first(rest, end)), schedulers, count);
            rest = behind(rest, end);
        }
    }
}

bool adoption_has_doubled_slash(struct text url)
{
    size_t scheme = text_find(url, TEXT("://"));

    return scheme < url.length && text_contains(behind(url, scheme + 3), TEXT("//"));
}

/* What project_check says of master_url is among the findings. */
static void look_at_urls(struct adoption_view *view)
{
    const struct config *config = view->config;
    const struct {
        const char *name;
        struct text url;
    } urls[] = {{"download_url", config->download_url}, {"upload_url", config->upload_url}};

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        if (adoption_has_doubled_slash(urls[i].url))
            adoption_found(view, ADOPTION_WARNING, "pages",
                           config_place(config, urls[i].name, view->arena),
                           TEXT_FORMAT " has two slashes in a row, which nginx merges before it "
                                       "looks for a location, and Apache does not",
                           TEXT_ARG(urls[i].url));
}

static bool is_in_config(const struct config *config, struct text url)
{
    for (size_t i = 0; i < config->scheduler_url.count; i++)
        if (text_equal(config->scheduler_url.items[i], url))
            return true;
    return false;
}

static void judge_scheduler(struct adoption_view *view, struct text url)
{
    struct adoption_finding *finding;

    if (adoption_has_doubled_slash(url))
        adoption_found(view, ADOPTION_WARNING, "pages", "html/user",
                       "the scheduler " TEXT_FORMAT
                       " has two slashes in a row, which nginx merges before it looks for a "
                       "location, and Apache does not",
                       TEXT_ARG(url));
    if (is_in_config(view->config, url)) {
        adoption_found(view, ADOPTION_OK, "pages", "html/user",
                       "clients find the scheduler " TEXT_FORMAT, TEXT_ARG(url));
        return;
    }
    finding = adoption_found(view, ADOPTION_CHANGE, "options", "config.xml",
                             "scheduler_url " TEXT_FORMAT
                             " is added, as in the project's pages: qmctl status asks there; "
                             "BOINC ignores the option",
                             TEXT_ARG(url));
    if (finding == NULL)
        return;
    finding->act = ACT_OPTION;
    finding->option = "scheduler_url";
    finding->value = text_string(view->arena, text_copy(view->arena, url));
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    bool empty = true;

    if (folder == NULL)
        return errno == ENOENT;
    while (empty && (entry = readdir(folder)) != NULL)
        empty = entry->d_name[0] == '.';
    (void)closedir(folder);
    return empty;
}

void adoption_look_at_pages(struct adoption_view *view)
{
    static const char *const pages[] = {"html/user/schedulers.txt", "html/user/index.html",
                                        "html/user/index.php"};
    struct text schedulers[ADOPTION_SCHEDULERS_MAX];
    size_t count = 0;

    look_at_urls(view);
    if (is_empty(adoption_path(view, "html/user"))) {
        adoption_found(view, ADOPTION_WARNING, "pages", "html/user",
                       "there are no web pages, so clients find no scheduler at master_url: set "
                       "scheduler_url, and qmctl init makes a page");
        return;
    }
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        struct failure failure = {.status = STATUS_OK};
        struct text page;

        if (file_read(view->arena, adoption_path(view, pages[i]), PAGE_BYTES_MAX, &page,
                      &failure) == STATUS_OK)
            adoption_page_read(page, schedulers, &count);
    }
    for (size_t i = 0; i < count; i++)
        judge_scheduler(view, schedulers[i]);
    if (count == 0)
        adoption_found(view, ADOPTION_WARNING, "pages", "html/user",
                       "schedulers.txt, index.html and index.php contain no scheduler's URL: check "
                       "that the page at master_url has <scheduler> or boinc_scheduler");
    if (is_there(view, "html/user/index.php") && view->config->joining)
        adoption_found(view, ADOPTION_NOTE, "pages",
                       config_place(view->config, "joining", view->arena),
                       "BOINC's web pages handle joining; the option joining is for projects that "
                       "have no web pages");
}

/* --- who may do what ------------------------------------------------------------------------- */

static const char *name_of(struct adoption_view *view, uid_t user)
{
    const struct passwd *passwd = getpwuid(user);

    return text_string(view->arena, passwd == NULL
                                        ? text_print(view->arena, "user %u", (unsigned)user)
                                        : text_copy(view->arena, text_from(passwd->pw_name)));
}

/* As a server would take it. */
static const char *folder_of(struct adoption_view *view, struct text option, const char *usual)
{
    if (text_starts(option, TEXT("/")))
        return text_string(view->arena, option);
    return option.length == 0 ? adoption_path(view, usual)
                              : adoption_path(view, text_string(view->arena, option));
}

static const char *in_folder(struct adoption_view *view, const char *folder, const char *name)
{
    return text_string(view->arena, text_print(view->arena, "%s/%s", folder, name));
}

/* The folders in it, of which BOINC makes uldl_dir_fanout: some that a web server's user made years
 * ago may be closed to the project's. */
static void look_into_uploads(struct adoption_view *view, const char *path,
                              const struct file_user *owner, const char *name)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    size_t looked_at = 0, closed = 0;
    const char *first = "";

    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL && looked_at++ < FOLDERS_LOOKED_AT) {
        struct stat info;

        if (entry->d_name[0] == '.' || fstatat(dirfd(folder), entry->d_name, &info, 0) != 0 ||
            !S_ISDIR(info.st_mode) || file_may(&info, owner, W_OK | X_OK))
            continue;
        if (closed++ == 0)
            first = text_string(view->arena, text_copy(view->arena, text_from(entry->d_name)));
    }
    (void)closedir(folder);
    if (closed > 0)
        adoption_found(view, ADOPTION_WARNING, "rights", path,
                       "%zu of its folders, the first being %s, cannot be written to by %s: chown "
                       "-R %s %s, before quartermaster --upload runs as that user",
                       closed, first, name, name, path);
}

void adoption_look_at_rights(struct adoption_view *view)
{
    const char *upload = folder_of(view, view->config->upload_dir, "upload");
    const char *keys = folder_of(view, view->config->key_dir, "keys");
    const struct {
        const char *what, *path;
        int wanted;
    } things[] = {
        {"config.xml", adoption_path(view, "config.xml"), R_OK},
        {"keys", keys, R_OK | X_OK},
        {"keys", in_folder(view, keys, "code_sign_public"), R_OK},
        {"keys", in_folder(view, keys, "upload_public"), R_OK},
        {"keys", in_folder(view, keys, "upload_private"), R_OK},
        {"upload_dir", upload, W_OK | X_OK},
        {"download_dir", folder_of(view, view->config->download_dir, "download"), W_OK | X_OK}};
    struct file_user owner;
    struct stat info;
    const char *name;

    /* Root may do anything. */
    if (stat(view->dir, &info) != 0 || info.st_uid == 0)
        return;
    file_user_numbered(info.st_uid, info.st_gid, &owner);
    name = name_of(view, info.st_uid);
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
        if (stat(things[i].path, &info) == 0 && !file_may(&info, &owner, things[i].wanted))
            adoption_found(view, ADOPTION_WARNING, "rights", things[i].what,
                           "%s cannot be %s by %s, who owns the project and should run the server "
                           "(it belongs to %s, mode %03o)",
                           things[i].path, (things[i].wanted & W_OK) != 0 ? "written to" : "read",
                           name, name_of(view, info.st_uid), (unsigned)info.st_mode & 0777u);
    look_into_uploads(view, upload, &owner, name);
}
