/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/project_check.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/check/connection_check.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/project/project.h"
#include "server/submit/keys.h"
#include "server/submit/template_input.h"
#include "server/submit/template_output.h"
#include "server/upload/upload_project.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { JOBS_LOOKED_AT = 1000, SHORT_DEADLINE_S = 86400 };

/* One check under way. */
struct check {
    struct arena *arena;
    const char *project_dir;
    bool reads_database;
    check_found *found;
    void *context;
    struct config *config;
    struct db *db; /* NULL: not to be read, or not there */
    bool stops;    /* something was found that no server starts with */
};

static void found(struct check *check, enum check_severity severity, const char *text)
{
    check->stops = check->stops || severity == CHECK_STOPS;
    check->found(check->context, severity, text);
}

static bool check_config(struct check *check)
{
    struct config_findings findings = {.count = 0};
    struct failure failure = {.status = STATUS_OK};
    enum status status =
        config_load(check->project_dir, check->arena, &check->config, &findings, &failure);
    for (size_t i = 0; i < findings.count; i++) {
        const struct config_finding *finding = &findings.items[i];
        found(check, finding->is_error ? CHECK_STOPS : CHECK_WARNING,
              text_string(check->arena, text_print(check->arena, TEXT_FORMAT ":%d: " TEXT_FORMAT,
                                                   TEXT_ARG(finding->file), finding->line,
                                                   TEXT_ARG(finding->text))));
    }
    if (status != STATUS_OK && !check->stops)
        found(check, CHECK_STOPS, failure.text);
    return status == STATUS_OK;
}

static void check_given(struct check *check)
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
            found(check, CHECK_ERROR,
                  text_string(check->arena, text_print(check->arena, "config.xml: %s is not given",
                                                       options[i].name)));
}

static void check_folder(struct check *check, const char *option, struct text dir)
{
    const char *path = text_string(check->arena, dir);
    struct stat info;
    if (dir.length == 0)
        return;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        found(check, CHECK_ERROR,
              text_string(check->arena,
                          text_print(check->arena, "%s: %s is not a folder", option, path)));
    else if (access(path, W_OK | X_OK) != 0)
        found(check, CHECK_WARNING,
              text_string(check->arena, text_print(check->arena, "%s: %s is not writable for you",
                                                   option, path)));
    else if ((info.st_mode & S_IWOTH) != 0)
        found(
            check, CHECK_WARNING,
            text_string(check->arena,
                        text_print(check->arena,
                                   "%s: everybody on this machine can put files into %s, and take "
                                   "the place of others: chmod o-w",
                                   option, path)));
}

static void check_keys(struct check *check)
{
    for (int i = 0; i < 2; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct stat info;
        const char *name =
            text_string(check->arena, text_print(check->arena, "%s_private", key_pairs[i]));
        const char *path = key_path(check->arena, check->config, name);
        if (key_check_pair(check->arena, check->config, key_pairs[i], &failure) != STATUS_OK)
            found(check, CHECK_ERROR, failure.text);
        else if (stat(path, &info) == 0 && (info.st_mode & 077) != 0)
            found(check, CHECK_WARNING,
                  text_string(
                      check->arena,
                      text_print(check->arena, "%s can be read by others than its owner", path)));
    }
}

/* What the upload handler and the jobs think of certificates, and the handler's permissions. */
static void check_uploads(struct check *check)
{
    const struct config *config = check->config;
    int mode;

    if (config->ignore_upload_certificates)
        found(check, CHECK_WARNING,
              "ignore_upload_certificates: anybody can upload files of any name");
    else if (config->dont_generate_upload_certificates)
        found(
            check, CHECK_WARNING,
            "dont_generate_upload_certificates: an upload handler refuses files of jobs without a "
            "certificate, unless ignore_upload_certificates is set");
    if (!upload_mode_read(config->fuh_set_initial_permission, 0, &mode) ||
        !upload_mode_read(config->fuh_set_completed_permission, 0, &mode))
        found(check, CHECK_ERROR,
              "fuh_set_initial_permission, fuh_set_completed_permission: wanted octal digits up to "
              "0777");
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
        found(check, CHECK_ERROR, failure.text);
}

static void check_templates(struct check *check)
{
    DIR *folder = opendir(
        text_string(check->arena, text_print(check->arena, "%s/templates", check->project_dir)));
    struct dirent *entry;
    if (folder == NULL) {
        found(check, CHECK_WARNING, "there is no folder templates");
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
    found(check, CHECK_WARNING,
          text_string(check->arena,
                      text_print(check->arena, "%s: not checked: %s", what, db_error(check->db))));
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
              text_string(check->arena,
                          text_print(check->arena,
                                     "table " TEXT_FORMAT
                                     " has no primary key, which a cluster needs: ALTER TABLE"
                                     " " TEXT_FORMAT " ADD PRIMARY KEY (" TEXT_FORMAT ")",
                                     TEXT_ARG(tables[i].name), TEXT_ARG(tables[i].name),
                                     TEXT_ARG(tables[i].columns_of_key))));
}

