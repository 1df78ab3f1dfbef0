/* SPDX-License-Identifier: Apache-2.0 */
/* Files that version.xml does not name are files of the version too. */
#include "server/submit/version_folder.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/near_name.h"
#include "server/project/hierarchy.h"
#include "server/project/template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { SIGNATURE_BYTES_MAX = 8192, SCAN_BYTES = 65536, API_VERSION_MOST = 32 };

struct folder_reading {
    struct arena *arena;
    const char *folder;
    struct version_folder *version;
    struct template_file xml;
    struct buffer *advice;
    struct failure *failure;
};

static const char *path_in(struct folder_reading *reading, struct text name)
{
    return text_string(reading->arena, text_print(reading->arena, "%s/" TEXT_FORMAT,
                                                  reading->folder, TEXT_ARG(name)));
}

/* --- files ----------------------------------------------------------------------------------- */

static struct folder_file *find_file(struct version_folder *version, struct text path)
{
    for (size_t i = 0; i < version->count; i++)
        if (text_equal(version->files[i].path, path))
            return &version->files[i];
    return NULL;
}

/* A link may lead to another file of the folder, not out of it: what is copied becomes public, and
 * whoever packed the folder is not the one who may read all files here. */
static enum status check_inside(struct folder_reading *reading, struct text name)
{
    char *folder = realpath(reading->folder, NULL);
    char *path = realpath(path_in(reading, name), NULL);
    const size_t length = folder != NULL ? strlen(folder) : 0;
    const bool is_inside = folder != NULL && path != NULL && strncmp(path, folder, length) == 0 &&
                           (path[length] == '/' || length == 1);

    free(folder);
    free(path);
    return is_inside ? STATUS_OK
                     : fail(reading->failure, STATUS_INVALID,
                            "%s: " TEXT_FORMAT " is a link that leads out of the folder: put the "
                            "file itself there",
                            reading->folder, TEXT_ARG(text_first(name, 128)));
}

static enum status add_file(struct folder_reading *reading, struct text path)
{
    struct version_folder *version = reading->version;
    struct text name = text_behind_last(path, '/');

    if (version->count == VERSION_FOLDER_FILES_MOST)
        return fail(reading->failure, STATUS_TOO_LARGE, "%s: more than %d files", reading->folder,
                    VERSION_FOLDER_FILES_MOST);
    if (file_name_fault(name) != NULL)
        return fail(reading->failure, STATUS_INVALID, "%s: the file name \"" TEXT_FORMAT "\" %s",
                    reading->folder, TEXT_ARG(name), file_name_fault(name));
    if (check_inside(reading, path) != STATUS_OK)
        return STATUS_INVALID;
    path = text_copy(reading->arena, path);
    version->files[version->count++] =
        (struct folder_file){.path = path, .name = text_behind_last(path, '/')};
    return STATUS_OK;
}

static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static int compare_paths(const void *a, const void *b)
{
    return text_compare(((const struct folder_file *)a)->path,
                        ((const struct folder_file *)b)->path);
}

static enum status list_files(struct folder_reading *reading)
{
    DIR *folder = opendir(reading->folder);
    struct dirent *entry;
    enum status status = STATUS_OK;

    if (folder == NULL)
        return fail(reading->failure, STATUS_NOT_FOUND, "%s: %s", reading->folder, strerror(errno));
    while (status == STATUS_OK && (entry = readdir(folder)) != NULL) {
        struct text name = text_from(entry->d_name);

        if (!text_starts(name, TEXT(".")) && !text_ends(name, TEXT(".sig")) &&
            !text_is(name, "version.xml") && is_file(path_in(reading, name)))
            status = add_file(reading, name);
    }
    (void)closedir(folder);
    return status;
}

static enum status read_signature(struct folder_reading *reading, struct folder_file *file)
{
    struct text name = text_print(reading->arena, TEXT_FORMAT ".sig", TEXT_ARG(file->path));
    const char *path = path_in(reading, name);

    if (!is_file(path))
        return STATUS_OK;
    if (check_inside(reading, name) != STATUS_OK)
        return STATUS_INVALID;
    return file_read(reading->arena, path, SIGNATURE_BYTES_MAX, &file->signature, reading->failure);
}

/* --- version.xml ----------------------------------------------------------------------------- */

static const char *const file_elements[] = {"physical_name", "logical_name", "url",
                                            "main_program",  "copy_file",    "gzip"};
static const char *const version_elements[] = {
    "file", "dont_throttle", "needs_network", "is_wrapper", "file_prefix", "api_version", "beta"};

