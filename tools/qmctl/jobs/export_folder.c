/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of an export. A file is copied under another name, renamed, and only then listed:
 * lines of the manifest are written for many results at once, after everything before has reached
 * the disk. So after a death at any moment the manifest lists nothing that is not there; what is
 * there without being listed may be of another job of that name, so it is copied again. */
#include "config/config.h"
#include "db/admin.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/shown.h"
#include "server/submit/output_files.h"
#include "tools/qmctl/jobs/answers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define MANIFEST_NAME "manifest.tsv"
#define MANIFEST_TITLES                                                                            \
    "job\tjob_id\tresult\tresult_id\tapp\tbatch\thost\treceived\telapsed\texit_status\tvalidation" \
    "\tfile\tpath\tbytes\tis\n"
#define STDERR_NAME "stderr.txt"
#define PART_NAME   ".part" /* one command at a time: one name is enough */
#define NAME_MOST   200     /* bytes; file systems hold 255 */
#define PATH_MOST   4096
#define COPY_BYTES  ((size_t)1 << 18)
#define FIRST_ROOM  1024

enum manifest_column { COLUMN_RESULT = 2, COLUMN_RESULT_ID, COLUMN_RECEIVED = 7, COLUMN_FILE = 11 };

/* Results that the manifest lists: a table of open addresses, less than half full. Numbers begin
 * anew in another project, so there is more to know a result by. */
struct listed_result {
    int64_t id;     /* 0: free */
    uint32_t check; /* of its name and the time when it was received */
    bool lacks_file;
};
/* The lines of one result, which stand together. */
struct listed_lines {
    struct listed_result result;
    uint64_t first_file; /* hash of its name: where it comes again, the result was written again */
    off_t begin;
};
struct answer_folder {
    const char *path;
    bool all;
    int folder, manifest;
    off_t manifest_length;
    struct listed_result *listed;
    size_t listed_count, listed_room;
    char *copy_buffer;
    struct answer_counts counts;
};

/* --- what is listed ----------------------------------------------------------------------------
 */

