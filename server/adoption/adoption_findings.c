/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings, to which all parts of a look add. */
#include "server/adoption/adoption_parts.h"

#include "server/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { FINDING_BYTES_MAX = 4096, FIRST_ROOM_FINDINGS = 64 };

const char *adoption_path(const struct adoption_view *view, const char *name)
{
    return text_string(view->arena, text_print(view->arena, "%s/%s", view->dir, name));
}

static bool make_room(struct adoption *adoption, struct arena *arena)
{
    size_t room = adoption->room == 0 ? FIRST_ROOM_FINDINGS : 2 * adoption->room;
    struct adoption_finding *findings;

    if (adoption->count < adoption->room)
        return true;
    findings = ARENA_ARRAY(arena, room, struct adoption_finding);
    if (findings == NULL)
        return false;
    if (adoption->count > 0)
        memcpy(findings, adoption->findings, adoption->count * sizeof(findings[0]));
    adoption->findings = findings;
    adoption->room = room;
    return true;
}

struct adoption_finding *adoption_found(struct adoption_view *view, enum adoption_level level,
                                        const char *topic, const char *where, const char *format,
                                        ...)
{
    struct adoption *adoption = view->adoption;
    struct adoption_finding *finding;
    char words[FINDING_BYTES_MAX];
    va_list arguments;

    if (!make_room(adoption, view->arena))
        return NULL;
    if (strncmp(where, view->dir, strlen(view->dir)) == 0 && where[strlen(view->dir)] == '/')
        where += strlen(view->dir) + 1;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    finding = &adoption->findings[adoption->count++];
    adoption->counts[level]++;
    *finding = (struct adoption_finding){.level = level,
                                         .topic = topic,
                                         .where = text_copy(view->arena, text_from(where)),
                                         .words = text_copy(view->arena, text_from(words))};
    return finding;
}
