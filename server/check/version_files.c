/* SPDX-License-Identifier: Apache-2.0 */
/* Versions share files, so each is read once. */
#include "server/check/version_files.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/sorted.h"
#include "server/project/catalog.h"
#include "server/project/hierarchy.h"
#include "server/submit/version_document.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum {
    VERSIONS_SHOWN = 20, /* with faults: a replaced key concerns all */
    SETTLED_S = 3        /* a file that changed later may change again within the same moment */
};

struct read_file {
    struct text path;
    char md5[MD5_HEX_SIZE]; /* empty: it is too large to be read */
    struct read_file *next;
};

struct look {
    const struct version_files *files;
    struct arena *arena;
    struct buffer *faults;
    struct read_file *read; /* those of all versions so far */
    int64_t bytes;          /* that they have */
    size_t unread;
    struct text *known; /* lines of files->accepted, sorted */
    size_t known_count;
    struct buffer accepted; /* lines of this look */
    bool accepts_more;
    const struct app_version_row *version;
    struct text app; /* its name */
};

static const char advice[] = "so clients refuse it and every job of this version fails";

static void add_fault(struct look *look, struct text path, struct text words)
{
    const struct app_version_row *version = look->version;

    buffer_print(look->faults,
                 "app_version %" PRId64 " (" TEXT_FORMAT " %" PRId64 ".%02d): " TEXT_FORMAT
                 ": " TEXT_FORMAT "\n",
                 version->id, TEXT_ARG(look->app), version->version_num / 100,
                 (int)(version->version_num % 100), TEXT_ARG(path), TEXT_ARG(words));
}

struct text version_file_path(const struct version_files *files, struct arena *arena,
                              const struct version_file_info *info, struct text *ret_url)
{
    const struct config *config = files->config;
    const int64_t fanouts[] = {0, config->uldl_dir_fanout};

    if (file_name_fault(info->name) != NULL)
        return NO_TEXT;
    for (size_t i = 0; i < sizeof(fanouts) / sizeof(fanouts[0]); i++) {
        *ret_url = hierarchy_path(arena, config->download_url, info->name, fanouts[i]);
        if (version_file_has_url(info, *ret_url))
            return hierarchy_path(arena, files->download_dir, info->name, fanouts[i]);
    }
    return NO_TEXT;
}

/* NULL: no memory. STATUS_IO in *ret_failure: it cannot be read. */
static const struct read_file *read_once(struct look *look, struct text path, int64_t bytes,
                                         struct failure *failure)
{
    struct read_file *file = look->read;
    int64_t read;

    while (file != NULL && !text_equal(file->path, path))
        file = file->next;
    if (file != NULL)
        return file;
    file = ARENA_NEW(look->arena, struct read_file);
    if (file == NULL)
        return NULL;
    *file = (struct read_file){.path = path, .next = look->read};
    if (bytes > VERSION_FILE_MOST || look->bytes + bytes > VERSION_FILES_MOST)
        look->unread++;
    else if (md5_hex_of_file(text_string(look->arena, path), file->md5, &read, failure) !=
             STATUS_OK)
        return NULL;
    else
        look->bytes += read;
    look->read = file;
    return file;
}

/* The same as long as nobody writes to the file, puts another in its place, or signs it anew. */
static struct text digest_of(struct look *look, const struct version_file_info *info,
                             struct text path, const struct stat *found)
{
    char hex[MD5_HEX_SIZE];
    struct text file = text_print(
        look->arena, TEXT_FORMAT "\n%" PRId64 " %" PRIu64 " %" PRId64 ".%09ld %" PRId64 ".%09ld\n",
        TEXT_ARG(path), (int64_t)found->st_size, (uint64_t)found->st_ino,
        (int64_t)found->st_mtim.tv_sec, found->st_mtim.tv_nsec, (int64_t)found->st_ctim.tv_sec,
        found->st_ctim.tv_nsec);

    md5_hex(file,
            text_print(look->arena, TEXT_FORMAT "\n" TEXT_FORMAT, TEXT_ARG(info->signature),
                       TEXT_ARG(look->files->public_key)),
            hex);
    return text_copy(look->arena, text_from(hex));
}

static void keep_accepted(struct look *look, struct text digest)
{
    if (look->accepted.length + digest.length < ACCEPTED_BYTES_MOST)
        buffer_print(&look->accepted, TEXT_FORMAT "\n", TEXT_ARG(digest));
}

static void judge_content(struct look *look, const struct version_file_info *info, struct text path,
                          const struct stat *found)
{
    struct failure failure = {.status = STATUS_OK};
    struct text digest = digest_of(look, info, path, found);
    const struct read_file *file;

    if (sorted_has_name(look->known, look->known_count, digest)) {
        keep_accepted(look, digest);
        return;
    }
    file = read_once(look, path, found->st_size, &failure);
    if (file == NULL)
        add_fault(look, path, text_copy(look->arena, text_from(failure.text)));
    else if (file->md5[0] != '\0' && rsa_verify_md5(look->files->public_key, file->md5,
                                                    info->signature, &failure) != STATUS_OK)
        add_fault(look, path,
                  text_print(look->arena,
                             "%s (keys/code_sign_public), %s. Bring back the file and the pair of "
                             "keys as they were when it was signed; a changed file needs a new "
                             "version, a new key qmctl keys rotate",
                             failure.text, advice));
    else if (file->md5[0] != '\0' && found->st_ctim.tv_sec + SETTLED_S < look->files->now) {
        keep_accepted(look, digest);
        look->accepts_more = true;
    }
}

