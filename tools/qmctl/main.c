/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl: the administrator's command. A table of subcommands; each says what it needs, and gets a
 * session. Exit status: 0 done, 1 failed, 2 wrong usage, 3 nothing for this host (why), or
 * something would change (adopt, replay, deploy --dry-run). */
#include "tools/qmctl/session/commands.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/version.h"
#include "server/base/xml.h"
#include "server/submit/catalog_settings.h"
#include "tools/qmctl/help.h"

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
     "Where volunteers attach; ends in a slash. Its host needs a dot, as in example.org or "
     "127.0.0.1: "
     "clients refuse http://localhost/demo/. Needed."},
    {"name", NULL, "NAME", "The project's name as volunteers see it. Needed."},
    {"scheduler", NULL, "URL",
     "A scheduler's URL; may be repeated (https://HOST/NAME_cgi/cgi for https://HOST/NAME/)."},
    {"db-name", NULL, "NAME", "Name of the database. Needed."},
    {"db-host", NULL, "HOST", "Database server, as host or host:port."},
    {"db-socket", NULL, "PATH", "Its Unix socket, when it is not the usual one."},
    {"db-user", NULL, "USER", "User at the database."},
    {"db-passwd", NULL, "PASSWORD",
     "Password there (it is stored in config.xml); others see it in the list of processes."},
    {"db-passwd-file", NULL, "FILE", "A file with the password in its first line."},
    DB_ADMIN_OPTIONS(
        "Who makes and changes the database, where db-user may not (then, without a password "
        "for db-user, it gets one, and qmctl deploy mariadb makes the user)."),
};
static const struct option adopt_options[] = {
    {"apply", NULL, NULL,
     "Make the changes: what is missing of indexes and of our own tables, scheduler_url in "
     "config.xml. Asks first, and says each. Interrupted, it may be run again."},
    {"all", NULL, NULL,
     "Show what needs nothing, too (level ok), which --json and --tsv always do."},
    DB_ADMIN_OPTIONS("Who makes tables and indexes, where the user of config.xml may not."),
};
static const struct option undo_options[] = {
    {"undo", NULL, NULL, "Take it back."},
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
     "Free the unfinished jobs of this class, a few hundred at a time, for the next host of any "
     "class. Jobs with an answer, or an instance with a host, are kept."},
};
static const struct option platform_add_options[] = {
    {"user_friendly_name", "friendly", "NAME",
     "What people call it (of a name that clients are known to have, as qmctl init does)."},
    {"force", NULL, NULL, "Add it though the name looks like a misspelt one."},
};
static const struct option version_add_options[] = {
    {"from", NULL, "FOLDER", "Add the versions of the folders in it; see above."},
    {"gzip", NULL, NULL,
     "Keep FILE.gz beside each file, which clients that can download instead of FILE."},
    {"main", NULL, "FILE", "The main program among the files (the first)."},
    {"logical", NULL, "NAME=FILE", "Name by which the program opens a file; may be repeated."},
    {"copy", NULL, "FILE", "The program needs a copy of it, not a link; may be repeated."},
    {"api", "api_version", "VERSION", "Version of the BOINC API that it was built with."},
    {"file-prefix", NULL, "TEXT", "Put before the names of all its files."},
    {"keep-name", NULL, NULL,
     "Keep the main program's name (otherwise APP_VERSION_PLATFORM[__CLASS])."},
    {"dont-throttle", NULL, NULL, "Clients do not slow it down."},
    {"needs-network", NULL, NULL, "It uses the network."},
    {"wrapper", NULL, NULL, "It is a wrapper around other programs."},
#include "server/submit/version_settings.def"
#undef VERSION_SETTING
};
static const struct option user_add_options[] = {
    {"name", NULL, "NAME", "The name that others see (the part of EMAIL before @)."},
};
static const struct option user_show_options[] = {
    {"id", NULL, "N", "By number instead of e-mail address."},
};
static const struct option user_delete_options[] = {
    {"id", NULL, "N", "By number instead of e-mail address."},
    {"give-jobs", NULL, NULL,
     "Unfinished jobs --for this user or a host of it go to anybody; else they are given up."},
};
static const struct option host_delete_options[] = {
    {"give-jobs", NULL, NULL,
     "Unfinished jobs --for this host go to anybody; else they are given up."},
};
static const struct option list_options[] = {
    {"most", NULL, "N", "Lines at most (100)."},
};
static const struct option failures_options[] = {
    {"hours", NULL, "N", "How far back, 192 at most; whole hours by the clock (24)."},
    {"errors", NULL, NULL, "By exit status instead, most frequent first, with what it means."},
    {"hosts", NULL, NULL,
     "The hosts that failed most instead. A result counts half as much after every five days, "
     "whatever "
     "--hours says."},
    {"batches", NULL, NULL, "By batch instead."},
    {"most", NULL, "N", "With --hosts: lines at most (20)."},
};
static const struct option jobs_create_options[] = {
    {"app", "appname", "NAME", "The application. Needed."},
    {"in", "wu_template", "FILE", "Input template (templates/APP_in)."},
    {"out", "result_template", "FILE", "Result template (templates/APP_out)."},
    {"name", "wu_name", "NAME", "The job's name, or what numbered names begin with."},
    {"stdin", NULL, NULL,
     "One job for each line of standard input. A line with a mistake ends the command."},
    {"commit_every", NULL, "N",
     "With --stdin, so many jobs are made together or not at all, those of the first lines first "
     "(10000); 0: all of them."},
    {"go_on", NULL, NULL,
     "With --stdin, after a mistake or an interruption: the same lines again, of which those are "
     "passed over whose jobs were made. Needs the same --name."},
    {"command_line", NULL, "TEXT", "Arguments for the program."},
    {"keywords", NULL, "N N ...", "Numbers of keywords."},
    {"sub_appname", NULL, "NAME", "Name of a part of the application, for volunteers."},
    {"remote_file", NULL, "URL,BYTES,MD5", "A file on another server; may be repeated."},
    {"for", NULL, "WHOM",
     "For one of WHOM's hosts, whose next request makes the result: host:ID (one loss ends the "
     "job), "
     "user:ID, team:ID; or all, with --multi. Needs enable_assignment or enable_assignment_multi "
     "in "
     "config.xml."},
    {"multi", NULL, NULL, "For each host of WHOM instead of one."},
    {"transitioner", NULL, NULL, "Leave the making of results to BOINC's transitioner."},
    {"quiet", NULL, NULL, "No progress on standard error."},
};
/* Jobs that are changed (jobs/change_command.c). */
#define CHOSEN_JOBS                                                                     \
    {"name", NULL, "TEXT", "Jobs whose name begins so."},                               \
        {"file", NULL, "FILE",                                                          \
         "Jobs whose names are in FILE, one in each line (-: standard "                 \
         "input)."},                                                                    \
        {"ids", NULL, "A-B", "Jobs with these numbers."},                               \
        {"batch", NULL, "N", "Jobs of this batch."},                                    \
        {"app", NULL, "NAME", "Jobs of this application."},                             \
        {"dry-run", NULL, NULL, "Change nothing; say how many jobs would be changed."}, \
    {                                                                                   \
        "quiet", NULL, NULL, "No progress on standard error."                           \
    }
