/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/project_check.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/adoption_rows.h"
#include "db/figure_rows.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/check/connection_check.h"
#include "server/check/database_settings.h"
#include "server/check/disk_room.h"
#include "server/check/job_files.h"
#include "server/check/master_url.h"
#include "server/check/row_faults.h"
#include "server/check/version_files.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/policy/version/version_choice.h"
#include "server/project/blob.h"
#include "server/project/buda_files.h"
#include "server/project/catalog.h"
#include "server/project/hierarchy.h"
#include "server/project/keys.h"
#include "server/project/project.h"
#include "server/submit/catalog_settings.h"
#include "server/submit/sandbox.h"
#include "server/submit/template_advice.h"
#include "server/submit/template_input.h"
#include "server/submit/template_output.h"
#include "server/upload/upload_project.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    JOBS_LOOKED_AT = 1000,
    DOCUMENTS_LOOKED_AT = 100, /* the oldest jobs of an application, and as many of the newest */
    APPS_LOOKED_AT = 100,
    FAULTS_BYTES = 100000,
    SHORT_DEADLINE_S = 86400,
    SLACKS_DIFFER = 3, /* times: then some jobs of an application are tight beside others */
    SELDOM_S = 12 * 3600,
    CLOCK_AHEAD_S = 60,       /* clocks of several machines may differ by this */
    ENTRIES_LOOKED_AT = 5000, /* of a folder: its fan-out, and some files */
    FINDING_BYTES = 4096,
    CHECK_BYTES_MAX = 64 * 1024 * 1024,
    BLOCK_BYTES_MAX = 65535,
    /* of a server, beside its threads: watcher, a look, job pool, figures, uses of qmctl */
    OTHER_CONNECTIONS = 5
};

/* One check under way. */
struct check {
    struct arena *arena;
    const char *project_dir;
    enum check_database database;
    check_found *found;
    void *context;
    struct config *config;
    struct db *db;          /* NULL: not to be read, or not there */
    enum check_topic topic; /* that is being looked at */
    bool stops;             /* something was found that no server starts with */
};

