/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own files except config.xml: its public keys, and blocks for replies. */
#ifndef SERVER_PROJECT_PROJECT_H
#define SERVER_PROJECT_PROJECT_H

#include "server/base/status.h"
#include "server/policy/plan_class/plan_class.h"
#include "server/policy/version/buda.h"
#include "server/project/project_files.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct config;
struct size_census;

/* The project's keys as files hold them (policy(7) 14.5, protocol(7) 4.1). */
struct project_keys {
    struct text code_sign_public;
    const struct old_key *old_keys;
    size_t old_key_count;
};

/* Blocks of the project's own for full replies (protocol(7) 3.2): what stands inside these elements
 * in the files gui_urls.xml and project_files.xml, and of the latter the files too; empty: none. */
struct project_blocks {
    struct text gui_urls, rss_feeds;
    struct project_files project_files;
    struct text terms_of_use; /* for joining: the file terms_of_use.txt; empty: none */
    bool terms_are_lost;      /* it cannot be read, or is larger than 32 KiB */
    const struct size_census *size_censuses; /* the files size_census_APP */
    size_t size_census_count;
};

/* Immutable once loaded. */
struct project {
    struct project_keys keys;
    struct project_blocks blocks;
    struct plan_classes plan_classes;
    struct failure plan_failure; /* of plan_class_spec.xml; then no plan class is usable */
    struct buda_apps buda;       /* science apps: the folder buda_apps */
    struct arena *arena;         /* owns the texts */
    int references;              /* atomic; see project_hold */
};

/* Reads code_sign_public, and old_key_N with signature_N and signature_stripped_N for N from 0 as
 * long as there are any, in config.key_dir or DIR/keys; DIR/gui_urls.xml, DIR/project_files.xml,
 * DIR/size_census_APP and DIR/terms_of_use.txt where they exist; DIR/plan_class_spec.xml, without
 * which the built-in plan classes hold. STATUS_NOT_FOUND: no code_sign_public. The caller owns one
 * reference. */
MUST_CHECK enum status project_load(const struct config *config, struct project **ret_project,
                                    struct failure *failure);
/* DIR/plan_class_spec.xml alone. The caller frees them. */
MUST_CHECK enum status project_plan_classes(const struct config *config,
                                            struct plan_classes *ret_classes,
                                            struct failure *failure);
/* Parts of it, for whoever asks whether they can be read; nothing is logged. */
MUST_CHECK enum status project_signing_key_read(const struct config *config, struct arena *arena,
                                                struct text *ret_key, struct failure *failure);
/* STATUS_NOT_FOUND: there is no terms_of_use.txt. */
MUST_CHECK enum status project_terms_read(const struct config *config, struct arena *arena,
                                          struct text *ret_terms, struct failure *failure);
/* DIR/gui_urls.xml and DIR/project_files.xml; empty, and STATUS_OK, where there is none.
 * STATUS_INVALID: what stands there would break replies. */
MUST_CHECK enum status project_links_read(const struct config *config, struct arena *arena,
                                          struct text *ret_gui_urls, struct text *ret_rss_feeds,
                                          struct failure *failure);
MUST_CHECK enum status project_files_read(const struct config *config, struct arena *arena,
                                          struct project_files *ret_files, struct failure *failure);
struct project *project_hold(struct project *project);
void project_release(struct project *project); /* NULL is fine */

/* Where a file of the project's folder, or of its key folder, is; cut at `size`. Name "" is the
 * folder itself. */
void project_path(const struct config *config, const char *name, char *ret_path, size_t size);
void project_key_path(const struct config *config, const char *name, char *ret_path, size_t size);
/* Whether something of that name is in the project's folder: the files that stop a server. */
bool project_has_file(const struct config *config, const char *name);

#endif
