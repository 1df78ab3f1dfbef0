/* SPDX-License-Identifier: Apache-2.0 */
/* A file is copied under a name of its own first and then linked to its place, which fails when
 * the place is taken: so a reader never sees half a file, and two programs that stage the same
 * name cannot both win. Thousands of jobs share files, so each is read once.
 *
 * A copy is taken away again when nothing came of the jobs, unless another program counts on it
 * (inputs_lock.h). */
#include "server/submit/stage.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "server/project/hierarchy.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/placed_list.h"
#include "server/submit/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>

#include "server/base/banned.h"

#define COPY_BYTES    65536
#define SYNC_BYTES    (INT64_C(64) << 20)
#define SUM_BYTES_MAX 256
#define GIGABYTE      1073741824.0

struct staged {
    struct job_file file;
    struct text argument; /* the key */
    UT_hash_handle hh;
};

struct copied {
    const char *path;
    struct copied *next;
};

struct stage {
    struct arena *arena;
    const struct config *config;
    struct staged *files;  /* hash by argument; entries live in the arena */
    struct copied *copied; /* the newest first, but for those that are kept */
    size_t copied_count;   /* ever */
    int lock;              /* from the first file on; -1: none yet */
    bool refuses_paths;
    struct file_watch watch;
    struct placed_list *placed; /* NULL: none */
};

struct stage *stage_create(struct arena *arena, const struct config *config)
{
    struct stage *stage = ARENA_NEW(arena, struct stage);
    if (stage != NULL)
        *stage = (struct stage){.arena = arena, .config = config, .lock = -1};
    return stage;
}

size_t stage_copied(const struct stage *stage)
{
    return stage->copied_count;
}

void stage_keep(struct stage *stage, size_t count)
{
    struct copied **at = &stage->copied;
    for (size_t number = stage->copied_count; number > count && *at != NULL; number--)
        at = &(*at)->next;
    *at = NULL;
}

void stage_end(struct stage *stage, bool keep)
{
    for (struct copied *copied = stage->copied; copied != NULL && !keep; copied = copied->next)
        (void)inputs_take_away(copied->path);
    HASH_CLEAR(hh, stage->files);
    stage->copied = NULL;
    inputs_unlock(stage->lock);
    stage->lock = -1;
}

static void lock_inputs(struct stage *stage)
{
    if (stage->lock < 0)
        stage->lock = inputs_lock_shared(text_string(stage->arena, stage->config->download_dir));
}

