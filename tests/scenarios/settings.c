/* SPDX-License-Identifier: Apache-2.0 */
/* What of the world is no rows: options, limits, plan classes, keys, and whether there is a file
 * database. */
#include "config/config.h"
#include "db/db.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/policy/host/client_keys.h"
#include "server/project/buda_files.h"
#include "tests/scenarios/story.h"
#include "tests/support/database.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

enum { OLD_KEYS_MAX = 4 };

struct text world_files_name(struct story *story)
{
    return text_print(story->arena, TEXT_FORMAT "_files", TEXT_ARG(story->config->db_name));
}

void world_config(struct story *story, const struct words *words)
{
    struct failure failure = {0};

    if (words->count != 2)
        story_fail(story, "config OPTION VALUE");
    if (config_set(story->config, words->items[0], words->items[1], &failure) != STATUS_OK)
        story_fail(story, "%s", failure.text);
}

/* limit project|APP total|cpu|gpu JOBS [per_proc] */
void world_limit(struct story *story, const struct words *words)
{
    size_t count = story->config->jobs_in_progress_count;
    struct jobs_in_progress *limits = ARENA_ARRAY(story->arena, count + 1, struct jobs_in_progress);
    struct jobs_in_progress *limit = &limits[count];
    struct jobs_limit figure;

    if (words->count < 3)
        story_fail(story, "limit project|APP total|cpu|gpu JOBS [per_proc]");
    for (size_t i = 0; i < count; i++)
        limits[i] = story->config->jobs_in_progress[i];
    figure = (struct jobs_limit){.jobs = story_integer(story, words->items[2]),
                                 .per_processor = words->count > 3};
    if (!text_is(words->items[0], "project"))
        limit->app_name = text_copy(story->arena, words->items[0]);
    if (text_is(words->items[1], "total"))
        limit->total = figure;
    else if (text_is(words->items[1], "cpu"))
        limit->cpu = figure;
    else
        limit->gpu = figure;
    story->config->jobs_in_progress = limits;
    story->config->jobs_in_progress_count = count + 1;
}

/* plan_class NAME XML: the only class from now on */
void world_plan_class(struct story *story, const struct words *words)
{
    struct failure failure = {0};

    if (words->count != 2)
        story_fail(story, "plan_class NAME XML");
    plan_classes_free(&story->plan_classes);
    if (plan_classes_parse(text_print(story->arena,
                                      "<plan_classes><plan_class><name>" TEXT_FORMAT
                                      "</name>" TEXT_FORMAT "</plan_class></plan_classes>",
                                      TEXT_ARG(words->items[0]), TEXT_ARG(words->items[1])),
                           &story->plan_classes, &failure) != STATUS_OK)
        story_fail(story, "%s", failure.text);
}

/* buda_file PATH TEXT: in the folder buda_apps of the project, which is read again */
void world_buda_file(struct story *story, const struct words *words)
{
    static const char folder[] = "/tmp/qm-test.buda-XXXXXX";
    struct failure failure = {0};
    const char *path;

    if (words->count != 2)
        story_fail(story, "buda_file PATH TEXT");
    if (story->buda_folder == NULL) {
        story->buda_folder = ARENA_ARRAY(story->arena, sizeof(folder), char);
        memcpy(story->buda_folder, folder, sizeof(folder));
        if (mkdtemp(story->buda_folder) == NULL)
            story_fail(story, "no temporary folder");
    }
    path = text_string(story->arena, text_print(story->arena, "%s/buda_apps/" TEXT_FORMAT,
                                                story->buda_folder, TEXT_ARG(words->items[0])));
    for (const char *slash = path + strlen(story->buda_folder); slash != NULL;
         slash = strchr(slash + 1, '/'))
        (void)mkdir(text_string(story->arena, (struct text){path, (size_t)(slash - path)}), 0777);
    if (file_write(path, words->items[1], 0666, &failure) != STATUS_OK)
        story_fail(story, "%s", failure.text);
    path = text_string(story->arena, text_print(story->arena, "%s/buda_apps", story->buda_folder));
    if (!buda_files_read(path, &story->plan_classes, story->arena, &story->buda))
        story_fail(story, "no memory");
}

void world_key(struct story *story, const struct words *words)
{
    if (words->count != 1)
        story_fail(story, "key TEXT");
    story->keys.code_sign_public = words->items[0];
}

void world_old_key(struct story *story, const struct words *words)
{
    struct old_key *old_keys = ARENA_ARRAY(story->arena, OLD_KEYS_MAX, struct old_key);
    size_t count = story->keys.old_key_count;

    if (words->count != 3 || count == OLD_KEYS_MAX)
        story_fail(story, "old_key KEY SIGNATURE SIGNATURE_STRIPPED");
    for (size_t i = 0; i < count; i++)
        old_keys[i] = story->keys.old_keys[i];
    old_keys[count] = (struct old_key){.key = words->items[0],
                                       .signature = words->items[1],
                                       .signature_stripped = words->items[2]};
    story->keys.old_keys = old_keys;
    story->keys.old_key_count = count + 1;
}

/* `made`: there is one, $files is its name; `gone`: it was, and is not any more. */
void world_file_database(struct story *story, const struct words *words)
{
    struct failure failure = {0};
    struct text name = world_files_name(story),
                word = words->count == 1 ? words->items[0] : NO_TEXT;

    if (text_is(word, "gone")) {
        test_sql(story->database, "DROP DATABASE " TEXT_FORMAT, TEXT_ARG(name));
        return;
    }
    if (!text_is(word, "made"))
        story_fail(story, "file_database made, or gone");
    if (config_set(story->config, TEXT("files_db_name"), name, &failure) != STATUS_OK ||
        db_files_make(story->config, &failure) != STATUS_OK)
        story_fail(story, "%s", failure.text);
    story_set(story, TEXT("files"), name);
}
