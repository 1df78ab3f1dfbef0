/* SPDX-License-Identifier: Apache-2.0 */
/* Checks everything that a server will need, says all that is wrong and not only the first, and
 * changes nothing. */
#include "config/config.h"
#include "db/admin.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/project/project.h"
#include "server/submit/keys.h"
#include "server/submit/template_input.h"
#include "server/submit/template_output.h"
#include "tools/qmctl/commands.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { JOBS_LOOKED_AT = 1000, SHORT_DEADLINE_S = 86400 };

struct check {
    struct session *session;
    int errors, warnings;
};

static void found(struct check *check, bool is_error, const char *text)
{
    printf("%s: %s\n", is_error ? "error" : "warning", text);
    if (is_error)
        check->errors++;
    else
        check->warnings++;
}

static bool check_config(struct check *check)
{
    struct session *session = check->session;
    struct config_findings findings = {.count = 0};
    enum status status = config_load(session->project, session->arena, &session->config, &findings,
                                     &session->failure);
    for (size_t i = 0; i < findings.count; i++) {
        const struct config_finding *finding = &findings.items[i];
        found(
            check, finding->is_error,
            text_string(session->arena, text_print(session->arena, TEXT_FORMAT ":%d: " TEXT_FORMAT,
                                                   TEXT_ARG(finding->file), finding->line,
                                                   TEXT_ARG(finding->text))));
    }
    if (status != STATUS_OK && check->errors == 0)
        found(check, true, session->failure.text);
    return status == STATUS_OK;
}

static void check_given(struct check *check)
{
    const struct config *config = check->session->config;
    const struct {
        const char *name;
        struct text value;
    } options[] = {{"master_url", config->master_url},     {"long_name", config->long_name},
                   {"db_name", config->db_name},           {"download_dir", config->download_dir},
                   {"download_url", config->download_url}, {"upload_url", config->upload_url}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].value.length == 0)
            found(check, true,
                  text_string(check->session->arena,
                              text_print(check->session->arena, "config.xml: %s is not given",
                                         options[i].name)));
}

static void check_folder(struct check *check, const char *option, struct text dir)
{
    const char *path = text_string(check->session->arena, dir);
    struct stat info;
    if (dir.length == 0)
        return;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        found(
            check, true,
            text_string(check->session->arena,
                        text_print(check->session->arena, "%s: %s is not a folder", option, path)));
    else if (access(path, W_OK | X_OK) != 0)
        found(check, false,
              text_string(check->session->arena,
                          text_print(check->session->arena, "%s: %s is not writable for you",
                                     option, path)));
}

static void check_keys(struct check *check)
{
    struct session *session = check->session;
    for (int i = 0; i < 2; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct stat info;
        const char *name =
            text_string(session->arena, text_print(session->arena, "%s_private", key_pairs[i]));
        const char *path = key_path(session->arena, session->config, name);
        if (key_check_pair(session->arena, session->config, key_pairs[i], &failure) != STATUS_OK)
            found(check, true, failure.text);
        else if (stat(path, &info) == 0 && (info.st_mode & 077) != 0)
            found(check, false,
                  text_string(
                      session->arena,
                      text_print(session->arena, "%s can be read by others than its owner", path)));
    }
}

/* Files that end in "in" or "in.xml" are input templates, those in "out" result templates. */
static void check_template(struct check *check, const char *name)
{
    struct session *session = check->session;
    struct text text = text_from(name), document;
    struct failure failure = {.status = STATUS_OK};
    bool is_in = text_ends(text, TEXT("in")) || text_ends(text, TEXT("in.xml"));
    bool is_out = text_ends(text, TEXT("out")) || text_ends(text, TEXT("out.xml"));
    const char *shown =
        text_string(session->arena, text_print(session->arena, "templates/%s", name));
    const char *path =
        text_string(session->arena, text_print(session->arena, "%s/%s", session->project, shown));
    const struct output_options options = {.upload_url = session->config->upload_url,
                                           .certificates =
                                               !session->config->dont_generate_upload_certificates};
    struct input_template input;
    struct output_template output;
    if (!is_in && !is_out)
        return;
    enum status status = file_read(session->arena, path, TEMPLATE_BYTES_MAX, &document, &failure);
    if (status == STATUS_OK && is_in)
        status = input_template_read(session->arena, shown, document, &input, &failure);
    else if (status == STATUS_OK)
        status = output_template_read(session->arena, shown, document, &options, &output, &failure);
    if (status != STATUS_OK)
        found(check, true, failure.text);
}

static void check_templates(struct check *check)
{
    struct session *session = check->session;
    DIR *folder = opendir(
        text_string(session->arena, text_print(session->arena, "%s/templates", session->project)));
    struct dirent *entry;
    if (folder == NULL) {
        found(check, false, "there is no folder templates");
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        struct arena_mark mark = arena_mark(session->arena);
        if (entry->d_name[0] != '.')
            check_template(check, entry->d_name);
        arena_rewind(session->arena, mark);
    }
    (void)closedir(folder);
}

