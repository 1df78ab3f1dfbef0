/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/session/db_admin_user.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"

#include "server/base/banned.h"

enum { PASSWORD_BYTES_MAX = 4096 };

enum status password_read(struct session *session, const char *path, struct text *ret_password)
{
    enum status status =
        file_read(session->arena, path, PASSWORD_BYTES_MAX, ret_password, &session->failure);

    *ret_password = text_first(*ret_password, text_find(*ret_password, TEXT("\n")));
    return status;
}

/* Of both databases: an empty files_db_user stands for db_user. */
static enum status set_user(struct session *session, struct config *config)
{
    const char *file = option_value(session, "db-admin-passwd-file");
    struct text password = NO_TEXT;
    enum status status = file == NULL ? STATUS_OK : password_read(session, file, &password);

    if (status == STATUS_OK)
        status = config_set(config, TEXT("db_user"), text_from(option_value(session, "db-admin")),
                            &session->failure);
    if (status == STATUS_OK)
        status = config_set(config, TEXT("db_passwd"), password, &session->failure);
    if (status == STATUS_OK)
        status = config_set(config, TEXT("files_db_user"), NO_TEXT, &session->failure);
    return status;
}

enum status db_admin_user_config(struct session *session, struct config **ret_config)
{
    struct config_findings findings;
    enum status status =
        config_load(session->project, session->arena, ret_config, &findings, &session->failure);

    return status == STATUS_OK ? set_user(session, *ret_config) : status;
}

enum status db_admin_user_take(struct session *session)
{
    return option_given(session, "db-admin") ? set_user(session, session->config) : STATUS_OK;
}