static enum status fail_io(struct failure *failure, const char *path, const char *what)
{
    return fail(failure, STATUS_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* From a descriptor or, where that is -1, of a text. */
struct copy_source {
    int descriptor;
    struct text text;
    const char *md5; /* of what the descriptor gave when it was read before; NULL: it was not */
    int64_t bytes_brought; /* by a submitter: upload_min_free_gb stays free beside them */
};

/* What is written goes to the disk part by part, so that the last fsync takes no minutes. */
static bool copy_bytes(int from, int to, const struct file_watch *watch, struct md5_run *run)
{
    char bytes[COPY_BYTES];
    int64_t waiting = 0;

    for (;;) {
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        md5_run_add(run, (struct text){bytes, (size_t)got});
        if (!file_write_all(to, (struct text){bytes, (size_t)got}))
            return false;
        waiting += got;
        if (waiting >= SYNC_BYTES) {
            if (fdatasync(to) != 0)
                return false;
            waiting = 0;
        }
        if (!file_goes_on(watch))
            return false;
    }
}

static enum status copy_content(const struct stage *stage, const struct copy_source *from, int to,
                                const char *temporary, struct failure *failure)
{
    struct md5_run *run;
    char md5[MD5_HEX_SIZE];
    bool is_copied;

    if (from->descriptor < 0)
        return file_write_all(to, from->text) ? STATUS_OK : fail_io(failure, temporary, "copy");
    run = md5_run_begin();
    is_copied = copy_bytes(from->descriptor, to, &stage->watch, run);
    if (!is_copied)
        (void)fail_io(failure, temporary, "copy");
    md5_run_end(run, md5);
    if (is_copied && from->md5 != NULL && strcmp(md5, from->md5) != 0)
        return fail(failure, STATUS_INVALID, "it changed while it was read");
    return is_copied ? STATUS_OK : STATUS_IO;
}

bool stage_leaves_room(const struct config *config, int descriptor, int64_t bytes)
{
    struct statvfs disk;

    return fstatvfs(descriptor, &disk) != 0 ||
           (double)disk.f_bavail * (double)disk.f_frsize - (double)bytes >=
               config->upload_min_free_gb * GIGABYTE;
}

static enum status copy_open(const struct stage *stage, const struct copy_source *from,
                             const char *temporary, const char *target, mode_t mode,
                             struct failure *failure)
{
    enum status status;
    int to;

    placed_list_add(stage->placed, temporary, -1, target);
    to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (to < 0)
        return fail_io(failure, temporary, "create");
    if (from->bytes_brought > 0 && !stage_leaves_room(stage->config, to, from->bytes_brought))
        status = fail(failure, STATUS_IO, "the project's disk is full");
    else
        status = copy_content(stage, from, to, temporary, failure);
    if (status == STATUS_OK &&
        (!file_give(to, target) || fchmod(to, mode) != 0 || !inputs_made(to) || fsync(to) != 0))
        status = fail_io(failure, temporary, "copy");
    placed_list_add(stage->placed, temporary, to, target);
    (void)close(to);
    if (status == STATUS_OK && link(temporary, target) != 0)
        status = fail_io(failure, target, "link");
    (void)unlink(temporary);
    return status;
}

/* Two threads of a process may copy to one place at a time. */
static const char *temporary_name(struct stage *stage, const char *target)
{
    return text_string(stage->arena, text_print(stage->arena, "%s.%ld.%016" PRIx64 ".new", target,
                                                (long)getpid(), random_u64()));
}

static enum status copy_to(struct stage *stage, const struct copy_source *from, const char *target,
                           mode_t mode, struct failure *failure)
{
    struct copied *copied = ARENA_NEW(stage->arena, struct copied);
    enum status status = copied != NULL ? copy_open(stage, from, temporary_name(stage, target),
                                                    target, mode, failure)
                                        : fail(failure, STATUS_NO_MEMORY, "no memory");

    if (status == STATUS_OK) {
        *copied = (struct copied){.path = target, .next = stage->copied};
        stage->copied = copied;
        stage->copied_count++;
    }
    return status;
}

/* `md5` as in copy_source. */
static enum status copy_file(struct stage *stage, const char *source, const char *md5,
                             const char *target, mode_t mode, struct failure *failure)
{
    struct copy_source from = {.descriptor = open(source, O_RDONLY | O_CLOEXEC), .md5 = md5};
    struct failure why = {.status = STATUS_OK};
    enum status status;

    if (from.descriptor < 0)
        return fail_io(failure, source, "open");
    status = copy_to(stage, &from, target, mode, &why);
    if (status == STATUS_INVALID)
        (void)fail(failure, status, "%s: %s", source, why.text);
    else if (status != STATUS_OK)
        (void)fail(failure, status, "%s", why.text);
    (void)close(from.descriptor);
    return status;
}

static const char clients_keep_names[] =
    "clients keep files by name, so a changed file needs a new name";

/* Leaves `target` with the content of `source`, or says why not. */
static enum status place_file(struct stage *stage, const char *source, const char *target,
                              mode_t mode, const char *why_new_name, struct job_file *file,
                              struct failure *failure)
{
    char there[MD5_HEX_SIZE];
    int64_t bytes;
    enum status status =
        md5_hex_of_watched_file(source, &stage->watch, file->md5, &file->bytes, failure);
    if (status != STATUS_OK)
        return status;
    if (!inputs_count_on(target))
        return copy_file(stage, source, file->md5, target, mode, failure);
    status = md5_hex_of_watched_file(target, &stage->watch, there, &bytes, failure);
    if (status == STATUS_OK && strcmp(there, file->md5) != 0)
        return fail(failure, STATUS_INVALID, "%s exists with different content; %s", target,
                    why_new_name);
    return status;
}

/* An empty folder's name would lead into the root of the file system. */
static enum status need_folder(const struct stage *stage, struct failure *failure)
{
    return stage->config->download_dir.length > 0
               ? STATUS_OK
               : fail(failure, STATUS_INVALID,
                      "config.xml has no download_dir, the folder for files that clients download");
}

static enum status make_folder(struct stage *stage, struct text name, struct failure *failure)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    hierarchy_folder(name, stage->config->uldl_dir_fanout, folder);
    const char *path =
        text_string(stage->arena, text_print(stage->arena, TEXT_FORMAT "/%s",
                                             TEXT_ARG(stage->config->download_dir), folder));
    if (folder[0] != '\0' && !file_make_folder(path, 0775) && errno != EEXIST)
        return fail_io(failure, path, "create");
    return STATUS_OK;
}

static enum status measure_gzip(const char *target, struct job_file *file, struct arena *arena,
                                struct failure *failure)
{
    struct stat info;
    const char *path = text_string(arena, text_print(arena, "%s.gz", target));
    if (stat(path, &info) != 0)
        return fail(failure, STATUS_NOT_FOUND,
                    "there is no %s, which the <gzip/> of the input template asks for", path);
    file->gzipped_bytes = info.st_size;
    return STATUS_OK;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* "MD5 BYTES", as BOINC's programs and ours leave it in NAME.md5; false: there is none, or it is
 * not of the file as it is. */
static bool read_sum(struct stage *stage, const char *target, struct job_file *file)
{
    const char *path = text_string(stage->arena, text_print(stage->arena, "%s.md5", target));
    struct failure unused;
    struct stat of_file, of_sum;
    struct text line, md5;
    double bytes;

    if (stat(target, &of_file) != 0 || stat(path, &of_sum) != 0 || !is_newer(&of_sum, &of_file) ||
        file_read(stage->arena, path, SUM_BYTES_MAX, &line, &unused) != STATUS_OK)
        return false;
    line = text_trim(line);
    md5 = text_split(&line, ' ');
    if (!text_is_hex(md5, MD5_HEX_SIZE - 1) || !text_to_real(line, &bytes) ||
        bytes != (double)of_file.st_size)
        return false;
    memcpy(file->md5, md5.at, MD5_HEX_SIZE - 1);
    file->md5[MD5_HEX_SIZE - 1] = '\0';
    file->bytes = of_file.st_size;
    return true;
}

/* Of a file that lies where clients fetch it. A large one takes minutes to read. */
static enum status measure(struct stage *stage, const char *target, struct job_file *file,
                           struct failure *failure)
{
    return read_sum(stage, target, file)
               ? STATUS_OK
               : md5_hex_of_watched_file(target, &stage->watch, file->md5, &file->bytes, failure);
}

static enum status find_input(struct stage *stage, struct text argument, struct job_file *file,
                              const char **ret_target, struct failure *failure)
{
    const struct config *config = stage->config;
    const char *source = text_string(stage->arena, argument);
    const char *target =
        text_string(stage->arena, hierarchy_path(stage->arena, config->download_dir, file->name,
                                                 config->uldl_dir_fanout));
    const char *root = text_string(
        stage->arena, hierarchy_path(stage->arena, config->download_dir, file->name, 0));
    *ret_target = target;
    lock_inputs(stage);
    enum status status = make_folder(stage, file->name, failure);
    if (status != STATUS_OK)
        return status;
    if (!stage->refuses_paths && access(source, F_OK) == 0)
        return place_file(stage, source, target, 0644, clients_keep_names, file, failure);
    if (text_equal(argument, file->name)) {
        if (inputs_count_on(target))
            return measure(stage, target, file, failure);
        if (access(root, F_OK) == 0)
            return place_file(stage, root, target, 0644, clients_keep_names, file, failure);
    }
    if (stage->refuses_paths)
        return fail(failure, STATUS_NOT_FOUND, "there is no input file %s", source);
    return fail(failure, STATUS_NOT_FOUND, "%s: no such file, neither here nor in %s", source,
                target);
}

void stage_watch(struct stage *stage, const struct file_watch *watch)
{
    stage->watch = *watch;
}

void stage_list(struct stage *stage, struct placed_list *placed)
{
    stage->placed = placed;
}

void stage_refuse_paths(struct stage *stage)
{
    stage->refuses_paths = true;
}

/* What is there already has to be the same. */
static enum status check_same(const struct stage *stage, const char *target,
                              const char wanted[MD5_HEX_SIZE], struct failure *failure)
{
    char there[MD5_HEX_SIZE];
    int64_t bytes = 0;
    enum status status = md5_hex_of_watched_file(target, &stage->watch, there, &bytes, failure);

    if (status == STATUS_OK && strcmp(there, wanted) != 0)
        return fail(failure, STATUS_INVALID, "%s exists with different content", target);
    return status;
}

/* At a place whose name is made of the content, of this MD5. */
static enum status place_content(struct stage *stage, const struct copy_source *from,
                                 const char md5[MD5_HEX_SIZE], const char *target,
                                 struct failure *failure)
{
    struct failure why = {.status = STATUS_OK};
    enum status status = STATUS_OK;
    bool is_there;