static const struct option jobs_change_options[] = {CHOSEN_JOBS};
static const struct option jobs_priority_options[] = {
    {"priority", NULL, "N", "The new priority; higher goes first. Needed."},
    CHOSEN_JOBS,
};
#define WHICH_JOBS(begins)                                    \
    {"app", NULL, "NAME", "Only those of this application."}, \
        {"batch", NULL, "N", "Only those of this batch."},    \
    {                                                         \
        "name", NULL, "TEXT", begins                          \
    }
#define PAGE_OPTIONS                                                           \
    {"most", NULL, "N", "Lines at most, the newest (100)."},                   \
    {                                                                          \
        "before", NULL, "ID", "Only lower numbers, to go on with a long list." \
    }
static const struct option jobs_list_options[] = {
    WHICH_JOBS("Only those whose name begins so."),
    {"state", NULL, "STATE",
     "Only those that are \"unsent\", \"in progress\", \"waiting for validation\", \"waiting\" "
     "(for the next transition, or for the host they are meant for), \"done\", \"failed\" or "
     "\"cancelled\". No index knows the last two: without --batch or --name all jobs are gone "
     "through, about two seconds for a million."},
    {"count", NULL, NULL, "How many are in each state, instead of a line for each."},
    PAGE_OPTIONS,
};
static const struct option jobs_show_options[] = {
    {"id", NULL, "N", "By number instead of name."},
};
static const struct option jobs_results_options[] = {
    WHICH_JOBS("Only those whose name, which begins with the job's, begins so."),
    {"state", NULL, "STATE",
     "Only those that are \"inactive\", \"unsent\", \"in progress\" or \"over\"."},
    {"outcome", NULL, "OUTCOME",
     "Only those with this outcome, such as \"success\", \"client error\" or \"no reply\"; no "
     "index knows it, as with failed jobs."},
    PAGE_OPTIONS,
};
static const struct option jobs_batches_options[] = {
    {"app", NULL, "NAME", "Only jobs of this application."},
    {"batch", NULL, "N", "Only this batch."},
    {"most", NULL, "N", "Lines at most, the highest numbers (100)."},
    {"before", NULL, "N", "Only lower numbers, to go on with a long list."},
};
static const struct option jobs_export_options[] = {
    WHICH_JOBS("Only those of jobs whose name begins so."),
    {"all", NULL, NULL,
     "Every successful result instead of the canonical one, for projects without validation."},
    {"wait", NULL, NULL,
     "Stay until no job is open (with --all: no result, and no transition due that may make one), "
     "and copy answers as they come. A signal ends it too, as a failure."},
    {"follow", NULL, NULL,
     "Stay, and copy answers as they come, with --all late ones too, until stopped by a signal."},
    {"every", NULL, "SECONDS", "With --wait or --follow: between two looks (5)."},
};
static const struct option transition_options[] = {
    {"loop", NULL, "SECONDS", "Stay, and begin another round after so many seconds."},
    {"limit", NULL, "N", "Workunits in one round, at most (all that are due)."},
    {"now", NULL, "T", "The moment that deadlines are compared with, as Unix time (the clock)."},
    {"validate", NULL, "COMMAND",
     "Compares the output files of each job's results, picks the answer, grants credit. bitwise: "
     "byte by byte. Else a command for the shell, which gets the files of one result and then, as "
     "many, those of another as further arguments (\"\" for an optional one that is missing), "
     "and QM_JOB, QM_JOB_ID and QM_APP. Exit status 0: the same, 1: different, 3: ask later; "
     "anything else is a failure, and asked again in ten minutes. Each result is first compared "
     "with itself: one that differs from itself is of no use, and invalid."},
    {"assimilate", NULL, "COMMAND",
     "none: a finished job is only marked, so that its files can be deleted, and it can be purged. "
     "Else gives each finished job to a command for the shell, at least once (killed, qmctl takes "
     "the "
     "command along, but not what that has started itself): the output files of its canonical "
     "result as further arguments (\"\" for one that is missing), none for a job that "
     "was given up, and QM_JOB_ID (always the same for a job), QM_JOB, QM_APP, QM_BATCH, "
     "QM_RESULT and QM_ERROR_MASK (0: there is an answer). Exit status 0: done, which is then "
     "marked; 3: later, when all its results are over; anything else is a failure, and tried again "
     "in ten minutes."},
    {"delete-files", NULL, NULL,
     "Deletes the files of jobs that were assimilated, after delete_delay_hours, with what was "
     "uploaded for results that were never reported; not what is marked no_delete, nor input files "
     "that an unfinished job needs too, nor those of a job with "
     "nodelete in its name. Where a folder is missing or empty it is tried again every hour."},
    {"command-seconds", NULL, "N", "A command may take so long (600)."},
    {"trust", NULL, NULL,
     "There is no validator: as many successes as the quorum are the answer, unseen. Each of them "
     "is granted credit, as with --validate."},
};
static const struct option purge_options[] = {
    {"min-age-days", NULL, "N", "Only jobs that did not change for so many days (30)."},
    {"app", NULL, "NAME", "Only jobs of this application."},
    {"archive", NULL, "DIR", "Where the archive is written (archives in the project's folder)."},
    {"no-archive", NULL, NULL, "Write none: what is purged is lost. Asks first."},
    {"limit", NULL, "N", "Jobs at most (all)."},
};
static const struct option queue_options[] = {
    {"by-batch", NULL, NULL, "A line for each batch."},
};
static const struct option host_options[] = {
    {"user", NULL, "EMAIL", "The hosts of a user instead of one host."},
    {"most", NULL, "N", "Jobs or hosts shown at most (20)."},
};
static const struct option status_options[] = {
    {"url", NULL, "URL",
     "A scheduler instead of those of config.xml (scheduler_url); may be repeated."},
};
static const struct option why_options[] = {
    {"jobs", NULL, NULL,
     "Instead of a host's number: which waiting jobs can be had by how many of the hosts that came "
     "within the last week."},
    {"app", NULL, "NAME", "Only the jobs of this application."},
    {"request", NULL, "FILE",
     "A scheduler_request of the client; else one is made from the host's row."},
    {"platform", NULL, "NAME", "The host's platform, when none is known; may be repeated."},
    {"each", NULL, NULL, "A line for each class of jobs, instead of one for each reason."},
    {"most", NULL, "N", "Classes of jobs examined (5000)."},
};
static const struct option replay_options[] = {
    {"config", NULL, "PATH",
     "Put the requests to the options of this config.xml, or of this project's folder with its "
     "plan classes, instead of those of then."},
    {"set", NULL, "OPTION=VALUE", "Change one option of config.xml; may be repeated."},
    {"plan-classes", NULL, "FILE", "Put them to the plan classes of this file."},
    {"quiet", NULL, NULL, "No progress on standard error."},
};
static const struct option files_options[] = {
    {"host", NULL, "ID", "The files of a host."},
    {"file", NULL, "NAME", "The hosts that hold a file."},
    {"after", NULL, "ID",
     "With --file: only hosts with higher numbers, to go on with a long list."},
    {"most", NULL, "N", "Lines at most (1000)."},
};
static const struct option files_sweep_options[] = {
    {"delete", NULL, NULL, "Delete the uploaded files that may go. Asks first."},
    {"list", NULL, NULL, "A line for each file that may go, or went, instead of the counts."},
    {"archive", NULL, "DIR",
     "Where qmctl purge wrote its archives (archives in the project's folder); may be repeated."},
    {"now", NULL, "T", "The moment that ages are counted from, as Unix time (the clock)."},
};
static const struct option files_orders_options[] = {
    {"host", NULL, "ID", "Those of one host."},
    {"most", NULL, "N", "Lines at most (1000)."},
};
static const struct option files_order_options[] = {
    {"host", NULL, "ID", "The host. Needed."},
    {"message", NULL, NULL,
     "Once, as a message to the host (msg_to_host), though there is a file database."},
};
static const struct option files_get_options[] = {
    {"host", NULL, "ID", "The host. Needed."},
    {"max-bytes", NULL, "N", "Most bytes that are taken (1000000000)."},
    {"message", NULL, NULL,
     "Once, as a message to the host (msg_to_host), though there is a file database."},
};
static const struct option check_options[] = {
    {"no-db", NULL, NULL, "Do not look at the database."},
    {"no-web", NULL, NULL, "Do not ask whether uploads arrive at upload_url."},
};
#define DEPLOY_OPTIONS                                                                             \
    {"dry-run", NULL, NULL,                                                                        \
     "Write nothing; show what would change, and exit with 3 if anything would."},                 \
        {"force", NULL, NULL, "Write over a file that was changed, or that somebody else wrote."}, \
    {                                                                                              \
        "group", NULL, "GROUP", "Group of the web server, and name of its user (www-data)."        \
    }
