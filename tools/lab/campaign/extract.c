/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/campaign/extract.h"

#include "server/base/text.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

bool extract_binds(const struct extract_row *row)
{
    return row->server_state != STATE_OVER || row->outcome != OUTCOME_OF_ERROR;
}

const char extract_query[] =
    "SELECT result.id, result.name, result.workunitid, result.server_state, result.outcome,"
    " result.hostid, result.userid, result.app_version_id, result.sent_time, result.received_time,"
    " app.homogeneous_redundancy > 0, app.homogeneous_app_version > 0,"
    " CAST(workunit.opaque AS SIGNED)" /* where the driver keeps whom a job is for */
    " FROM result JOIN workunit ON workunit.id = result.workunitid"
    " JOIN app ON app.id = result.appid ORDER BY result.workunitid, result.id";

static bool read_row(struct extract_row *row, struct text line)
{
    int64_t *const numbers[] = {&row->workunitid,     &row->server_state,  &row->outcome,
                                &row->hostid,         &row->userid,        &row->app_version_id,
                                &row->sent_time,      &row->received_time, &row->is_alike_hosts,
                                &row->is_one_version, &row->target_user};
    struct text name;

    if (!text_to_i64(text_split(&line, '\t'), &row->id))
        return false;
    name = text_split(&line, '\t');
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (!text_to_i64(text_split(&line, '\t'), numbers[i]))
            return false;
    }
    row->name = text_keep(name);
    return row->name != NULL && line.length == 0;
}

static struct extract_row *new_row(struct extract *extract, size_t *capacity)
{
    if (extract->count == *capacity) {
        *capacity = *capacity == 0 ? 4096 : *capacity * 2;
        extract->rows = realloc(extract->rows, *capacity * sizeof(*extract->rows));
        if (extract->rows == NULL)
            abort();
    }
    extract->rows[extract->count] = (struct extract_row){0};
    return &extract->rows[extract->count++];
}

bool extract_read(struct extract *extract, const char *path, size_t *ret_line)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, line_capacity = 0;
    ssize_t length;
    bool is_read = file != NULL;

    *ret_line = 0;
    while (is_read && (length = getline(&line, &line_capacity, file)) > 0) {
        ++*ret_line;
        is_read = line[length - 1] == '\n' &&
                  read_row(new_row(extract, &capacity), (struct text){line, (size_t)length - 1});
    }
    if (is_read && ferror(file) != 0) {
        is_read = false;
        *ret_line = 0;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return is_read;
}

void extract_clear(struct extract *extract)
{
    for (size_t i = 0; i < extract->count; i++)
        free(extract->rows[i].name);
    free(extract->rows);
    *extract = (struct extract){0};
}