static void found(struct check *check, enum check_severity severity, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void found(struct check *check, enum check_severity severity, const char *format, ...)
{
    char text[FINDING_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    check->stops = check->stops || severity == CHECK_STOPS;
    check->found(check->context, &(const struct check_finding){severity, check->topic, text});
}

/* "FILE:LINE: OPTION" */
static const char *place(const struct check *check, const char *option)
{
    return config_place(check->config, option, check->arena);
}

static void check_config(struct check *check)
{
    struct config_findings findings = {.count = 0};
    struct failure failure = {.status = STATUS_OK};
    bool is_whole = false;
    enum status status = config_load_partly(check->project_dir, check->arena, &check->config,
                                            &is_whole, &findings, &failure);

    for (size_t i = 0; i < findings.count; i++) {
        const struct config_finding *finding = &findings.items[i];
        enum check_severity severity = finding->is_error ? CHECK_STOPS : CHECK_WARNING;

        if (finding->line > 0)
            found(check, severity, TEXT_FORMAT ":%d: " TEXT_FORMAT, TEXT_ARG(finding->file),
                  finding->line, TEXT_ARG(finding->text));
        else
            found(check, severity, TEXT_FORMAT ": " TEXT_FORMAT, TEXT_ARG(finding->file),
                  TEXT_ARG(finding->text));
    }
    if (status != STATUS_OK && !check->stops)
        found(check, CHECK_STOPS, "%s", failure.text);
    if (!is_whole) { /* what is not there may stand behind the error */
        config_release(check->config);
        check->config = NULL;
    }
}

/* Whether anybody can join there, and whether volunteers see it as it is written. */
static void check_address(struct check *check)
{
    struct text url = check->config->master_url, spelled;
    enum master_url_fault fault = master_url_judge(url);

    if (url.length == 0)
        return;
    if (fault != MASTER_URL_NONE) {
        found(check, CHECK_ERROR, "%s: " TEXT_FORMAT " %s", place(check, "master_url"),
              TEXT_ARG(url), master_url_fault_words(fault));
        return;
    }
    spelled = master_url_spelled(check->arena, url);
    if (!text_equal(url, spelled))
        found(check, CHECK_WARNING,
              "%s: clients spell " TEXT_FORMAT " as " TEXT_FORMAT
              ", and know the project by that address; use it in this option",
              place(check, "master_url"), TEXT_ARG(url), TEXT_ARG(spelled));
}

/* Those that clients connect to, beside master_url. */
static void check_urls(struct check *check)
{
    const struct config *config = check->config;
    const struct {
        const char *option;
        struct text url;
    } urls[] = {{"download_url", config->download_url}, {"upload_url", config->upload_url}};

    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        if (urls[i].url.length > 0 && url_fault(urls[i].url) != NULL)
            found(check, CHECK_ERROR, "%s: the URL %s", place(check, urls[i].option),
                  url_fault(urls[i].url));
    if (url_fault(config->upload_url) == NULL && url_upload_fault(config->upload_url) != NULL)
        found(check, CHECK_ERROR, "%s: " TEXT_FORMAT " %s", place(check, "upload_url"),
              TEXT_ARG(config->upload_url), url_upload_fault(config->upload_url));
    for (size_t i = 0; i < config->scheduler_url.count; i++)
        if (url_fault(config->scheduler_url.items[i]) != NULL)
            found(check, CHECK_ERROR, "%s: the URL %s", place(check, "scheduler_url"),
                  url_fault(config->scheduler_url.items[i]));
}

/* Whether it leads everybody to the own machine. */
static bool url_is_local(struct text url)
{
    static const char *const hosts[] = {"localhost", "127.", "[::1]"};
    size_t at = text_find(url, TEXT("://"));

    for (size_t i = 0; at < url.length && i < sizeof hosts / sizeof hosts[0]; i++)
        if (text_starts((struct text){url.at + at + 3, url.length - at - 3}, text_from(hosts[i])))
            return true;
    return false;
}

static void check_local_url(struct check *check, const char *option, struct text url)
{
    if (url_is_local(url))
        found(check, CHECK_ERROR,
              "%s: " TEXT_FORMAT " is each client's own machine; master_url is " TEXT_FORMAT,
              place(check, option), TEXT_ARG(url), TEXT_ARG(check->config->master_url));
}

/* Left from a trial on one machine, when the project's address was changed. */
static void check_local_urls(struct check *check)
{
    const struct config *config = check->config;

    if (config->master_url.length == 0 || url_is_local(config->master_url))
        return;
    check_local_url(check, "download_url", config->download_url);
    check_local_url(check, "upload_url", config->upload_url);
    for (size_t i = 0; i < config->scheduler_url.count; i++)
        check_local_url(check, "scheduler_url", config->scheduler_url.items[i]);
}

static void check_options(struct check *check)
{
    const struct config *config = check->config;
    const struct {
        const char *name;
        struct text value;
    } options[] = {{"master_url", config->master_url},     {"long_name", config->long_name},
                   {"db_name", config->db_name},           {"download_dir", config->download_dir},
                   {"download_url", config->download_url}, {"upload_url", config->upload_url}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].value.length == 0)
            found(check, CHECK_ERROR, "config.xml: %s is not given", options[i].name);
    check_address(check);
    check_urls(check);
    check_local_urls(check);
    if (config->min_sendwork_interval >= SELDOM_S)
        found(check, CHECK_WARNING, "%s: a host gets jobs once in %.1f hours at most",
              place(check, "min_sendwork_interval"), config->min_sendwork_interval / 3600);
}

/* As a server takes it: from the project's folder where it is relative. */
static struct text folder_path(const struct check *check, struct text dir)
{
    return text_starts(dir, TEXT("/"))
               ? dir
               : text_print(check->arena, TEXT_FORMAT "/" TEXT_FORMAT,
                            TEXT_ARG(check->config->project_dir_path), TEXT_ARG(dir));
}

static void check_room(struct check *check, const char *option, const char *path)
{
    struct statvfs room;
    struct text words = NO_TEXT;

    if (statvfs(path, &room) == 0)
        words = disk_room_complaint(&room, check->arena);
    if (words.length > 0)
        found(check, CHECK_ERROR, "%s: the file system of %s has room for " TEXT_FORMAT,
              place(check, option), path, TEXT_ARG(words));
}

/* What is looked for in the folders of a folder. */
struct folders_wanted {
    int rights;               /* of the user who asks; 0: `above` counts */
    const struct stat *above; /* whoever enters this folder enters those in it */
    const char *lacking;
};

/* What another user has made, such as the web server, is his to enter. */
static bool is_closed(int folder, const char *name, const struct folders_wanted *wanted)
{
    const struct stat *above = wanted->above;
    struct stat info;

    if (wanted->rights != 0)
        return faccessat(folder, name, wanted->rights, 0) != 0;
    return (above->st_mode & S_IXOTH) != 0 && fstatat(folder, name, &info, 0) == 0 &&
           info.st_uid == above->st_uid && (info.st_mode & S_IXOTH) == 0 &&
           (info.st_gid == above->st_gid || (info.st_mode & S_IXGRP) == 0);
}

/* Folders of the fan-out that other users made, such as a CGI program that ran as the web server,
 * or sandboxes: those that lack something. */
static void check_folders_within(struct check *check, const char *option, const char *path,
                                 const struct folders_wanted *wanted)
{
    DIR *folder = opendir(path);
    struct arena_mark mark = arena_mark(check->arena);
    const char *first = NULL;
    int64_t closed = 0;
    struct dirent *entry;

    for (int i = 0; folder != NULL && i < ENTRIES_LOOKED_AT && (entry = readdir(folder)) != NULL;
         i++) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            !is_closed(dirfd(folder), entry->d_name, wanted))
            continue;
        closed++;
        if (first == NULL)
            first = text_string(check->arena, text_from(entry->d_name));
    }
    if (folder != NULL)
        (void)closedir(folder);
    if (closed > 0)
        found(check, CHECK_WARNING, "%s: " COUNT_FORMAT " in %s, such as %s, %s",
              place(check, option), COUNT_ARG(closed, "folder"), path, first, wanted->lacking);
    arena_rewind(check->arena, mark);
}

/* As commands made them that ran with a strict umask. */
static void check_downloads_open(struct check *check)
{
    const char *path = text_string(check->arena, folder_path(check, check->config->download_dir));
    struct stat above;

    if (check->config->download_dir.length > 0 && stat(path, &above) == 0)
        check_folders_within(
            check, "download_dir", path,
            &(const struct folders_wanted){
                .above = &above,
                .lacking = "closed to other users, as the web server may be: chmod o+rx"});
}

static void check_folder(struct check *check, const char *option, struct text dir)
{
    static const struct folders_wanted writable = {.rights = W_OK | X_OK,
                                                   .lacking = "not writable for the user who asks"};
    struct stat info;
    const char *path;

    if (dir.length == 0)
        return;
    path = text_string(check->arena, folder_path(check, dir));
    if (stat(path, &info) != 0)
        found(check, CHECK_ERROR, "%s: %s: %s", place(check, option), path, strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        found(check, CHECK_ERROR, "%s: %s is not a folder", place(check, option), path);
    else if (access(path, W_OK | X_OK) != 0)
        found(check, CHECK_WARNING, "%s: %s is not writable for the user who asks",
              place(check, option), path);
    else if ((info.st_mode & S_IWOTH) != 0)
        found(check, CHECK_WARNING,
              "%s: everybody on this machine can put files into %s, and replace others: chmod o-w",
              place(check, option), path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode) && access(path, W_OK | X_OK) == 0) {
        check_room(check, option, path);
        check_folders_within(check, option, path, &writable);
    }
}

