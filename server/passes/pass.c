/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/pass.h"

#include "db/db.h"

#include "server/base/banned.h"

void pass_progress(const struct pass_owner *owner, const char *what, int64_t count)
{
    if (owner->progress != NULL)
        owner->progress(owner->context, what, count);
}

bool pass_is_to_end(const struct pass_owner *owner)
{
    return owner->is_to_end != NULL && owner->is_to_end(owner->context);
}

enum status pass_failed(const struct pass_owner *owner, enum status status, const char *what)
{
    return db_failed(owner->db, status, what, owner->failure);
}
