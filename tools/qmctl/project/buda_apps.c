/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/project/buda_apps.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/project/buda_files.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"

#include <limits.h>

#include "server/base/banned.h"

enum status buda_apps_read(struct session *session, struct buda_apps *ret_apps)
{
    struct plan_classes classes;
    char folder[PATH_MAX];
    enum status status = session_config(session);

    if (status == STATUS_OK)
        status = project_plan_classes(session->config, &classes, &session->failure);
    if (status != STATUS_OK)
        return status;
    project_path(session->config, "buda_apps", folder, sizeof(folder));
    if (!buda_files_read(folder, &classes, session->arena, ret_apps))
        status = fail(&session->failure, STATUS_NO_MEMORY, "buda_apps: no memory");
    plan_classes_free(&classes);
    return status;
}

struct text buda_variant_title(struct arena *arena, const struct buda_apps *apps, int64_t number)
{
    const struct buda_variant *variant = buda_variant_find(apps, number);

    return variant == NULL
               ? TEXT("a variant that is gone")
               : text_print(arena, TEXT_FORMAT "/" TEXT_FORMAT,
                            TEXT_ARG(apps->apps[variant->app].name), TEXT_ARG(variant->name));
}
