/* SPDX-License-Identifier: Apache-2.0 */
/* No index knows when a host asked last, so the ids are what is drawn: where there are few, all of
 * them are read; else one at a time, at random, and the next host from there on that asked of late
 * is taken. A host that follows hosts that stay away is drawn more often than others, in proportion
 * to how many they are, and one behind a long stretch of such hosts may never be drawn. */
#include "tools/qmctl/why/why_sample.h"

#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/random.h"

#include "server/base/banned.h"

enum {
    ALL_READ = 8, /* of so many times the ids wanted, all are read */
    DRAWN = 4,    /* so many times the ids wanted are drawn at most */
    STRETCH = 20  /* hosts that are read for each that is drawn */
};

struct host_sample {
    struct session *session;
    struct random random;
    int64_t *ids;
    size_t count, most;
};

static enum status read_stretch(struct host_sample *sample, const struct said_filter *filter,
                                struct id_row **ret_rows, size_t *ret_count)
{
    struct session *session = sample->session;

    return session_db_failed(
        session, db_admin_said_since(session->db, session->arena, filter, ret_rows, ret_count),
        "hosts");
}

/* The first `most` of them in a random order. */
static enum status read_all(struct host_sample *sample, const struct id_span_row *span,
                            int64_t since)
{
    size_t ids = (size_t)(span->last - span->first) + 1, count = 0;
    struct id_row *rows = NULL;
    enum status status = read_stretch(
        sample,
        &(struct said_filter){.first = span->first, .since = since, .looked_at = ids, .most = ids},
        &rows, &count);

    for (size_t i = 0; status == STATUS_OK && i < count && i < sample->most; i++) {
        size_t other = i + (size_t)(random_next(&sample->random) % (count - i));
        struct id_row drawn = rows[other];

        rows[other] = rows[i];
        sample->ids[sample->count++] = drawn.id;
    }
    return status;
}

static bool has(const struct host_sample *sample, int64_t id)
{
    for (size_t i = 0; i < sample->count; i++)
        if (sample->ids[i] == id)
            return true;
    return false;
}

static enum status draw(struct host_sample *sample, const struct id_span_row *span, int64_t since)
{
    uint64_t ids = (uint64_t)span->last; /* from 1 on, as they were given */

    for (size_t i = 0; i < DRAWN * sample->most && sample->count < sample->most; i++) {
        struct said_filter filter = {.first = 1 + (int64_t)(random_next(&sample->random) % ids),
                                     .since = since,
                                     .looked_at = STRETCH,
                                     .most = 1};
        struct id_row *rows = NULL;
        size_t count = 0;
        enum status status = read_stretch(sample, &filter, &rows, &count);

        if (status != STATUS_OK)
            return status;
        if (count > 0 && !has(sample, rows[0].id))
            sample->ids[sample->count++] = rows[0].id;
    }
    return STATUS_OK;
}

enum status why_sample_hosts(struct session *session, int64_t since, size_t most, int64_t **ret_ids,
                             size_t *ret_count)
{
    struct host_sample sample = {.session = session,
                                 .random = {.state = random_u64()},
                                 .ids = ARENA_ARRAY(session->arena, most, int64_t),
                                 .most = most};
    struct id_span_row span;
    enum status status =
        session_db_failed(session, db_admin_said_span(session->db, &span), "hosts");

    if (status == STATUS_OK && sample.ids == NULL)
        status = fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    if (status == STATUS_OK && span.last > 0)
        status = span.last - span.first < (int64_t)(ALL_READ * most)
                     ? read_all(&sample, &span, since)
                     : draw(&sample, &span, since);
    *ret_ids = sample.ids;
    *ret_count = sample.count;
    return status;
}