    lock_inputs(stage);
    is_there = inputs_count_on(target);
    if (!is_there) {
        status = copy_to(stage, from, target, 0644, &why);
        is_there = status == STATUS_IO && inputs_count_on(target); /* another was faster */
    }
    if (!is_there)
        return status == STATUS_OK ? status : fail(failure, status, "%s", why.text);
    return check_same(stage, target, md5, failure);
}

enum status stage_text(struct stage *stage, struct text text, const char *target,
                       struct failure *failure)
{
    const struct copy_source from = {.descriptor = -1, .text = text};
    char md5[MD5_HEX_SIZE];

    md5_hex(text, NO_TEXT, md5);
    return place_content(stage, &from, md5, text_string(stage->arena, text_from(target)), failure);
}

static struct staged *find_staged(struct stage *stage, struct text argument)
{
    struct staged *staged;
    HASH_FIND(hh, stage->files, argument.at, (unsigned)argument.length, staged);
    return staged;
}

static struct staged *keep_staged(struct stage *stage, const struct staged *new)
{
    struct staged *staged = ARENA_NEW(stage->arena, struct staged);

    if (staged != NULL)
        *staged = *new;
    return staged;
}

static void remember(struct stage *stage, struct staged *staged)
{
    if (staged->hh.tbl == NULL)
        HASH_ADD_KEYPTR(hh, stage->files, staged->argument.at, (unsigned)staged->argument.length,
                        staged);
}

/* Under the name that is made of the content. */
static enum status place_named(struct stage *stage, const struct copy_source *from,
                               struct staged *staged, struct failure *failure)
{
    const struct config *config = stage->config;
    struct job_file *file = &staged->file;
    enum status status;