/* Whether the one is the other, or lies in it. */
static bool is_within(const struct check *check, struct text inner, struct text outer)
{
    struct text one = text_print(check->arena, TEXT_FORMAT "/", TEXT_ARG(inner));
    struct text other = text_print(check->arena, TEXT_FORMAT "/", TEXT_ARG(outer));

    return inner.length > 0 && outer.length > 0 && text_starts(one, other);
}

/* What hosts send is nobody's to download: another host's answers, or whatever somebody puts there.
 */
static void check_uploads_hidden(struct check *check)
{
    const struct config *config = check->config;
    struct text uploads = folder_path(check, config->upload_dir);
    const struct text shown[] = {folder_path(check, config->download_dir),
                                 folder_path(check, TEXT("html/user"))};

    for (size_t i = 0; config->upload_dir.length > 0 && i < sizeof shown / sizeof shown[0]; i++)
        if (is_within(check, uploads, shown[i]))
            found(check, CHECK_ERROR,
                  "%s: " TEXT_FORMAT " is within " TEXT_FORMAT
                  ", so that everybody can download what hosts upload: choose another folder",
                  place(check, "upload_dir"), TEXT_ARG(uploads), TEXT_ARG(shown[i]));
}

/* Made by the upload handler, or brought back by somebody else. */
static void check_unfinished(struct check *check)
{
    const char *path = text_string(
        check->arena, text_print(check->arena, TEXT_FORMAT "/.partial",
                                 TEXT_ARG(folder_path(check, check->config->upload_dir))));

    if (check->config->upload_dir.length > 0 && access(path, F_OK) == 0 &&
        access(path, W_OK | X_OK) != 0)
        found(check, CHECK_WARNING,
              "%s: %s, where unfinished uploads lie, is not writable for the user who asks",
              place(check, "upload_dir"), path);
}

/* From where input files of jobs come that are submitted. There is none without BOINC's web pages.
 */
static void check_sandboxes(struct check *check)
{
    static const char option[] = "sandbox_dir";
    static const struct folders_wanted open_to = {.rights = X_OK,
                                                  .lacking = "not open to the user who asks"};
    const char *path = text_string(check->arena, sandbox_folder(check->arena, check->config));
    struct stat info;

    if (!check->config->submission)
        return;
    if (stat(path, &info) != 0) {
        if (errno != ENOENT || check->config->sandbox_dir.length > 0)
            found(check, CHECK_ERROR, "%s: %s: %s", place(check, option), path, strerror(errno));
    } else if (!S_ISDIR(info.st_mode)) {
        found(check, CHECK_ERROR, "%s: %s is not a folder", place(check, option), path);
    } else if (access(path, X_OK) != 0) {
        found(check, CHECK_WARNING,
              "%s: %s cannot be entered by the user who asks; the process for submission needs "
              "that, and to read the files in it",
              place(check, option), path);
    } else {
        check_folders_within(check, option, path, &open_to);
    }
}

static void check_folders(struct check *check)
{
    check_folder(check, "download_dir", check->config->download_dir);
    check_downloads_open(check);
    check_folder(check, "upload_dir", check->config->upload_dir);
    check_unfinished(check);
    check_uploads_hidden(check);
    check_sandboxes(check);
}

/* What a server reads of them, which it cannot start without; both halves; who may read them. */
static void check_keys(struct check *check)
{
    struct failure missing = {.status = STATUS_OK};
    struct text key;

    if (project_signing_key_read(check->config, check->arena, &key, &missing) != STATUS_OK)
        found(check, CHECK_STOPS, "%s", missing.text);
    for (int i = missing.status == STATUS_OK ? 0 : 1; i < 2; i++) { /* said already */
        struct failure failure = {.status = STATUS_OK};
        struct stat info;
        const char *name =
            text_string(check->arena, text_print(check->arena, "%s_private", key_pairs[i]));
        const char *path = key_path(check->arena, check->config, name);

        if (key_check_pair(check->arena, check->config, key_pairs[i], &failure) != STATUS_OK)
            found(check, CHECK_ERROR, "%s", failure.text);
        else if (stat(path, &info) == 0 && (info.st_mode & 077) != 0)
            found(check, CHECK_WARNING, "%s can be read by others than its owner", path);
    }
}

/* What the upload handler and the jobs think of certificates, and the handler's permissions. */
static void check_uploads(struct check *check)
{
    const struct config *config = check->config;
    const struct {
        const char *option;
        struct text value;
    } modes[] = {{"fuh_set_initial_permission", config->fuh_set_initial_permission},
                 {"fuh_set_completed_permission", config->fuh_set_completed_permission}};
    int mode;

    if (config->ignore_upload_certificates)
        found(check, CHECK_WARNING, "%s: anybody can upload files of any name",
              place(check, "ignore_upload_certificates"));
    else if (config->dont_generate_upload_certificates)
        found(check, CHECK_WARNING,
              "%s: an upload handler refuses files of jobs without a certificate, unless"
              " ignore_upload_certificates is set",
              place(check, "dont_generate_upload_certificates"));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (!upload_mode_read(modes[i].value, 0, &mode))
            found(check, CHECK_ERROR, "%s: wanted octal digits up to 0777",
                  place(check, modes[i].option));
}

static void check_secrets(struct check *check)
{
    const struct config *config = check->config;
    const char *path =
        text_string(check->arena, text_print(check->arena, "%s/config.xml", check->project_dir));
    struct stat info;

    if ((config->db_passwd.length > 0 || config->files_db_passwd.length > 0) &&
        stat(path, &info) == 0 && (info.st_mode & S_IROTH) != 0)
        found(check, CHECK_WARNING,
              "config.xml holds a password and can be read by everybody: chmod o-rwx");
}

/* Clients read what is nearly XML, and so is every reply with it. */
static void check_xml(struct check *check, const char *name, struct text text)
{
    struct failure failure = {.status = STATUS_OK};

    if (blob_is_xml(check->arena, text, &failure) != STATUS_OK)
        found(check, CHECK_WARNING, "%s: %s: it would make replies malformed XML", name,
              failure.text);
}

