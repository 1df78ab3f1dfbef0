/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a struct config. It lies in an arena of its own together with every text it points
 * to, so the last one to let go frees it in one stroke (patterns before). Holding and letting go
 * may happen on any thread; between them nobody writes. */
#include "config/internal.h"

#include "server/base/arena.h"

#include <stdatomic.h>

#include "server/base/banned.h"

enum { CONFIG_BYTES_MAX = 64 * 1024 * 1024 };

static _Atomic uint64_t serial;

enum status config_defaults(struct config **ret_config)
{
    struct arena *arena = arena_create(CONFIG_BYTES_MAX);
    if (arena == NULL)
        return STATUS_NO_MEMORY;
    struct config *config = ARENA_NEW(arena, struct config);
    struct config_origin *origins = ARENA_ARRAY(arena, config_option_count, struct config_origin);
    if (config == NULL || origins == NULL) {
        arena_destroy(arena);
        return STATUS_NO_MEMORY;
    }
    config->arena = arena;
    config->origins = origins;
    config->has_buda_apps = true; /* until a folder is looked at */
    config->serial = atomic_fetch_add(&serial, 1) + 1;
    atomic_init(&config->references, 1);
    for (size_t i = 0; i < config_option_count; i++) {
        const struct config_option *option = &config_options[i];
        if (option->default_text[0] != '\0')
            must(config_set_option(config, option, text_from(option->default_text),
                                   (struct config_origin){0}, NULL) == STATUS_OK);
    }
    *ret_config = config;
    return STATUS_OK;
}

struct config *config_hold(struct config *config)
{
    (void)atomic_fetch_add_explicit(&config->references, 1, memory_order_relaxed);
    return config;
}

void config_release(struct config *config)
{
    if (config == NULL)
        return;
    /* Whatever the others did with it happened before it is freed. */
    if (atomic_fetch_sub_explicit(&config->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < config_option_count; i++)
        if (config_options[i].type == CONFIG_REGEXES)
            config_patterns_free(
                (struct config_patterns *)((char *)config + config_options[i].offset));
    arena_destroy(config->arena);
}

enum status config_set(struct config *config, struct text name, struct text value,
                       struct failure *failure)
{
    const struct config_option *option = config_option_find(name);

    if (option == NULL)
        return fail(failure, STATUS_NOT_FOUND, "no option \"" TEXT_FORMAT "\"",
                    TEXT_ARG(text_first(name, 60)));
    struct config_origin origin = {.file = TEXT("set"), .is_given = true};
    return config_set_option(config, option, value, origin, failure);
}

const char *config_hurry_lacks(const struct config *config)
{
    if (!config->send_result_abort)
        return "send_result_abort";
    return config->one_result_per_host_per_wu || config->one_result_per_user_per_wu
               ? NULL
               : "one_result_per_host_per_wu";
}

bool config_hurries(const struct config *config, bool is_wanted)
{
    return config_hurry_lacks(config) == NULL && (config->hurry_batches || is_wanted);
}
