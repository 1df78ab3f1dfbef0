/* SPDX-License-Identifier: Apache-2.0 */
/* No index knows when a host asked last, so the ids are what is drawn: where there are few hosts,
 * all of them are read; else one at a time, at random, and the next host from there on that asked
 * of late is taken. A host that follows hosts that stay away is drawn more often than others, in
 * proportion to how many they are, and one behind a long stretch of such hosts may never be drawn.
 */
#include "tools/qmctl/why/why_sample.h"

#include "db/admin.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum {
    ALL_READ = 8, /* of so many times the hosts wanted, all are read */
    DRAWN = 4,    /* so many times the ids wanted are drawn at most */
    STRETCH = 20  /* hosts that are read for each that is drawn */
};

static enum status read_stretch(struct hosts_sample *sample, const struct said_filter *filter,
                                struct id_row **ret_rows, size_t *ret_count)
{
    struct session *session = sample->session;

    return session_db_failed(
        session, db_admin_said_since(session->db, session->arena, filter, ret_rows, ret_count),
        "hosts");
}

/* The first `most` of them in a random order. */
static enum status read_all(struct hosts_sample *sample, const struct id_span_row *span)
{
    size_t said = (size_t)span->count, count = 0;
    struct id_row *rows = NULL;
    enum status status = read_stretch(
        sample,
        &(struct said_filter){
            .first = span->first, .since = sample->since, .looked_at = said, .most = said},
        &rows, &count);

    for (size_t i = 0; status == STATUS_OK && i < count && i < sample->most; i++) {
        size_t other = i + (size_t)(random_next(&sample->random) % (count - i));
        struct id_row drawn = rows[other];

        rows[other] = rows[i];
        sample->ids[sample->count++] = drawn.id;
    }
    sample->is_all = count <= sample->most;
    return status;
}

static bool has(const struct hosts_sample *sample, int64_t id)
{
    for (size_t i = 0; i < sample->count; i++)
        if (sample->ids[i] == id)
            return true;
    return false;
}

/* Ids are drawn until one leads to a host that was not drawn before. */
static enum status draw(struct hosts_sample *sample)
{
    size_t before = sample->count;

    while (sample->draws < DRAWN * sample->most && sample->count == before) {
        struct said_filter filter = {
            .first = 1 + (int64_t)(random_next(&sample->random) % (uint64_t)sample->last),
            .since = sample->since,
            .looked_at = STRETCH,
            .most = 1};
        struct id_row *rows = NULL;
        size_t count = 0;
        enum status status = read_stretch(sample, &filter, &rows, &count);

        sample->draws++;
        if (status != STATUS_OK)
            return status;
        if (count > 0 && !has(sample, rows[0].id))
            sample->ids[sample->count++] = rows[0].id;
    }
    return STATUS_OK;
}

enum status why_sample_begin(struct session *session, int64_t since, size_t most,
                             struct hosts_sample *ret_sample)
{
    struct id_span_row span;
    enum status status = session_db_failed(
        session, db_admin_said_span(session->db, ALL_READ * most + 1, &span), "hosts");

    *ret_sample = (struct hosts_sample){.session = session,
                                        .random = {.state = random_u64()},
                                        .since = since,
                                        .most = most,
                                        .ids = ARENA_ARRAY(session->arena, most, int64_t)};
    if (status == STATUS_OK && ret_sample->ids == NULL)
        status = fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    if (status != STATUS_OK || span.last <= 0)
        return status;
    ret_sample->last = span.last; /* ids are from 1 on, as they were given */
    ret_sample->is_drawn = span.count > (int64_t)(ALL_READ * most);
    return ret_sample->is_drawn ? STATUS_OK : read_all(ret_sample, &span);
}

enum status why_sample_next(struct hosts_sample *sample, int64_t *ret_id)
{
    enum status status = STATUS_OK;

    if (sample->is_drawn && sample->given == sample->count && sample->count < sample->most)
        status = draw(sample);
    *ret_id = 0;
    if (status == STATUS_OK && sample->given < sample->count)
        *ret_id = sample->ids[sample->given++];
    return status;
}