static void check_block_file(struct check *check, const char *name)
{
    const char *path =
        text_string(check->arena, text_print(check->arena, "%s/%s", check->project_dir, name));
    struct text document = NO_TEXT;

    if (file_read(check->arena, path, BLOCK_BYTES_MAX, &document, NULL) == STATUS_OK)
        check_xml(check, name, document);
}

/* A block that cannot be read is left out of replies, which nobody sees. */
static void check_blocks(struct check *check)
{
    struct failure of_links = {.status = STATUS_OK}, of_files = {.status = STATUS_OK};
    struct project_files files;
    struct text links, feeds;

    if (project_links_read(check->config, check->arena, &links, &feeds, &of_links) != STATUS_OK)
        found(check, CHECK_ERROR, "%s", of_links.text);
    else
        check_block_file(check, "gui_urls.xml");
    if (project_files_read(check->config, check->arena, &files, &of_files) != STATUS_OK)
        found(check, CHECK_ERROR, "%s", of_files.text);
    else
        check_block_file(check, "project_files.xml");
}

static void check_joining(struct check *check)
{
    const struct config *config = check->config;
    struct failure failure = {.status = STATUS_OK};
    struct text terms = NO_TEXT;
    enum status status;

    if (!config->joining)
        return;
    status = project_terms_read(config, check->arena, &terms, &failure);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        found(check, CHECK_ERROR, "%s: nobody can join", failure.text);
    else if (config->account_creation_rpc_require_consent && terms.length == 0)
        found(check, CHECK_ERROR,
              "%s: without terms_of_use.txt no client sends a consent, so nobody can join",
              place(check, "account_creation_rpc_require_consent"));
}

static void report_lines(struct check *check, enum check_severity severity, struct text lines)
{
    while (lines.length > 0) {
        struct text line = text_split(&lines, '\n');

        found(check, severity, TEXT_FORMAT, TEXT_ARG(line));
    }
}

/* Files that the template names itself; those of a job are named with the job. */
static void check_template_files(struct check *check, const char *shown,
                                 const struct input_template *input)
{
    const struct config *config = check->config;
    struct text dir = folder_path(check, config->download_dir);

    for (size_t i = 0; config->download_dir.length > 0 && i < input->file_count; i++) {
        struct text name = input->files[i].physical_name;

        if (input->files[i].kind != INPUT_CONSTANT ||
            hierarchy_has_file(check->arena, dir, name, config->uldl_dir_fanout, 0) ||
            hierarchy_has_file(check->arena, dir, name, 0, 0))
            continue;
        found(check, CHECK_ERROR,
              "%s:%d: the file " TEXT_FORMAT " is not in download_dir (" TEXT_FORMAT
              "), so no jobs can be made: put it there",
              shown, input->files[i].element->line, TEXT_ARG(name), TEXT_ARG(dir));
    }
}

/* Files that end in "in" or "in.xml" are input templates, those in "out" result templates. */
static void check_template(struct check *check, const char *name)
{
    struct text text = text_from(name), document;
    struct failure failure = {.status = STATUS_OK};
    bool is_in = text_ends(text, TEXT("in")) || text_ends(text, TEXT("in.xml"));
    bool is_out = text_ends(text, TEXT("out")) || text_ends(text, TEXT("out.xml"));
    const char *shown = text_string(check->arena, text_print(check->arena, "templates/%s", name));
    const char *path =
        text_string(check->arena, text_print(check->arena, "%s/%s", check->project_dir, shown));
    const struct output_options options = {.upload_url = check->config->upload_url,
                                           .certificates =
                                               !check->config->dont_generate_upload_certificates};
    struct buffer advice = buffer_in(check->arena);
    struct input_template input;
    struct output_template output;
    if (!is_in && !is_out)
        return;
    enum status status = file_read(check->arena, path, TEMPLATE_BYTES_MAX, &document, &failure);
    if (status == STATUS_OK && is_in)
        status = input_template_read(check->arena, shown, document, &input, &failure);
    else if (status == STATUS_OK)
        status = output_template_read(check->arena, shown, document, &options, &output, &failure);
    if (status != STATUS_OK)
        found(check, CHECK_ERROR, "%s", failure.text);
    else if (is_in)
        input_template_advice(&input.file, &advice);
    else
        output_template_advice(&output.file, &advice);
    if (status == STATUS_OK && is_in)
        check_template_files(check, shown, &input);
    report_lines(check, CHECK_WARNING, buffer_text(&advice));
}

static void check_templates(struct check *check)
{
    DIR *folder = opendir(
        text_string(check->arena, text_print(check->arena, "%s/templates", check->project_dir)));
    struct dirent *entry;
    if (folder == NULL) {
        if (errno == ENOENT)
            found(check, CHECK_WARNING, "the folder templates is missing");
        else
            found(check, CHECK_ERROR, "%s/templates: %s", check->project_dir, strerror(errno));
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        struct arena_mark mark = arena_mark(check->arena);
        if (entry->d_name[0] != '.')
            check_template(check, entry->d_name);
        arena_rewind(check->arena, mark);
    }
    (void)closedir(folder);
}

static void not_checked(struct check *check, const char *what)
{
    found(check, CHECK_WARNING, "%s: not checked: %s", what, db_error(check->db));
}

/* Those of a running project are not ours to change. */
static void check_table_keys(struct check *check)
{
    struct keyless_row *tables;
    size_t count;

    if (db_admin_keyless_tables(check->db, check->arena, &tables, &count) != STATUS_OK) {
        not_checked(check, "primary keys");
        return;
    }
    for (size_t i = 0; i < count; i++)
        found(check, CHECK_WARNING,
              "table " TEXT_FORMAT " has no primary key, which a cluster needs: ALTER TABLE"
              " " TEXT_FORMAT " ADD PRIMARY KEY (" TEXT_FORMAT ")",
              TEXT_ARG(tables[i].name), TEXT_ARG(tables[i].name),
              TEXT_ARG(tables[i].columns_of_key));
}