#define DEPLOY_WEB_OPTIONS                                                                  \
    {"port", NULL, "N", "Port for http (as in master_url, or 80)."},                        \
        {"tls-port", NULL, "N", "Port for https (as in master_url, or 443)."},              \
        {"certificate", NULL, "FILE",                                                       \
         "Answer https too, with this certificate and those of its issuers."},              \
        {"key", NULL, "FILE", "The key of the certificate."},                               \
        {"socket", NULL, "PATH", "Socket of the server (/run/quartermaster/NAME.socket)."}, \
        {"uploads", NULL, "PATH",                                                           \
         "Socket of the upload handler (/run/quartermaster/NAME-upload.socket)."},          \
    {                                                                                       \
        "no-uploads", NULL, NULL,                                                           \
            "Uploads are taken by BOINC's file_upload_handler, or elsewhere."               \
    }
static const struct option deploy_nginx_options[] = {
    {"file", NULL, "PATH", "The file to write (/etc/nginx/conf.d/NAME.conf)."},
    {"locations", NULL, "PATH",
     "Write the locations into this file, for a server block of the host that is there already, "
     "such as that of BOINC's web pages or of another project, to include."},
    {"address", NULL, "ADDRESS", "Answer at this address of IPv4 alone."},
    DEPLOY_WEB_OPTIONS,
    DEPLOY_OPTIONS,
};
static const struct option deploy_apache_options[] = {
    {"file", NULL, "PATH", "The file to write (/etc/apache2/sites-available/NAME.conf)."},
    {"how", NULL, "WAY",
     "How Apache and Quartermaster meet: proxy-fcgi (the default), or fcgid or cgi, by which "
     "Apache starts it."},
    {"program", NULL, "FILE", "The quartermaster program (the one beside qmctl)."},
    DEPLOY_WEB_OPTIONS,
    DEPLOY_OPTIONS,
};
static const struct option files_init_options[] = {
    DB_ADMIN_OPTIONS("Who makes it, where the user of config.xml may not."),
};
static const struct option deploy_systemd_options[] = {
    {"units", NULL, "DIR", "Where the drop-ins are written (/etc/systemd/system)."},
    {"projects", NULL, "DIR", "Where the units look for projects (/var/lib/quartermaster)."},
    {"no-uploads", NULL, NULL, "Uploads are taken by BOINC's file_upload_handler, or elsewhere."},
    DEPLOY_OPTIONS,
};
static const struct option deploy_mariadb_options[] = {
    {"apply", NULL, NULL, "Run the statements, and try whether a server can work then."},
    DB_ADMIN_OPTIONS("Who runs them (the user who calls, as whom the database knows root)."),
    {"user", NULL, "USER",
     "A user of the system, whom the database knows without a password, instead of db_user."},
    {"from", NULL, "HOST", "From where a server comes, as the database sees it (localhost)."},
};

