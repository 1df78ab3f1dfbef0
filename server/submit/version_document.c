/* SPDX-License-Identifier: Apache-2.0 */
/* The document of a version holds neither platform nor plan class nor speed: the server puts them
 * in for each host. Files of applications lie in the top level of the download folder. */
#include "server/submit/version_document.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/hierarchy.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define VERSION_PARTS_MAX 999999 /* of each part of a.b */

static enum status not_a_version(struct text text, struct failure *failure)
{
    return fail(failure, STATUS_INVALID, "\"" TEXT_FORMAT "\" is not a version such as 1.03",
                TEXT_ARG(text));
}

enum status version_number_read(struct text text, int64_t *ret_number, struct failure *failure)
{
    struct text rest = text, minor = NO_TEXT;
    int64_t major_number, minor_number = 0;
    bool has_dot = text_contains(text, TEXT("."));
    struct text major = text_split(&rest, '.');
    if (has_dot)
        minor = rest;
    if (!text_to_i64(major, &major_number) || major_number < 0 ||
        major_number > VERSION_PARTS_MAX || (!has_dot && major_number == 0))
        return not_a_version(text, failure);
    if (has_dot && (!text_to_i64(minor, &minor_number) || minor_number < 0 || minor_number > 99))
        return not_a_version(text, failure);
    *ret_number = has_dot ? 100 * major_number + minor_number : major_number;
    if (minor.length == 1 && minor_number != 0)
        return fail(failure, STATUS_INVALID,
                    "version " TEXT_FORMAT " may mean %" PRId64 ".0%" PRId64 " or %" PRId64
                    ".%" PRId64 "0: write which",
                    TEXT_ARG(text), major_number, minor_number, major_number, minor_number);
    return *ret_number > 0 ? STATUS_OK : not_a_version(text, failure);
}

static void write_signature(struct buffer *buffer, struct text signature)
{
    /* Parsers take hex digits from the beginning of a line up to the dot. */
    buffer_print(buffer, "    <file_signature>\n" TEXT_FORMAT "\n    </file_signature>\n",
                 TEXT_ARG(text_trim(signature)));
}

static void write_url(struct buffer *buffer, const struct version_document *version,
                      const struct version_file *file, const char *element, const char *ending)
{
    buffer_print(buffer, "    <%s>", element);
    hierarchy_write(buffer, version->config->download_url, file->file.name, 0);
    buffer_print(buffer, "%s</%s>\n", ending, element);
}

static void write_file(struct buffer *buffer, const struct version_document *version,
                       const struct version_file *file)
{
    buffer_add_string(buffer, "<file_info>\n");
    buffer_add_element(buffer, 4, "name", file->file.name);
    for (size_t i = 0; i < file->url_count; i++)
        buffer_add_element(buffer, 4, "url", file->urls[i]);
    if (file->url_count == 0)
        write_url(buffer, version, file, "url", "");
    if (file->file.gzipped_bytes > 0) {
        write_url(buffer, version, file, "gzipped_url", ".gz");
        buffer_print(buffer, "    <gzipped_nbytes>%" PRId64 "</gzipped_nbytes>\n",
                     file->file.gzipped_bytes);
    }
    if (file->is_executable || file->is_main)
        buffer_add_string(buffer, "    <executable/>\n");
    write_signature(buffer, file->signature);
    buffer_print(buffer, "    <nbytes>%" PRId64 "</nbytes>\n</file_info>\n", file->file.bytes);
}

static void write_reference(struct buffer *buffer, const struct version_file *file)
{
    buffer_add_string(buffer, "    <file_ref>\n");
    buffer_add_element(buffer, 8, "file_name", file->file.name);
    if (file->open_name.length > 0)
        buffer_add_element(buffer, 8, "open_name", file->open_name);
    if (file->copy_file)
        buffer_add_string(buffer, "        <copy_file/>\n");
    if (file->is_main)
        buffer_add_string(buffer, "        <main_program/>\n");
    buffer_add_string(buffer, "    </file_ref>\n");
}

static void write_text(struct buffer *buffer, const char *name, struct text value)
{
    if (value.length == 0)
        return;
    buffer_add_element(buffer, 4, name, value);
}

static enum status check_size(const struct buffer *buffer, size_t before, struct failure *failure)
{
    if (buffer->overflowed)
        return fail(failure, STATUS_NO_MEMORY, "no memory for the version's document");
    if (buffer->length - before > VERSION_DOCUMENT_MAX)
        return fail(failure, STATUS_TOO_LARGE, "the version's document has more than %d bytes",
                    VERSION_DOCUMENT_MAX);
    return STATUS_OK;
}

