/* SPDX-License-Identifier: Apache-2.0 */
/* A version that some platform has decides between "withdrawn", "for others" and "not there". */
#include "server/policy/version/version_absence.h"

#include "db/db.h"

#include "server/base/banned.h"

/* What became of the versions that are asked for. */
struct absence {
    bool is_given_out;      /* on some platform */
    bool was_here;          /* the host's platform had one */
    int64_t newest_of_here; /* its number */
};

static int64_t least_version(const struct catalog_rows *rows, int64_t appid)
{
    for (size_t i = 0; i < rows->app_count; i++)
        if (rows->apps[i].id == appid)
            return rows->apps[i].min_version;
    return 0;
}

static bool is_of_host(const struct version_offer *offer, int64_t platformid)
{
    for (size_t i = 0; i < MESSAGE_PLATFORMS_MAX; i++)
        if (offer->platformids[i] == platformid)
            return true;
    return false;
}

static void note_retired(const struct version_offer *offer, int64_t platformid, int64_t version_num,
                         struct absence *absence)
{
    if (!is_of_host(offer, platformid))
        return;
    if (!absence->was_here || version_num > absence->newest_of_here)
        absence->newest_of_here = version_num;
    absence->was_here = true;
}

static struct absence look(const struct version_offer *offer, int64_t appid, int64_t version_num)
{
    const struct catalog_rows *rows = offer->rows;
    int64_t least = least_version(rows, appid);
    struct absence absence = {0};

    for (size_t i = 0; i < rows->version_count; i++) {
        const struct app_version_row *row = &rows->versions[i];

        if (row->appid != appid || (version_num != 0 && row->version_num != version_num))
            continue;
        if (row->deprecated == 0 && row->version_num >= least)
            absence.is_given_out = true;
        else
            note_retired(offer, row->platformid, row->version_num, &absence);
    }
    for (size_t i = 0; i < rows->retired_count; i++) {
        const struct retired_version_row *row = &rows->retired[i];

        if (row->appid == appid && (version_num == 0 || row->version_num == version_num))
            note_retired(offer, row->platformid, row->version_num, &absence);
    }
    return absence;
}

struct refusal version_absence(const struct version_offer *offer, int64_t appid,
                               int64_t version_num)
{
    const struct absence absence = look(offer, appid, version_num);

    if (absence.was_here)
        return (struct refusal){.reason = REASON_VERSION_RETIRED,
                                .need = (double)absence.newest_of_here};
    if (absence.is_given_out)
        return (struct refusal){.reason = REASON_VERSION_PLATFORM};
    return (struct refusal){.reason =
                                version_num != 0 ? REASON_VERSION_MISSING : REASON_VERSION_NONE,
                            .need = (double)version_num};
}
