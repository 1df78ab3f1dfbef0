/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/qmload/load_upload.h"

#include "server/base/crypto.h"
#include "server/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { ASKED_FROM = 8192 /* bytes; clients send smaller files at once */ };

/* One file, as the reply described it. */
struct output {
    struct text name, signature, most, url;
};

static struct output read_output(const struct load_job *job)
{
    struct output output = {.name = NO_TEXT};
    struct text info = text_from(job->file), rest = info;

    (void)load_element(&rest, TEXT("<name>"), TEXT("</name>"), &output.name);
    rest = info;
    (void)load_element(&rest, TEXT("<xml_signature>"), TEXT("</xml_signature>"), &output.signature);
    rest = info;
    (void)load_element(&rest, TEXT("<max_nbytes>"), TEXT("</max_nbytes>"), &output.most);
    rest = info;
    (void)load_element(&rest, TEXT("<url>"), TEXT("</url>"), &output.url);
    output.name = text_trim(output.name);
    output.signature = text_trim(output.signature);
    output.most = text_trim(output.most);
    output.url = text_trim(output.url);
    return output;
}

/* The same for all instances of a workunit, whose names end with _N. */
static void write_content(const struct load_job *job, int64_t bytes, struct buffer *ret_content)
{
    const char *end = strrchr(job->name, '_');
    struct text workunit = text_from(job->name);
    uint64_t mark;

    if (end != NULL)
        workunit = text_first(workunit, (size_t)(end - job->name));
    mark = text_hash(workunit);
    for (int64_t i = 0; i < bytes; i += 16) {
        char word[17];

        snprintf(word, sizeof(word), "%016" PRIx64, random_mix(mark, (uint64_t)i));
        buffer_add(ret_content, text_first(text_from(word), (size_t)(bytes - i)));
    }
}

static void write_head(struct buffer *request)
{
    buffer_add_string(request, "<data_server_request>\n"
                               "    <core_client_major_version>8</core_client_major_version>\n"
                               "    <core_client_minor_version>0</core_client_minor_version>\n"
                               "    <core_client_release>2</core_client_release>\n");
}

struct text upload_write(const struct load_job *job, int64_t bytes, struct buffer *ret_request)
{
    struct output output = read_output(job);
    struct buffer content;
    char md5[MD5_HEX_SIZE];

    write_head(ret_request);
    if (bytes >= ASKED_FROM && !job->is_asked) {
        buffer_print(ret_request,
                     "    <get_file_size>" TEXT_FORMAT "</get_file_size>\n"
                     "</data_server_request>\n",
                     TEXT_ARG(output.name));
        return output.url;
    }
    content = buffer_on_heap(0);
    write_content(job, bytes, &content);
    md5_hex(buffer_text(&content), NO_TEXT, md5);
    buffer_print(ret_request,
                 "<file_upload>\n<file_info>\n<name>" TEXT_FORMAT "</name>\n"
                 "<xml_signature>\n" TEXT_FORMAT "</xml_signature>\n"
                 "<max_nbytes>" TEXT_FORMAT "</max_nbytes>\n</file_info>\n"
                 "<nbytes>%" PRId64 "</nbytes>\n<md5_cksum>%s</md5_cksum>\n<offset>0</offset>\n"
                 "<data>\n",
                 TEXT_ARG(output.name), TEXT_ARG(output.signature), TEXT_ARG(output.most), bytes,
                 md5);
    buffer_add(ret_request, buffer_text(&content));
    buffer_free(&content);
    return output.url;
}

static char *report_of(const struct load_job *job, int64_t bytes)
{
    struct output output = read_output(job);
    struct buffer words = buffer_on_heap(0);
    char *report;

    buffer_print(&words,
                 "<file_info>\n    <name>" TEXT_FORMAT "</name>\n"
                 "    <nbytes>%" PRId64 ".000000</nbytes>\n    <max_nbytes>" TEXT_FORMAT
                 "</max_nbytes>\n    <upload_url>" TEXT_FORMAT "</upload_url>\n</file_info>\n",
                 TEXT_ARG(output.name), bytes, TEXT_ARG(output.most), TEXT_ARG(output.url));
    report = text_keep(buffer_text(&words));
    buffer_free(&words);
    if (report == NULL)
        abort();
    return report;
}

bool upload_read_reply(struct load_job *job, int64_t bytes, struct text reply)
{
    if (!text_contains(reply, TEXT("<status>0</status>")))
        return false;
    if (bytes >= ASKED_FROM && !job->is_asked) {
        job->is_asked = true;
        return true;
    }
    job->uploaded = report_of(job, bytes);
    free(job->file);
    job->file = NULL;
    return true;
}