/* What a table cannot do that is of another engine, no statement tells. */
static void check_engines(struct check *check)
{
    struct adoption_table_row *tables;
    size_t count;

    if (db_adoption_engines(check->db, check->arena, &tables, &count) != STATUS_OK) {
        not_checked(check, "engines of tables");
        return;
    }
    for (size_t i = 0; i < count; i++)
        found(check, db_adoption_writes(tables[i].name) ? CHECK_ERROR : CHECK_WARNING,
              "table " TEXT_FORMAT ": its engine is " TEXT_FORMAT
              ", which has no transactions, so half of a change may stay: ALTER TABLE"
              " " TEXT_FORMAT " ENGINE=InnoDB",
              TEXT_ARG(tables[i].name), TEXT_ARG(tables[i].engine), TEXT_ARG(tables[i].name));
}

/* Statements name some of them, and fail without. */
static void check_indexes(struct check *check)
{
    struct adoption_index_row *rows;
    size_t count;

    if (db_adoption_indexes(check->db, check->arena, &rows, &count) != STATUS_OK) {
        not_checked(check, "indexes");
        return;
    }
    for (size_t i = 0; i < needed_index_count; i++) {
        const struct needed_index *needed = &needed_indexes[i];

        if (needed_index_state(needed, rows, count) == INDEX_MISSING)
            found(check, needed->how == INDEX_BY_NAME ? CHECK_ERROR : CHECK_WARNING,
                  "table %s lacks the index %s: %s: CREATE%s INDEX %s ON %s (%s)", needed->table,
                  needed->name, needed->why, needed->how == INDEX_UNIQUE ? " UNIQUE" : "",
                  needed->name, needed->table, needed->columns);
    }
}

/* A thread that gets no connection answers that the project is down. */
static void check_limits(struct check *check)
{
    struct connection_limits_row limits;
    int64_t threads = check->config->threads;
    int64_t connections = (check->config->files_db_name.length > 0 ? 2 : 1) * threads;

    if (db_admin_connection_limits(check->db, &limits) != STATUS_OK) {
        not_checked(check, "limits of connections");
        return;
    }
    if (connections + OTHER_CONNECTIONS > limits.connections)
        found(check, CHECK_ERROR,
              "%s: a server needs %" PRId64 " connections, the database takes %" PRId64
              " (max_connections)",
              place(check, "threads"), connections + OTHER_CONNECTIONS, limits.connections);
    if (threads * (int64_t)db_statements_of_connection() > limits.statements)
        found(check, CHECK_WARNING,
              "%s: a server prepares up to %" PRId64 " statements, the database takes %" PRId64
              " (max_prepared_stmt_count)",
              place(check, "threads"), threads * (int64_t)db_statements_of_connection(),
              limits.statements);
}

/* Warnings: with any settings the server works. */
static void check_settings(struct check *check)
{
    struct database_reading reading;

    if (database_settings_read(check->db, check->arena, &reading) != STATUS_OK) {
        not_checked(check, "settings of the database");
        return;
    }
    for (size_t i = 0; i < DATABASE_SETTING_COUNT; i++) {
        const struct database_setting *setting = &database_settings[i];
        struct text words = database_setting_complaint(setting, &reading, check->arena);

        if (words.length > 0)
            found(check, CHECK_WARNING, "database: " TEXT_FORMAT, TEXT_ARG(words));
    }
}

/* Behind the last number whoever needs a new row hears that the server is busy. */
static void check_numbers(struct check *check)
{
    struct buffer faults = buffer_in(check->arena);
    struct used_ids_row *rows;
    size_t count;

    if (db_admin_used_ids(check->db, check->arena, &rows, &count) != STATUS_OK) {
        not_checked(check, "numbers of rows");
        return;
    }
    used_ids_judge(rows, count, &faults);
    report_lines(check, CHECK_ERROR, buffer_text(&faults));
}

/* What a clock leaves behind that was ahead and is not any more. */
static void check_clock_traces(struct check *check)
{
    struct buffer advice = buffer_in(check->arena);
    struct clock_traces_row traces;

    if (db_admin_clock_traces(check->db, (int64_t)time(NULL) + CLOCK_AHEAD_S, JOBS_LOOKED_AT,
                              &traces) != STATUS_OK) {
        not_checked(check, "times of rows");
        return;
    }
    clock_traces_judge(&traces, &advice);
    report_lines(check, CHECK_WARNING, buffer_text(&advice));
}

/* The option that the trouble is about, where it was given. */
static const char *place_of_trouble(const struct check *check, enum db_trouble trouble)
{
    const struct config *config = check->config;
    const char *option = db_trouble_words[trouble].option;

    if (option[0] == '\0')
        return "database";
    if (trouble == DB_TROUBLE_AWAY && config->db_host.length == 0 && config->db_socket.length > 0)
        option = "db_socket";
    return place(check, option);
}

static void check_database(struct check *check)
{
    struct failure failure = {.status = STATUS_OK}, unused = {.status = STATUS_OK};
    enum db_trouble trouble;
    int64_t ahead;
    char words[128];

    if (check->database == CHECK_NO_DATABASE)
        return;
    if (check->database == CHECK_READ_ONLY) {
        if (db_adoption_open(check->config, &check->db, &failure) != STATUS_OK)
            found(check, CHECK_ERROR, "%s", failure.text);
        else
            check_settings(check);
        return;
    }
    trouble = db_examine(check->config, &ahead, &failure);
    if (trouble != DB_TROUBLE_NONE)
        found(check, CHECK_ERROR, "%s: the database %s: %s", place_of_trouble(check, trouble),
              db_trouble_words[trouble].words, failure.text);
    db_clock_words(ahead, words, sizeof(words));
    if (db_clocks_are_apart(ahead))
        found(check, CHECK_WARNING, "%s: set both by NTP", words);
    /* Said already, where it fails; what can only be read is read. */
    if (db_admin_open(check->config, &check->db, &unused) == STATUS_OK) {
        check_limits(check);
        check_settings(check);
        check_engines(check);
        check_indexes(check);
        check_numbers(check);
        check_clock_traces(check);
    }
}

