/* SPDX-License-Identifier: Apache-2.0 */
/* What `qmctl init` writes. The configuration holds what belongs to this project, and limits: the
 * reason of each is in config.xml(5). Everything else has its default, and config/config.xml in the
 * sources shows all options. */
#include "server/submit/new_project.h"

#include "server/base/buffer.h"

#include "server/base/banned.h"

#define FANOUT "1024" /* subfolders of download and upload: good for millions of files */

const struct standard_platform standard_platforms[] = {
    {"windows_intelx86", "Windows on 32-bit x86"},
    {"windows_x86_64", "Windows on 64-bit x86"},
    {"windows_arm64", "Windows on 64-bit ARM"},
    {"i686-pc-linux-gnu", "Linux on 32-bit x86"},
    {"x86_64-pc-linux-gnu", "Linux on 64-bit x86"},
    {"aarch64-unknown-linux-gnu", "Linux on 64-bit ARM"},
    {"arm-unknown-linux-gnueabihf", "Linux on 32-bit ARM"},
    {"i686-apple-darwin", "macOS on 32-bit x86"},
    {"x86_64-apple-darwin", "macOS on 64-bit x86"},
    {"arm64-apple-darwin", "macOS on 64-bit ARM"},
    {"powerpc-apple-darwin", "macOS on PowerPC"},
    {"arm-android-linux-gnu", "Android on 32-bit ARM"},
    {"aarch64-android-linux-gnu", "Android on 64-bit ARM"},
    {"x86-android-linux-gnu", "Android on 32-bit x86"},
    {"x86_64-android-linux-gnu", "Android on 64-bit x86"},
    {"powerpc64-ps3-linux-gnu", "Linux on PlayStation 3"},
    {"sparc-sun-solaris", "Solaris on 32-bit SPARC"},
    {"sparc-sun-solaris2.7", "Solaris 2.7 on SPARC"},
    {"sparc64-sun-solaris", "Solaris on 64-bit SPARC"},
    {"anonymous", "Volunteers' own applications"},
};
const size_t standard_platform_count = sizeof standard_platforms / sizeof standard_platforms[0];

static void write_option(struct buffer *buffer, const char *name, struct text value)
{
    if (value.length == 0)
        return;
    buffer_add_element(buffer, 4, name, value);
}

static void write_below(struct buffer *buffer, const char *name, struct text base, const char *part)
{
    buffer_print(buffer, "    <%s>", name);
    buffer_add_xml(buffer, base);
    buffer_print(buffer, "%s</%s>\n", part, name);
}

void project_write_config(const struct new_project *project, struct buffer *buffer)
{
    buffer_add_string(buffer, "<!-- Options with their defaults: quartermaster --dump-config. -->\n"
                              "<boinc>\n  <config>\n");
    write_option(buffer, "long_name", project->name);
    write_option(buffer, "master_url", project->master_url);
    for (size_t i = 0; i < project->scheduler_count; i++)
        write_option(buffer, "scheduler_url", project->scheduler_urls[i]);
    write_option(buffer, "db_name", project->db_name);
    write_option(buffer, "db_host", project->db_host);
    write_option(buffer, "db_socket", project->db_socket);
    write_option(buffer, "db_user", project->db_user);
    write_option(buffer, "db_passwd", project->db_passwd);
    write_option(buffer, "project_dir", project->dir);
    write_below(buffer, "key_dir", project->dir, "/keys");
    write_below(buffer, "download_dir", project->dir, "/download");
    write_below(buffer, "download_url", project->master_url, "download");
    write_below(buffer, "upload_dir", project->dir, "/upload");
    write_below(buffer, "upload_url", project->master_url, "file_upload_handler");
    write_option(buffer, "uldl_dir_fanout", TEXT(FANOUT));
    write_option(buffer, "joining", TEXT("1"));
    write_option(buffer, "daily_result_quota", TEXT("500"));
    write_option(buffer, "max_wus_to_send", TEXT("50"));
    write_option(buffer, "send_result_abort", TEXT("1"));
    write_option(buffer, "delete_delay_hours", TEXT("168"));
    write_option(buffer, "extend_deadlines", TEXT("1"));
    write_option(buffer, "learn_availability", TEXT("1"));
    write_option(buffer, "submitter_streams", TEXT("1"));
    buffer_add_string(buffer, "  </config>\n  <tasks>\n  </tasks>\n  <daemons>\n  </daemons>\n"
                              "</boinc>\n");
}

static enum status write_line(struct buffer *buffer, const char *before, struct text url,
                              const char *after, struct failure *failure)
{
    size_t start = buffer->length;
    buffer_add_string(buffer, before);
    buffer_add_xml(buffer, url);
    buffer_add_string(buffer, after);
    if (buffer->length - start > MASTER_PAGE_LINE_MAX)
        return fail(failure, STATUS_TOO_LARGE,
                    "the scheduler's URL is too long: clients cut lines of the master page after "
                    "%d bytes",
                    MASTER_PAGE_LINE_MAX);
    buffer_add_char(buffer, '\n');
    return STATUS_OK;
}

enum status project_write_master_page(struct text name, const struct text *scheduler_urls,
                                      size_t count, struct buffer *buffer, struct failure *failure)
{
    enum status status = STATUS_OK;
    buffer_add_string(buffer, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>");
    buffer_add_xml(buffer, name);
    buffer_add_string(buffer, "</title>\n");
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = write_line(buffer, "<link rel=\"boinc_scheduler\" href=\"", scheduler_urls[i],
                            "\">", failure);
    buffer_add_string(buffer, "</head>\n<body>\n<!-- BOINC clients read these lines:\n");
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = write_line(buffer, "<scheduler>", scheduler_urls[i], "</scheduler>", failure);
    buffer_add_string(buffer, "-->\n<h1>");
    buffer_add_xml(buffer, name);
    buffer_add_string(buffer, "</h1>\n<p>A volunteer computing project. To take part, add this "
                              "page's address in the BOINC client.</p>\n</body>\n</html>\n");
    return status;
}