    file->name = text_print(stage->arena, "jf_%s", file->md5);
    status = make_folder(stage, file->name, failure);
    return status == STATUS_OK
               ? place_content(
                     stage, from, file->md5,
                     text_string(stage->arena, hierarchy_path(stage->arena, config->download_dir,
                                                              file->name, config->uldl_dir_fanout)),
                     failure)
               : status;
}

enum status stage_content(struct stage *stage, struct text content, struct job_file *ret_file,
                          struct failure *failure)
{
    const struct copy_source from = {
        .descriptor = -1, .text = content, .bytes_brought = (int64_t)content.length};
    struct staged new = {.file.bytes = (int64_t)content.length}, *staged;
    enum status status = need_folder(stage, failure);

    md5_hex(content, NO_TEXT, new.file.md5);
    new.argument = text_print(stage->arena, "jf_%s", new.file.md5);
    staged = find_staged(stage, new.argument);
    if (status == STATUS_OK && staged == NULL) {
        staged = keep_staged(stage, &new);
        status = staged != NULL ? place_named(stage, &from, staged, failure)
                                : fail(failure, STATUS_NO_MEMORY, "no memory");
    }
    if (status != STATUS_OK)
        return status;
    remember(stage, staged);
    *ret_file = staged->file;
    return STATUS_OK;
}

/* --- files of a sandbox ----------------------------------------------------------------------- */

static enum status refuse_sandbox(struct failure *failure, struct text name, enum status status,
                                  const char *why)
{
    return fail(failure, status, "file \"" TEXT_FORMAT "\" of the sandbox: %s",
                TEXT_ARG(text_first(name, 200)), why);
}

static bool is_as_before(const struct stat *before, const struct stat *after, int64_t bytes)
{
    return before->st_size == bytes && after->st_size == bytes &&
           before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}

/* It is read once for its name, and again if it has to be copied. */
static enum status measure_sandbox(const struct stage *stage, struct text name,
                                   const struct sandbox_file *from, struct job_file *file,
                                   struct failure *failure)
{
    struct stat before, after;

