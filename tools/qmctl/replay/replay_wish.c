/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a comparison go the same way, through the options that decide about jobs as they
 * are written into a recording: so nothing is on one side alone that the other cannot know. */
#include "tools/qmctl/replay/replay_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/project/project.h"

#include <sys/stat.h>

#include "server/base/banned.h"

enum { FILE_BYTES_MAX = 4 << 20 };

static struct text written(struct session *session, const struct config *config)
{
    struct buffer text = buffer_in(session->arena);

    config_write_deciding(config, &text);
    return buffer_text(&text);
}

/* An option that was misspelt would be no difference. */
static void say_what_is_wrong(enum status status, const struct config_findings *findings)
{
    if (status != STATUS_OK)
        print_config_errors(findings);
    print_config_warnings(findings);
}

static enum status load_folder(struct session *session, const char *path, struct replay_wish *wish)
{
    struct config_findings findings = {.count = 0};
    struct config *config = NULL;
    enum status status = config_load(path, session->arena, &config, &findings, &session->failure);

    say_what_is_wrong(status, &findings);
    if (status != STATUS_OK)
        return status;
    wish->deciding = written(session, config);
    wish->has_plan_classes = true;
    status = project_plan_classes(config, &wish->plan_classes, &session->failure);
    config_release(config);
    return status;
}

static enum status load_file(struct session *session, const char *path, struct replay_wish *wish)
{
    struct config_findings findings = {.count = 0};
    struct config *config = NULL;
    struct text document = NO_TEXT;
    enum status status =
        file_read(session->arena, path, FILE_BYTES_MAX, &document, &session->failure);

    if (status == STATUS_OK)
        status = config_read(document, text_from(path), session->arena, &config, &findings,
                             &session->failure);
    say_what_is_wrong(status, &findings);
    if (status != STATUS_OK)
        return status;
    wish->deciding = written(session, config);
    config_release(config);
    return STATUS_OK;
}

static enum status read_plan_classes(struct session *session, const char *path,
                                     struct replay_wish *wish)
{
    struct failure why = {0};
    struct text document = NO_TEXT;
    enum status status =
        file_read(session->arena, path, FILE_BYTES_MAX, &document, &session->failure);

    if (status != STATUS_OK)
        return status;
    if (wish->has_plan_classes)
        plan_classes_free(&wish->plan_classes);
    wish->has_plan_classes = true;
    status = plan_classes_parse(document, &wish->plan_classes, &why);
    return status == STATUS_OK ? status : fail(&session->failure, status, "%s: %s", path, why.text);
}

static enum status set_options(struct session *session, struct config *config)
{
    size_t index = 0;
    const char *given;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && (given = option_next(session, "set", &index)) != NULL) {
        struct text value = text_from(given), name = text_split(&value, '=');

        status = config_set(config, name, value, &session->failure);
        session->is_usage = status == STATUS_NOT_FOUND || status == STATUS_INVALID;
    }
    return status;
}

/* Said before a long run. */
static enum status try_options(struct session *session)
{
    struct config *config = NULL;
    enum status status = config_defaults(&config);

    if (status != STATUS_OK)
        return fail(&session->failure, status, "no memory for the configuration");
    status = set_options(session, config);
    config_release(config);
    return status;
}

enum status replay_wish_read(struct session *session, struct replay_wish *ret_wish)
{
    const char *config = option_value(session, "config");
    const char *classes = option_value(session, "plan-classes");
    struct stat info;
    enum status status = STATUS_OK;

    *ret_wish = (struct replay_wish){.is_given = config != NULL || classes != NULL ||
                                                 option_given(session, "set"),
                                     .has_options = config != NULL};
    if (config != NULL)
        status = stat(config, &info) == 0 && S_ISDIR(info.st_mode)
                     ? load_folder(session, config, ret_wish)
                     : load_file(session, config, ret_wish);
    if (status == STATUS_OK && classes != NULL)
        status = read_plan_classes(session, classes, ret_wish);
    return status == STATUS_OK ? try_options(session) : status;
}

/* --- what differs ----------------------------------------------------------------------------- */

/* What stands between the tags of a line of options. */
static struct text value_of(struct text line)
{
    size_t begin = text_find(line, TEXT(">")) + 1;
    size_t name = begin < 2 ? 0 : begin - 2;

    if (begin > line.length || line.length < begin + name + 3)
        return NO_TEXT;
    return (struct text){.at = line.at + begin, .length = line.length - begin - name - 3};
}

/* The first line of the same name; empty: there is none. */
static struct text line_like(struct text lines, struct text line)
{
    struct text tag = text_first(line, text_find(line, TEXT(">")) + 1);

    while (lines.length > 0) {
        struct text other = text_split(&lines, '\n');

        if (text_starts(other, tag))
            return other;
    }
    return NO_TEXT;
}

static bool has_line(struct text lines, struct text line)
{
    while (lines.length > 0)
        if (text_equal(text_split(&lines, '\n'), line))
            return true;
    return false;
}

static void note_line(struct replay_options *options, struct text words)
{
    for (size_t i = 0; i < options->count; i++)
        if (text_equal(options->lines[i], words))
            return;
    if (options->count < REPLAY_OPTIONS_SAID)
        options->lines[options->count++] = words;
}

static void note_option(struct replay_run *run, struct text line, struct text then, struct text now)
{
    struct replay_options *options = &run->options;
    struct text name = {.at = line.at + 1, .length = text_find(line, TEXT(">")) - 1};
    struct text words =
        text_print(run->session->arena, TEXT_FORMAT ": %s" TEXT_FORMAT " -> %s" TEXT_FORMAT,
                   TEXT_ARG(name), then.length == 0 ? "none" : "", TEXT_ARG(then),
                   now.length == 0 ? "none" : "", TEXT_ARG(now));

    note_line(options, words);
}

static void note_options(struct replay_run *run, struct text then, struct text now)
{
    struct text rest = now;

    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');

        if (!has_line(then, line))
            note_option(run, line, value_of(line_like(then, line)), value_of(line));
    }
    rest = then;
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');

        if (line_like(now, line).length == 0)
            note_option(run, line, value_of(line), NO_TEXT);
    }
}

enum status replay_wish_config(struct replay_run *run, const struct circumstances *then,
                               struct config **ret_config)
{
    struct session *session = run->session;
    const struct replay_wish *wish = &run->wish;
    struct config_findings findings;
    struct config *config = NULL;
    enum status status =
        config_read(wish->has_options ? wish->deciding : then->deciding, TEXT("recorded options"),
                    session->arena, &config, &findings, &session->failure);

    if (status != STATUS_OK)
        return status;
    status = set_options(session, config);
    if (status != STATUS_OK) {
        config_release(config);
        return status;
    }
    note_options(run, then->deciding, written(session, config));
    if (wish->has_plan_classes && wish->plan_classes.source_key != then->plan_classes.source_key)
        note_line(&run->options, TEXT("plan_class_spec.xml: others than then"));
    *ret_config = config;
    return STATUS_OK;
}
