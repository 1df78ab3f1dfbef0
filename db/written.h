/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a conditional UPDATE were written: asked only when their count fell short. */
#ifndef DB_WRITTEN_H
#define DB_WRITTEN_H

#include "db/mariadb.h"
#include "server/base/sorted.h"
#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the ids of the rows that look as if they were ours: ret_is_ours[i] (zeroed before) belongs
 * to ids.items[i], which rise. A row that the same host changed in the same second by an earlier
 * RPC looks the same; then more are found than the `affected` of the UPDATE, which of them are ours
 * cannot be told, and the answer is STATUS_DB_RETRY: the transaction is to be repeated, which reads
 * those rows anew, rather than a job sent or booked twice. The same where a row is still open: an
 * array that was interrupted may be answered as if it were done, and has passed over its last rows.
 */
MUST_CHECK enum status written_read(struct written_cursor *rows, struct db_ids ids,
                                    uint64_t affected, bool *ret_is_ours);

#endif
