/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl: the administrator's command. A table of subcommands; each says what it needs, and gets a
 * session. Exit status: 0 done, 1 failed, 2 wrong usage, 3 nothing for this host (why), or
 * something would change (adopt, replay, deploy --dry-run). */
#include "tools/qmctl/session/commands.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/version.h"
#include "server/base/xml.h"
#include "server/submit/catalog_settings.h"
#include "tools/qmctl/help.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

#define SESSION_BYTES_MAX ((size_t)2 << 30)

#define DB_ADMIN_OPTIONS(who)                                                               \
    {"db-admin", NULL, "USER", who},                                                        \
    {                                                                                       \
        "db-admin-passwd-file", NULL, "FILE",                                               \
            "A file with the administrator's password in its first line; without it, none." \
    }
static const struct option init_options[] = {
    {"url", NULL, "URL",
     "The URL that volunteers attach to; ends in a slash. Its host needs a dot, as in example.org "
     "or 127.0.0.1: clients refuse http://localhost/demo/. Required."},
    {"name", NULL, "NAME", "The project's name as volunteers see it. Required."},
    {"scheduler", NULL, "URL",
     "A scheduler's URL; may be repeated (https://HOST/NAME_cgi/cgi for https://HOST/NAME/)."},
    {"db-name", NULL, "NAME", "Name of the database. Required."},
    {"db-host", NULL, "HOST", "Database server, as host or host:port."},
    {"db-socket", NULL, "PATH", "The database's Unix socket, if it is not the usual one."},
    {"db-user", NULL, "USER", "Database user."},
    {"db-passwd", NULL, "PASSWORD",
     "Password of the database user (stored in config.xml); others can see it in the list of "
     "processes."},
    {"db-passwd-file", NULL, "FILE", "A file with the password in its first line."},
    DB_ADMIN_OPTIONS(
        "The user who makes and changes the database, if db-user may not (a db-user without a "
        "password then gets one, and qmctl deploy mariadb makes the user)."),
};
static const struct option adopt_options[] = {
    {"apply", NULL, NULL,
     "Make the changes: add missing indexes, our own tables, and scheduler_url in config.xml. Asks "
     "first, and announces each. If interrupted, run it again."},
    {"all", NULL, NULL,
     "Also show what needs no change (level ok), as --json and --tsv always do."},
    DB_ADMIN_OPTIONS("The user who makes tables and indexes, if the user in config.xml may not."),
};
static const struct option undo_options[] = {
    {"undo", NULL, NULL, "Undo it."},
};
#define SETTING_ALIAS_FLAG    NULL
#define SETTING_ALIAS_INTEGER NULL
#define SETTING_ALIAS_REAL    NULL
#define SETTING_ALIAS_NAME    "friendly"
#define SETTING_ALIAS_CLASS   NULL
#define SETTING_ALIAS_VERSION NULL
#define SETTING_ALIAS_CLIENT  NULL
#define SETTING_OPTION(name, kind, lowest, highest, usual, help) \
    {#name, SETTING_ALIAS_##kind, SETTING_VALUE_##kind, help},
static const struct option app_set_options[] = {
#define APP_SETTING SETTING_OPTION
#include "server/submit/app_settings.def"
#undef APP_SETTING
};
static const struct option version_set_options[] = {
#define VERSION_SETTING SETTING_OPTION
#include "server/submit/version_settings.def"
};
static const struct option app_classes_options[] = {
    {"release", NULL, "CLASS",
     "Release the unfinished jobs of this class, a few hundred at a time, so that a host of any "
     "class can take them. Jobs with a success, or with an instance on a host, are not released."},
};
static const struct option platform_add_options[] = {
    {"user_friendly_name", "friendly", "NAME",
     "Name for people (for a known platform, the name that qmctl init gives it)."},
    {"force", NULL, NULL, "Add it although the name looks misspelt."},
};
static const struct option version_add_options[] = {
    {"from", NULL, "FOLDER", "Add the versions of the folders in FOLDER; see above."},
    {"gzip", NULL, NULL,
     "Keep FILE.gz next to each file; clients that can will download it instead of FILE."},
    {"main", NULL, "FILE", "The main program among the files (the first)."},
    {"logical", NULL, "NAME=FILE", "Name by which the program opens a file; may be repeated."},
    {"copy", NULL, "FILE", "The program needs a copy of this file, not a link; may be repeated."},
    {"api", "api_version", "VERSION", "Version of the BOINC API that the program was built with."},
    {"file-prefix", NULL, "TEXT", "Prefix for the names of all its files."},
    {"keep-name", NULL, NULL,
     "Keep the main program's name (otherwise APP_VERSION_PLATFORM[__CLASS])."},
    {"dont-throttle", NULL, NULL, "Clients do not throttle it."},
    {"needs-network", NULL, NULL, "The program uses the network."},
    {"wrapper", NULL, NULL, "The program is a wrapper around other programs."},
#include "server/submit/version_settings.def"
#undef VERSION_SETTING
};
static const struct option user_add_options[] = {
    {"name", NULL, "NAME", "The name that others see (the part of EMAIL before @)."},
};
static const struct option user_show_options[] = {
    {"id", NULL, "N", "The user's number, instead of the e-mail address."},
};
static const struct option user_set_options[] = {
    {"id", NULL, "N", "By number instead of e-mail address."},
    {"email", NULL, "EMAIL",
     "Another e-mail address. The user's password no longer fits then: set a new one on the "
     "project's pages, or use the account key."},
    {"name", NULL, "NAME", "The name that others see."},
    {"country", NULL, "TEXT", "The country."},
    {"postal-code", NULL, "TEXT", "The postal code."},
    {"send-email", NULL, "yes|no", "Whether the project may write to the user."},
    {"show-hosts", NULL, "yes|no", "Whether others see the user's computers."},
    {"email-validated", NULL, "yes|no", "Whether the address is known to be the user's."},
    {"donated", NULL, "yes|no", "Whether the user has given money."},
    {"own-jobs-only", NULL, "yes|no",
     "Whether the user's hosts get only jobs that are --for them (seti_id)."},
};
static const struct option user_delete_options[] = {
    {"id", NULL, "N", "The user's number, instead of the e-mail address."},
    {"give-jobs", NULL, NULL,
     "Unfinished jobs --for this user or one of the user's hosts go to any host; otherwise they "
     "are given up."},
};
static const struct option host_delete_options[] = {
    {"give-jobs", NULL, NULL,
     "Unfinished jobs --for this host go to any host; otherwise they are given up."},
};
static const struct option list_options[] = {
    {"most", NULL, "N", "Maximum number of lines (100)."},
};
static const struct option failures_options[] = {
    {"hours", NULL, "N",
     "Number of hours to look back, 192 at most; whole hours by the clock "
     "(24)."},
    {"errors", NULL, NULL, "By exit status instead, most frequent first, with its meaning."},
    {"hosts", NULL, NULL,
     "The hosts that failed most instead. The weight of a result halves every five days, whatever "
     "--hours says."},
    {"batches", NULL, NULL, "By batch instead, the one with most failures first."},
    {"most", NULL, "N", "With --hosts: maximum number of lines (20)."},
};
static const struct option jobs_create_options[] = {
    {"app", "appname", "NAME", "The application. Required."},
    {"in", "wu_template", "FILE", "Input template (templates/APP_in)."},
    {"out", "result_template", "FILE", "Result template (templates/APP_out)."},
    {"name", "wu_name", "NAME", "The job's name, or the beginning of numbered names."},
    {"stdin", NULL, NULL,
     "One job for each line of standard input. A line with an error ends the command."},
    {"commit_every", NULL, "N",
     "With --stdin: number of jobs that are made together or not at all, those of the first lines "
     "first (10000); 0: all jobs."},
    {"go_on", NULL, NULL,
     "With --stdin, after an error or an interruption: give the same lines again; lines whose jobs "
     "were made are skipped. Requires the same --name."},
    {"command_line", NULL, "TEXT", "Arguments for the program."},
    {"keywords", NULL, "N N ...", "Numbers of keywords."},
    {"sub_appname", NULL, "NAME", "Name of a part of the application, shown to volunteers."},
    {"remote_file", NULL, "URL,BYTES,MD5", "A file on another server; may be repeated."},
    {"for", NULL, "WHOM",
     "For one of WHOM's hosts, whose next request makes the result: host:ID (one loss ends the "
     "job), user:ID, team:ID; or all, with --multi. Requires enable_assignment or "
     "enable_assignment_multi in config.xml."},
    {"multi", NULL, NULL, "For each of WHOM's hosts instead of one."},
    {"transitioner", NULL, NULL, "Let BOINC's transitioner make the results."},
    {"quiet", NULL, NULL, "Print no progress on standard error."},
};
/* Jobs that are changed (jobs/change_command.c). */
#define CHOSEN_JOBS                                                                              \
    {"name", NULL, "TEXT", "Jobs whose name begins with TEXT."},                                 \
        {"file", NULL, "FILE",                                                                   \
         "Jobs whose names are in FILE, one in each line (-: standard "                          \
         "input)."},                                                                             \
        {"ids", NULL, "A-B", "Jobs with these numbers."},                                        \
        {"batch", NULL, "BATCH", "Jobs of this batch: its number or name."},                     \
        {"app", NULL, "NAME", "Jobs of this application."},                                      \
        {"lost", NULL, NULL,                                                                     \
         "Jobs that nothing will end (qmctl status): their application, or the hosts, users or " \
         "teams that they are for, do not exist."},                                              \
        {"dry-run", NULL, NULL, "Change nothing; print how many jobs would be changed."},        \
    {                                                                                            \
        "quiet", NULL, NULL, "Print no progress on standard error."                              \
    }
static const struct option jobs_change_options[] = {CHOSEN_JOBS};
static const struct option jobs_priority_options[] = {
    {"priority", NULL, "N", "The new priority; higher goes first. Required."},
    CHOSEN_JOBS,
};
#define WHICH_JOBS(begins)                                                        \
    {"app", NULL, "NAME", "Only jobs of this application."},                      \
        {"batch", NULL, "BATCH", "Only jobs of this batch: its number or name."}, \
    {                                                                             \
        "name", NULL, "TEXT", begins                                              \
    }
#define PAGE_OPTIONS                                                         \
    {"most", NULL, "N", "Maximum number of lines, the newest (100)."},       \
    {                                                                        \
        "before", NULL, "ID", "Only lower numbers, to continue a long list." \
    }
static const struct option jobs_list_options[] = {
    WHICH_JOBS("Only jobs whose name begins with TEXT."),
    {"state", NULL, "STATE",
     "Only jobs in this state: \"unsent\", \"in progress\", \"waiting for validation\", "
     "\"waiting\" (for the next transition, or for the host they are assigned to), \"done\", "
     "\"failed\" or \"cancelled\". No index covers the last two: without --batch or --name the "
     "command reads all jobs, about two seconds for a million."},
    {"count", NULL, NULL, "The number in each state, instead of a line for each job."},
    PAGE_OPTIONS,
};
static const struct option jobs_show_options[] = {
    {"id", NULL, "N", "By number instead of name."},
};
static const struct option jobs_results_options[] = {
    WHICH_JOBS("Only results whose name, which begins with the job's, begins with TEXT."),
    {"state", NULL, "STATE",
     "Only results in this state: \"inactive\", \"unsent\", \"in progress\" or \"over\"."},
    {"outcome", NULL, "OUTCOME",
     "Only results with this outcome, such as \"success\", \"client error\" or \"no reply\"; no "
     "index covers it, as with failed jobs."},
    PAGE_OPTIONS,
};
static const struct option batch_list_options[] = {
    {"app", NULL, "NAME", "Only jobs of this application."},
    {"most", NULL, "N", "Maximum number of lines, the highest numbers (100)."},
    {"before", NULL, "N", "Only lower numbers, to continue a long list."},
};
#define BATCH_OWNER                                                                   \
    {"owner", NULL, "EMAIL", "Whose it is; none: the project's."},                    \
    {                                                                                 \
        "days", NULL, "N",                                                            \
            "After so many days from now the batch is aborted and retired; 0: never." \
    }
static const struct option batch_add_options[] = {
    {"app", NULL, "NAME", "The application of its jobs. Required."},
    BATCH_OWNER,
};
static const struct option batch_set_options[] = {
    {"name", NULL, "NAME", "Another name."},
    BATCH_OWNER,
    {"hurry", NULL, "yes|no",
     "Whether the last jobs, which will probably be late, are given to one host more (policy(7) "
     "13.9). yes needs send_result_abort and one_result_per_host_per_wu in config.xml."},
};
#define SUBMITTER_RIGHTS                                                                     \
    {"app", NULL, "NAME", "The user may submit jobs of this application; may be repeated."}, \
        {"all-apps", NULL, "yes|no", "Jobs of all applications, also of later ones."},       \
        {"manage", NULL, "yes|no",                                                           \
         "Whether the user may end others' batches on BOINC's web pages."},                  \
        {"quota", NULL, "N",                                                                 \
         "Share of the computing power, in proportion to those of the others (1)."},         \
    {                                                                                        \
        "max-jobs", NULL, "N", "Most unfinished jobs at a time (10000); 0: no limit."        \
    }
static const struct option submitter_add_options[] = {SUBMITTER_RIGHTS};
static const struct option submitter_set_options[] = {
    SUBMITTER_RIGHTS,
    {"not-app", NULL, "NAME", "No more jobs of this application; may be repeated."},
};
static const struct option jobs_export_options[] = {
    WHICH_JOBS("Only answers of jobs whose name begins with TEXT."),
    {"all", NULL, NULL,
     "Every successful result instead of the canonical one, for projects without validation."},
    {"wait", NULL, NULL,
     "Continue until no job is open (with --all: no result, and no due transition that may make "
     "one), and copy answers as they arrive. A signal also ends it, as a failure."},
    {"follow", NULL, NULL,
     "Continue, and copy answers as they arrive, with --all also late ones, until a signal stops "
     "it."},
    {"every", NULL, "SECONDS", "With --wait or --follow: seconds between two checks (5)."},
};
static const struct option transition_options[] = {
    {"loop", NULL, "SECONDS",
     "Continue, and begin a round every so many seconds; at once, if the last one took longer."},
    {"limit", NULL, "N", "Maximum number of workunits in one round (all that are due)."},
    {"now", NULL, "T", "Unix time to compare deadlines with (the clock)."},
    {"validate", NULL, "COMMAND",
     "Compares the output files of each job's results, chooses the answer, grants credit. bitwise: "
     "byte by byte, but for what gzip files say of the time and system of their compression. "
     "Otherwise a shell command. It gets the files of one result and then the same "
     "number of files of another as further arguments (\"\" for an optional one that is missing), "
     "and QM_JOB, QM_JOB_ID and QM_APP. Exit status 0: the same, 1: different, 3: ask later; "
     "anything else is a failure, and asked again in ten minutes. Each result is first compared "
     "with itself: one that differs from itself is unusable, and invalid. A command that does not "
     "exist is refused at the start (exit status 2)."},
    {"validate-batch", NULL, "COMMAND",
     "Instead of --validate: one process of a command compares many, line by line as with "
     "--assimilate-batch. It reads {\"id\": ..., \"job_id\": ..., \"job\": NAME, \"app\": NAME, "
     "\"results\": [{\"id\": ..., \"files\": [PATH, ...]}, ...]}: one result, to say whether it is "
     "of use, or two to compare. It writes {\"id\": ..., \"verdict\": N}, N being 0, 1 or 3 as the "
     "exit statuses of --validate."},
    {"assimilate", NULL, "COMMAND",
     "none: only marks finished jobs, so that their files can be deleted and they can be purged. "
     "Otherwise passes each finished job to a shell command, at least once (if qmctl is killed, "
     "the command ends with it, but not the processes that the command started): the output files "
     "of its canonical result as further arguments (\"\" for one that is missing), none for a job "
     "that was given up, and QM_JOB_ID (always the same for a job), QM_JOB, QM_APP, QM_BATCH, "
     "QM_RESULT and QM_ERROR_MASK (0: there is an answer). Exit status 0: done, and the job is "
     "marked; 3: later, when all its results are over; anything else is a failure, and tried again "
     "in ten minutes."},
    {"assimilate-batch", NULL, "COMMAND",
     "Instead of --assimilate: passes finished jobs to one process of a command, which reads a "
     "line "
     "for each and answers each by a line. It is started when there is a job, reads end of file "
     "when the round is done, and has to flush its output after each line. It reads {\"id\": "
     "..., \"job\": NAME, \"app\": NAME, \"batch\": ..., \"error_mask\": ..., \"result\": "
     "NAME, \"files\": [PATH, ...]}, with what --assimilate says of QM_JOB_ID (id), QM_JOB and so "
     "on. It writes {\"id\": ...} when it is done with that job, which is then marked, or "
     "{\"id\": ..., \"verdict\": 3} for later. It may get 64 lines before its first answer, and "
     "answer them in any order. If it ends, answers anything else, or does not answer within "
     "--command-seconds, the jobs that it has not answered are passed on once more, one by one; "
     "what fails then is tried again in ten minutes."},
    {"delete-files", NULL, NULL,
     "Deletes the files of assimilated jobs, after delete_delay_hours, including uploads for "
     "results that were never reported. It keeps files marked no_delete, input files that an "
     "unfinished job also needs, and those of a job with nodelete in its name. Files that "
     "submitters brought stay as submission(7) says. If a folder is "
     "missing or empty, it tries again every hour. With --loop it deletes output files for about "
     "five seconds in each round, so that jobs do not wait for their transition."},
    {"command-seconds", NULL, "N", "Maximum number of seconds of a command for one job (600)."},
    {"parallel", NULL, "N",
     "Run up to N processes of the command of --validate or --assimilate at a time (1)."},
    {"trust", NULL, NULL,
     "There is no validator: when the quorum of successes is reached, they are accepted without "
     "comparison. Each success is granted credit, as with --validate."},
};
static const struct option purge_options[] = {
    {"min-age-days", NULL, "N", "Only jobs that did not change for this many days (30)."},
    {"app", NULL, "NAME", "Only jobs of this application."},
    {"archive", NULL, "DIR", "Folder for the archive (archives in the project's folder)."},
    {"no-archive", NULL, NULL, "Write no archive: purged jobs are lost. Asks first."},
    {"limit", NULL, "N", "Maximum number of jobs (all)."},
};
static const struct option queue_options[] = {
    {"by-batch", NULL, NULL, "A line for each batch."},
};
static const struct option sweep_options[] = {
    {"delete", NULL, NULL, "Delete what is found; otherwise it is only counted."},
    {"dry-run", NULL, NULL, "Delete nothing, as without --delete."},
    {"quiet", NULL, NULL, "No progress on standard error."},
};
static const struct option app_forget_options[] = {
    {"dry-run", NULL, NULL, "Change nothing; print how many statistics would be reset."},
};
static const struct option buda_forget_options[] = {
    {"dry-run", NULL, NULL, "Change nothing; print how many run times would be reset."},
};
static const struct option hosts_options[] = {
    {"order", NULL, "WORD",
     "The order: newest, contact (the last), failures (the largest recent share), jobs (in "
     "progress) or speed (of one CPU; 0: its benchmark failed)."},
    {"user", NULL, "EMAIL", "Only those of this user."},
    {"platform", NULL, "NAME", "Only those that had jobs of a version for this platform."},
    {"banned", NULL, NULL, "Only those that are banned."},
    {"ownerless", NULL, NULL, "Only those whose account is gone."},
    {"days", NULL, "N", "Only those that asked within so many days."},
    {"gone", NULL, "N", "Only those that have not asked for so many days."},
    {"most", NULL, "N", "Lines at most (100)."},
};
static const struct option host_options[] = {
    {"user", NULL, "EMAIL", "The hosts of a user instead of one host."},
    {"most", NULL, "N", "Maximum number of jobs or hosts (20)."},
};
static const struct option status_options[] = {
    {"url", NULL, "URL",
     "A scheduler instead of those of config.xml (scheduler_url); may be repeated."},
};
static const struct option why_options[] = {
    {"jobs", NULL, NULL,
     "Instead of a host's number: shows how many of the hosts that came within the last week can "
     "have each waiting job."},
    {"job", NULL, "NAME",
     "Instead of a host's number: how many of these hosts can get this job, and why the others "
     "cannot."},
    {"app", NULL, "NAME", "Only the jobs of this application."},
    {"request", NULL, "FILE",
     "A scheduler_request of the client; without it, one is made from the host's row."},
    {"platform", NULL, "NAME", "The host's platform, if none is known; may be repeated."},
    {"each", NULL, NULL, "A line for each class of jobs, instead of one for each reason."},
    {"most", NULL, "N", "Number of classes of jobs to examine (5000)."},
};
static const struct option replay_options[] = {
    {"config", NULL, "PATH",
     "Replay the requests against the options of this config.xml, or of this project's folder with "
     "its plan classes, instead of the recorded ones."},
    {"set", NULL, "OPTION=VALUE", "Change one option of config.xml; may be repeated."},
    {"plan-classes", NULL, "FILE", "Replay them against the plan classes of this file."},
    {"quiet", NULL, NULL, "Print no progress on standard error."},
};
static const struct option files_options[] = {
    {"host", NULL, "ID", "The files of a host."},
    {"file", NULL, "NAME", "The hosts that hold a file."},
    {"after", NULL, "ID", "With --file: only hosts with higher numbers, to continue a long list."},
    {"most", NULL, "N", "Maximum number of lines (1000)."},
};
static const struct option files_sweep_options[] = {
    {"delete", NULL, NULL, "Delete the uploaded files that may be deleted. Asks first."},
    {"dry-run", NULL, NULL, "Delete nothing, as without --delete."},
    {"list", NULL, NULL,
     "A line for each file that may be deleted, or was deleted, instead of the "
     "counts."},
    {"archive", NULL, "DIR",
     "Folder of the archives of qmctl purge (archives in the project's folder); may be repeated."},
    {"now", NULL, "T", "Unix time from which ages are counted (the clock)."},
};
static const struct option files_orders_options[] = {
    {"host", NULL, "ID", "Only orders to this host."},
    {"most", NULL, "N", "Maximum number of lines (1000)."},
};
static const struct option files_order_options[] = {
    {"host", NULL, "ID", "The host. Required."},
    {"message", NULL, NULL,
     "Once, as a message to the host (msg_to_host), although there is a file database."},
};
static const struct option files_get_options[] = {
    {"host", NULL, "ID", "The host. Required."},
    {"max-bytes", NULL, "N", "Maximum number of bytes to accept (1000000000)."},
    {"message", NULL, NULL,
     "Once, as a message to the host (msg_to_host), although there is a file database."},
};
static const struct option check_options[] = {
    {"no-db", NULL, NULL, "Do not check the database."},
    {"no-web", NULL, NULL, "Do not ask master_url, download_url and upload_url."},
};
#define DEPLOY_OPTIONS                                                                            \
    {"dry-run", NULL, NULL,                                                                       \
     "Write nothing; show what would change, and exit with 3 if anything would."},                \
        {"force", NULL, NULL, "Overwrite a file that was changed, or that somebody else wrote."}, \
    {                                                                                             \
        "group", NULL, "GROUP", "Group of the web server, and name of its user (www-data)."       \
    }
#define DEPLOY_WEB_OPTIONS                                                                    \
    {"port", NULL, "N", "Port for http (as in master_url, or 80)."},                          \
        {"tls-port", NULL, "N", "Port for https (as in master_url, or 443)."},                \
        {"certificate", NULL, "FILE",                                                         \
         "Also answer https, with this certificate and those of its issuers."},               \
        {"key", NULL, "FILE", "The key of the certificate."},                                 \
        {"socket", NULL, "PATH", "Socket of the server (/run/quartermaster/NAME.socket)."},   \
        {"uploads", NULL, "PATH",                                                             \
         "Socket of the upload handler (/run/quartermaster/NAME-upload.socket)."},            \
        {"submission", NULL, "PATH",                                                          \
         "With submission: socket of that process (/run/quartermaster/NAME-submit.socket)."}, \
    {                                                                                         \
        "no-uploads", NULL, NULL,                                                             \
            "BOINC's file_upload_handler, or another machine, takes uploads."                 \
    }
static const struct option deploy_nginx_options[] = {
    {"file", NULL, "PATH", "The file to write (/etc/nginx/conf.d/NAME.conf)."},
    {"locations", NULL, "PATH",
     "Write the locations into this file, to be included in an existing server block of the host, "
     "such as that of BOINC's web pages or of another project."},
    {"address", NULL, "ADDRESS", "Answer only at this IPv4 address."},
    DEPLOY_WEB_OPTIONS,
    DEPLOY_OPTIONS,
};
static const struct option deploy_apache_options[] = {
    {"file", NULL, "PATH", "The file to write (/etc/apache2/sites-available/NAME.conf)."},
    {"how", NULL, "WAY",
     "How Apache talks to Quartermaster: proxy-fcgi (the default), or fcgid or cgi, with which "
     "Apache starts it."},
    {"program", NULL, "FILE", "The quartermaster program (the one in qmctl's folder)."},
    DEPLOY_WEB_OPTIONS,
    DEPLOY_OPTIONS,
};
static const struct option files_init_options[] = {
    DB_ADMIN_OPTIONS("The user who makes it, if the user in config.xml may not."),
};
static const struct option deploy_systemd_options[] = {
    {"units", NULL, "DIR", "Folder for the drop-ins (/etc/systemd/system)."},
    {"projects", NULL, "DIR",
     "Folder in which the units look for projects "
     "(/var/lib/quartermaster)."},
    {"no-uploads", NULL, NULL, "BOINC's file_upload_handler, or another machine, takes uploads."},
    DEPLOY_OPTIONS,
};
static const struct option deploy_mariadb_options[] = {
    {"apply", NULL, NULL, "Run the statements, and test that a server can then work."},
    DB_ADMIN_OPTIONS("The user who runs them (the user who calls; the database must know that user "
                     "as root)."),
    {"user", NULL, "USER",
     "A system user, whom the database accepts without a password, instead of db_user."},
    {"from", NULL, "HOST", "The server's host as the database sees it (localhost)."},
};

#define OPTIONS(array) .options = (array), .option_count = sizeof(array) / sizeof((array)[0])

const struct subcommand subcommands[] = {
    {"init", "DIR", "Makes a project: folder, config.xml, keys, database, master page.",
     "qmctl init /srv/demo --url https://example.org/demo/ --name Demo --db-name demo",
     OPTIONS(init_options), .arguments_min = 1, .arguments_max = 1, .run = command_init},
    {"adopt", "DIR",
     "Examines a running BOINC project, its folder and its database of any year since 2010, and "
     "says what works, what does not and what has to change. Changes nothing without --apply. "
     "Levels: ok, note (differs from before), change (--apply changes it), warning (needs your "
     "decision or action), error (does not work until you fix it). Exit status 3 if --apply would "
     "change something, 1 if there is an error. moving(7) says when to do what.",
     "qmctl adopt /home/boincadm/projects/demo", OPTIONS(adopt_options), .arguments_min = 1,
     .arguments_max = 1, .asks = true, .run = command_adopt},
    {"check-config", "",
     "Checks config.xml, keys, folders, templates and database, that the page at master_url names "
     "the scheduler, and that a file of a version can be downloaded. If templates have output "
     "files, also checks that an upload handler answers at upload_url.",
     "qmctl check-config --project /srv/demo", OPTIONS(check_options), .run = command_check_config},
    {"deploy nginx", "",
     "Writes the configuration of nginx for a project, and says what else has to be done. A file "
     "that was changed since is not overwritten.",
     "qmctl deploy nginx --certificate /etc/ssl/demo.pem --key /etc/ssl/demo.key --dry-run",
     OPTIONS(deploy_nginx_options), .run = command_deploy_nginx},
    {"deploy apache", "",
     "Writes the configuration of Apache for a project, and says what else has to be done, such as "
     "Debian's commands that enable the modules and the site. In the project's folder it writes "
     "scheduler-down.asis and join-down.asis, which Apache sends while no server runs. A file that "
     "was changed since is not overwritten.",
     "qmctl deploy apache --how fcgid", OPTIONS(deploy_apache_options),
     .run = command_deploy_apache},
    {"deploy systemd", "",
     "Makes instances of the units for a project, and says what else has to be done. It makes the "
     "link by which they find the project's folder, and drop-ins for an owner other than "
     "quartermaster, a home directory, another upload_dir, or another group of the web server.",
     "qmctl deploy systemd --dry-run", OPTIONS(deploy_systemd_options),
     .run = command_deploy_systemd},
    {"deploy mariadb", "",
     "Prints the SQL that makes the database's user (db_user in config.xml) with the minimum "
     "rights that servers and qmctl need. Only init and files init, which make tables, need more "
     "(--db-admin). An existing user keeps the password.",
     "qmctl deploy mariadb | mariadb", OPTIONS(deploy_mariadb_options),
     .run = command_deploy_mariadb},
    {"keys", "", "Makes missing keys, and shows the fingerprints of all keys.", "qmctl keys",
     .run = command_keys},
    {"keys rotate", "",
     "Makes a new code-signing key, keeps the old one, and signs all versions again.",
     "qmctl keys rotate", .run = command_keys_rotate},
    {"sign", "FILE", "Prints the signature of a file by the code-signing key.",
     "qmctl sign demo_1.0", .arguments_min = 1, .arguments_max = 1, .run = command_sign},
    {"app add", "NAME", "Adds an application.", "qmctl app add demo --friendly \"Demonstration\"",
     OPTIONS(app_set_options), .arguments_min = 1, .arguments_max = 1, .run = command_app_add},
    {"app list", "",
     "Lists the applications. settings: values that differ from the defaults (qmctl app show "
     "explains each).",
     "qmctl app list --tsv", .run = command_app_list},
    {"app show", "NAME",
     "Shows the settings of an application: their values, their defaults, and their meaning.",
     "qmctl app show demo", .arguments_min = 1, .arguments_max = 1, .run = command_app_show},
    {"app set", "NAME",
     "Changes settings of an application. Running servers use them within a second, servers with "
     "another folder within catalog_refresh. Conflicts with config.xml or the versions are "
     "warnings.",
     "qmctl app set demo --target_nresults 2 --beta no", OPTIONS(app_set_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_app_set},
    {"app deprecate", "NAME", "Stops sending jobs of an application.", "qmctl app deprecate demo",
     OPTIONS(undo_options), .arguments_min = 1, .arguments_max = 1, .run = command_app_deprecate},
    {"app classes", "NAME",
     "Shows the classes of homogeneous redundancy to which unfinished jobs of an application are "
     "bound, and how many hosts of each class came within a week (among the newest 100000 hosts). "
     "Jobs of a class without hosts wait for ever; --release releases them. Exit status 3 if a "
     "class with jobs has no hosts.",
     "qmctl app classes demo --release 257", OPTIONS(app_classes_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_app_classes},
    {"app estimates", "[NAME]",
     "Compares the actual work of jobs with their rsc_fpops_est, by version and by variant of a "
     "science app in containers, in the newest 10000 "
     "results of each application: median is elapsed time times peak FLOPS of the device, divided "
     "by rsc_fpops_est; low and high are the 5th and 95th percentile. 1 is right; advice says what "
     "to change.",
     "qmctl app estimates demo", .arguments_max = 1, .run = command_app_estimates},
    {"app forget", "NAME",
     "Resets the statistics of an application: the run times and efficiency of its versions, and "
     "of each host with them, a few hundred hosts at a time. Use it if the estimates of the jobs "
     "were wrong by far. Quotas, turnaround times and trust stay; the run times of science apps in "
     "containers are reset by qmctl buda forget. If interrupted, run it again.",
     "qmctl app forget demo", OPTIONS(app_forget_options), .arguments_min = 1, .arguments_max = 1,
     .asks = true, .run = command_app_forget},
    {"buda list", "",
     "Lists the science apps of BOINC's universal docker app (BUDA) in buda_apps, with the number "
     "of their variants and of their jobs, among 100000 unsent jobs and as many in progress. An "
     "app "
     "that only jobs name, or that has no variants, gets no job sent.",
     "qmctl buda list --tsv", .run = command_buda_list},
    {"buda show", "APP",
     "Shows the variants of a science app: the kind of CPU and the plan class that they are for "
     "(none: one CPU), the bytes of file_infos and file_refs, which go with each job, and what "
     "became of its jobs among the newest 100000 results that were sent with a variant: failed "
     "ones had an error on the host or gave an answer that is none, lost ones were not reported. "
     "gflops is what all hosts with it have computed by the time that they took.",
     "qmctl buda show fold1", .arguments_min = 1, .arguments_max = 1, .run = command_buda_show},
    {"buda forget", "APP",
     "Resets the run times of a science app, of each host with each of its variants, a few hundred "
     "hosts at a time. Use it if the estimates of its jobs were wrong by far, or a variant has "
     "become faster. If interrupted, run it again.",
     "qmctl buda forget fold1", OPTIONS(buda_forget_options), .arguments_min = 1,
     .arguments_max = 1, .asks = true, .run = command_buda_forget},
    {"buda check", "",
     "Names the files in buda_apps that cannot be used, and why, in the words of the server's log. "
     "Exit status 1 if there is one.",
     "qmctl buda check", .run = command_buda_check},
    {"platform list", "",
     "Lists the platforms for which versions can be added (qmctl init adds "
     "them).",
     "qmctl platform list", .run = command_platform_list},
    {"platform add", "NAME",
     "Adds a platform for which versions can be added. The name must be exactly the one that "
     "clients report.",
     "qmctl platform add riscv64-unknown-linux-gnu --friendly \"Linux on 64-bit RISC-V\"",
     OPTIONS(platform_add_options), .arguments_min = 1, .arguments_max = 1,
     .run = command_platform_add},
    {"version add", "APP VERSION PLATFORM FILE...",
     "Adds a version of an application: copies its files to the download folder and signs them. "
     "With --from FOLDER it adds each version of FOLDER/APP/VERSION/PLATFORM, or "
     "PLATFORM__PLANCLASS, that does not exist yet, as BOINC's update_versions does: version.xml "
     "describes the files, and FILE.sig is used as the signature of FILE, for projects whose "
     "private key is kept elsewhere. No link may lead out of such a folder. APP, VERSION and "
     "PLATFORM then choose among the folders.",
     "qmctl version add demo 1.00 x86_64-pc-linux-gnu ./demo data=table.bin",
     OPTIONS(version_add_options), .arguments_max = -1, .run = command_version_add},
    {"version list", "[APP]", "Lists the versions. settings: values that differ from the defaults.",
     "qmctl version list demo --json", .arguments_max = 1, .run = command_version_list},
    {"version set", "ID",
     "Changes settings of a version (its number: qmctl version list). Running servers use them as "
     "with app set.",
     "qmctl version set 3 --min_core_version 7.16.0", OPTIONS(version_set_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_version_set},
    {"version deprecate", "ID", "Stops using a version (its number: qmctl version list).",
     "qmctl version deprecate 3", OPTIONS(undo_options), .arguments_min = 1, .arguments_max = 1,
     .run = command_version_deprecate},
    {"user add", "EMAIL", "Adds an account and prints its key.",
     "qmctl user add ada@example.org --name Ada", OPTIONS(user_add_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_user_add},
    {"user list", "", "Lists the newest accounts.", "qmctl user list --most 10",
     OPTIONS(list_options), .run = command_user_list},
    {"user show", "[EMAIL]", "Shows an account and its key.", "qmctl user show ada@example.org",
     OPTIONS(user_show_options), .arguments_max = 1, .run = command_user_show},
    {"user set", "[EMAIL]",
     "Changes settings of an account. Credit, keys and what belongs to forums stay as they are.",
     "qmctl user set ada@example.org --name Ada --send-email no", OPTIONS(user_set_options),
     .arguments_max = 1, .run = command_user_set},
    {"user delete", "[EMAIL]",
     "Deletes an account, its hosts and all other data about the person. Jobs in progress go to "
     "other hosts, and results stay without their owner. quartermaster(8), \"Deleting people\", "
     "lists what is deleted from which table.",
     "qmctl user delete ada@example.org", OPTIONS(user_delete_options), .arguments_max = 1,
     .asks = true, .run = command_user_delete},
    {"jobs create", "[FILE...]",
     "Makes jobs: one with the given files, or one for each line of standard input. Values in the "
     "input template take precedence over options. Lines become jobs in their order, several "
     "thousand in a transaction (--commit_every). After an error in a line, or if the command is "
     "killed, complete jobs of the first lines exist, and --go_on makes the others; use --name "
     "from the beginning, so that you can repeat it. With --commit_every 0 none exist; but undoing "
     "a million jobs takes the database half as long as making them, requests become slow "
     "meanwhile, and hosts get none of the jobs before the last is made. Input files that a killed "
     "command copied for jobs that do not exist go with qmctl transition --delete-files of the "
     "same user.",
     "qmctl jobs create --app demo --in templates/simple_in.xml --out templates/simple_out.xml in1",
     OPTIONS(jobs_create_options), .arguments_max = -1, .takes_parameters = true,
     .run = command_jobs_create},
    {"jobs cancel", "[NAME]",
     "Cancels jobs that have no answer yet, several hundred at a time, so that hosts do not wait "
     "for it. If several options select jobs, all must apply. If interrupted, repeat the command.",
     "qmctl jobs cancel --batch 12", OPTIONS(jobs_change_options), .arguments_max = -1,
     .asks = true, .run = command_jobs_cancel},
    {"jobs priority", "[NAME]",
     "Changes the priority of unfinished jobs and of their unsent results. Running servers see it "
     "at their next sweep (pool_sweep). Select jobs as for jobs cancel.",
     "qmctl jobs priority --batch 12 --priority 10", OPTIONS(jobs_priority_options),
     .arguments_max = -1, .run = command_jobs_priority},
    {"jobs retry", "[NAME]",
     "Tries failed jobs again: clears their error and allows as many more results as were made so "
     "far. The next transition makes them. Cancelled jobs and those whose input files are deleted "
     "do not change. Select jobs as for jobs cancel.",
     "qmctl jobs retry --batch 12 --dry-run", OPTIONS(jobs_change_options), .arguments_max = -1,
     .run = command_jobs_retry},
    {"jobs revalidate", "[NAME]",
     "Makes the validator judge results again that it found wrong, or that no quorum agreed with, "
     "as long as their output files exist. Use it after you fixed a validator. Valid results stay "
     "valid, because credit was granted for them. Select jobs as for jobs cancel.",
     "qmctl jobs revalidate --app demo", OPTIONS(jobs_change_options), .arguments_max = -1,
     .run = command_jobs_revalidate},
    {"jobs sweep", "",
     "Finds results whose job is gone from the database, which nothing ends or purges, and results "
     "whose host is gone. With --delete, the former are deleted; the latter count as if their host "
     "had been deleted, so that jobs in progress go to others. All results are looked at along "
     "their key, 1000 in a transaction, so that hosts wait for none of it.",
     "qmctl jobs sweep", OPTIONS(sweep_options), .asks = true, .run = command_jobs_sweep},
    {"jobs transition", "[NAME]",
     "Makes the transition of jobs due now; BOINC's transitioner or qmctl transition then does it. "
     "Select jobs as for jobs cancel.",
     "qmctl jobs transition --ids 1000-2000", OPTIONS(jobs_change_options), .arguments_max = -1,
     .run = command_jobs_transition},
    {"jobs list", "",
     "Lists jobs, the newest first: what each waits for, its results by state, and why it failed.",
     "qmctl jobs list --batch 12 --state failed", OPTIONS(jobs_list_options),
     .run = command_jobs_list},
    {"jobs show", "[NAME]",
     "Shows a job with its results: hosts, times, outcomes, output files (their paths and sizes, "
     "or that they are missing), standard error.",
     "qmctl jobs show genome_7", OPTIONS(jobs_show_options), .arguments_max = 1,
     .run = command_jobs_show},
    {"jobs results", "", "Lists results, which are the instances of jobs, the newest first.",
     "qmctl jobs results --outcome \"client error\" --most 20", OPTIONS(jobs_results_options),
     .run = command_jobs_results},
    {"jobs export", "DIR",
     "Copies answers to a folder: the output files and the standard error of each job's canonical "
     "result, to DIR/JOB/FILE and DIR/JOB/stderr.txt (with --all to DIR/JOB/RESULT/FILE). "
     "DIR/manifest.tsv lists every file, and those that are missing. Listed files are not copied "
     "again, so you can interrupt and repeat the command. Names that cannot be file names become "
     "@NUMBER. DIR must be new, empty, or made by this command for this project; files in it that "
     "are not listed are replaced.",
     "qmctl jobs export answers --batch 12 --wait", OPTIONS(jobs_export_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_jobs_export},
    {"batch add", "NAME",
     "Adds a batch: a name for jobs that belong together, and an owner. jobs create --batch NAME "
     "puts jobs into it. Their files and rows stay until the batch is retired.",
     "qmctl batch add genomes --app demo --owner ada@example.org", OPTIONS(batch_add_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_batch_add},
    {"batch list", "",
     "Lists batches with their progress, the percentage of finished jobs, and with the dates by "
     "which they will probably be done (qmctl batch show). Those without a name are "
     "numbers that jobs were given. hurry is yes for all where hurry_batches is set. output_bytes "
     "is the size of the output files of finished jobs, "
     "as qmctl transition has counted it; they stay until the batch is retired.",
     "qmctl batch list --app demo", OPTIONS(batch_list_options), .run = command_batch_list},
    {"batch show", "BATCH",
     "Shows a batch, by its number or name. Half of the batches like it would be done by half_by, "
     "nine of ten by nine_tenths_by, as qmctl transition estimated when it counted the jobs last "
     "(policy(7) 13.10); ahead is how many unsent jobs of others are sent before its own. Both "
     "dates are empty while too little is known.",
     "qmctl batch show genomes", .arguments_min = 1, .arguments_max = 1, .run = command_batch_show},
    {"batch set", "BATCH",
     "Changes the name, the owner or the end of a batch, or puts it in a hurry.",
     "qmctl batch set genomes --days 30", OPTIONS(batch_set_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_batch_set},
    {"batch abort", "BATCH",
     "Cancels the unfinished jobs of a batch, and notes that it was aborted. Answers that it has "
     "stay. If interrupted, repeat the command.",
     "qmctl batch abort genomes", .arguments_min = 1, .arguments_max = 1, .asks = true,
     .run = command_batch_abort},
    {"batch retire", "BATCH",
     "Notes that nobody needs the answers of a finished batch here any more. Until then its files "
     "and rows stay, whatever --delete-files and purge find. If interrupted, qmctl transition "
     "completes it.",
     "qmctl batch retire genomes", .arguments_min = 1, .arguments_max = 1,
     .run = command_batch_retire},
    {"submitter add", "EMAIL",
     "Lets a user submit jobs over the web, in the tables that BOINC's web pages read.",
     "qmctl submitter add ada@example.org --app demo --quota 2", OPTIONS(submitter_add_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_submitter_add},
    {"submitter list", "",
     "Lists the users who may submit jobs, with their applications, and how many of their jobs are "
     "unfinished.",
     "qmctl submitter list", .run = command_submitter_list},
    {"submitter set", "EMAIL", "Changes what a user may submit; other settings stay as they are.",
     "qmctl submitter set ada@example.org --max-jobs 500", OPTIONS(submitter_set_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_submitter_set},
    {"submitter remove", "EMAIL", "The user submits no more jobs. Batches and jobs stay.",
     "qmctl submitter remove ada@example.org", .arguments_min = 1, .arguments_max = 1,
     .run = command_submitter_remove},
    {"transition", "",
     "Moves jobs to their next state, for projects without BOINC's transitioner: it ends results "
     "past their deadline, makes new ones, and passes jobs on to validator and assimilator or "
     "gives them up. Several copies, on one machine or more, share the work: if one is not enough, "
     "start more. The work of a killed copy is free again after a minute (policy(7) 13.8). A "
     "signal ends the command when the current work is done; a second signal ends it at once.",
     "qmctl transition --loop 10", OPTIONS(transition_options), .run = command_transition},
    {"purge", "",
     "Moves old jobs out of the database: those whose files were deleted, with all their results, "
     "into wu_archive_T.xml and result_archive_T.xml, T being the Unix time. Each row is an "
     "element with one element for each column; texts are escaped, bytes above 127 as &#N;. "
     "wu_index_T.xml and result_index_T.xml have a line for each row: id, T, name. A job with "
     "nodelete in its name stays. The command also deletes this server's rows about hosts and jobs "
     "that other programs have deleted. At the end it says what keeps the oldest remaining job. If "
     "interrupted, run it again: nothing is lost, but the jobs in work may be archived twice.",
     "qmctl purge --min-age-days 90", OPTIONS(purge_options), .asks = true, .run = command_purge},
    {"queue", "",
     "Counts results by application and state. held_back: made, but not yet to be sent (inactive), "
     "until BOINC's size_regulator releases them.",
     "qmctl queue --by-batch", OPTIONS(queue_options), .run = command_queue},
    {"failures", "",
     "Shows the recent outcomes of results, by version: sent, returned as a success or with an "
     "error, timed out, found invalid. state is FAILS if more than a fifth of at least 20 results "
     "failed, or all of at least five. An invalid result counts at the time of the verdict.",
     "qmctl failures --hours 1 --errors", OPTIONS(failures_options), .run = command_failures},
    {"files", "", "Lists the sticky files that a host holds, or the hosts that hold a file.",
     "qmctl files --file genome_7", OPTIONS(files_options), .run = command_files},
    {"files init", "", "Makes the file database (files_db_name) and its tables.",
     "qmctl files init", OPTIONS(files_init_options), .run = command_files_init},
    {"files orders", "",
     "Lists orders to hosts, and their states. An order waits for the host's next contact, was "
     "sent (with the number of times), is done, failed on the host, expired (sent ten times and a "
     "week old, or sixty days old), or is unsupported by the host's client. Orders that have ended "
     "are listed for a week.",
     "qmctl files orders --host 42", OPTIONS(files_orders_options), .run = command_files_orders},
    {"files send", "FILE",
     "Sends a host a file to keep; the file is copied to the download folder like an input file.",
     "qmctl files send genome_7 --host 42", OPTIONS(files_order_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_files_send},
    {"files get", "NAME",
     "Makes a host upload a file that it has; the file is not deleted meanwhile. Today's clients "
     "upload a file only once, whether it is a job's output or ordered like this.",
     "qmctl files get log_3 --host 42", OPTIONS(files_get_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_files_get},
    {"files delete", "NAME",
     "Makes a host delete a file, once no job there needs it and no order waits for it. Clients "
     "before 4.06 cannot.",
     "qmctl files delete genome_7 --host 42", OPTIONS(files_order_options), .arguments_min = 1,
     .arguments_max = 1, .asks = true, .run = command_files_delete},
    {"files sweep", "",
     "Counts files in upload_dir and download_dir that nothing refers to any more. Only with "
     "--delete does it delete files, and only from upload_dir: plain files in the folder of their "
     "own name, with a name that jobs create gives to the output files of results, that nobody "
     "changed for 30 days, whose result is no longer in the database, and which an archive of "
     "purge lists as an output file of that result, neither no_delete nor sticky. Files of jobs "
     "that were purged without an archive therefore stay, and so do files with another name or "
     "place. No link is followed. If an archive has higher numbers than the database ever gave "
     "out, it belongs to another database, or this is an older copy: nothing is deleted. qmctl "
     "transition --loop with --delete-files counts such files from time to time, for status, and "
     "deletes none.",
     "qmctl files sweep --list", OPTIONS(files_sweep_options), .asks = true,
     .run = command_files_sweep},
    {"hosts", "",
     "Lists hosts: their owners, platforms, last contact, jobs in progress, and their recent "
     "failures, of which older ones count less (qmctl failures --hosts). state is BANNED, "
     "no owner, FAILS or ok. The newest hosts are read along the key; another order goes through "
     "all hosts once.",
     "qmctl hosts --order failures --most 20", OPTIONS(hosts_options), .run = command_hosts},
    {"host ban", "ID...",
     "Gives hosts no more jobs, neither new nor lost ones (max_results_day -1). The "
     "client shows a message. Jobs in progress may still be reported; qmctl hosts, host and why "
     "show the ban.",
     "qmctl host ban 42", .arguments_min = 1, .arguments_max = -1, .run = command_host_ban},
    {"host unban", "ID...", "Lets banned hosts get jobs again.", "qmctl host unban 42",
     .arguments_min = 1, .arguments_max = -1, .run = command_host_unban},
    {"host clear", "ID...",
     "Forgets what failures did to hosts: the daily quotas of all versions are the project's "
     "again, "
     "and the counts of qmctl hosts and failures --hosts begin at 0. A ban stays.",
     "qmctl host clear 42", .arguments_min = 1, .arguments_max = -1, .run = command_host_clear},
    {"host", "[ID]", "Shows a host and its jobs, or the hosts of a user.", "qmctl host 42",
     OPTIONS(host_options), .arguments_max = 1, .run = command_host},
    {"host delete", "ID",
     "Deletes a host and all data about it. Its jobs in progress go to other hosts; unfinished "
     "jobs only --for this host are given up. Its client gets a new number when it comes again.",
     "qmctl host delete 42", OPTIONS(host_delete_options), .arguments_min = 1, .arguments_max = 1,
     .asks = true, .run = command_host_delete},
    {"host sweep", "",
     "Finds hosts whose account is gone, as when somebody deleted rows of user by SQL, and records "
     "merged into a host that is gone. With --delete, deletes each of them as host delete does.",
     "qmctl host sweep", OPTIONS(sweep_options), .asks = true, .run = command_host_sweep},
    {"drain", "",
     "Lets the project run dry: within a second its servers stop handing out jobs, but still take "
     "reports (by the file stop_work in the project's folder; servers with another folder are not "
     "affected). qmctl status says so.",
     "qmctl drain", .run = command_drain},
    {"resume", "", "Ends qmctl drain: the servers hand out jobs again.", "qmctl resume",
     .run = command_resume},
    {"status", "",
     "Checks whether the project is up: the findings of check-config in its folder, reading and "
     "writing the database as a server does, the queue, jobs that wait for transition, validation "
     "or assimilation, hosts, each scheduler's own report and its last ten minutes, the page at "
     "master_url, the download of a file, and uploads, if templates have output files. Jobs are "
     "counted up to 100000, so that millions take no longer (qmctl queue counts all). Exit status "
     "1 "
     "if something has FAILED.",
     "qmctl status", OPTIONS(status_options), .run = command_status},
    {"why", "[HOST]",
     "Says which unsent jobs a host may get now, and why it does not get the others. With --jobs, "
     "says which unsent jobs no host can have, and why; exit status 3 if there are any. With "
     "--job, "
     "says so of one job.",
     "qmctl why 42 --app demo", OPTIONS(why_options), .arguments_max = 1, .run = command_why},
    {"replay", "[FILE|FOLDER...]",
     "Replays recorded requests (record_requests in config.xml) against different options, without "
     "asking or writing anything, and says how the outcomes would differ. FOLDER is "
     "recorded_requests of the project by default. First it says how many requests have the "
     "recorded outcome under the recorded options; only these are compared. Each request is "
     "replayed independently: jobs that the host would have received from earlier ones do not "
     "count. Exit status 3: something would differ.",
     "qmctl replay --set max_wus_in_progress=4", OPTIONS(replay_options), .arguments_max = -1,
     .run = command_replay},
    {"completion", "bash|zsh",
     "Prints the code with which a shell completes subcommands and "
     "options.",
     "qmctl completion bash >/etc/bash_completion.d/qmctl", .arguments_min = 1, .arguments_max = 1,
     .prints_page = true, .run = command_completion},
    {"manual", "", "Prints the manual page, in Markdown.", "qmctl manual", .prints_page = true,
     .run = command_manual},
};
const size_t subcommand_count = sizeof subcommands / sizeof subcommands[0];

/* Of "keys" and "keys rotate" the longer one counts. */
static const struct subcommand *find_subcommand(int count, char **words, int *ret_used)
{
    const struct subcommand *found = NULL;
    for (size_t i = 0; i < subcommand_count; i++) {
        struct text second = text_from(subcommands[i].name);
        struct text first = text_split(&second, ' ');
        bool has_two = text_contains(text_from(subcommands[i].name), TEXT(" "));
        if (!text_is(first, words[0]) || (has_two && (count < 2 || !text_is(second, words[1]))))
            continue;
        if (found == NULL || has_two) {
            found = &subcommands[i];
            *ret_used = has_two ? 2 : 1;
        }
    }
    return found;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "-h") == 0;
}

static enum exit_code run(struct session *session, int count, char **words)
{
    int used = 0;
    bool help = false;
    /* --project may stand in front, as -C does with git. */
    if (count >= 2 && strcmp(words[0], "--project") == 0) {
        session->project = words[1];
        count -= 2;
        words += 2;
    }
    if (count == 0 || strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0 ||
        strcmp(words[0], "help") == 0) {
        help_overview();
        return count == 0 ? EXIT_USAGE : EXIT_DONE;
    }
    if (strcmp(words[0], "--version") == 0) {
        puts(program_version_line);
        return EXIT_DONE;
    }
    session->command = find_subcommand(count, words, &used);
    if (session->command == NULL && (count == 1 || is_help(words[1])) && help_group(words[0]))
        return count == 1 ? EXIT_USAGE : EXIT_DONE;
    if (session->command == NULL) {
        const char *meant = help_meant(words[0], count > 1 ? words[1] : "");
        return usage_failed(session, "there is no subcommand \"%s%s%s\"%s%s%s", words[0],
                            count > 1 ? " " : "", count > 1 ? words[1] : "",
                            meant == NULL ? "" : "; did you mean ", meant == NULL ? "" : meant,
                            meant == NULL ? "" : "?");
    }
    enum exit_code code = options_read(session, count - used, words + used, &help);
    if (help) {
        help_subcommand(session->command);
        return EXIT_DONE;
    }
    return code == EXIT_DONE ? session->command->run(session) : code;
}

int main(int count, char **words)
{
    struct session session = {.project = ".", .now = time(NULL)};

    file_occupy_standard();
    (void)signal(SIGCHLD, SIG_DFL); /* or no child's end could be waited for */
    session.arena = arena_create(SESSION_BYTES_MAX);
    if (session.arena == NULL) {
        fputs("qmctl: no memory\n", stderr);
        return EXIT_FAILED;
    }
    xml_startup();
    enum exit_code code = run(&session, count - 1, words + 1);
    if (session.lacks_output && code == EXIT_DONE)
        code = EXIT_FAILED;
    if (fflush(stdout) != 0 && code == EXIT_DONE) {
        fputs("qmctl: cannot write the output\n", stderr);
        code = EXIT_FAILED;
    }
    db_close(session.db);
    config_release(session.config);
    xml_shutdown();
    arena_destroy(session.arena);
    return (int)code;
}