static void check_catalog(struct check *check)
{
    struct buffer advice = buffer_in(check->arena);
    struct catalog_rows rows;

    if (check->db == NULL)
        return;
    if (db_catalog(check->db, check->arena, &rows) != STATUS_OK) {
        not_checked(check, "applications");
        return;
    }
    if (rows.app_count == 0)
        found(check, CHECK_WARNING, "there is no application (qmctl app add)");
    else if (rows.version_count == 0)
        found(check, CHECK_WARNING, "no application has a version (qmctl version add)");
    if (rows.platform_count == 0)
        found(check, CHECK_ERROR, "there are no platforms (qmctl init adds them)");
    for (size_t i = 0; i < rows.app_count; i++)
        app_advice(check->config, &rows.apps[i], &advice);
    report_lines(check, CHECK_WARNING, buffer_text(&advice));
    for (size_t i = 0; i < rows.version_count; i++) {
        struct arena_mark mark = arena_mark(check->arena);
        const char *name = text_string(
            check->arena, text_print(check->arena, "app_version %" PRId64, rows.versions[i].id));

        check_xml(check, name, rows.versions[i].xml_doc);
        arena_rewind(check->arena, mark);
    }
    check_table_keys(check);
}

/* Of files of versions; nothing where it cannot be had. */
static struct text accepted_before(const struct check *check)
{
    struct figures_row *rows = NULL;
    size_t count = 0;

    if (check->database != CHECK_DATABASE ||
        db_figures_read(check->db, check->arena, FIGURES_FILES, 0, &rows, &count) != STATUS_OK ||
        count == 0)
        return NO_TEXT;
    return rows[0].figures;
}

/* Where it cannot be written, the files are read each time. */
static void keep_accepted(const struct check *check, const struct version_look *look)
{
    if (!look->accepts_more || check->database != CHECK_DATABASE)
        return;
    if (db_figures_write(check->db, FIGURES_FILES, 0, 0, look->accepted) != STATUS_OK ||
        db_commit(check->db) != STATUS_OK)
        (void)db_rollback(check->db);
}

/* Nothing is looked at where the key cannot be read or the database not be asked: said already. */
static void check_versions(struct check *check)
{
    struct version_files files = {.config = check->config,
                                  .download_dir = folder_path(check, check->config->download_dir)};
    struct failure unused = {.status = STATUS_OK};
    struct buffer faults = buffer_in(check->arena);
    struct catalog *catalog = NULL;
    struct version_look look = {.unread = 0};

    if (check->db == NULL || check->config->download_dir.length == 0 ||
        project_signing_key_read(check->config, check->arena, &files.public_key, &unused) !=
            STATUS_OK ||
        catalog_load_for_one(check->db, &catalog) != STATUS_OK)
        return;
    files.now = (int64_t)time(NULL);
    files.accepted = accepted_before(check);
    if (version_files_judge(&files, catalog, check->arena, &faults, &look) != STATUS_OK)
        found(check, CHECK_WARNING, "files of versions: not checked: no memory");
    report_lines(check, CHECK_ERROR, buffer_text(&faults));
    keep_accepted(check, &look);
    if (look.unread > 0)
        found(check, CHECK_WARNING,
              COUNT_FORMAT
              " of versions too large to verify the signature (%d MB each, %d MB together)",
              COUNT_ARG(look.unread, "file"), VERSION_FILE_MOST / 1000000,
              VERSION_FILES_MOST / 1000000);
    catalog_release(catalog);
}

/* Where a user gets one result of a job at most. */
static void check_quorums(struct check *check, const struct app_row *app)
{
    struct large_quorum_row *rows;
    size_t count;

    if (!check->config->one_result_per_user_per_wu)
        return;
    if (db_admin_large_quorums(check->db, check->arena, app->id, JOBS_LOOKED_AT, &rows, &count) !=
        STATUS_OK) {
        not_checked(check, "quorums");
        return;
    }
    for (size_t i = 0; i < count; i++)
        found(check, CHECK_WARNING,
              TEXT_FORMAT ": " COUNT_FORMAT ", such as " TEXT_FORMAT ", with a quorum of %" PRId64
                          " cannot end: a user gets one result of a job "
                          "(one_result_per_user_per_wu) and there are no more than " COUNT_FORMAT,
              TEXT_ARG(app->name), COUNT_ARG(rows[i].jobs, "unfinished job"),
              TEXT_ARG(rows[i].name), rows[i].quorum, COUNT_ARG(rows[i].users, "user"));
}

/* Jobs that wait for something that is gone. */
static void check_lost_jobs(struct check *check)
{
    struct buffer faults = buffer_in(check->arena);
    struct lost_jobs_row lost;

    if (db_admin_lost_jobs(check->db, LOST_JOBS_MOST, &lost) != STATUS_OK) {
        not_checked(check, "jobs that can never end");
        return;
    }
    lost_jobs_judge(&lost, &faults);
    report_lines(check, CHECK_ERROR, buffer_text(&faults));
}

/* Some of the jobs of each application, so that it takes no longer where there are many. Jobs that
 * cannot end are no matter of a project's move. */