static void advise(struct folder_reading *reading, const struct template_element *element,
                   const char *const *known, size_t count)
{
    struct near_name near;

    near_name_begin(&near, element->name);
    for (size_t i = 0; i < count; i++)
        near_name_try(&near, known[i]);
    buffer_print(reading->advice, "%s:%d: <" TEXT_FORMAT "> has no effect here%s%s%s\n",
                 reading->xml.name, element->line, TEXT_ARG(text_first(element->name, 64)),
                 near.nearest == NULL ? "" : "; did you mean <",
                 near.nearest == NULL ? "" : near.nearest, near.nearest == NULL ? "" : ">?");
}

static enum status add_url(struct folder_reading *reading, const struct template_element *element,
                           struct folder_file *file)
{
    struct text *urls = ARENA_ARRAY(reading->arena, file->url_count + 1, struct text);
    const char *fault = url_fault(element->content);

    if (urls == NULL)
        return fail(reading->failure, STATUS_NO_MEMORY, "no memory");
    if (fault != NULL)
        return template_fail(&reading->xml, element, reading->failure, "the URL %s", fault);
    if (file->url_count > 0)
        memcpy(urls, file->urls, file->url_count * sizeof urls[0]);
    urls[file->url_count++] = element->content;
    file->urls = urls;
    return STATUS_OK;
}

static enum status read_file_element(struct folder_reading *reading,
                                     const struct template_element *element,
                                     struct folder_file *file)
{
    struct failure *failure = reading->failure;

    if (text_is(element->name, "physical_name"))
        return STATUS_OK;
    if (text_is(element->name, "main_program"))
        return template_flag(&reading->xml, element, &file->is_main, failure);
    if (text_is(element->name, "copy_file"))
        return template_flag(&reading->xml, element, &file->copy_file, failure);
    if (text_is(element->name, "gzip"))
        return template_flag(&reading->xml, element, &file->gzip, failure);
    if (text_is(element->name, "url"))
        return add_url(reading, element, file);
    if (text_is(element->name, "logical_name")) {
        file->open_name = element->content;
        return template_check_open_name(&reading->xml, element, failure);
    }
    advise(reading, element, file_elements, sizeof file_elements / sizeof file_elements[0]);
    return STATUS_OK;
}

static enum status read_file(struct folder_reading *reading, const struct template_element *element)
{
    const struct template_element *name = template_child(element, "physical_name");
    struct folder_file *file;
    enum status status = STATUS_OK;

    if (name == NULL)
        return template_fail(&reading->xml, element, reading->failure, "needs a <physical_name>");
    if (text_starts(name->content, TEXT("/")) || text_contains(name->content, TEXT("..")) ||
        !is_file(path_in(reading, name->content)))
        return template_fail(&reading->xml, name, reading->failure,
                             "there is no file " TEXT_FORMAT " in the folder",
                             TEXT_ARG(text_first(name->content, 128)));
    if (find_file(reading->version, name->content) == NULL)
        status = add_file(reading, name->content);
    file = find_file(reading->version, name->content);
    for (element = element->first_child; element != NULL && status == STATUS_OK && file != NULL;
         element = element->next)
        status = read_file_element(reading, element, file);
    return status;
}

static enum status read_element(struct folder_reading *reading,
                                const struct template_element *element)
{
    struct version_folder *version = reading->version;
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"dont_throttle", &version->dont_throttle},
                 {"needs_network", &version->needs_network},
                 {"is_wrapper", &version->is_wrapper},
                 {"beta", &version->beta}};

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (text_is(element->name, flags[i].name))
            return template_flag(&reading->xml, element, flags[i].flag, reading->failure);
    if (text_is(element->name, "file"))
        return read_file(reading, element);
    if (text_is(element->name, "file_prefix"))
        version->file_prefix = element->content;
    else if (text_is(element->name, "api_version"))
        version->api_version = element->content;
    else
        advise(reading, element, version_elements,
               sizeof version_elements / sizeof version_elements[0]);
    return STATUS_OK;
}

/* Whatever the element is called that is around everything. */
static const struct template_element *inside_root(const struct template_element *first)
{
    if (first == NULL || first->next != NULL || first->first_child == NULL)
        return first;
    return text_is(first->name, "file") ? first : first->first_child;
}

static enum status read_xml(struct folder_reading *reading)
{
    const char *path = path_in(reading, TEXT("version.xml"));
    const struct template_element *element;
    struct text document;
    enum status status;

