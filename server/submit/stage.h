/* SPDX-License-Identifier: Apache-2.0 */
/* Puts files where clients download them, and result templates where retries read them. A name
 * stands for one content for ever, because clients keep files by name: an existing file of that
 * name with other content is an error. */
#ifndef SERVER_SUBMIT_STAGE_H
#define SERVER_SUBMIT_STAGE_H

#include "server/submit/template_input.h"

struct arena;
struct config;
struct file_watch;
struct placed_list;
struct stage;

/* Remembers sizes and MD5s by name, and which files it copied. Texts of the arena. NULL: no
 * memory. */
struct stage *stage_create(struct arena *arena, const struct config *config);
/* To be called after the commit: until then files that it found are not deleted (inputs_lock.h).
 * With `keep` false, the files that it copied are removed again, but for those that others count
 * on. */
void stage_end(struct stage *stage, bool keep);
/* How many files it has copied. */
size_t stage_copied(const struct stage *stage);
/* The first `count` of them stay whatever comes: jobs that use them were committed. */
void stage_keep(struct stage *stage, size_t count);

/* An input file. `argument` is a path, whose last part becomes the physical name, or the name of a
 * file that lies in the download folders already. With `gzip`, NAME.gz beside it is needed. */
MUST_CHECK enum status stage_input(struct stage *stage, struct text argument, bool gzip,
                                   struct job_file *ret_file, struct failure *failure);
/* Asked behind each piece of a file that is read or copied from now on. */
void stage_watch(struct stage *stage, const struct file_watch *watch);
/* What is copied from now on is listed there; NULL: nowhere. */
void stage_list(struct stage *stage, struct placed_list *placed);
/* From now on an argument is a name, which lies in the download folders, and never a path. */
void stage_refuse_paths(struct stage *stage);
/* What submitters bring does not fill the disk: whether, beside so many bytes more,
 * upload_min_free_gb stay free where the open file lies. */
bool stage_leaves_room(const struct config *config, int descriptor, int64_t bytes);
/* An input file with this content, named jf_ and its MD5. `upload_min_free_gb` stays free. */
MUST_CHECK enum status stage_content(struct stage *stage, struct text content,
                                     struct job_file *ret_file, struct failure *failure);
/* One with the content of a file of this user's sandbox (sandbox.h), named likewise. It stays what
 * it was when it was read first. `upload_min_free_gb` stays free. STATUS_INVALID: it changes. */
MUST_CHECK enum status stage_sandbox(struct stage *stage, int64_t userid, struct text name,
                                     struct job_file *ret_file, struct failure *failure);
/* A file with this text at `target`, whose name is made of the text. */
MUST_CHECK enum status stage_text(struct stage *stage, struct text text, const char *target,
                                  struct failure *failure);
/* A result template from elsewhere, copied to `target`. STATUS_INVALID: another one is there. */
MUST_CHECK enum status stage_template(struct stage *stage, const char *path, const char *target,
                                      struct failure *failure);
/* A file of an application: into the top level of download_dir; executable as `path` is, or
 * whenever `executable` is set. */
MUST_CHECK enum status stage_program(struct stage *stage, const char *path, struct text name,
                                     bool executable, struct job_file *ret_file,
                                     bool *ret_executable, struct failure *failure);
/* Keeps NAME.gz beside such a file, made by gzip(1) unless it is there, and measures it. */
MUST_CHECK enum status stage_gzip(struct stage *stage, struct job_file *file,
                                  struct failure *failure);

#endif