static void check_database(struct check *check)
{
    struct failure failure = {.status = STATUS_OK};
    struct catalog_rows rows;
    enum status status = db_admin_open(check->config, &check->db, &failure);
    if (status == STATUS_OK) {
        status = db_catalog(check->db, check->arena, &rows);
        if (status != STATUS_OK)
            (void)fail(&failure, status, "%s", db_error(check->db));
    }
    if (status != STATUS_OK) {
        found(check, CHECK_ERROR,
              text_string(check->arena, text_print(check->arena, "database: %s", failure.text)));
        return;
    }
    if (rows.app_count == 0)
        found(check, CHECK_WARNING, "there is no application (qmctl app add)");
    else if (rows.version_count == 0)
        found(check, CHECK_WARNING, "no application has a version (qmctl version add)");
    if (rows.platform_count == 0)
        found(check, CHECK_ERROR, "there are no platforms (qmctl init adds them)");
    check_table_keys(check);
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
              "deletion_policy_expire: files whose template has no exp_days may be deleted after 60"
              " days");
    if (config->delete_from_self && config->files_db_name.length == 0)
        found(check, CHECK_WARNING,
              "delete_from_self: without files_db_name no file of today's clients is deleted");
    if (config->files_db_name.length == 0 || !check->reads_database)
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
        found(check, CHECK_WARNING,
              text_string(
                  check->arena,
                  text_print(check->arena, "file database: %s (qmctl files init)", failure.text)));
    db_close(db);
}

/* A version of a class that nobody knows is never sent, and nothing says so. */
static void check_plan_classes(struct check *check)
{
    struct failure failure = {.status = STATUS_OK};
    struct plan_classes classes;
    struct catalog_rows rows = {0};

    if (project_plan_classes(check->config, &classes, &failure) != STATUS_OK) {
        found(check, CHECK_ERROR, failure.text);
        return;
    }
    if (check->db != NULL && db_catalog(check->db, check->arena, &rows) != STATUS_OK)
        rows.version_count = 0; /* said already */
    for (size_t i = 0; i < rows.version_count; i++) {
        const struct app_version_row *version = &rows.versions[i];

        if (version->plan_class.length > 0 && !plan_class_is_known(&classes, version->plan_class))
            found(check, CHECK_WARNING,
                  text_string(check->arena,
                              text_print(check->arena,
                                         "app_version %lld: there is no plan class " TEXT_FORMAT
                                         ", so it is never sent",
                                         (long long)version->id, TEXT_ARG(version->plan_class))));
    }
    plan_classes_free(&classes);
}

/* Jobs that hosts get none of because they store work for longer. What a client stores where its
 * user chose nothing, or chose it on the computer, is not known: where the rule holds for all, so
 * many are likely to store a day that jobs due sooner are worth a word in any case. */
static void check_deadlines(struct check *check)
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
              text_string(
                  check->arena,
                  text_print(
                      check->arena,
                      "jobs of " TEXT_FORMAT " are due %.1f hours after they are sent: " TEXT_FORMAT
                      " (edf_min_queue when_not_idle: one for each processor)",
                      TEXT_ARG(apps[i].app), (double)apps[i].shortest / 3600,
                      TEXT_ARG(connection_words(check->arena, config, &hosts, apps[i].shortest)))));
}

/* What a server reads of the project's folder before it starts. */
static void check_start(struct check *check)
{
    struct project *project = NULL;
    struct failure failure = {.status = STATUS_OK};

    if (project_load(check->config, &project, &failure) != STATUS_OK)
        found(check, CHECK_STOPS, failure.text);
    else if (check->config->joining && check->config->account_creation_rpc_require_consent &&
             project->blocks.terms_of_use.length == 0)
        found(check, CHECK_ERROR,
              "account_creation_rpc_require_consent: without terms_of_use.txt no client sends a "
              "consent, so nobody can join");
    project_release(project);
}

void project_check(struct arena *arena, const char *project_dir, bool reads_database,
                   check_found *report, void *context)
{
    struct check check = {.arena = arena,
                          .project_dir = project_dir,
                          .reads_database = reads_database,
                          .found = report,
                          .context = context};

    if (check_config(&check)) {
        check_start(&check);
        check_given(&check);
        check_folder(&check, "download_dir", check.config->download_dir);
        check_folder(&check, "upload_dir", check.config->upload_dir);
        check_keys(&check);
        check_uploads(&check);
        check_secrets(&check);
        check_templates(&check);
        check_files(&check);
        if (reads_database)
            check_database(&check);
        check_plan_classes(&check);
        check_deadlines(&check);
    }
    db_close(check.db);
    config_release(check.config);
}
