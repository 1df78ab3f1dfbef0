/* SPDX-License-Identifier: Apache-2.0 */
/* Preferences are written by web pages and clients of twenty years, travel as raw text and are kept
 * verbatim, so they are read here by the most lenient reader that still knows what belongs where: a
 * walk over the tags of the text. A value is the text between a start tag and the next tag. Of the
 * nesting only two things count: the <venue> blocks, and inside which of them a value stands.
 *
 * mod_time is always taken from the general part; all else from the block of the venue, when there
 * is one, and then from nowhere else. */
#include "server/policy/limits/preferences.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/parse/client_age.h"
#include "server/parse/message.h"

#include "server/base/banned.h"

enum { PREFERENCE_APPS_MAX = 1000, PREFERENCE_RESOURCES_MAX = 32 };

/* --- walking over tags ---------------------------------------------------------------------- */

struct preference_tag {
    struct text name;       /* without the slash */
    struct text attributes; /* raw */
    struct text value;      /* up to the next tag, trimmed; empty for an empty element */
    bool is_end, is_empty;
};

static bool is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static struct text text_after(struct text text, size_t offset)
{
    if (offset > text.length)
        offset = text.length;
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

/* The next tag of `*rest`; comments, declarations and CDATA sections are passed over. */
static bool next_tag(struct text *rest, struct preference_tag *ret_tag)
{
    for (;;) {
        size_t start = text_find(*rest, TEXT("<"));
        struct text inner;
        size_t length, name_length = 0;

        if (start >= rest->length)
            return false;
        *rest = text_after(*rest, start);
        if (text_starts(*rest, TEXT("<!--"))) {
            *rest = text_after(*rest, text_find(*rest, TEXT("-->")));
            *rest = text_after(*rest, 3);
            continue;
        }
        length = text_find(*rest, TEXT(">"));
        if (length >= rest->length)
            return false;
        inner = text_after(text_first(*rest, length), 1);
        *rest = text_after(*rest, length + 1);
        for (size_t i = inner.length; i > 0; i--) { /* a "<" that begins no tag */
            if (inner.at[i - 1] == '<') {
                inner = text_after(inner, i);
                break;
            }
        }
        if (inner.length == 0 || inner.at[0] == '!' || inner.at[0] == '?')
            continue;
        *ret_tag = (struct preference_tag){.is_end = inner.at[0] == '/'};
        if (ret_tag->is_end)
            inner = text_after(inner, 1);
        if (text_ends(inner, TEXT("/"))) {
            ret_tag->is_empty = true;
            inner.length--;
        }
        while (name_length < inner.length && !is_space(inner.at[name_length]))
            name_length++;
        ret_tag->name = text_first(inner, name_length);
        ret_tag->attributes = text_after(inner, name_length);
        if (!ret_tag->is_end && !ret_tag->is_empty)
            ret_tag->value = text_trim(text_first(*rest, text_find(*rest, TEXT("<"))));
        return true;
    }
}

/* The value of the attribute `name`. Values of venues are plain words, so no entities are read. */
static struct text tag_attribute_name(const struct preference_tag *tag)
{
    struct text rest = tag->attributes;
    size_t start = text_find(rest, TEXT("name="));
    char quote;

    rest = text_after(rest, start + 5);
    if (rest.length == 0)
        return NO_TEXT;
    quote = rest.at[0];
    if (quote != '"' && quote != '\'')
        return NO_TEXT;
    rest = text_after(rest, 1);
    return text_split(&rest, quote);
}

/* Hands every start tag of one part of the text to `take`: the part outside all venues, or the
 * block of one venue. Answers whether the part exists. */
enum preference_part { PART_GENERAL, PART_VENUE };
static bool walk_part(struct text text, enum preference_part part, struct text venue,
                      void (*take)(const struct preference_tag *tag, void *context), void *context)
{
    struct text here = NO_TEXT;
    bool inside = false, found = part == PART_GENERAL;
    struct preference_tag tag;

    while (next_tag(&text, &tag)) {
        if (text_is(tag.name, "venue")) {
            inside = !tag.is_end && !tag.is_empty;
            here = inside ? tag_attribute_name(&tag) : NO_TEXT;
            if (inside && part == PART_VENUE && text_equal(here, venue))
                found = true;
        } else if (!tag.is_end &&
                   (part == PART_GENERAL ? !inside : inside && text_equal(here, venue)))
            take(&tag, context);
    }
    return found;
}

static double tag_real(const struct preference_tag *tag)
{
    double number = 0;

    return text_to_real(tag->value, &number) ? number : 0;
}

static double tag_amount(const struct preference_tag *tag)
{
    double number = tag_real(tag);

    return number > 0 ? number : 0;
}

static int64_t tag_integer(const struct preference_tag *tag)
{
    int64_t number;
    double real = tag_real(tag);

    if (text_to_i64(tag->value, &number))
        return number;
    return real > -1e15 && real < 1e15 ? (int64_t)real : 0;
}

/* <x/>, <x></x> and <x>1</x> all say yes. */
static bool tag_flag(const struct preference_tag *tag)
{
    return tag->value.length == 0 || tag_real(tag) != 0;
}

/* --- global preferences --------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
    double scale;
} global_values[] = {
#define GLOBAL_VALUE(name_, field, scale_)                                                   \
    {                                                                                        \
        .name = name_, .offset = offsetof(struct global_preferences, field), .scale = scale_ \
    }
    GLOBAL_VALUE("disk_max_used_gb", disk_max_used_gb, 1),
    GLOBAL_VALUE("disk_max_used_pct", disk_max_used_pct, 1),
    GLOBAL_VALUE("disk_min_free_gb", disk_min_free_gb, 1),
    GLOBAL_VALUE("max_cpus", max_cpus, 1),
    GLOBAL_VALUE("max_ncpus_pct", max_ncpus_pct, 1),
    GLOBAL_VALUE("ram_max_used_busy_pct", ram_max_used_busy_fraction, 0.01),
    GLOBAL_VALUE("ram_max_used_idle_pct", ram_max_used_idle_fraction, 0.01),
    GLOBAL_VALUE("work_buf_min_days", work_buf_min_days, 1),
#undef GLOBAL_VALUE
};

static void take_global(const struct preference_tag *tag, void *context)
{
    char *preferences = context;

    for (size_t i = 0; i < sizeof(global_values) / sizeof(global_values[0]); i++) {
        if (text_is(tag->name, global_values[i].name)) {
            double *value = (double *)(void *)(preferences + global_values[i].offset);

            *value = tag_amount(tag) * global_values[i].scale;
        }
    }
}

static void take_mod_time(const struct preference_tag *tag, void *context)
{
    double *mod_time = context;

    if (text_is(tag->name, "mod_time"))
        *mod_time = tag_amount(tag);
}

void preferences_parse_global(struct text text, struct text venue, struct arena *arena,
                              struct global_preferences *ret_preferences)
{
    struct global_preferences preferences = {0};

    (void)arena;
    if (venue.length == 0 || !walk_part(text, PART_VENUE, venue, take_global, &preferences))
        walk_part(text, PART_GENERAL, NO_TEXT, take_global, &preferences);
    walk_part(text, PART_GENERAL, NO_TEXT, take_mod_time, &preferences.mod_time);
    *ret_preferences = preferences;
}

/* --- project preferences -------------------------------------------------------------------- */

/* Element that forbids a resource, and the type that it means (protocol(7) 5.4). */
static const struct {
    const char *element, *type;
} resource_flags[] = {
    {"no_apple_gpu", "apple_gpu"},
    {"no_ati", "ATI"},
    {"no_cuda", "NVIDIA"},
    {"no_intel_gpu", "intel_gpu"},
};

struct project_taking {
    struct project_preferences *preferences;
    int64_t *apps;
    struct text *resources;
};

static void forbid_resource(struct project_taking *taking, struct text type)
{
    size_t *count = &taking->preferences->no_resource_count;

    if (type.length > 0 && *count < PREFERENCE_RESOURCES_MAX)
        taking->resources[(*count)++] = type;
}

static void take_project(const struct preference_tag *tag, void *context)
{
    struct project_taking *taking = context;
    struct project_preferences *preferences = taking->preferences;
    struct text name = tag->name;

    for (size_t i = 0; i < sizeof(resource_flags) / sizeof(resource_flags[0]); i++) {
        if (text_is(name, resource_flags[i].element) && tag_flag(tag))
            forbid_resource(taking, text_from(resource_flags[i].type));
    }
    if (text_is(name, "no_rsc"))
        forbid_resource(taking, tag->value);
    else if (text_is(name, "resource_share"))
        preferences->resource_share = tag_amount(tag);
    else if (text_is(name, "allow_non_preferred_apps"))
        preferences->allow_non_preferred_apps = tag_flag(tag);
    else if (text_is(name, "allow_beta_work"))
        preferences->allow_beta_work = tag_flag(tag);
    else if (text_is(name, "no_cpu"))
        preferences->no_cpu = tag_flag(tag);
    else if (text_is(name, "no_gpus"))
        preferences->no_gpus = tag_flag(tag);
    else if (text_is(name, "max_cpus"))
        preferences->max_cpus = tag_integer(tag) > 0 ? tag_integer(tag) : 0;
    else if (text_is(name, "max_jobs"))
        preferences->max_jobs = tag_integer(tag) > 0 ? tag_integer(tag) : 0;
    else if (text_is(name, "app_id") && preferences->app_id_count < PREFERENCE_APPS_MAX)
        taking->apps[preferences->app_id_count++] = tag_integer(tag);
}

void preferences_parse_project(struct text text, struct text venue, struct arena *arena,
                               struct project_preferences *ret_preferences)
{
    struct project_preferences preferences = {.resource_share = 100};
    struct project_taking taking = {
        .preferences = &preferences,
        .apps = ARENA_ARRAY(arena, PREFERENCE_APPS_MAX, int64_t),
        .resources = ARENA_ARRAY(arena, PREFERENCE_RESOURCES_MAX, struct text),
    };

    if (taking.apps != NULL && taking.resources != NULL) {
        if (venue.length == 0 || !walk_part(text, PART_VENUE, venue, take_project, &taking))
            walk_part(text, PART_GENERAL, NO_TEXT, take_project, &taking);
        preferences.app_ids = taking.apps;
        preferences.no_resources = taking.resources;
    }
    *ret_preferences = preferences;
}

struct sought {
    struct text name, value;
};

static void take_sought(const struct preference_tag *tag, void *context)
{
    struct sought *sought = context;

    if (sought->value.length == 0 && text_equal(tag->name, sought->name))
        sought->value = tag->value;
}

struct text preferences_value(struct text text, struct text venue, struct text name)
{
    struct sought sought = {.name = name};

    if (venue.length == 0 || !walk_part(text, PART_VENUE, venue, take_sought, &sought))
        (void)walk_part(text, PART_GENERAL, NO_TEXT, take_sought, &sought);
    return sought.value;
}

/* --- which are in force --------------------------------------------------------------------- */

static double mod_time_of(struct text text, double now)
{
    struct global_preferences preferences;

    preferences_parse_global(text, NO_TEXT, NULL, &preferences);
    return preferences.mod_time < now ? preferences.mod_time : now;
}

struct preferences_decision preferences_decide(const struct message *message, struct text stored,
                                               struct text venue, bool may_store,
                                               const char *email_md5, double now,
                                               struct arena *arena)
{
    struct preferences_decision decision = {0};
    bool has_master =
        message->has_global_preferences && text_trim(message->global_preferences).length > 0;
    bool has_stored = text_trim(stored).length > 0;
    double master_time = has_master ? mod_time_of(message->global_preferences, now) : 0;
    double working_time = message->has_working_global_preferences
                              ? mod_time_of(message->working_global_preferences, now)
                              : 0;
    double stored_time = mod_time_of(stored, now); /* 0 without */

    if (message->has_working_global_preferences)
        preferences_parse_global(message->working_global_preferences, NO_TEXT, arena,
                                 &decision.in_force);
    else if (has_master && !(has_stored && stored_time > master_time))
        preferences_parse_global(message->global_preferences, venue, arena, &decision.in_force);
    else if (has_stored)
        preferences_parse_global(stored, venue, arena, &decision.in_force);
    if (decision.in_force.mod_time > now)
        decision.in_force.mod_time = now;

    decision.store =
        may_store && has_master && (!has_stored || master_time > stored_time) &&
        text_equal_nocase(text_trim(message->global_prefs_source_email_hash), text_from(email_md5));
    decision.send = has_stored && stored_time > master_time && stored_time > working_time;
    return decision;
}

/* --- the connection period ------------------------------------------------------------------ */

enum config_edf_min_queue preferences_connection_rule(const struct config *config,
                                                      int64_t client_version)
{
    if (config->edf_min_queue != EDF_MIN_QUEUE_BY_CLIENT)
        return config->edf_min_queue;
    return client_version < CLIENT_KEEPS_A_BUFFER ? EDF_MIN_QUEUE_ALWAYS
                                                  : EDF_MIN_QUEUE_WHEN_NOT_IDLE;
}