static void check_database(struct check *check)
{
    struct failure failure = {.status = STATUS_OK};
    struct catalog_rows rows;
    struct session *session = check->session;
    enum status status = db_open(session->config, &session->db, &failure);
    if (status == STATUS_OK) {
        status = db_catalog(session->db, session->arena, &rows);
        if (status != STATUS_OK)
            (void)fail(&failure, status, "%s", db_error(session->db));
    }
    if (status != STATUS_OK) {
        found(
            check, true,
            text_string(session->arena, text_print(session->arena, "database: %s", failure.text)));
        return;
    }
    if (rows.app_count == 0)
        found(check, false, "there is no application (qmctl app add)");
    else if (rows.version_count == 0)
        found(check, false, "no application has a version (qmctl version add)");
    if (rows.platform_count == 0)
        found(check, true, "there are no platforms (qmctl init adds them)");
}

/* What the disk options mean together. */
static void check_files(struct check *check)
{
    const struct config *config = check->session->config;
    struct failure failure = {.status = STATUS_OK};
    struct file_order *orders;
    struct db *db = NULL;
    size_t count;
    enum status status;

    if (config->deletion_policy_expire)
        found(check, false,
              "deletion_policy_expire: files whose template has no exp_days may be deleted after 60"
              " days");
    if (config->delete_from_self && config->files_db_name.length == 0)
        found(check, false,
              "delete_from_self: without files_db_name no file of today's clients is deleted");
    if (config->files_db_name.length == 0 || option_given(check->session, "no-db"))
        return;
    status = db_files_open(config, &db, &failure);
    if (status == STATUS_OK) { /* an earlier version of it lacks columns */
        status = db_file_orders(db, check->session->arena, 0, 1, &orders, &count);
        if (status != STATUS_OK)
            (void)fail(&failure, status, "%s", db_error(db));
    }
    if (status != STATUS_OK)
        found(check, false,
              text_string(check->session->arena,
                          text_print(check->session->arena, "file database: %s (qmctl files init)",
                                     failure.text)));
    db_close(db);
}

/* A version of a class that nobody knows is never sent, and nothing says so. */
static void check_plan_classes(struct check *check, bool reads_versions)
{
    struct session *session = check->session;
    struct failure failure = {.status = STATUS_OK};
    struct plan_classes classes;
    struct catalog_rows rows = {0};

    if (project_plan_classes(session->config, &classes, &failure) != STATUS_OK) {
        found(check, true, failure.text);
        return;
    }
    if (reads_versions && session->db != NULL &&
        db_catalog(session->db, session->arena, &rows) != STATUS_OK)
        rows.version_count = 0; /* said already */
    for (size_t i = 0; i < rows.version_count; i++) {
        const struct app_version_row *version = &rows.versions[i];

        if (version->plan_class.length > 0 && !plan_class_is_known(&classes, version->plan_class))
            found(check, false,
                  text_string(session->arena,
                              text_print(session->arena,
                                         "app_version %lld: there is no plan class " TEXT_FORMAT
                                         ", so it is never sent",
                                         (long long)version->id, TEXT_ARG(version->plan_class))));
    }
    plan_classes_free(&classes);
}

/* Hosts that idle by the rule of the connection period are seen nowhere but in counters of reasons.
 * Clients come with 0.1 days of work to store at least; who wants more often says a day. */
static void check_deadlines(struct check *check, bool reads_jobs)
{
    struct session *session = check->session;
    const struct config *config = session->config;
    struct short_deadline_row *apps = NULL;
    size_t count = 0;

    if (config->edf_min_queue != EDF_MIN_QUEUE_ALWAYS)
        return;
    if (config->ignore_delay_bound || !config->workload_sim || !reads_jobs || session->db == NULL ||
        db_admin_short_deadlines(session->db, session->arena, JOBS_LOOKED_AT, SHORT_DEADLINE_S,
                                 &apps, &count) != STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        found(check, false,
              text_string(session->arena,
                          text_print(session->arena,
                                     "jobs of " TEXT_FORMAT " are due %.1f hours after they are"
                                     " sent: hosts that store work for longer get none, even idle"
                                     " (edf_min_queue when_not_idle: one for each processor)",
                                     TEXT_ARG(apps[i].app), (double)apps[i].shortest / 3600)));
}

enum exit_code command_check_config(struct session *session)
{
    struct check check = {.session = session};
    if (check_config(&check)) {
        check_given(&check);
        check_folder(&check, "download_dir", session->config->download_dir);
        check_folder(&check, "upload_dir", session->config->upload_dir);
        check_keys(&check);
        check_templates(&check);
        check_files(&check);
        if (!option_given(session, "no-db"))
            check_database(&check);
        check_plan_classes(&check, !option_given(session, "no-db"));
        check_deadlines(&check, !option_given(session, "no-db"));
    }
    printf("%d errors, %d warnings\n", check.errors, check.warnings);
    return check.errors == 0 ? EXIT_DONE : EXIT_FAILED;
}
