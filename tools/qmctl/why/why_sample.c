/* SPDX-License-Identifier: Apache-2.0 */
/* No index knows when a host asked last, so the ids are what is drawn: where there are few hosts,
 * all of them are read; else one at a time, at random, and the next host from there on that asked
 * of late is taken. A host that follows hosts that stay away is drawn more often than others, in
 * proportion to how many they are, and one behind a long stretch of such hosts may never be drawn.
 */
#include "tools/qmctl/why/why_sample.h"

#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/random.h"

#include "server/base/banned.h"

enum {
    ALL_READ = 8, /* of so many times the hosts wanted, all are read */
    DRAWN = 4,    /* so many times the ids wanted are drawn at most */
    STRETCH = 20  /* hosts that are read for each that is drawn */
};

struct drawing {
    struct session *session;
    struct random random;
    struct hosts_sample sample;
    size_t most;
};

static enum status read_stretch(struct drawing *drawing, const struct said_filter *filter,
                                struct id_row **ret_rows, size_t *ret_count)
{
    struct session *session = drawing->session;

    return session_db_failed(
        session, db_admin_said_since(session->db, session->arena, filter, ret_rows, ret_count),
        "hosts");
}

/* The first `most` of them in a random order. */
static enum status read_all(struct drawing *drawing, const struct id_span_row *span, int64_t since)
{
    size_t said = (size_t)span->count, count = 0;
    struct id_row *rows = NULL;
    enum status status =
        read_stretch(drawing,
                     &(struct said_filter){
                         .first = span->first, .since = since, .looked_at = said, .most = said},
                     &rows, &count);

    for (size_t i = 0; status == STATUS_OK && i < count && i < drawing->most; i++) {
        size_t other = i + (size_t)(random_next(&drawing->random) % (count - i));
        struct id_row drawn = rows[other];

        rows[other] = rows[i];
        drawing->sample.ids[drawing->sample.count++] = drawn.id;
    }
    drawing->sample.is_all = count <= drawing->most;
    return status;
}

static bool has(const struct drawing *drawing, int64_t id)
{
    for (size_t i = 0; i < drawing->sample.count; i++)
        if (drawing->sample.ids[i] == id)
            return true;
    return false;
}

static enum status draw(struct drawing *drawing, const struct id_span_row *span, int64_t since)
{
    uint64_t ids = (uint64_t)span->last; /* from 1 on, as they were given */

    for (size_t i = 0; i < DRAWN * drawing->most && drawing->sample.count < drawing->most; i++) {
        struct said_filter filter = {.first = 1 + (int64_t)(random_next(&drawing->random) % ids),
                                     .since = since,
                                     .looked_at = STRETCH,
                                     .most = 1};
        struct id_row *rows = NULL;
        size_t count = 0;
        enum status status = read_stretch(drawing, &filter, &rows, &count);

        if (status != STATUS_OK)
            return status;
        if (count > 0 && !has(drawing, rows[0].id))
            drawing->sample.ids[drawing->sample.count++] = rows[0].id;
    }
    return STATUS_OK;
}

enum status why_sample_hosts(struct session *session, int64_t since, size_t most,
                             struct hosts_sample *ret_sample)
{
    struct drawing drawing = {.session = session,
                              .random = {.state = random_u64()},
                              .sample = {.ids = ARENA_ARRAY(session->arena, most, int64_t)},
                              .most = most};
    struct id_span_row span;
    enum status status = session_db_failed(
        session, db_admin_said_span(session->db, ALL_READ * most + 1, &span), "hosts");

    if (status == STATUS_OK && drawing.sample.ids == NULL)
        status = fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    if (status == STATUS_OK && span.last > 0)
        status = span.count <= (int64_t)(ALL_READ * most) ? read_all(&drawing, &span, since)
                                                          : draw(&drawing, &span, since);
    *ret_sample = drawing.sample;
    return status;
}
