/* SPDX-License-Identifier: Apache-2.0 */
/* What following one request comes to; for the files that do it (files*.c). */
#ifndef SERVER_FILES_FILES_UPDATE_H
#define SERVER_FILES_FILES_UPDATE_H

#include "server/files/host_files.h"
#include "server/parse/message.h"

enum { FILE_STATUS_PRESENT = 1 }; /* as clients say it; 0 is coming, below 0 went wrong */

struct update {
    struct request *request;
    int64_t hostid, now;
    struct host_files known;
    struct host_file *listed; /* by name, each once */
    size_t listed_count;
    bool has_list, list_is_whole; /* what is not on it is not there */
    struct host_file_row *saves;
    size_t save_count, save_room;
    struct text *gone;
    size_t gone_count;
    struct file_order *added, *changed;
    size_t added_count, changed_count;
};

/* NULL: not listed, no row. */
const struct host_file *update_find_listed(const struct update *update, struct text name);
const struct host_file_row *update_find_row(const struct update *update, struct text name);

/* The list of the request, and what the answer sends, against the rows. False: no memory. */
bool update_compare_files(struct update *update);
/* Ends orders, adds those that are still open to the answer. After update_compare_files. */
bool update_give_orders(struct update *update);

#endif
