/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog: read once, never changed, shared by all threads that hold a reference.
 *
 * Rows come from the database in order of id, so that look-ups by id are a binary search. A version
 * is current if it is not deprecated and no newer one of its app stands for the same platform and
 * plan class; which ones are is worked out once, after sorting them side by side. Deprecated ones
 * are there for workunits committed to them. A version whose document cannot be sent is none: its
 * jobs would be claimed and never arrive. */
#include "server/project/catalog.h"

#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/project/document_check.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* The versions' documents are most of it: 16 MB is the most that one can have. */
#define CATALOG_BYTES_MAX ((size_t)1024 * 1024 * 1024)

/* Core versions were once written as 100 * major + minor, without the release. */
#define CORE_VERSION_OLD_BELOW 10000
#define CORE_VERSION_OLD_SCALE 100

/* Of how many hosts the benchmarks are read (policy(7) 5.4). Those of 50,000 take the database 80
 * ms (tests/cost/README.md): once a minute, and not for each request. */
enum { HOSTS_MOST = 50000, HOSTS_FOR_ONE = 400 };

static uint64_t serial; /* atomic */

static int64_t core_version(int64_t stored)
{
    return stored > 0 && stored < CORE_VERSION_OLD_BELOW ? stored * CORE_VERSION_OLD_SCALE : stored;
}

/* Negative: `a` stands before `b`; versions that replace each other stand together, deprecated ones
 * first, newest last. */
static int compare_kinds(const struct app_version_row *a, const struct app_version_row *b)
{
    if (a->appid != b->appid)
        return a->appid < b->appid ? -1 : 1;
    if (a->platformid != b->platformid)
        return a->platformid < b->platformid ? -1 : 1;
    return text_compare(a->plan_class, b->plan_class);
}