static void check_jobs(struct check *check)
{
    const struct version_files files = {
        .config = check->config, .download_dir = folder_path(check, check->config->download_dir)};
    struct buffer faults = buffer_on_heap(FAULTS_BYTES);
    struct catalog_rows rows;

    if (check->db == NULL || check->database == CHECK_READ_ONLY ||
        check->config->download_dir.length == 0 ||
        db_catalog(check->db, check->arena, &rows) != STATUS_OK)
        return; /* said already */
    check_lost_jobs(check);
    for (size_t i = 0; i < rows.app_count && i < APPS_LOOKED_AT; i++) {
        struct arena_mark mark = arena_mark(check->arena);
        struct waiting_document_row *jobs = NULL;
        struct job_template_row *templates = NULL;
        size_t job_count, template_count;

        if (db_admin_unsent_documents(check->db, check->arena, rows.apps[i].id, DOCUMENTS_LOOKED_AT,
                                      &jobs, &job_count) != STATUS_OK ||
            db_admin_unfinished_templates(check->db, check->arena, rows.apps[i].id, JOBS_LOOKED_AT,
                                          &templates, &template_count) != STATUS_OK) {
            not_checked(check, "files of jobs");
            break;
        }
        check_quorums(check, &rows.apps[i]);
        job_inputs_judge(&files, &rows.apps[i], jobs, job_count, check->arena, &faults);
        job_templates_judge(check->config, &rows.apps[i], templates, template_count, check->arena,
                            &faults);
        arena_rewind(check->arena, mark);
    }
    report_lines(check, CHECK_ERROR, buffer_text(&faults));
    buffer_free(&faults);
}

/* What the disk options mean together. */
static void check_files(struct check *check)
{
    const struct config *config = check->config;
    struct failure failure = {.status = STATUS_OK};
    struct file_order_row *orders;
    struct db *db = NULL;
    size_t count;
    enum status status;

    if (config->deletion_policy_expire)
        found(check, CHECK_WARNING,
              "%s: files whose template has no exp_days may be deleted after 60 days",
              place(check, "deletion_policy_expire"));
    if (config->delete_from_self && config->files_db_name.length == 0)
        found(check, CHECK_WARNING,
              "%s: without files_db_name no file of today's clients is deleted",
              place(check, "delete_from_self"));
    if (config->files_db_name.length == 0 || check->database == CHECK_NO_DATABASE)
        return;
    status = db_files_open(config, &db, &failure);
    if (status == STATUS_OK) { /* an earlier version of it lacks columns */
        status = db_file_orders(db, check->arena, 0, 1, &orders, &count);
        if (status != STATUS_OK)
            (void)fail(&failure, status, "%s", db_error(db));
        else if (!db_sees_losses(db))
            status = fail(&failure, STATUS_DB_REFUSED, "there is no table \"qm_connection\"");
    }
    if (status != STATUS_OK)
        found(check, CHECK_WARNING, "file database: %s (qmctl files init)", failure.text);
    db_close(db);
}

/* Jobs of science apps that no host gets. */
static void check_science_jobs(struct check *check, const struct buda_apps *apps)
{
    struct buda_jobs_row *jobs = NULL;
    size_t count = 0;

    if (check->db == NULL)
        return;
    if (db_admin_buda_jobs(check->db, check->arena, JOBS_LOOKED_AT, &jobs, &count) != STATUS_OK) {
        not_checked(check, "jobs of science apps");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct buda_app *app = buda_app_find(apps, jobs[i].number);

        if (jobs[i].unsent > 0 && (app == NULL || app->count == 0))
            found(check, CHECK_WARNING,
                  "buda_apps: " COUNT_FORMAT " for the science app " TEXT_FORMAT
                  ", of which no variant can be used",
                  COUNT_ARG((size_t)jobs[i].unsent, "waiting job"),
                  TEXT_ARG(text_first(jobs[i].name, 100)));
    }
}

static bool has_wrapper(const struct catalog_rows *rows, int64_t appid)
{
    for (size_t i = 0; i < rows->version_count; i++)
        if (rows->versions[i].appid == appid && version_is_wrapper(&rows->versions[i]))
            return true;
    return false;
}

/* Who binds all instances of a job to one version wants equal answers, and a wrapper that runs this
 * variant or that does not give them. */
static void check_bound_wrappers(struct check *check, const struct buda_apps *apps,
                                 const struct catalog_rows *rows)
{
    const struct buda_app *divided = NULL;

    for (size_t i = 0; i < apps->app_count && divided == NULL; i++)
        divided = apps->apps[i].count > 1 ? &apps->apps[i] : NULL;
    for (size_t i = 0; divided != NULL && i < rows->app_count; i++)
        if (rows->apps[i].homogeneous_app_version != 0 && has_wrapper(rows, rows->apps[i].id))
            found(check, CHECK_WARNING,
                  "app " TEXT_FORMAT ": homogeneous_app_version binds a job to a version of the"
                  " wrapper, not to a variant of its science app, as " TEXT_FORMAT " has several",
                  TEXT_ARG(rows->apps[i].name), TEXT_ARG(divided->name));
}

/* What cannot be used of buda_apps: jobs of it go to nobody, or not to the hosts it is for. */
static void check_science_apps(struct check *check, const struct plan_classes *classes,
                               const struct catalog_rows *rows)
{
    struct buda_apps apps = {.fault_count = 0};
    char folder[PATH_MAX];

    project_path(check->config, "buda_apps", folder, sizeof(folder));
    if (!buda_files_read(folder, classes, check->arena, &apps))
        found(check, CHECK_WARNING, "buda_apps: not checked: no memory");
    for (size_t i = 0; i < apps.fault_count && i < BUDA_FAULTS_KEPT; i++)
        found(check, CHECK_WARNING, TEXT_FORMAT ": " TEXT_FORMAT, TEXT_ARG(apps.faults[i].file),
              TEXT_ARG(apps.faults[i].words));
    if (apps.fault_count > BUDA_FAULTS_KEPT)
        found(check, CHECK_WARNING, "buda_apps: in addition, " COUNT_FORMAT " cannot be used",
              COUNT_ARG(apps.fault_count - BUDA_FAULTS_KEPT, "file"));
    check_science_jobs(check, &apps);
    check_bound_wrappers(check, &apps, rows);
}