    if (!is_file(path))
        return STATUS_OK;
    status = file_read(reading->arena, path, TEMPLATE_BYTES_MAX, &document, reading->failure);
    if (status == STATUS_OK)
        status = template_read(reading->arena, path, document, "version", &reading->xml,
                               reading->failure);
    if (status != STATUS_OK)
        return status;
    for (element = inside_root(reading->xml.first); element != NULL && status == STATUS_OK;
         element = element->next)
        status = read_element(reading, element);
    return status;
}

/* --- the main program ------------------------------------------------------------------------ */

static enum status find_main(struct folder_reading *reading, const struct folder_file **ret_main)
{
    struct version_folder *version = reading->version;
    size_t mains = 0;

    if (version->count == 0)
        return fail(reading->failure, STATUS_NOT_FOUND, "%s: there are no files", reading->folder);
    if (version->count == 1)
        version->files[0].is_main = true;
    for (size_t i = 0; i < version->count; i++)
        if (version->files[i].is_main) {
            *ret_main = &version->files[i];
            mains++;
        }
    if (mains == 1)
        return STATUS_OK;
    return fail(reading->failure, STATUS_INVALID,
                "%s: " COUNT_FORMAT ", of which %s is the main program: version.xml has to say "
                "<main_program/> of one",
                reading->folder, COUNT_ARG(version->count, "file"),
                mains == 0 ? "none" : "more than one");
}

/* Digits and dots behind the words that the API leaves in a program; empty: they are not there, or
 * `goes_on` and the piece ends with them. */
static struct text api_in(struct arena *arena, struct text bytes, bool goes_on)
{
    struct text mark = TEXT("API_VERSION_");
    size_t at = text_find(bytes, mark), length = 0;

    if (at == bytes.length)
        return NO_TEXT;
    bytes = (struct text){bytes.at + at + mark.length, bytes.length - at - mark.length};
    while (length < bytes.length && length < API_VERSION_MOST &&
           ((bytes.at[length] >= '0' && bytes.at[length] <= '9') || bytes.at[length] == '.'))
        length++;
    if (goes_on && length == bytes.length)
        return NO_TEXT;
    return text_copy(arena, text_first(bytes, length));
}

/* A piece after the other, each beginning with the end of the one before. */
static struct text scan_for_api(struct arena *arena, const char *path)
{
    enum { KEPT = 64 };
    static const size_t room = SCAN_BYTES + KEPT;
    char *bytes = malloc(room);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct text found = NO_TEXT;
    size_t kept = 0;
    ssize_t got = 1;

    while (bytes != NULL && file >= 0 && found.length == 0 && got > 0) {
        size_t length;

        got = read(file, bytes + kept, SCAN_BYTES);
        length = kept + (got > 0 ? (size_t)got : 0);
        found = api_in(arena, (struct text){bytes, length}, got > 0);
        kept = length < KEPT ? length : KEPT;
        memmove(bytes, bytes + length - kept, kept);
    }
    if (file >= 0)
        (void)close(file);
    free(bytes);
    return found;
}

enum status version_folder_read(struct arena *arena, const char *folder,
                                struct version_folder *ret_folder, struct buffer *advice,
                                struct failure *failure)
{
    struct folder_reading reading = {.arena = arena,
                                     .folder = folder,
                                     .version = ret_folder,
                                     .advice = advice,
                                     .failure = failure};
    const struct folder_file *main_file = NULL;
    enum status status;

    *ret_folder = (struct version_folder){
        .files = ARENA_ARRAY(arena, VERSION_FOLDER_FILES_MOST, struct folder_file)};
    if (ret_folder->files == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = list_files(&reading);
    if (status == STATUS_OK)
        status = read_xml(&reading);
    if (ret_folder->count > 0)
        qsort(ret_folder->files, ret_folder->count, sizeof ret_folder->files[0], compare_paths);
    for (size_t i = 0; i < ret_folder->count && status == STATUS_OK; i++)
        status = read_signature(&reading, &ret_folder->files[i]);
    if (status == STATUS_OK)
        status = find_main(&reading, &main_file);
    if (status == STATUS_OK && ret_folder->api_version.length == 0)
        ret_folder->api_version = scan_for_api(arena, path_in(&reading, main_file->path));
    return status;
}

void version_folder_name(struct text name, struct text *ret_platform, struct text *ret_plan_class)
{
    size_t at = text_find(name, TEXT("__"));

    *ret_platform = text_first(name, at);
    *ret_plan_class =
        at < name.length ? (struct text){name.at + at + 2, name.length - at - 2} : NO_TEXT;
}
