/* SPDX-License-Identifier: Apache-2.0 */
/* Science apps of BOINC's universal docker app (BUDA): what they consist of, and which of their
 * variants suit a kind of computer (policy(7) 4.6); pure.
 *
 * A workunit whose document holds <buda_app_name> is a job of a science app, whatever its app is:
 * the app's version is a wrapper that runs a container, and what runs in it comes from one variant
 * of the science app. A wrapper with a variant is a version like any other (struct version_option):
 * the variant's plan class says what a job uses. server/project/buda_files.c reads the variants. */
#ifndef SERVER_POLICY_VERSION_BUDA_H
#define SERVER_POLICY_VERSION_BUDA_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* What clients read of a workunit's document, in which the parts of a variant have to fit. */
enum { BUDA_BYTES_MAX = 65535 };

enum buda_cpu { BUDA_CPU_OTHER, BUDA_CPU_INTEL, BUDA_CPU_ARM };

/* Variants of one plan class and CPU type: a host is as fit for one as for the other. */
struct buda_kind {
    enum buda_cpu cpu;
    struct text plan_class; /* empty: one CPU */
};
struct buda_variant {
    int64_t number;   /* buda_number of APP/VARIANT, the names of the folders */
    struct text name; /* of its folder */
    size_t app, kind;
    struct text file_infos, file_refs; /* into the document, verbatim */
};
struct buda_app {
    int64_t number; /* buda_number of its name, as in workunit_row.buda_app */
    struct text name, long_name;
    size_t first, count; /* of its variants, by name */
};
/* What was not taken: which file, and why. */
struct buda_fault {
    struct text file, words;
};
/* Immutable once read. */
struct buda_apps {
    const struct buda_app *apps; /* by rising number */
    size_t app_count;
    const struct buda_variant *variants; /* those of an app beside each other, in order of apps */
    size_t variant_count;
    const size_t *by_number; /* places of variants, by their rising numbers */
    const struct buda_kind *kinds;
    size_t kind_count;
    const struct buda_fault *faults; /* the first ones */
    size_t fault_count;              /* of all */
};
enum {
    BUDA_APPS_MAX = 10000,
    BUDA_VARIANTS_MAX = 10000, /* of all apps */
    BUDA_KINDS_MAX = 1000,
    BUDA_FAULTS_KEPT = 100
};

/* A name as a number above 0, as FRAGMENT workunit_buda_app of the database makes it. */
int64_t buda_number(struct text name);
/* NULL: there is none. */
const struct buda_app *buda_app_find(const struct buda_apps *apps, int64_t number);
const struct buda_variant *buda_variant_find(const struct buda_apps *apps, int64_t number);

/* By the words that desc.json and variant.json use. */
enum buda_cpu buda_cpu_named(struct text word);
const char *buda_cpu_word(enum buda_cpu cpu); /* "other" for what has no word */
/* That of the first platform that tells: of a Mac with ARM, which lists x86_64 too, ARM. */
enum buda_cpu buda_cpu_of(const struct text *platforms, size_t count);

/* What is needed of a desc.json; `ret_app` gets number and names. INVALID: `failure` has the key.
 */
MUST_CHECK enum status buda_app_read(struct arena *arena, struct text document,
                                     struct buda_app *ret_app, struct failure *failure);
/* What is needed of a variant.json: files, and the kind. */
MUST_CHECK enum status buda_variant_read(struct arena *arena, struct text document,
                                         struct buda_variant *ret_variant,
                                         struct buda_kind *ret_kind, struct failure *failure);

#endif