static struct listed_result *place_of(struct listed_result *table, size_t room, int64_t id)
{
    size_t at = (size_t)((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) & (room - 1);

    while (table[at].id != 0 && table[at].id != id)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static uint32_t check_of(struct text clean_name, int64_t received)
{
    uint64_t mixed = (text_hash(clean_name) + (uint64_t)received) * UINT64_C(0x9E3779B97F4A7C15);

    return (uint32_t)(mixed >> 32);
}

static enum status list_result(struct answer_folder *folder, struct listed_result result)
{
    if (2 * (folder->listed_count + 1) > folder->listed_room) {
        size_t room = folder->listed_room == 0 ? FIRST_ROOM : 2 * folder->listed_room;
        struct listed_result *table = calloc(room, sizeof *table);

        if (table == NULL)
            return STATUS_NO_MEMORY;
        for (size_t i = 0; i < folder->listed_room; i++)
            if (folder->listed[i].id != 0)
                *place_of(table, room, folder->listed[i].id) = folder->listed[i];
        free(folder->listed);
        folder->listed = table;
        folder->listed_room = room;
    }
    struct listed_result *place = place_of(folder->listed, folder->listed_room, result.id);
    folder->listed_count += place->id == 0;
    *place = result;
    return STATUS_OK;
}

static const struct listed_result *find_listed(const struct answer_folder *folder, int64_t id)
{
    const struct listed_result *place =
        folder->listed_room == 0 ? NULL : place_of(folder->listed, folder->listed_room, id);

    return place == NULL || place->id == 0 ? NULL : place;
}

/* --- opening -----------------------------------------------------------------------------------
 */

/* A line of the result whose lines came last, or of the next one. */
static enum status read_line_of(struct answer_folder *folder, struct text line,
                                struct listed_lines *last, struct failure *failure)
{
    struct text rest = line, name = NO_TEXT, file = NO_TEXT, is = NO_TEXT;
    int64_t id = 0, received = 0;
    bool is_ours = true;
    enum status status = STATUS_OK;

    for (int column = 0; rest.length > 0; column++) {
        is = text_split(&rest, '\t');
        if (column == COLUMN_RESULT)
            name = is;
        else if (column == COLUMN_RESULT_ID)
            is_ours = text_to_i64(is, &id) && id > 0;
        else if (column == COLUMN_RECEIVED)
            is_ours = is_ours && text_to_i64(is, &received);
        else if (column == COLUMN_FILE)
            file = is;
    }
    if (!is_ours || id == 0)
        return fail(failure, STATUS_INVALID, "%s/%s: a line without a result's number",
                    folder->path, MANIFEST_NAME);
    uint64_t file_hash = text_hash(file);
    if (last->result.id != id || last->first_file == file_hash) {
        if (last->result.id != 0)
            status = list_result(folder, last->result);
        *last = (struct listed_lines){
            .result = {.id = id, .check = check_of(name, received)},
            .first_file = file_hash,
            .begin = folder->manifest_length,
        };
    }
    if (text_is(is, file_presence_word(FILE_MISSING)))
        last->result.lacks_file = true;
    return status;
}

static bool is_title(const char *line, ssize_t length)
{
    return (size_t)length <= strlen(MANIFEST_TITLES) &&
           memcmp(line, MANIFEST_TITLES, (size_t)length) == 0;
}

/* A last line that was cut short is taken off again, with the others of its result. */
static enum status read_lines(struct answer_folder *folder, FILE *file, struct failure *failure)
{
    struct listed_lines last = {.begin = 0};
    char *line = NULL;
    size_t room = 0;
    bool is_cut = false;
    enum status status = STATUS_OK;
    ssize_t length;

    while (status == STATUS_OK && !is_cut && (length = getline(&line, &room, file)) > 0) {
        is_cut = line[length - 1] != '\n';
        if (folder->manifest_length == 0 && !is_title(line, length))
            status = fail(failure, STATUS_INVALID, "%s/%s is not a manifest of this command",
                          folder->path, MANIFEST_NAME);
        else if (folder->manifest_length > 0 && !is_cut)
            status = read_line_of(folder, (struct text){line, (size_t)length - 1}, &last, failure);
        if (!is_cut)
            folder->manifest_length += length;
    }
    free(line);
    if (status == STATUS_OK && ferror(file))
        status = STATUS_IO;
    if (is_cut && last.result.id != 0)
        folder->manifest_length = last.begin;
    else if (status == STATUS_OK && last.result.id != 0)
        status = list_result(folder, last.result);
    return status;
}

static enum status read_manifest(struct answer_folder *folder, struct failure *failure)
{
    FILE *file = fdopen(dup(folder->manifest), "r");
    enum status status = file == NULL ? STATUS_IO : read_lines(folder, file, failure);

    if (file != NULL)
        (void)fclose(file);
    if (status == STATUS_OK && ftruncate(folder->manifest, folder->manifest_length) != 0)
        status = STATUS_IO;
    if (status == STATUS_OK && folder->manifest_length == 0) {
        folder->manifest_length = (off_t)strlen(MANIFEST_TITLES);
        if (!file_write_all(folder->manifest, TEXT(MANIFEST_TITLES)))
            status = STATUS_IO;
    }
    return status == STATUS_OK
               ? status
               : fail(failure, status, "%s/%s: %s", folder->path, MANIFEST_NAME, strerror(errno));
}

/* Among somebody's other files a copy might replace one of them. */
static bool is_empty(const struct answer_folder *folder)
{
    int copy = openat(folder->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    bool is_empty = true;

    if (entries == NULL) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    while (is_empty && (entry = readdir(entries)) != NULL)
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    (void)closedir(entries);
    return is_empty;
}

static enum status open_manifest(struct answer_folder *folder, struct failure *failure)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (mkdir(folder->path, 0755) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", folder->path, strerror(errno));
    folder->folder = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->folder < 0)
        return fail(failure, STATUS_IO, "%s: %s", folder->path, strerror(errno));
    if (faccessat(folder->folder, MANIFEST_NAME, F_OK, 0) != 0 && !is_empty(folder))
        return fail(failure, STATUS_INVALID,
                    "%s is neither empty nor a folder of this command: choose another one",
                    folder->path);
    folder->manifest =
        openat(folder->folder, MANIFEST_NAME, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (folder->manifest < 0)
        return fail(failure, STATUS_IO, "%s/%s: %s", folder->path, MANIFEST_NAME, strerror(errno));
    if (fcntl(folder->manifest, F_OFD_SETLK, &whole) != 0)
        return fail(failure, STATUS_INVALID, "%s: another export writes there", folder->path);
    return read_manifest(folder, failure);
}

enum status answer_folder_open(const char *path, bool all, struct answer_folder **ret_folder,
                               struct failure *failure)
{
    struct answer_folder *folder = calloc(1, sizeof *folder);
    enum status status = STATUS_NO_MEMORY;

    if (folder != NULL) {
        folder->path = path;
        folder->all = all;
        folder->folder = folder->manifest = -1;
        folder->copy_buffer = malloc(COPY_BYTES);
        if (folder->copy_buffer != NULL)
            status = open_manifest(folder, failure);
    }
    if (status != STATUS_OK) {
        answer_folder_close(folder);
        return fail(failure, status, "%s: %s", path, status_word(status));
    }
    *ret_folder = folder;
    return STATUS_OK;
}

void answer_folder_close(struct answer_folder *folder)
{
    if (folder == NULL)
        return;
    if (folder->manifest >= 0)
        close(folder->manifest);
    if (folder->folder >= 0)
        close(folder->folder);
    free(folder->listed);
    free(folder->copy_buffer);
    free(folder);
}

struct answer_counts answer_folder_counts(const struct answer_folder *folder)
{
    return folder->counts;
}

/* --- copying -----------------------------------------------------------------------------------
 */

/* One result on its way into the folder. */
struct answer_copy {
    struct answer_folder *folder;
    struct session *session;
    const struct answer_row *answer;
    int place;            /* the result's own folder */
    struct text relative; /* its path from the folder */
    struct buffer *lines; /* for the manifest */
    int64_t files;        /* lines so far */
    bool was_listed;      /* what is there is a copy of ours */
    bool lacks_file;
};

static enum status copy_failed(struct answer_copy *copy, const char *name)
{
    return fail(&copy->session->failure, STATUS_IO, "%s/" TEXT_FORMAT "/%s: %s", copy->folder->path,
                TEXT_ARG(copy->relative), name, strerror(errno));
}

/* `name` as it is where it can be a file's, else "@NUMBER". */
static const char *name_here(struct arena *arena, struct text name, int64_t number)
{
    bool fits = name.length > 0 && name.length <= NAME_MOST && name.at[0] != '.' &&
                name.at[0] != '@' && !text_is(name, STDERR_NAME) && !text_is(name, MANIFEST_NAME);

    for (size_t i = 0; fits && i < name.length; i++) {
        unsigned char c = (unsigned char)name.at[i];
        fits = c >= ' ' && c != 127 && c != '/';
    }
    return text_string(arena, fits ? name : text_print(arena, "@%" PRId64, number));
}

static void add_clean(struct buffer *buffer, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        buffer_add_char(buffer, c < ' ' || c == 127 ? '?' : text.at[i]);
    }
}

static void add_column(struct buffer *buffer, struct text text)
{
    add_clean(buffer, text);
    buffer_add_char(buffer, '\t');
}

/* `name` empty: there is no file. */
static void add_line(struct answer_copy *copy, struct text file, const char *name, int64_t bytes,
                     const char *is)
{
    const struct answer_row *answer = copy->answer;
    struct buffer *lines = copy->lines;

    add_column(lines, answer->job);
    buffer_print(lines, "%" PRId64 "\t", answer->result.workunitid);
    add_column(lines, answer->result.name);
    buffer_print(lines, "%" PRId64 "\t", answer->result.id);
    add_column(lines, answer->app);
    buffer_print(lines, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%.1f\t%" PRId64 "\t%s\t",
                 answer->batch, answer->result.hostid, answer->result.received_time,
                 answer->elapsed_time, answer->exit_status,
                 state_word("VALIDATE", answer->result.validate_state));
    add_column(lines, file);
    if (name[0] != '\0')
        buffer_print(lines, TEXT_FORMAT "/%s", TEXT_ARG(copy->relative), name);
    buffer_print(lines, "\t%" PRId64 "\t%s\n", bytes, is);
    copy->files++;
}

/* Writes everything from `source`, or else the text. */
static enum status write_part(struct answer_copy *copy, int source, struct text text,
                              int64_t *ret_bytes)
{
    int part = openat(copy->place, PART_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    char *bytes = copy->folder->copy_buffer;
    bool is_written = part >= 0 && file_write_all(part, text);
    ssize_t got = 0;

    *ret_bytes = (int64_t)text.length;
    while (is_written && source >= 0 && (got = read(source, bytes, COPY_BYTES)) > 0) {
        is_written = file_write_all(part, (struct text){bytes, (size_t)got});
        *ret_bytes += got;
    }
    if (got < 0)
        is_written = false;
    if (part >= 0 && close(part) != 0)
        is_written = false;
    return is_written ? STATUS_OK : STATUS_IO;
}

static enum status write_file(struct answer_copy *copy, const char *name, int source,
                              struct text text, int64_t bytes_there, int64_t *ret_bytes)
{
    struct stat found;

    if (copy->was_listed && fstatat(copy->place, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(found.st_mode) && (int64_t)found.st_size == bytes_there) {
        *ret_bytes = bytes_there; /* copied before, when another was missing */
        return STATUS_OK;
    }
    if (write_part(copy, source, text, ret_bytes) == STATUS_OK &&
        renameat(copy->place, PART_NAME, copy->place, name) == 0) {
        copy->folder->counts.bytes += (double)*ret_bytes;
        return STATUS_OK;
    }
    int reason = errno;
    (void)unlinkat(copy->place, PART_NAME, 0);
    errno = reason;
    return copy_failed(copy, name);
}

static void add_absent(struct answer_copy *copy, struct text file, enum file_presence presence)
{
    if (presence == FILE_MISSING)
        copy->lacks_file = true;
    add_line(copy, file, "", 0, file_presence_word(presence));
}

/* The file may vanish between the look and the copy: then it is not there. */
static enum status copy_file(struct answer_copy *copy, const struct output_file *files,
                             size_t index)
{
    const struct output_file *file = &files[index];
    struct arena *arena = copy->session->arena;
    const char *name = name_here(arena, file->open_name, (int64_t)index);
    const char *upload_dir = text_string(arena, copy->session->config->upload_dir);
    struct text path;
    struct stat found;
    int64_t bytes;
    enum file_presence presence =
        answer_file_find(copy->session, copy->answer, file, &path, &bytes);
    enum status status;

    for (size_t i = 0; i < index; i++)
        if (text_equal(files[i].open_name, file->open_name))
            name = text_string(arena, text_print(arena, "@%zu", index));
    if (presence == FILE_MISSING && access(upload_dir, X_OK) != 0)
        return fail(&copy->session->failure, STATUS_IO, "upload_dir %s: %s", upload_dir,
                    strerror(errno));
    if (presence != FILE_PRESENT) {
        add_absent(copy, file->open_name, presence);
        return STATUS_OK;
    }
    int source = open(text_string(arena, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (source < 0 && errno == ENOENT) {
        add_absent(copy, file->open_name, FILE_MISSING);
        return STATUS_OK;
    }
    if (source < 0 || fstat(source, &found) != 0) {
        status = fail(&copy->session->failure, STATUS_IO, TEXT_FORMAT ": %s", TEXT_ARG(path),
                      strerror(errno));
    } else {
        status = write_file(copy, name, source, NO_TEXT, (int64_t)found.st_size, &bytes);
        if (status == STATUS_OK)
            add_line(copy, file->open_name, name, bytes, "copied");
    }
    if (source >= 0)
        close(source);
    return status;
}

static enum status copy_result(struct answer_copy *copy)
{
    struct session *session = copy->session;
    struct text written = stderr_of(copy->answer->stderr_out);
    struct output_file *files;
    size_t count;
    int64_t bytes;
    enum status status =
        output_files_read(session->arena, copy->answer->xml_doc_in, &files, &count);

    if (status != STATUS_OK)
        return fail(&session->failure, status, TEXT_FORMAT ": its document: %s",
                    TEXT_ARG(copy->answer->result.name), status_word(status));
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = copy_file(copy, files, i);
    if (status == STATUS_OK && written.length > 0) {
        status = write_file(copy, STDERR_NAME, -1, written, (int64_t)written.length, &bytes);
        if (status == STATUS_OK)
            add_line(copy, TEXT(STDERR_NAME), STDERR_NAME, bytes, "stderr");
    }
    if (status == STATUS_OK && copy->files == 0)
        add_line(copy, NO_TEXT, "", 0, "nothing");
    return status;
}

/* Makes the folder and opens it; -1 and errno. */
static int open_place(int from, const char *name)
{
    if (mkdirat(from, name, 0755) != 0 && errno != EEXIST)
        return -1;
    return openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static enum status open_result(struct answer_copy *copy)
{
    struct arena *arena = copy->session->arena;
    const struct answer_row *answer = copy->answer;
    const char *job = name_here(arena, answer->job, answer->result.workunitid);
    const char *result = name_here(arena, answer->result.name, answer->result.id);

    copy->relative = text_from(job);
    copy->place = open_place(copy->folder->folder, job);
    if (copy->place < 0 || !copy->folder->all)
        return copy->place < 0 ? copy_failed(copy, "") : STATUS_OK;
    int inner = open_place(copy->place, result), reason = errno;
    close(copy->place);
    copy->place = inner;
    copy->relative = text_print(arena, "%s/%s", job, result);
    errno = reason;
    return inner < 0 ? copy_failed(copy, "") : STATUS_OK;
}

/* --- many results ------------------------------------------------------------------------------
 */

static enum status write_lines(struct answer_folder *folder, struct buffer *lines,
                               struct failure *failure)
{
    if (lines->length == 0)
        return STATUS_OK;
    if (lines->overflowed)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    if (syncfs(folder->folder) == 0 && file_write_all(folder->manifest, buffer_text(lines)) &&
        fdatasync(folder->manifest) == 0) {
        folder->manifest_length += (off_t)lines->length;
        return STATUS_OK;
    }
    int reason = errno;
    if (ftruncate(folder->manifest, folder->manifest_length) != 0)
        shown_line(stderr, "warning: %s/%s ends in half a line", folder->path, MANIFEST_NAME);
    return fail(failure, STATUS_IO, "%s/%s: %s", folder->path, MANIFEST_NAME, strerror(reason));
}

/* Of a result whose files were missing before, nothing is written while they still are. */
static enum status add_result(struct answer_folder *folder, struct session *session,
                              const struct answer_row *answer, struct buffer *lines,
                              struct answer_counts *sums)
{
    const struct listed_result *known = find_listed(folder, answer->result.id);
    struct buffer clean_name = buffer_in(session->arena);
    size_t before = lines->length;
    struct answer_copy copy = {.folder = folder,
                               .session = session,
                               .answer = answer,
                               .place = -1,
                               .lines = lines,
                               .was_listed = known != NULL};

    add_clean(&clean_name, answer->result.name);
    uint32_t check = check_of(buffer_text(&clean_name), answer->result.received_time);
    if (known != NULL && known->check != check)
        return fail(
            &session->failure, STATUS_INVALID,
            "%s has answers of another project, or of one that was made again: its manifest "
            "knows result %" PRId64 " otherwise; choose another folder",
            folder->path, answer->result.id);
    if (known != NULL && !known->lacks_file)
        return STATUS_OK;
    enum status status = open_result(&copy);
    if (status == STATUS_OK)
        status = copy_result(&copy);
    if (copy.place >= 0)
        close(copy.place);
    if (status != STATUS_OK || (copy.was_listed && copy.lacks_file)) {
        lines->length = before;
        return status;
    }
    sums->results++;
    sums->files += copy.files;
    sums->missing += copy.lacks_file;
    return list_result(folder, (struct listed_result){answer->result.id, check, copy.lacks_file});
}

enum status answer_folder_add(struct answer_folder *folder, struct session *session,
                              const struct answer_row *answers, size_t count)
{
    struct buffer lines = buffer_on_heap(0);
    struct answer_counts sums = {.results = 0};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct arena_mark mark = arena_mark(session->arena);

        status = add_result(folder, session, &answers[i], &lines, &sums);
        arena_rewind(session->arena, mark);
    }
    /* What was copied before a failure is listed all the same. */
    enum status written = write_lines(folder, &lines, &session->failure);
    buffer_free(&lines);
    if (written == STATUS_OK) {
        folder->counts.results += sums.results;
        folder->counts.files += sums.files;
        folder->counts.missing += sums.missing;
    }
    return status == STATUS_OK ? written : status;
}
