/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a host's file orders with one request: policy(7) 9.4. An order is open from its
 * making (by `qmctl files`, or by a deletion in an answer) until it is done, failed, expired or not
 * supported by the client. It is repeated with each reply meanwhile, so that a lost reply loses
 * none; but in no more than FILE_ORDER_TRIES replies, as a client that has not begun by then never
 * will. FILE_ORDER_TOLD_DAYS after that, or after FILE_ORDER_DAYS, it expires. A file that a job
 * needs is not ordered away, however old the order is, and none that is still to be uploaded. */
#ifndef SERVER_FILES_FILE_ORDERS_H
#define SERVER_FILES_FILE_ORDERS_H

#include "server/files/file_lists.h"

/* Rows to write: deletions that the answer orders already, and what became of the known orders. */
struct order_changes {
    struct file_order_row *added, *changed;
    size_t added_count, changed_count;
};

/* Ends orders, and adds those that are still open to the answer. `is_whole`: a file that is not in
 * `listed` is not on the host. The scheduling transaction is over; its connection only reads here.
 * False: no memory. */
bool file_orders_update(struct request *request, struct host_files *known,
                        const struct listed_files *listed, bool is_whole,
                        struct order_changes *ret_changes);

#endif