static int compare_versions(const void *a, const void *b)
{
    const struct app_version_row *left = *(const struct app_version_row *const *)a;
    const struct app_version_row *right = *(const struct app_version_row *const *)b;
    int kinds = compare_kinds(left, right);

    if (kinds != 0)
        return kinds;
    if ((left->deprecated == 0) != (right->deprecated == 0))
        return left->deprecated != 0 ? -1 : 1;
    if (left->version_num != right->version_num)
        return left->version_num < right->version_num ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static bool is_in_use(const struct catalog *catalog, const struct app_version_row *version)
{
    const struct app_row *app = catalog_app(catalog, version->appid);

    return version->deprecated == 0 && (app == NULL || version->version_num >= app->min_version);
}

static enum status mark_current(struct catalog *catalog)
{
    size_t count = catalog->rows.version_count;
    const struct app_version_row **sorted =
        arena_alloc_array(catalog->arena, count, sizeof(sorted[0]));
    bool *current = ARENA_ARRAY(catalog->arena, count, bool);

    if (sorted == NULL || current == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &catalog->rows.versions[i];
    if (count > 0)
        qsort(sorted, count, sizeof(sorted[0]), compare_versions);
    for (size_t i = 0; i < count; i++) {
        bool is_newest = i + 1 == count || compare_kinds(sorted[i], sorted[i + 1]) != 0;

        current[sorted[i] - catalog->rows.versions] = is_newest && is_in_use(catalog, sorted[i]);
    }
    catalog->versions_current = current;
    return STATUS_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct app_row *left = *(const struct app_row *const *)a;
    const struct app_row *right = *(const struct app_row *const *)b;
    int order = text_compare(left->name, right->name);

    return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

/* Clients name an app in each of thousands of lines. */
static enum status sort_apps(struct catalog *catalog)
{
    size_t count = catalog->rows.app_count;
    const struct app_row **sorted = arena_alloc_array(catalog->arena, count, sizeof(sorted[0]));

    if (sorted == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &catalog->rows.apps[i];
    if (count > 0)
        qsort(sorted, count, sizeof(sorted[0]), compare_names);
    catalog->apps_by_name = sorted;
    return STATUS_OK;
}

/* Leaves out versions that cannot be sent, and reads core versions as they are meant. */
static void repair_versions(struct catalog_rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->version_count; i++) {
        struct app_version_row version = rows->versions[i];

        if (!document_of_version_fits(version.xml_doc)) {
            log_line(LOG_LEVEL_WARNING, "event=version_not_usable version=%lld why=\"xml_doc\"",
                     (long long)version.id);
            continue;
        }
        version.min_core_version = core_version(version.min_core_version);
        version.max_core_version = core_version(version.max_core_version);
        rows->versions[kept++] = version;
    }
    rows->version_count = kept;
}

enum status catalog_begin(struct catalog **ret_catalog)
{
    struct catalog *catalog = calloc(1, sizeof(*catalog));

    if (catalog == NULL)
        return STATUS_NO_MEMORY;
    catalog->references = 1;
    catalog->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    catalog->arena = arena_create(CATALOG_BYTES_MAX);
    if (catalog->arena == NULL) {
        free(catalog);
        return STATUS_NO_MEMORY;
    }
    *ret_catalog = catalog;
    return STATUS_OK;
}

enum status catalog_finish(struct catalog *catalog)
{
    enum status status = mark_current(catalog);

    return status == STATUS_OK ? sort_apps(catalog) : status;
}

static bool has_plan_class(const struct catalog_rows *rows)
{
    for (size_t i = 0; i < rows->version_count; i++)
        if (rows->versions[i].plan_class.length > 0)
            return true;
    return false;
}

static enum status load_benchmarks(struct db *db, int64_t hosts_most, struct catalog *catalog)
{
    double *flops;
    size_t count;
    enum status status = db_host_flops(db, catalog->arena, hosts_most, &flops, &count);

    if (status == STATUS_OK)
        catalog->benchmarks = benchmarks_of(flops, count);
    return status;
}

enum status catalog_load_hurries(struct db *db, struct catalog *catalog)
{
    return db_hurries(db, catalog->arena, &catalog->rows.hurries, &catalog->rows.hurry_count);
}

static enum status load(struct db *db, int64_t hosts_most, struct catalog **ret_catalog)
{
    struct catalog *catalog = NULL;
    enum status status = catalog_begin(&catalog);

    if (status != STATUS_OK)
        return status;
    status = db_catalog(db, catalog->arena, &catalog->rows);
    if (status == STATUS_OK)
        repair_versions(&catalog->rows);
    if (status == STATUS_OK && has_plan_class(&catalog->rows))
        status = load_benchmarks(db, hosts_most, catalog);
    if (status == STATUS_OK && hosts_most == HOSTS_MOST)
        status = catalog_load_hurries(db, catalog);
    if (status == STATUS_OK)
        status = catalog_finish(catalog);
    if (status != STATUS_OK) {
        catalog_release(catalog);
        return status;
    }
    *ret_catalog = catalog;
    return STATUS_OK;
}

enum status catalog_load(struct db *db, struct catalog **ret_catalog)
{
    return load(db, HOSTS_MOST, ret_catalog);
}

enum status catalog_load_for_one(struct db *db, struct catalog **ret_catalog)
{
    return load(db, HOSTS_FOR_ONE, ret_catalog);
}

enum status catalog_load_crowd(struct db *db, int64_t hosts_most, struct catalog *catalog)
{
    struct text *presences;
    size_t count;
    enum status status = db_host_presences(db, catalog->arena, hosts_most, &presences, &count);

    if (status == STATUS_OK)
        catalog->crowd = presence_of_crowd(presences, count);
    return status;
}

struct catalog *catalog_hold(struct catalog *catalog)
{
    (void)__atomic_add_fetch(&catalog->references, 1, __ATOMIC_RELAXED);
    return catalog;
}

void catalog_release(struct catalog *catalog)
{
    if (catalog == NULL || __atomic_sub_fetch(&catalog->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    arena_destroy(catalog->arena);
    free(catalog);
}

/* The three kinds of rows begin with their id. */
static const void *find_by_id(const void *rows, size_t count, size_t size, int64_t id)
{
    const char *base = rows;
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t here;

        memcpy(&here, base + middle * size, sizeof(here));
        if (here == id)
            return base + middle * size;
        if (here < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

_Static_assert(offsetof(struct app_row, id) == 0, "find_by_id reads the first member");
_Static_assert(offsetof(struct app_version_row, id) == 0, "find_by_id reads the first member");

const struct app_row *catalog_app(const struct catalog *catalog, int64_t id)
{
    return find_by_id(catalog->rows.apps, catalog->rows.app_count, sizeof(struct app_row), id);
}

const struct app_row *catalog_app_by_name(const struct catalog *catalog, struct text name)
{
    size_t low = 0, high = catalog->rows.app_count;

    for (size_t i = 0; catalog->apps_by_name == NULL && i < catalog->rows.app_count; i++) {
        if (text_equal(catalog->rows.apps[i].name, name))
            return &catalog->rows.apps[i];
    }
    while (catalog->apps_by_name != NULL && low < high) {
        size_t middle = low + (high - low) / 2;

        if (text_compare(catalog->apps_by_name[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (catalog->apps_by_name == NULL || low == catalog->rows.app_count ||
        !text_equal(catalog->apps_by_name[low]->name, name))
        return NULL;
    return catalog->apps_by_name[low];
}

const struct app_version_row *catalog_version(const struct catalog *catalog, int64_t id)
{
    return find_by_id(catalog->rows.versions, catalog->rows.version_count,
                      sizeof(struct app_version_row), id);
}

const struct platform_row *catalog_platform_by_name(const struct catalog *catalog, struct text name)
{
    for (size_t i = 0; i < catalog->rows.platform_count; i++) {
        if (text_equal(catalog->rows.platforms[i].name, name))
            return &catalog->rows.platforms[i];
    }
    return NULL;
}

bool catalog_version_is_current(const struct catalog *catalog,
                                const struct app_version_row *version)
{
    if (catalog->versions_current != NULL)
        return catalog->versions_current[version - catalog->rows.versions];
    if (!is_in_use(catalog, version))
        return false;
    for (size_t i = 0; i < catalog->rows.version_count; i++) {
        const struct app_version_row *other = &catalog->rows.versions[i];

        if (compare_kinds(version, other) == 0 &&
            compare_versions(&(const struct app_version_row *){version}, &other) < 0)
            return false;
    }
    return true;
}