#define OPTIONS(array) .options = (array), .option_count = sizeof(array) / sizeof((array)[0])

const struct subcommand subcommands[] = {
    {"init", "DIR", "Makes a project: folder, config.xml, keys, database, master page.",
     "qmctl init /srv/demo --url https://example.org/demo/ --name Demo --db-name demo",
     OPTIONS(init_options), .arguments_min = 1, .arguments_max = 1, .run = command_init},
    {"adopt", "DIR",
     "Looks at a running BOINC project, its folder and its database of any year since 2010, and "
     "says what works, what does not and what has to change. Changes nothing without --apply. "
     "Levels: ok, note (otherwise than before), change (--apply does it), warning (you decide or "
     "do it), error (does not work until it is mended). Exit status 3 when --apply would change "
     "something, 1 when there is an error. moving(7) says when to do what.",
     "qmctl adopt /home/boincadm/projects/demo", OPTIONS(adopt_options), .arguments_min = 1,
     .arguments_max = 1, .asks = true, .run = command_adopt},
    {"check-config", "",
     "Checks config.xml, keys, folders, templates and database, and where templates have output "
     "files, whether an upload handler answers at upload_url.",
     "qmctl check-config --project /srv/demo", OPTIONS(check_options), .run = command_check_config},
    {"deploy nginx", "",
     "Writes the configuration of nginx for a project, and says what else has to be done. A file "
     "that was changed since is not written over.",
     "qmctl deploy nginx --certificate /etc/ssl/demo.pem --key /etc/ssl/demo.key --dry-run",
     OPTIONS(deploy_nginx_options), .run = command_deploy_nginx},
    {"deploy apache", "",
     "Writes the configuration of Apache for a project, and says what else has to be done, such as "
     "Debian's commands that enable the modules and the site. Into the project's folder it writes "
     "scheduler-down.asis and join-down.asis, with which Apache answers while no server runs. A "
     "file that was changed since is not written over.",
     "qmctl deploy apache --how fcgid", OPTIONS(deploy_apache_options),
     .run = command_deploy_apache},
    {"deploy systemd", "",
     "Makes instances of the units for a project, and says what else has to be done. It makes the "
     "link by which they find the project's folder, and drop-ins for another owner than "
     "quartermaster, a home directory, another upload_dir, another web server's group.",
     "qmctl deploy systemd --dry-run", OPTIONS(deploy_systemd_options),
     .run = command_deploy_systemd},
    {"deploy mariadb", "",
     "Prints the SQL that makes the database's user (db_user of config.xml) with the least rights "
     "that servers and qmctl need. Only init and files init, which make tables, need more "
     "(--db-admin). A user who is there keeps his password.",
     "qmctl deploy mariadb | mariadb", OPTIONS(deploy_mariadb_options),
     .run = command_deploy_mariadb},
    {"keys", "", "Makes keys that are missing, and shows the fingerprints of all.", "qmctl keys",
     .run = command_keys},
    {"keys rotate", "",
     "Makes a new code-signing key, keeps the old one, and signs all versions anew.",
     "qmctl keys rotate", .run = command_keys_rotate},
    {"sign", "FILE", "Prints the signature of a file by the code-signing key.",
     "qmctl sign demo_1.0", .arguments_min = 1, .arguments_max = 1, .run = command_sign},
    {"app add", "NAME", "Adds an application.", "qmctl app add demo --friendly \"Demonstration\"",
     OPTIONS(app_set_options), .arguments_min = 1, .arguments_max = 1, .run = command_app_add},
    {"app list", "",
     "Lists the applications. settings: what is not as usual (qmctl app show explains each).",
     "qmctl app list --tsv", .run = command_app_list},
    {"app show", "NAME",
     "Shows what can be set of an application, what it is set to, what is usual, and what it "
     "means.",
     "qmctl app show demo", .arguments_min = 1, .arguments_max = 1, .run = command_app_show},
    {"app set", "NAME",
     "Changes settings of an application. Running servers use them within a second, those with "
     "another folder within catalog_refresh. What does not go with config.xml or the versions is a "
     "warning.",
     "qmctl app set demo --target_nresults 2 --beta no", OPTIONS(app_set_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_app_set},
    {"app deprecate", "NAME", "Sends no more jobs of an application.", "qmctl app deprecate demo",
     OPTIONS(undo_options), .arguments_min = 1, .arguments_max = 1, .run = command_app_deprecate},
    {"app classes", "NAME",
     "Shows the classes of homogeneous redundancy that unfinished jobs of an application are bound "
     "to, and how many hosts of each came within a week (of the newest 100000 hosts). Jobs of a "
     "class that died out wait for ever; --release frees them. Exit status 3 when a class with "
     "jobs has no hosts.",
     "qmctl app classes demo --release 257", OPTIONS(app_classes_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_app_classes},
    {"app estimates", "[NAME]",
     "Compares what jobs took with what their rsc_fpops_est says, by version, in the newest 10000 "
     "results of each application: median is elapsed time times peak FLOPS of the device over "
     "rsc_fpops_est, low and high are the 5th and 95th percentile. 1 is right; advice says what to "
     "change.",
     "qmctl app estimates demo", .arguments_max = 1, .run = command_app_estimates},
    {"app forget", "NAME",
     "Forgets the statistics of an application: the run times and efficiency of its versions, and "
     "of each host with them, a few hundred hosts at a time. For an application whose jobs were "
     "estimated wrongly by far. Quotas, turnaround times and trust stay. Interrupted, it may be "
     "run again.",
     "qmctl app forget demo", .arguments_min = 1, .arguments_max = 1, .asks = true,
     .run = command_app_forget},
    {"platform list", "", "Lists the platforms that versions may be for (qmctl init adds them).",
     "qmctl platform list", .run = command_platform_list},
    {"platform add", "NAME",
     "Adds a platform that versions may be for. The name is that by which clients call their "
     "computer, letter by letter.",
     "qmctl platform add riscv64-unknown-linux-gnu --friendly \"Linux on 64-bit RISC-V\"",
     OPTIONS(platform_add_options), .arguments_min = 1, .arguments_max = 1,
     .run = command_platform_add},
    {"version add", "APP VERSION PLATFORM FILE...",
     "Adds a version of an application: its files go into the download folder and are signed. With "
     "--from FOLDER it adds each version of FOLDER/APP/VERSION/PLATFORM, or PLATFORM__PLANCLASS, "
     "that is not there yet, as BOINC's update_versions does: version.xml says what the files are, "
     "and FILE.sig is taken for the signature of FILE, for projects whose private key is kept "
     "elsewhere. APP, VERSION and PLATFORM then choose among the folders.",
     "qmctl version add demo 1.00 x86_64-pc-linux-gnu ./demo data=table.bin",
     OPTIONS(version_add_options), .arguments_max = -1, .run = command_version_add},
    {"version list", "[APP]", "Lists the versions. settings: what is not as usual.",
     "qmctl version list demo --json", .arguments_max = 1, .run = command_version_list},
    {"version set", "ID",
     "Changes settings of a version (its number: qmctl version list), which running servers use as "
     "those of app set.",
     "qmctl version set 3 --min_core_version 7.16.0", OPTIONS(version_set_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_version_set},
    {"version deprecate", "ID", "Uses a version no more (its number: qmctl version list).",
     "qmctl version deprecate 3", OPTIONS(undo_options), .arguments_min = 1, .arguments_max = 1,
     .run = command_version_deprecate},
    {"user add", "EMAIL", "Adds an account and prints its key.",
     "qmctl user add ada@example.org --name Ada", OPTIONS(user_add_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_user_add},
    {"user list", "", "Lists the newest accounts.", "qmctl user list --most 10",
     OPTIONS(list_options), .run = command_user_list},
    {"user show", "[EMAIL]", "Shows an account and its key.", "qmctl user show ada@example.org",
     OPTIONS(user_show_options), .arguments_max = 1, .run = command_user_show},
    {"user delete", "[EMAIL]",
     "Deletes an account, its hosts and whatever else is known of the person. "
     "Jobs in progress go to others, and results stay without saying whose they were. What goes "
     "from which table: quartermaster(8), \"Deleting people\".",
     "qmctl user delete ada@example.org", OPTIONS(user_delete_options), .arguments_max = 1,
     .asks = true, .run = command_user_delete},
    {"jobs create", "[FILE...]",
     "Makes jobs: one with the files given, or one for each line of standard input. What the "
     "input template says of a job counts, whatever is given here. Lines become jobs in their "
     "order, some thousand in a transaction (--commit_every). After a mistake in a line, or when "
     "the command is killed, whole jobs of the first lines are there, and --go_on makes the "
     "others; give a --name from the beginning, so that it is known then. With --commit_every 0 "
     "nothing is left; but the database takes half as long to undo a million jobs as they took, "
     "requests become slow meanwhile, and hosts get none of the jobs before the last is made.",
     "qmctl jobs create --app demo --in templates/simple_in.xml --out templates/simple_out.xml in1",
     OPTIONS(jobs_create_options), .arguments_max = -1, .takes_parameters = true,
     .run = command_jobs_create},
    {"jobs cancel", "[NAME]",
     "Cancels jobs that have no answer yet, some hundred at a time, so that hosts wait for none of "
     "it. Where several options select jobs, all of them must hold. If interrupted, repeat the "
     "command.",
     "qmctl jobs cancel --batch 12", OPTIONS(jobs_change_options), .arguments_max = 1, .asks = true,
     .run = command_jobs_cancel},
    {"jobs priority", "[NAME]",
     "Changes the priority of unfinished jobs and of their unsent results. Running servers see it "
     "at their next sweep (pool_sweep). Select jobs as for jobs cancel.",
     "qmctl jobs priority --batch 12 --priority 10", OPTIONS(jobs_priority_options),
     .arguments_max = 1, .run = command_jobs_priority},
    {"jobs retry", "[NAME]",
     "Tries failed jobs again: clears their error and allows as many more results as were made so "
     "far. The next transition makes them. Cancelled jobs and those whose input files are deleted "
     "stay as they are. Select jobs as for jobs cancel.",
     "qmctl jobs retry --batch 12 --dry-run", OPTIONS(jobs_change_options), .arguments_max = 1,
     .run = command_jobs_retry},
    {"jobs revalidate", "[NAME]",
     "Has the validator judge results again that it found wrong, or that no quorum agreed with, as "
     "long as their output files exist. Use it after a validator is mended. Results that were "
     "found "
     "valid stay valid, because credit was granted for them. Select jobs as for jobs cancel.",
     "qmctl jobs revalidate --app demo", OPTIONS(jobs_change_options), .arguments_max = 1,
     .run = command_jobs_revalidate},
    {"jobs transition", "[NAME]",
     "Makes the transition of jobs due now; BOINC's transitioner or qmctl transition then does it. "
     "Select jobs as for jobs cancel.",
     "qmctl jobs transition --ids 1000-2000", OPTIONS(jobs_change_options), .arguments_max = 1,
     .run = command_jobs_transition},
    {"jobs list", "",
     "Lists jobs, the newest first: what each waits for, its results by state, and why it failed.",
     "qmctl jobs list --batch 12 --state failed", OPTIONS(jobs_list_options),
     .run = command_jobs_list},
    {"jobs show", "[NAME]",
     "Shows a job with its results: hosts, times, outcomes, output files (where they are, how "
     "long, or that they are missing), standard error.",
     "qmctl jobs show genome_7", OPTIONS(jobs_show_options), .arguments_max = 1,
     .run = command_jobs_show},
    {"jobs results", "", "Lists results, which are the instances of jobs, the newest first.",
     "qmctl jobs results --outcome \"client error\" --most 20", OPTIONS(jobs_results_options),
     .run = command_jobs_results},
    {"jobs batches", "",
     "Lists batches with their progress. The percentage is that of jobs that are over.",
     "qmctl jobs batches --app demo", OPTIONS(jobs_batches_options), .run = command_jobs_batches},
    {"jobs export", "DIR",
     "Copies answers to a folder: the output files and the standard error of each job's canonical "
     "result, to DIR/JOB/FILE and DIR/JOB/stderr.txt (with --all to DIR/JOB/RESULT/FILE). "
     "DIR/manifest.tsv lists every file, and those that are missing. What it lists is not copied "
     "again, so that the command may be interrupted and repeated. Names that cannot be names of "
     "files become @NUMBER. DIR is new, empty, or of this command and this project; what is there "
     "without being listed is replaced.",
     "qmctl jobs export answers --batch 12 --wait", OPTIONS(jobs_export_options),
     .arguments_min = 1, .arguments_max = 1, .run = command_jobs_export},
    {"transition", "",
     "Does what is due with jobs, for projects without BOINC's transitioner: results past their "
     "deadline are over, new ones are made, jobs are passed on to validator and assimilator or "
     "given up. Several copies, on one machine or more, share the work, so start more of them "
     "where "
     "one is not enough; what a killed one was at is left alone for a minute (policy(7) 13.8). A "
     "signal ends it when what is under way is done; a second one, at once.",
     "qmctl transition --loop 10", OPTIONS(transition_options), .run = command_transition},
    {"purge", "",
     "Moves old jobs out of the database: those whose files were deleted, with all their results, "
     "into wu_archive_T.xml and result_archive_T.xml, T being the Unix time. Each row is an "
     "element with one element for each column; texts are escaped, bytes above 127 as &#N;. "
     "wu_index_T.xml and result_index_T.xml have a line for each row: id, T, name. A job with "
     "nodelete in its name stays. Rows of this server about hosts and jobs that other programs "
     "have "
     "deleted go too. At the end it says what keeps the oldest of the jobs that stay. "
     "Interrupted, it may be run again: nothing is lost, but what was under way may be archived "
     "twice.",
     "qmctl purge --min-age-days 90", OPTIONS(purge_options), .asks = true, .run = command_purge},
    {"queue", "",
     "Counts results by application and state. held_back: made, but not to be sent yet (inactive), "
     "until BOINC's size_regulator releases them.",
     "qmctl queue --by-batch", OPTIONS(queue_options), .run = command_queue},
    {"failures", "",
     "Shows what became of results of late, by version: sent, returned as a success or with an "
     "error, "
     "timed out, found invalid. state is FAILS where more than a fifth of at least 20 results "
     "failed, "
     "or all of at least five. A result that is found invalid counts when that happens.",
     "qmctl failures --hours 1 --errors", OPTIONS(failures_options), .run = command_failures},
    {"files", "", "Lists the sticky files that a host holds, or the hosts that hold a file.",
     "qmctl files --file genome_7", OPTIONS(files_options), .run = command_files},
    {"files init", "", "Makes the file database (files_db_name) and its tables.",
     "qmctl files init", OPTIONS(files_init_options), .run = command_files_init},
    {"files orders", "",
     "Lists orders to hosts, and what became of each. An order waits for the host's next contact, "
     "was sent (so often), is done, failed on the host, expired (sent ten times and a week old, or "
     "sixty days old), or is unsupported by the host's client. What has ended is listed for a "
     "week.",
     "qmctl files orders --host 42", OPTIONS(files_orders_options), .run = command_files_orders},
    {"files send", "FILE",
     "Sends a host a file to keep; it is copied to the download folder as an input file is.",
     "qmctl files send genome_7 --host 42", OPTIONS(files_order_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_files_send},
    {"files get", "NAME",
     "Has a host upload a file that it holds; it is not deleted meanwhile. Clients of today upload "
     "a file only once, be it a job's output or an order like this.",
     "qmctl files get log_3 --host 42", OPTIONS(files_get_options), .arguments_min = 1,
     .arguments_max = 1, .run = command_files_get},
    {"files delete", "NAME",
     "Has a host delete a file, once no job there needs it and no order waits for it. Clients "
     "before 4.06 cannot.",
     "qmctl files delete genome_7 --host 42", OPTIONS(files_order_options), .arguments_min = 1,
     .arguments_max = 1, .asks = true, .run = command_files_delete},
    {"files sweep", "",
     "Counts files in upload_dir and download_dir that nothing leads to any more, and deletes none "
     "but with --delete, and then of upload_dir only: plain files in the folder of their own name, "
     "with a name that jobs create gives to the output files of results, that nobody changed for "
     "30 days, whose result is not in the database any more, and which an archive of purge has as "
     "an output file of that result, neither no_delete nor sticky. So whatever was purged without "
     "an archive stays, as does all that has another name or place. No link is followed. Where an "
     "archive has higher numbers than the database ever gave out, it is another database, or an "
     "older copy: nothing is deleted. qmctl transition --loop with --delete-files counts such "
     "files from time to time, for status, and deletes none.",
     "qmctl files sweep --list", OPTIONS(files_sweep_options), .asks = true,
     .run = command_files_sweep},
    {"host", "[ID]", "Shows a host and its jobs, or the hosts of a user.", "qmctl host 42",
     OPTIONS(host_options), .arguments_max = 1, .run = command_host},
    {"host delete", "ID",
     "Deletes a host and what is known of it. Its jobs in progress go to others, unfinished ones "
     "--for "
     "it alone are given up; its client gets a new number when it comes again.",
     "qmctl host delete 42", OPTIONS(host_delete_options), .arguments_min = 1, .arguments_max = 1,
     .asks = true, .run = command_host_delete},
    {"drain", "",
     "Lets the project run dry: within a second its servers hand out no more jobs, and go on "
     "taking reports (by the file stop_work in the project's folder; a server with a folder of its "
     "own drains alone). qmctl status says so.",
     "qmctl drain", .run = command_drain},
    {"resume", "", "Ends qmctl drain: jobs are handed out again.", "qmctl resume",
     .run = command_resume},
    {"status", "",
     "Checks whether the project is up: what check-config finds in its folder, whether the "
     "database can be read and written as a server does, the queue, jobs that wait for transition, "
     "validation or assimilation, hosts, what each scheduler says of itself and its last ten "
     "minutes, and where templates have output files, uploads. Jobs are counted up to 100000, so "
     "that it takes no longer where there are millions (qmctl queue counts all). Exit status 1 "
     "when "
     "something has FAILED.",
     "qmctl status", OPTIONS(status_options), .run = command_status},
    {"why", "[HOST]",
     "Says which unsent jobs a host may get now, and why it does not get the others. With --jobs, "
     "says which unsent jobs no host can have, and why; exit status 3 if there are any.",
     "qmctl why 42 --app demo", OPTIONS(why_options), .arguments_max = 1, .run = command_why},
    {"replay", "[FILE|FOLDER...]",
     "Puts recorded requests (record_requests in config.xml) to other options, without asking or "
     "writing anything, and says what would become of them. FOLDER is recorded_requests of the "
     "project, unless it is given. First it says how many come out as recorded under the options "
     "of then; only these are compared. Each request is put by itself: what a host would have "
     "had from earlier ones does not count. Exit status 3: something would differ.",
     "qmctl replay --set max_wus_in_progress=4", OPTIONS(replay_options), .arguments_max = -1,
     .run = command_replay},
    {"completion", "bash|zsh", "Prints what has a shell complete subcommands and options.",
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
