/* SPDX-License-Identifier: Apache-2.0 */
#include "server/adoption/adoption.h"

#include "server/adoption/adoption_parts.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/check/project_check.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { CONFIG_FILE_BYTES_MAX = 4 << 20 };

const char *adoption_level_word(enum adoption_level level)
{
    static const char *const words[ADOPTION_LEVEL_COUNT] = {
#define ADOPTION_LEVEL_WORD(name, word) [ADOPTION_##name] = (word),
        ADOPTION_LEVELS(ADOPTION_LEVEL_WORD)
#undef ADOPTION_LEVEL_WORD
    };

    must((unsigned)level < ADOPTION_LEVEL_COUNT);
    return words[level];
}

/* Of project_check, whose words begin with the place in config.xml where there is one. */
static void take_check(void *context, const struct check_finding *check)
{
    struct adoption_view *view = context;
    struct text words = text_from(check->text), where = NO_TEXT;
    size_t colon = text_find(words, TEXT(": "));

    if (colon < words.length && text_contains(text_first(words, colon), TEXT("config")) &&
        !text_contains(text_first(words, colon), TEXT(" "))) {
        where = text_first(words, colon);
        words = (struct text){words.at + colon + 2, words.length - colon - 2};
    }
    adoption_found(view, check->severity == CHECK_WARNING ? ADOPTION_WARNING : ADOPTION_ERROR,
                   check_topic_word(check->topic), text_string(view->arena, where), TEXT_FORMAT,
                   TEXT_ARG(words));
    view->adoption->stops = view->adoption->stops || check->severity == CHECK_STOPS;
}

/* Whether no server could work with the database before something is changed that was said already:
 * then it is not tried. */
static bool database_waits(const struct adoption *adoption)
{
    for (size_t i = 0; i < adoption->count; i++) {
        const struct adoption_finding *finding = &adoption->findings[i];

        if (finding->act == ACT_INDEX || finding->act == ACT_TABLES ||
            (finding->level == ADOPTION_ERROR && strcmp(finding->topic, "tables") == 0))
            return true;
    }
    return false;
}

enum status adoption_look(const char *dir, const struct config *config, struct arena *arena,
                          struct adoption *ret_adoption)
{
    struct adoption_set set = {.program_count = 0};
    struct adoption_view view = {
        .arena = arena, .dir = dir, .config = config, .adoption = ret_adoption, .set = &set};
    struct failure failure = {.status = STATUS_OK};
    struct text document;
    enum status status;

    *ret_adoption = (struct adoption){.count = 0};
    status = file_read(arena, adoption_path(&view, "config.xml"), CONFIG_FILE_BYTES_MAX, &document,
                       &failure);
    if (status == STATUS_OK)
        status = adoption_set_read(arena, document, &set, &failure);
    if (status == STATUS_NO_MEMORY)
        return status;
    if (status != STATUS_OK) /* the loader has read it a moment ago */
        adoption_found(&view, ADOPTION_ERROR, "config", "config.xml", "%s", failure.text);
    adoption_look_at_folder(&view);
    adoption_look_at_programs(&view);
    adoption_look_at_options(&view);
    adoption_look_at_pages(&view);
    adoption_look_at_rights(&view);
    adoption_look_at_tables(&view);
    adoption_look_at_delays(&view);
    project_check(dir, database_waits(ret_adoption) ? CHECK_READ_ONLY : CHECK_DATABASE, take_check,
                  &view);
    return arena_overflowed(arena) ? STATUS_NO_MEMORY : STATUS_OK;
}
