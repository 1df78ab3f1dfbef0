/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/connection_check.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/policy/host/host_record.h"
#include "server/policy/limits/preferences.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define DAY 86400.0

enum { HOSTS_LOOKED_AT = 2000, DAYS_LOOKED_AT = 30 };

static int by_days(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

enum status connection_hosts_read(struct db *db, struct arena *arena, const struct config *config,
                                  int64_t now, struct connection_hosts *ret_hosts)
{
    struct recent_host_row *rows = NULL;
    size_t count = 0;
    enum status status = db_admin_recent_hosts(db, arena, now - (int64_t)(DAYS_LOOKED_AT * DAY),
                                               HOSTS_LOOKED_AT, &rows, &count);

    if (status != STATUS_OK)
        return status;
    *ret_hosts = (struct connection_hosts){.asked = count};
    ret_hosts->days = ARENA_ARRAY(arena, count, double);
    if (ret_hosts->days == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t version = host_record_client_version(rows[i].misc);
        struct global_preferences preferences;

        /* The database does not know it: what holds for the host is said by its requests. */
        if (version == 0 && config->edf_min_queue == EDF_MIN_QUEUE_BY_CLIENT)
            continue;
        if (preferences_connection_rule(config, version) != EDF_MIN_QUEUE_ALWAYS)
            continue;
        preferences_parse_global(rows[i].global_prefs, rows[i].venue, arena, &preferences);
        if (preferences.work_buf_min_days > 0)
            ret_hosts->days[ret_hosts->count++] = preferences.work_buf_min_days;
    }
    if (ret_hosts->count > 0)
        qsort(ret_hosts->days, ret_hosts->count, sizeof(ret_hosts->days[0]), by_days);
    return STATUS_OK;
}

/* How many of them get no job that is due after `seconds`. */
static size_t connection_hosts_idle(const struct connection_hosts *hosts, int64_t seconds)
{
    size_t idle = 0;

    while (idle < hosts->count && (double)seconds < hosts->days[hosts->count - 1 - idle] * DAY)
        idle++;
    return idle;
}

struct text connection_words(struct arena *arena, const struct config *config,
                             const struct connection_hosts *hosts, int64_t seconds)
{
    size_t idle = connection_hosts_idle(hosts, seconds);
    struct text words = text_print(
        arena,
        "%zu of the " COUNT_FORMAT " that asked in the last %d days would get none, even idle%s",
        idle, COUNT_ARG(hosts->asked, "host"), DAYS_LOOKED_AT,
        config->edf_min_queue == EDF_MIN_QUEUE_BY_CLIENT ? ", as their clients are older than 7.0"
                                                         : "");

    if (idle == 0)
        return words;
    return text_print(arena,
                      TEXT_FORMAT ": they store work for %.2f to %.2f days, half of them for"
                                  " %.2f at most",
                      TEXT_ARG(words), hosts->days[hosts->count - idle],
                      hosts->days[hosts->count - 1], hosts->days[hosts->count - 1 - idle / 2]);
}