enum status version_document_write(const struct version_document *version, struct buffer *buffer,
                                   struct failure *failure)
{
    const struct {
        const char *name;
        bool is_set;
    } flags[] = {{"dont_throttle", version->dont_throttle},
                 {"needs_network", version->needs_network},
                 {"is_wrapper", version->is_wrapper}};
    size_t before = buffer->length, mains = 0;
    for (size_t i = 0; i < version->file_count; i++) {
        write_file(buffer, version, &version->files[i]);
        mains += version->files[i].is_main;
    }
    if (mains != 1)
        return fail(failure, STATUS_INVALID, "%zu main programs; a version has one", mains);
    buffer_add_string(buffer, "<app_version>\n");
    write_text(buffer, "app_name", version->app_name);
    buffer_print(buffer, "    <version_num>%" PRId64 "</version_num>\n", version->version_num);
    write_text(buffer, "api_version", version->api_version);
    for (size_t i = 0; i < version->file_count; i++)
        write_reference(buffer, &version->files[i]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is_set)
            buffer_print(buffer, "    <%s/>\n", flags[i].name);
    write_text(buffer, "file_prefix", version->file_prefix);
    buffer_add_string(buffer, "</app_version>\n");
    return check_size(buffer, before, failure);
}

/* What stands between two tags; empty when they are not there. */
static struct text inside(struct text document, struct text opener, struct text closer)
{
    size_t start = text_find(document, opener);
    if (start == document.length)
        return NO_TEXT;
    start += opener.length;
    struct text rest = {document.at + start, document.length - start};
    return text_first(rest, text_find(rest, closer));
}

static struct text behind(struct text text, size_t offset)
{
    return offset < text.length ? (struct text){text.at + offset, text.length - offset} : NO_TEXT;
}

bool version_document_next_file(struct text *rest, struct version_file_info *ret_info)
{
    struct text opener = TEXT("<file_info>"), closer = TEXT("</file_info>");
    size_t start = text_find(*rest, opener);
    struct text info;

    if (start == rest->length)
        return false;
    info = behind(*rest, start + opener.length);
    info = text_first(info, text_find(info, closer));
    *rest = behind(*rest, start + opener.length + info.length);
    *ret_info = (struct version_file_info){
        .name = text_trim(inside(info, TEXT("<name>"), TEXT("</name>"))),
        .signature = text_trim(inside(info, TEXT("<file_signature>"), TEXT("</file_signature>"))),
        .bytes = -1,
        .info = info};
    if (!text_to_whole(inside(info, TEXT("<nbytes>"), TEXT("</nbytes>")), &ret_info->bytes))
        ret_info->bytes = -1;
    return true;
}

struct text version_file_url(const struct version_file_info *info)
{
    return text_trim(inside(info->info, TEXT("<url>"), TEXT("</url>")));
}

bool version_file_has_url(const struct version_file_info *info, struct text url)
{
    struct text opener = TEXT("<url>"), closer = TEXT("</url>"), rest = info->info;

    while (text_contains(rest, opener)) {
        rest = behind(rest, text_find(rest, opener) + opener.length);
        if (text_equal(text_trim(text_first(rest, text_find(rest, closer))), url))
            return true;
    }
    return false;
}

static enum status resign_file(struct arena *arena, const struct config *config,
                               struct text file_info, struct text private_key,
                               struct buffer *buffer, struct failure *failure)
{
    struct text opener = TEXT("<file_signature>"), closer = TEXT("</file_signature>");
    struct text name = text_trim(inside(file_info, TEXT("<name>"), TEXT("</name>")));
    size_t start = text_find(file_info, opener);
    size_t end = text_find(file_info, closer);
    char md5[MD5_HEX_SIZE];
    int64_t bytes;
    struct text signature;
    if (start == file_info.length || end < start)
        return fail(failure, STATUS_INVALID, "a file_info without signature");
    enum status status = file_name_check("file name", name, failure);
    if (status != STATUS_OK)
        return status;
    const char *path = text_string(arena, hierarchy_path(arena, config->download_dir, name, 0));
    status = md5_hex_of_file(path, md5, &bytes, failure);
    if (status == STATUS_OK)
        status = rsa_sign_md5(arena, private_key, md5, &signature, failure);
    if (status != STATUS_OK)
        return status;
    buffer_add(buffer, text_first(file_info, start + opener.length));
    buffer_print(buffer, "\n" TEXT_FORMAT "\n    ", TEXT_ARG(text_trim(signature)));
    buffer_add(buffer, (struct text){file_info.at + end, file_info.length - end});
    return STATUS_OK;
}

enum status version_document_resign(struct arena *arena, const struct config *config,
                                    struct text document, struct text private_key,
                                    struct text *ret_document, struct failure *failure)
{
    struct text opener = TEXT("<file_info>"), closer = TEXT("</file_info>");
    struct buffer buffer = buffer_in(arena);
    for (;;) {
        size_t start = text_find(document, opener);
        buffer_add(&buffer, text_first(document, start));
        if (start == document.length)
            break;
        document = (struct text){document.at + start, document.length - start};
        size_t length = text_find(document, closer);
        enum status status =
            resign_file(arena, config, text_first(document, length), private_key, &buffer, failure);
        if (status != STATUS_OK)
            return status;
        document = (struct text){document.at + length, document.length - length};
    }
    *ret_document = buffer_text(&buffer);
    return check_size(&buffer, 0, failure);
}
