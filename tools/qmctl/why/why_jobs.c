/* SPDX-License-Identifier: Apache-2.0 */
/* The classes are read first, of each application by itself; then each host goes through the
 * server's own steps (why_host.c), and each class through its checks for this host. A host counts
 * once for each class: it can have it on some type of processor, or there is one reason why not. */
#include "tools/qmctl/why/why_jobs.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/marked.h"
#include "server/project/catalog.h"
#include "tools/qmctl/why/why_parts.h"
#include "tools/qmctl/why/why_sample.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { WEEK_S = 7 * 86400, HOLDERS_MOST = 1000 };
#define HOST_BYTES_MAX ((size_t)256 << 20)

struct jobs_question {
    struct session *session;
    const struct job_chances_bounds *bounds;
    struct job_chances *chances;
    struct question host; /* the one that is asked */
};

/* --- classes ---------------------------------------------------------------------------------- */

static bool holders_matter(const struct config *config)
{
    return config->one_result_per_user_per_wu || config->one_result_per_host_per_wu;
}

static enum status read_holders(const struct jobs_question *question, struct job_chance *chance)
{
    struct session *session = question->session;
    struct holder_row *rows = NULL;
    enum status status;

    if (!chance->class.user_has_one)
        return STATUS_OK;
    status = session_db_failed(session,
                               db_admin_holders(session->db, session->arena,
                                                chance->class.job.workunitid, HOLDERS_MOST, &rows,
                                                &chance->holder_count),
                               "results of a job");
    chance->holders = rows;
    return status;
}

static int by_jobs(const void *a, const void *b)
{
    const struct job_chance *one = a, *other = b;

    if (one->class.count != other->class.count)
        return one->class.count > other->class.count ? -1 : 1;
    return (one->class.job.workunitid > other->class.job.workunitid) -
           (one->class.job.workunitid < other->class.job.workunitid);
}

/* Those with most jobs stay at the front, and no more than may be judged. */
static void add_classes(const struct jobs_question *question, const struct app_row *app,
                        const struct job_class *classes, size_t count)
{
    struct job_chances *chances = question->chances;
    /* The catalog is gone when they are printed. */
    struct text app_name = text_copy(question->session->arena, app->name);
    int64_t jobs = 0;

    for (size_t i = 0; i < count; i++) {
        chances->items[chances->count + i] =
            (struct job_chance){.class = classes[i], .app_name = app_name};
        jobs += classes[i].count;
    }
    chances->is_limited =
        chances->is_limited || jobs >= 2 * (int64_t)question->bounds->jobs_looked_at;
    chances->count += count;
    qsort(chances->items, chances->count, sizeof *chances->items, by_jobs);
    if (chances->count > question->bounds->classes)
        chances->count = question->bounds->classes;
}

static enum status read_classes_of(const struct jobs_question *question, const struct app_row *app)
{
    struct session *session = question->session;
    const struct config *config = session->config;
    const struct waiting_filter filter = {.appid = app->id,
                                          .by_holders = holders_matter(config),
                                          .by_batch = config->user_filter,
                                          .by_keywords = config->keyword_sched,
                                          .looked_at = question->bounds->jobs_looked_at,
                                          .most = question->bounds->classes};
    struct job_class *classes = NULL;
    size_t count = 0;
    enum status status = session_db_failed(
        session, db_admin_waiting_classes(session->db, session->arena, &filter, &classes, &count),
        "unsent jobs");

    if (status == STATUS_OK)
        add_classes(question, app, classes, count);
    return status;
}

static enum status read_classes_of_apps(const struct jobs_question *question)
{
    struct session *session = question->session;
    const struct job_chances_bounds *bounds = question->bounds;
    struct app_row *apps = NULL;
    size_t app_count = 0;
    bool is_found = bounds->app == NULL;
    enum status status = session_db_failed(
        session, db_admin_apps(session->db, session->arena, &apps, &app_count), "applications");

    for (size_t i = 0; status == STATUS_OK && i < app_count; i++) {
        if (bounds->app != NULL && !text_is(apps[i].name, bounds->app))
            continue;
        is_found = true;
        status = read_classes_of(question, &apps[i]);
    }
    if (status == STATUS_OK && !is_found)
        return fail(&session->failure, STATUS_NOT_FOUND, "there is no application \"%s\"",
                    bounds->app);
    return status;
}

static enum status read_job(const struct jobs_question *question)
{
    struct session *session = question->session;
    const char *name = question->bounds->job;
    struct job_class *class = NULL;
    const struct app_row *app;
    size_t count = 0;
    enum status status =
        session_db_failed(session,
                          db_admin_waiting_job(session->db, session->arena, text_from(name),
                                               holders_matter(session->config), &class, &count),
                          "job");