    if (fstat(from->descriptor, &before) != 0 ||
        md5_hex_of_watched_descriptor(from->descriptor, &stage->watch, file->md5, &file->bytes) !=
            STATUS_OK ||
        fstat(from->descriptor, &after) != 0 || lseek(from->descriptor, 0, SEEK_SET) != 0)
        return refuse_sandbox(failure, name, STATUS_IO, strerror(errno));
    if (!is_as_before(&before, &after, file->bytes))
        return fail(failure, STATUS_INVALID,
                    "file \"" TEXT_FORMAT
                    "\" of the sandbox changed while it was read, from %" PRId64
                    " bytes to %" PRId64 ", of which %" PRId64 " were read",
                    TEXT_ARG(text_first(name, 200)), (int64_t)before.st_size,
                    (int64_t)after.st_size, file->bytes);
    if (from->md5[0] != '\0' && strcmp(from->md5, file->md5) != 0)
        return refuse_sandbox(failure, name, STATUS_INVALID,
                              "its content is not the one that was put there, by its MD5");
    return STATUS_OK;
}

static enum status place_sandbox(struct stage *stage, struct text name,
                                 const struct sandbox_file *from, struct staged *staged,
                                 struct failure *failure)
{
    struct copy_source source = {.descriptor = from->descriptor, .md5 = staged->file.md5};
    struct failure why = {.status = STATUS_OK};
    enum status status = measure_sandbox(stage, name, from, &staged->file, failure);

    if (status != STATUS_OK)
        return status;
    source.bytes_brought = staged->file.bytes;
    status = place_named(stage, &source, staged, &why);
    return status == STATUS_OK ? status : refuse_sandbox(failure, name, status, why.text);
}

enum status stage_sandbox(struct stage *stage, int64_t userid, struct text name,
                          struct job_file *ret_file, struct failure *failure)
{
    struct staged new = {
        .argument = text_print(stage->arena, "%" PRId64 "/" TEXT_FORMAT, userid, TEXT_ARG(name))};
    struct staged *staged = find_staged(stage, new.argument);
    struct sandbox_file from;
    enum status status = STATUS_OK;

    if (staged == NULL) {
        status = need_folder(stage, failure);
        staged = keep_staged(stage, &new);
        if (status == STATUS_OK && staged == NULL)
            status = fail(failure, STATUS_NO_MEMORY, "no memory");
        if (status == STATUS_OK)
            status = sandbox_open(stage->arena, stage->config, userid, name, &from, failure);
        if (status != STATUS_OK)
            return status;
        status = place_sandbox(stage, name, &from, staged, failure);
        (void)close(from.descriptor);
    }
    if (status != STATUS_OK)
        return status;
    remember(stage, staged);
    *ret_file = staged->file;
    return STATUS_OK;
}

enum status stage_input(struct stage *stage, struct text argument, bool gzip,
                        struct job_file *ret_file, struct failure *failure)
{
    struct staged *staged = find_staged(stage, argument);
    if (staged != NULL && (staged->file.gzipped_bytes > 0 || !gzip)) {
        *ret_file = staged->file;
        return STATUS_OK;
    }
    struct text name = stage->refuses_paths ? argument : text_behind_last(argument, '/');
    enum status status = file_name_check("file name", name, failure);
    if (status != STATUS_OK)
        return status;
    if (staged == NULL) {
        staged = ARENA_NEW(stage->arena, struct staged);
        if (staged == NULL)
            return fail(failure, STATUS_NO_MEMORY, "no memory");
        staged->argument = text_copy(stage->arena, argument);
        staged->file.name = text_behind_last(staged->argument, '/');
    }
    const char *target;
    status = need_folder(stage, failure);
    if (status == STATUS_OK)
        status = find_input(stage, argument, &staged->file, &target, failure);
    if (status == STATUS_OK && gzip)
        status = measure_gzip(target, &staged->file, stage->arena, failure);
    if (status != STATUS_OK)
        return status;
    remember(stage, staged);
    *ret_file = staged->file;
    return STATUS_OK;
}

enum status stage_template(struct stage *stage, const char *path, const char *target,
                           struct failure *failure)
{
    struct job_file file;
    const char *kept = text_string(stage->arena, text_from(target));

