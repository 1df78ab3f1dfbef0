/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/host_variants.h"

#include "server/base/sorted.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status host_variants_read(struct request *request)
{
    struct attempt *attempt = &request->attempt;
    enum status status = STATUS_OK;

    if (!attempt->variants_are_read && !attempt->host_is_new)
        status = db_host_variants(request->db, request->arena, attempt->host.id, &attempt->variants,
                                  &attempt->variant_count);
    attempt->variants_are_read = status == STATUS_OK;
    return status;
}

struct host_variant_row *host_variant_find(struct host_variant_row *rows, size_t count,
                                           int64_t variant)
{
    const struct host_variant_row wanted = {.variant = variant};

    return count > 0 ? bsearch(&wanted, rows, count, sizeof(rows[0]), sorted_compare_ids) : NULL;
}