static void judge_file(struct look *look, const struct version_file_info *info)
{
    struct text url, path = version_file_path(look->files, look->arena, info, &url);
    struct stat found;

    if (path.length == 0)
        return;
    if (stat(text_string(look->arena, path), &found) != 0)
        add_fault(look, path,
                  text_print(look->arena,
                             "%s, so clients cannot download it and every job of this version "
                             "fails. Bring it back, or qmctl version deprecate %" PRId64,
                             strerror(errno), look->version->id));
    else if (info->bytes >= 0 && info->bytes != found.st_size)
        add_fault(look, path,
                  text_print(look->arena,
                             "it has %" PRId64 " bytes, and had %" PRId64
                             " when it was added, %s. Bring back the former file; a changed one "
                             "needs a new version",
                             (int64_t)found.st_size, info->bytes, advice));
    else if (info->signature.length == 0)
        add_fault(
            look, path,
            text_print(look->arena, "it has no signature, %s. Add the version again", advice));
    else
        judge_content(look, info, path, &found);
}

static void judge_version(struct look *look)
{
    struct text rest = look->version->xml_doc;
    struct version_file_info info;

    while (version_document_next_file(&rest, &info))
        judge_file(look, &info);
}

/* Whether jobs are sent with it now. */
static bool is_in_use(const struct catalog *catalog, const struct app_version_row *version)
{
    const struct app_row *app = catalog_app(catalog, version->appid);

    return app != NULL && app->deprecated == 0 && catalog_version_is_current(catalog, version);
}

/* Of what an earlier look left. */
static bool take_known(struct look *look)
{
    struct text lines = look->files->accepted;

    look->known = ARENA_ARRAY(look->arena, lines.length / (MD5_HEX_SIZE - 1) + 1, struct text);
    while (look->known != NULL && lines.length > 0) {
        struct text line = text_split(&lines, '\n');

        if (line.length == MD5_HEX_SIZE - 1)
            look->known[look->known_count++] = line;
    }
    if (look->known != NULL)
        sorted_names(look->known, look->known_count);
    return look->known != NULL;
}

/* Of files that another machine sees otherwise, or of versions that come back. */
static void keep_older(struct look *look)
{
    struct text now = buffer_text(&look->accepted);
    size_t count = 0;
    struct text *digests = ARENA_ARRAY(look->arena, now.length / MD5_HEX_SIZE + 1, struct text);

    while (digests != NULL && now.length > 0)
        digests[count++] = text_split(&now, '\n');
    if (digests == NULL)
        return;
    sorted_names(digests, count);
    for (size_t i = 0; i < look->known_count; i++)
        if (!sorted_has_name(digests, count, look->known[i]))
            keep_accepted(look, look->known[i]);
}

enum status version_files_judge(const struct version_files *files, const struct catalog *catalog,
                                struct arena *arena, struct buffer *faults,
                                struct version_look *ret_look)
{
    struct look look = {
        .files = files, .arena = arena, .faults = faults, .accepted = buffer_in(arena)};
    size_t with_faults = 0, not_shown = 0;

    if (!take_known(&look))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < catalog->rows.version_count; i++) {
        const struct app_version_row *version = &catalog->rows.versions[i];
        size_t before = faults->length;

        if (!is_in_use(catalog, version))
            continue;
        look.version = version;
        look.app = catalog_app(catalog, version->appid)->name;
        judge_version(&look);
        if (faults->length > before && ++with_faults > VERSIONS_SHOWN) {
            faults->length = before;
            not_shown++;
        }
    }
    if (not_shown > 0)
        buffer_print(faults, "the same faults in " COUNT_FORMAT " more\n",
                     COUNT_ARG(not_shown, "version"));
    keep_older(&look);
    *ret_look = (struct version_look){.unread = look.unread,
                                      .bytes = look.bytes,
                                      .accepted = buffer_text(&look.accepted),
                                      .accepts_more = look.accepts_more};
    return arena_overflowed(arena) || faults->overflowed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Where it lies here, wherever clients get it from. */
static struct text find_here(const struct version_files *files, struct arena *arena,
                             const struct version_file_info *info)
{
    const int64_t fanouts[] = {0, files->config->uldl_dir_fanout};

    for (size_t i = 0; i < sizeof(fanouts) / sizeof(fanouts[0]); i++)
        if (file_name_fault(info->name) == NULL &&
            hierarchy_has_file(arena, files->download_dir, info->name, fanouts[i], 1))
            return hierarchy_path(arena, files->download_dir, info->name, fanouts[i]);
    return NO_TEXT;
}

static void prefer_smaller(const struct version_files *files, struct arena *arena,
                           const struct version_file_info *info, struct version_sample *sample)
{
    struct version_sample other = {.url = version_file_url(info),
                                   .path = find_here(files, arena, info)};
    struct stat found;

    if (other.path.length == 0 || other.url.length == 0 ||
        stat(text_string(arena, other.path), &found) != 0)
        return;
    other.bytes = (int64_t)found.st_size;
    if (sample->path.length == 0 || other.bytes < sample->bytes)
        *sample = other;
}

bool version_files_sample(const struct version_files *files, const struct catalog *catalog,
                          struct arena *arena, struct version_sample *ret_sample)
{
    *ret_sample = (struct version_sample){.bytes = 0};
    for (size_t i = 0; i < catalog->rows.version_count; i++) {
        const struct app_version_row *version = &catalog->rows.versions[i];
        struct text rest = version->xml_doc;
        struct version_file_info info;

        while (is_in_use(catalog, version) && version_document_next_file(&rest, &info))
            prefer_smaller(files, arena, &info, ret_sample);
    }
    return ret_sample->path.length > 0;
}
