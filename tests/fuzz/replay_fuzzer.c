/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of any bytes: its pieces are read, and each request is put to circumstances that are
 * always there. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/base/xml.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "server/replay/replay.h"
#include "server/reply/answer.h"

#include <stdint.h>

#include "server/base/banned.h"

enum { MEMORY_MAX = 64 << 20 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config *config;
static struct catalog *catalog;
static struct app_row app = {.id = 1, .name = {.at = "app", .length = 3}, .weight = 1};
static struct platform_row platform = {.id = 5,
                                       .name = {.at = "x86_64-pc-linux-gnu", .length = 19}};
static struct app_version_row versions[] = {
    {.id = 11, .appid = 1, .version_num = 100, .platformid = 5},
    {.id = 12,
     .appid = 1,
     .version_num = 100,
     .platformid = 5,
     .plan_class = {.at = "cuda_fermi", .length = 10}},
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    xml_startup();
    log_set_level(LOG_LEVEL_CRITICAL);
    must(config_defaults(&config) == STATUS_OK);
    must(catalog_begin(&catalog) == STATUS_OK);
    catalog->rows = (struct catalog_rows){.apps = &app,
                                          .app_count = 1,
                                          .versions = versions,
                                          .version_count = 2,
                                          .platforms = &platform,
                                          .platform_count = 1};
    must(catalog_finish(catalog) == STATUS_OK);
    return 0;
}

static void put_request(struct text lines, struct arena *arena)
{
    const struct plan_classes classes = plan_classes_builtin();
    const struct replay_world world = {
        .config = config, .plan_classes = &classes, .catalog = catalog};
    struct recorded_request record;
    struct replay_outcome outcome;
    bool asks;

    if (recorded_request_read(lines, arena, &record, NULL) != STATUS_OK)
        return;
    (void)replay_recorded(&record);
    (void)!replay_request(&record, &world, arena, &outcome, &asks, NULL);
}

static void read_circumstances(struct text lines, struct arena *arena)
{
    struct circumstances circumstances;

    if (circumstances_read(lines, arena, &circumstances, NULL) == STATUS_OK)
        circumstances_free(&circumstances);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text rest = {.at = (const char *)data, .length = size}, lines;
    struct arena *arena = arena_create(MEMORY_MAX);
    enum recorded_piece kind;

    must(arena != NULL);
    while ((kind = recorded_next(&rest, &lines)) != PIECE_END) {
        arena_reset(arena);
        if (kind == PIECE_REQUEST)
            put_request(lines, arena);
        else if (kind == PIECE_CIRCUMSTANCES)
            read_circumstances(lines, arena);
    }
    arena_destroy(arena);
    return 0;
}