    if (status != STATUS_OK)
        return status;
    if (count == 0)
        return fail(&session->failure, STATUS_NOT_FOUND, "there is no job \"%s\"", name);
    if (class->count == 0)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "job \"%s\" has no unsent result that a host could get: see qmctl jobs show",
                    name);
    app = catalog_app(question->host.catalog, class->job.appid);
    question->chances->items[0] = (struct job_chance){
        .class = *class,
        .app_name = app != NULL ? text_copy(session->arena, app->name) : TEXT("?")};
    question->chances->count = 1;
    return STATUS_OK;
}

static enum status read_classes(const struct jobs_question *question)
{
    struct session *session = question->session;
    struct job_chances *chances = question->chances;
    enum status status;

    chances->items = ARENA_ARRAY(session->arena, 2 * question->bounds->classes, struct job_chance);
    if (chances->items == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    status = question->bounds->job != NULL ? read_job(question) : read_classes_of_apps(question);
    for (size_t i = 0; status == STATUS_OK && i < chances->count; i++) {
        status = read_holders(question, &chances->items[i]);
        chances->items[i].refused = ARENA_NEW(session->arena, struct refusals);
        if (status == STATUS_OK && chances->items[i].refused == NULL)
            return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    }
    return status;
}

/* --- hosts ------------------------------------------------------------------------------------ */

/* The refusal that is kept for the class outlives the host's arena. */
static void add_refusal(const struct jobs_question *question, struct job_chance *chance,
                        const struct refusal *refusal)
{
    struct arena *arena = question->session->arena;
    struct refusal *nearest = &chance->refused->by_reason[refusal->reason].nearest;

    refusals_add(chance->refused, refusal);
    if (nearest->name.at == refusal->name.at)
        nearest->name = text_copy(arena, refusal->name);
    if (nearest->type.at == refusal->type.at)
        nearest->type = text_copy(arena, refusal->type);
    if (nearest->why.at == refusal->why.at)
        nearest->why = text_copy(arena, refusal->why);
    nearest->task = NO_TEXT;
}

/* What stands against the host, whatever the jobs are. What stands against everybody, or passes in
 * a moment, is no matter of the host. False: nothing does. */
static bool host_is_refused(const struct question *host, struct refusal *ret_refusal)
{
    const struct answer *answer = &host->request.attempt.answer;

    for (size_t i = 0; i < answer->reason_count; i++) {
        enum reason reason = answer->reasons[i];

        if (reason_binds(reason) == BINDS_EVERYBODY || reason == REASON_TOO_RECENT)
            continue;
        *ret_refusal = (struct refusal){.reason = reason};
        return true;
    }
    return false;
}

/* Whether some type of processor can have it; else the most useful reason, and one that is no more
 * than that the user excludes a type only where there is no other. */
static bool host_can_have(struct question *host, const struct job_class *class,
                          struct refusal *ret_refusal)
{
    const struct amounts *asked = &host->view.asked;

    *ret_refusal = (struct refusal){.reason = REASON_COUNT};
    for (size_t resource = 0; resource < asked->resource_count; resource++) {
        struct verdict verdict;
        enum reason known = ret_refusal->reason;

        if (!amounts_wants(asked, resource))
            continue;
        host->request.attempt.budget = (struct budget){0}; /* each class is a request of its own */
        why_judge_class(host, class, resource, &verdict);
        if (verdict.may_be_sent)
            return true;
        if (known == REASON_COUNT || known == REASON_RESOURCE_EXCLUDED ||
            (verdict.refusal.reason < known && verdict.refusal.reason != REASON_RESOURCE_EXCLUDED))
            *ret_refusal = verdict.refusal;
    }
    return false;
}

static struct job_class class_for(const struct job_chance *chance, const struct host_view *view)
{
    struct job_class class = chance->class;

    class.user_has_one = class.host_has_one = false;
    for (size_t i = 0; i < chance->holder_count; i++) {
        class.user_has_one = class.user_has_one || chance->holders[i].userid == view->userid;
        class.host_has_one = class.host_has_one || chance->holders[i].hostid == view->host->id;
    }
    return class;
}

static void judge_all(struct jobs_question *question)
{
    struct refusal of_host;
    bool is_refused = host_is_refused(&question->host, &of_host);

    question->chances->hosts++;
    for (size_t i = 0; i < question->chances->count; i++) {
        struct job_chance *chance = &question->chances->items[i];
        struct job_class class = class_for(chance, &question->host.view);
        struct refusal refusal = of_host;

        if (!is_refused && host_can_have(&question->host, &class, &refusal))
            chance->hosts++;
        else if (refusal.reason != REASON_COUNT)
            add_refusal(question, chance, &refusal);
    }
}

/* A host that is gone by now, or whose request the server would not take, is left out. */
static bool is_left_out(enum status status)
{
    return status == STATUS_NOT_FOUND || status == STATUS_INVALID || status == STATUS_TOO_LARGE;
}

static enum status ask_host(struct jobs_question *question, struct session *second, int64_t id)
{
    struct host_row host;
    struct user_row user;
    enum status status =
        session_db_failed(second, db_admin_host(second->db, second->arena, id, &host), "host");