    lock_inputs(stage);
    return place_file(stage, path, kept, 0644,
                      "result templates are read again for retries, so a changed one needs a new "
                      "name",
                      &file, failure);
}

enum status stage_program(struct stage *stage, const char *path, struct text name, bool executable,
                          struct job_file *ret_file, bool *ret_executable, struct failure *failure)
{
    struct stat info;
    struct job_file file = {.name = name};
    enum status status = file_name_check("file name", name, failure);
    if (status != STATUS_OK)
        return status;
    if (stat(path, &info) != 0)
        return fail_io(failure, path, "stat");
    *ret_executable = executable || (info.st_mode & S_IXUSR) != 0;
    const char *target = text_string(
        stage->arena, hierarchy_path(stage->arena, stage->config->download_dir, name, 0));
    status = need_folder(stage, failure);
    if (status != STATUS_OK)
        return status;
    lock_inputs(stage);
    status = place_file(stage, path, target, *ret_executable ? 0755 : 0644, clients_keep_names,
                        &file, failure);
    if (status == STATUS_OK)
        *ret_file = file;
    return status;
}

/* Without a trace in its atime, which would say that others count on it (inputs_lock.h). Only its
 * owner and root may ask for that. */
static int open_traceless(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);

    return file < 0 && errno == EPERM ? open(path, O_RDONLY | O_CLOEXEC) : file;
}

/* gzip(1) with `from` as its input and `to` as its output. */
static enum status run_gzip(int from, int to, const char *name, struct failure *failure)
{
    char program[] = "gzip", options[] = "-9nc";
    char *const words[] = {program, options, NULL};
    posix_spawn_file_actions_t actions;
    int status = 0, error;
    pid_t child;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(failure, STATUS_IO, "gzip: %s", strerror(error));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(failure, STATUS_IO, "gzip: %s", strerror(errno));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? STATUS_OK
               : fail(failure, STATUS_IO, "%s: gzip failed", name);
}

static enum status make_gzip(struct stage *stage, const char *source, const char *target,
                             struct failure *failure)
{
    int from = open_traceless(source), to = from < 0 ? -1 : file_open_nameless();
    const struct copy_source zipped = {.descriptor = to};
    enum status status;

    if (from < 0)
        status = fail_io(failure, source, "open");
    else if (to < 0)
        status = fail_io(failure, "a temporary file (TMPDIR)", "create");
    else
        status = run_gzip(from, to, source, failure);
    if (status == STATUS_OK && lseek(to, 0, SEEK_SET) != 0)
        status = fail_io(failure, target, "copy");
    if (status == STATUS_OK)
        status = copy_to(stage, &zipped, target, 0644, failure);
    if (to >= 0)
        (void)close(to);
    if (from >= 0)
        (void)close(from);
    return status;
}

enum status stage_gzip(struct stage *stage, struct job_file *file, struct failure *failure)
{
    const char *target = text_string(
        stage->arena, hierarchy_path(stage->arena, stage->config->download_dir, file->name, 0));
    const char *zipped = text_string(stage->arena, text_print(stage->arena, "%s.gz", target));
    enum status status = STATUS_OK;

    lock_inputs(stage);
    if (!inputs_count_on(zipped))
        status = make_gzip(stage, target, zipped, failure);
    return status == STATUS_OK ? measure_gzip(target, file, stage->arena, failure) : status;
}