/* A version of a class that nobody knows is never sent, and nothing says so. */
static void check_plan_classes(struct check *check)
{
    struct failure failure = {.status = STATUS_OK};
    struct plan_classes classes;
    struct catalog_rows rows = {0};

    if (project_plan_classes(check->config, &classes, &failure) != STATUS_OK) {
        found(check, CHECK_ERROR, "%s", failure.text);
        return;
    }
    for (size_t i = 0; i < classes.warning_count; i++)
        found(check, CHECK_WARNING, "plan_class_spec.xml: " TEXT_FORMAT,
              TEXT_ARG(classes.warnings[i]));
    if (check->db != NULL && db_catalog(check->db, check->arena, &rows) != STATUS_OK)
        rows = (struct catalog_rows){0}; /* said already */
    for (size_t i = 0; i < rows.version_count; i++) {
        const struct app_version_row *version = &rows.versions[i];

        if (version->plan_class.length > 0 && !plan_class_is_known(&classes, version->plan_class))
            found(check, CHECK_WARNING,
                  "app_version %lld: there is no plan class " TEXT_FORMAT ", so it is never sent",
                  (long long)version->id, TEXT_ARG(version->plan_class));
    }
    check_science_apps(check, &classes, &rows);
    plan_classes_free(&classes);
}

/* Jobs that hosts get none of because they store work for longer. What a client stores where its
 * user chose nothing, or chose it on the computer, is not known: where the rule holds for all, so
 * many are likely to store a day that jobs due sooner are worth a word in any case. */
static void check_connection(struct check *check)
{
    const struct config *config = check->config;
    bool holds_for_all = config->edf_min_queue == EDF_MIN_QUEUE_ALWAYS;
    struct short_deadline_row *apps = NULL;
    struct connection_hosts hosts;
    int64_t longest = holds_for_all ? SHORT_DEADLINE_S : 0;
    size_t count = 0;

    if (config->ignore_delay_bound || check->db == NULL ||
        (!holds_for_all && config->edf_min_queue != EDF_MIN_QUEUE_BY_CLIENT))
        return;
    if (connection_hosts_read(check->db, check->arena, config, time(NULL), &hosts) != STATUS_OK) {
        not_checked(check, "deadlines");
        return;
    }
    if (hosts.count > 0) /* what volunteers wrote: any number */
        longest = (int64_t)fmin(fmax((double)longest, hosts.days[hosts.count - 1] * 86400),
                                (double)INT32_MAX);
    if (longest == 0)
        return;
    if (db_admin_short_deadlines(check->db, check->arena, JOBS_LOOKED_AT, longest, &apps, &count) !=
        STATUS_OK) {
        not_checked(check, "deadlines");
        return;
    }
    for (size_t i = 0; i < count; i++)
        found(check, CHECK_WARNING,
              "jobs of " TEXT_FORMAT " are due %.1f hours after they are sent: " TEXT_FORMAT
              " (edf_min_queue when_not_idle: one for each processor)",
              TEXT_ARG(apps[i].app), (double)apps[i].shortest / 3600,
              TEXT_ARG(connection_words(check->arena, config, &hosts, apps[i].shortest)));
}

/* Tight jobs wait behind older ones of their priority. A margin has fewer jobs late, but keeps
 * tight ones out of queues, whatever their priority; without it a higher priority has many of them
 * late, which costs much only where late work is lost. As measured in
 * tools/lab/volunteers/experiments.md, "Tight jobs among others". */
static const char *margin_words(const struct config *config)
{
    return config->extend_deadlines
               ? "If those with the least are needed soon, give them a higher priority; if they "
                 "may wait, set deadline_margin 2, so that fewer jobs are late"
               : "Set deadline_margin 3, so that fewer jobs are late; with a higher priority "
                 "instead more of those with the least are answered, but many are late";
}

static void check_margin(struct check *check)
{
    const struct config *config = check->config;
    struct app_slack_row *apps = NULL;
    size_t count = 0;

    if (config->ignore_delay_bound || check->db == NULL || config->deadline_margin > 1)
        return;
    if (db_admin_slacks(check->db, check->arena, JOBS_LOOKED_AT, SLACKS_DIFFER, &apps, &count) !=
        STATUS_OK) {
        not_checked(check, "deadlines");
        return;
    }
    for (size_t i = 0; i < count; i++)
        found(check, CHECK_WARNING,
              "some jobs of " TEXT_FORMAT " with priority %" PRId64
              " have %.0f times as long for their size as others, and go before them where they "
              "are older. %s",
              TEXT_ARG(apps[i].app), apps[i].priority, apps[i].most / apps[i].least,
              margin_words(config));
}

static void check_hurry(struct check *check)
{
    const char *lacks = config_hurry_lacks(check->config);

    if (check->config->hurry_batches && lacks != NULL)
        found(check, CHECK_WARNING, "hurry_batches does nothing without %s", lacks);
}

/* Of the jobs' deadlines, and what is set for them. */
static void check_deadlines(struct check *check)
{
    check_connection(check);
    check_margin(check);
    check_hurry(check);
}

void project_check(const char *project_dir, enum check_database database, check_found *report,
                   void *context)
{
    static void (*const looks[TOPIC_PROJECT_COUNT])(struct check * check) = {
#define LOOK(name) [TOPIC_##name] = check_##name,
        CHECK_TOPICS(LOOK)
#undef LOOK
    };
    struct check check = {.arena = arena_create(CHECK_BYTES_MAX),
                          .project_dir = project_dir,
                          .database = database,
                          .found = report,
                          .context = context};

    if (check.arena == NULL) {
        found(&check, CHECK_STOPS, "no memory");
        return;
    }
    for (int topic = 0; topic < TOPIC_PROJECT_COUNT; topic++) {
        check.topic = (enum check_topic)topic;
        looks[topic](&check);
        if (check.config == NULL)
            break;
    }
    db_close(check.db);
    config_release(check.config);
    arena_destroy(check.arena);
}