    if (status == STATUS_OK)
        status = session_db_failed(
            second, db_admin_user_find(second->db, second->arena, NO_TEXT, host.userid, &user),
            "the host's user");
    if (status == STATUS_OK)
        status = why_host(&question->host, &host, &user);
    if (status == STATUS_OK && question->host.request.attempt.answer.kind == ANSWER_FULL)
        judge_all(question);
    return is_left_out(status) ? STATUS_OK : status;
}

/* Whether more hosts would change nothing of what was asked. */
static bool is_known(const struct jobs_question *question)
{
    const struct job_chances *chances = question->chances;

    for (size_t i = 0; i < chances->count; i++)
        if (chances->items[i].hosts == 0)
            return false;
    return question->bounds->until_known;
}

/* Each in an arena that is emptied for the next, which nothing that is still to be read may fill.
 */
static enum status ask_hosts(struct jobs_question *question, struct hosts_sample *sample)
{
    struct session *session = question->session;
    struct arena *arena = arena_create(HOST_BYTES_MAX);
    enum status status = STATUS_OK;
    int64_t id = 0;

    if (arena == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    while (status == STATUS_OK && !is_known(question)) {
        struct session second = *session;

        status = why_sample_next(sample, &id);
        if (status != STATUS_OK || id == 0)
            break;
        second.arena = arena;
        question->host.session = &second;
        question->host.assumptions.count = 0;
        status = ask_host(question, &second, id);
        if (status != STATUS_OK)
            session->failure = second.failure;
        else
            status = session_db_failed(session, db_rollback(session->db), "database");
        question->host.session = session;
        arena_reset(arena);
    }
    arena_destroy(arena);
    return status;
}

/* --- the question ----------------------------------------------------------------------------- */

static enum status ask_all(struct session *session, const struct job_chances_bounds *bounds,
                           struct job_chances *ret_chances)
{
    struct jobs_question *question = ARENA_NEW(session->arena, struct jobs_question);
    struct hosts_sample sample = {.count = 0};
    enum status status;

    if (question == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    question->session = question->host.session = session;
    question->bounds = bounds;
    question->chances = ret_chances;
    question->host.is_idle = true;
    status = why_begin(&question->host);
    if (status == STATUS_OK)
        status = read_classes(question);
    if (status == STATUS_OK && ret_chances->count > 0)
        status = why_sample_begin(session, session->now - WEEK_S, bounds->hosts, &sample);
    ret_chances->are_all_asked = sample.is_all;
    if (status == STATUS_OK)
        status = ask_hosts(question, &sample);
    why_end(&question->host);
    return status;
}

enum status why_jobs(struct session *session, const struct job_chances_bounds *bounds,
                     struct job_chances *ret_chances)
{
    struct db *kept = session->db;
    enum status status;

    *ret_chances = (struct job_chances){.count = 0};
    session->db = NULL; /* another is opened */
    status = ask_all(session, bounds, ret_chances);
    db_close(session->db);
    session->db = kept;
    return status;
}

bool job_chance_is_none(const struct job_chances *chances, const struct job_chance *chance)
{
    return chances->hosts > 0 && chance->hosts == 0;
}

/* Whatever the host is. */
static bool stands_against_all(enum reason reason)
{
    return reason == REASON_APP_GONE || reason == REASON_WORKUNIT_OVER ||
           reason == REASON_VERSION_MISSING || reason == REASON_VERSION_RETIRED ||
           reason == REASON_VERSION_NONE || reason == REASON_DOCUMENT;
}

bool job_chance_is_sure(const struct job_chances *chances, const struct job_chance *chance)
{
    size_t sure = 0;

    for (int i = 0; i < REASON_COUNT; i++)
        if (stands_against_all((enum reason)i))
            sure += chance->refused->by_reason[i].count;
    return chances->are_all_asked || sure == chances->hosts;
}

struct text job_chance_reason_words(struct arena *arena, const struct job_chance *chance,
                                    enum reason reason)
{
    const struct refusal *nearest = &chance->refused->by_reason[reason].nearest;
    size_t count = chance->refused->by_reason[reason].count;

    if (!(nearest->need > 0) && nearest->why.length == 0)
        return text_from(reason_brief(reason));
    return text_print(arena, "%s (%s" TEXT_FORMAT ")", reason_brief(reason),
                      count == 1 ? "" : "the nearest: ",
                      TEXT_ARG(marked_plain(arena, reason_explain(arena, nearest))));
}

struct text job_chance_words(struct arena *arena, const struct job_chance *chance,
                             enum reason *ret_reason)
{
    enum reason most = REASON_COUNT;
    size_t count = 0;

    for (int i = 0; i < REASON_COUNT; i++)
        if (chance->refused->by_reason[i].count > count) {
            most = (enum reason)i;
            count = chance->refused->by_reason[i].count;
        }
    *ret_reason = most;
    if (count == 0)
        return NO_TEXT;
    return text_print(arena, COUNT_FORMAT ": " TEXT_FORMAT, COUNT_ARG(count, "host"),
                      TEXT_ARG(job_chance_reason_words(arena, chance, most)));
}
