/* SPDX-License-Identifier: Apache-2.0 */
/* How long variants of science apps took on the host. Only requests that have to do with one of
 * them ask. */
#ifndef SERVER_RPC_HOST_VARIANTS_H
#define SERVER_RPC_HOST_VARIANTS_H

#include "db/db.h"
#include "server/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct request;

/* Into attempt.variants, by rising number, at the first call of an attempt. */
MUST_CHECK enum status host_variants_read(struct request *request);
/* NULL: no job of the variant has ended here. */
struct host_variant_row *host_variant_find(struct host_variant_row *rows, size_t count,
                                           int64_t variant);

#endif
