/* SPDX-License-Identifier: Apache-2.0 */
/* In our archives a column never holds an element, since its text is escaped; in those of BOINC's
 * program that purges it does, beginning with the first result that has a file. */
#include "server/passes/result_archive.h"

#include "server/base/buffer.h"
#include "server/base/xml.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PIECE_BYTES = 65536, COLUMN_BYTES_MAX = 1 << 20, LEVELS = 3 };

enum archived_column { COLUMN_ID, COLUMN_NAME, COLUMN_XML_DOC_IN, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = {"id", "name", "xml_doc_in"};

struct archive_reading {
    int file;
    char piece[PIECE_BYTES];
    int level; /* of elements that are open */
    struct buffer columns[COLUMN_COUNT];
    struct buffer *column; /* the one that is open; NULL: none that matters */
    result_archive_visitor *visit;
    void *context;
    struct failure *failure;
};

static struct text next_piece(void *context)
{
    struct archive_reading *reading = context;
    ssize_t count;

    do
        count = read(reading->file, reading->piece, sizeof(reading->piece));
    while (count < 0 && errno == EINTR);
    /* What cannot be read ends the document early, which is an error then. */
    return count > 0 ? (struct text){reading->piece, (size_t)count} : NO_TEXT;
}

static void begin_result(struct archive_reading *reading)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        buffer_free(&reading->columns[i]);
        reading->columns[i] = buffer_on_heap(COLUMN_BYTES_MAX);
    }
}

static void begin_column(struct archive_reading *reading, struct text name)
{
    reading->column = NULL;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (text_is(name, column_names[i]))
            reading->column = &reading->columns[i];
}

static enum status on_start(void *context, struct text name, int line)
{
    static const char *const outer[] = {"archive", "result_archive"};
    struct archive_reading *reading = context;

    if (reading->level == LEVELS || (reading->level < 2 && !text_is(name, outer[reading->level])))
        return fail(reading->failure, STATUS_INVALID, "line %d: not an archive of qmctl purge",
                    line);
    if (reading->level == 1)
        begin_result(reading);
    else if (reading->level == 2)
        begin_column(reading, name);
    reading->level++;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct archive_reading *reading = context;

    (void)line;
    if (reading->column != NULL)
        buffer_add(reading->column, piece);
    return STATUS_OK;
}

/* One that is too long for memory, or has no number or name, is as good as missing. */
static enum status visit_result(struct archive_reading *reading)
{
    struct buffer *columns = reading->columns;
    struct archived_result result = {.name = buffer_text(&columns[COLUMN_NAME]),
                                     .xml_doc_in = buffer_text(&columns[COLUMN_XML_DOC_IN])};

    for (int i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].overflowed)
            return STATUS_OK;
    if (result.name.length == 0 || !text_to_i64(buffer_text(&columns[COLUMN_ID]), &result.id))
        return STATUS_OK;
    return reading->visit(reading->context, &result);
}

static enum status on_end(void *context, struct text name, int line)
{
    struct archive_reading *reading = context;

    (void)name;
    (void)line;
    reading->column = NULL;
    reading->level--;
    return reading->level == 1 ? visit_result(reading) : STATUS_OK;
}

enum status result_archive_read(const char *path, result_archive_visitor *visit, void *context,
                                struct failure *failure)
{
    struct archive_reading reading = {.visit = visit, .context = context, .failure = failure};
    const struct xml_limits limits = {.depth_max = LEVELS + 1, .elements_max = SIZE_MAX};
    const struct xml_source source = {.context = &reading, .next = next_piece};
    const struct xml_handler handler = {
        .context = &reading, .start = on_start, .text = on_text, .end = on_end};
    enum status status;

    reading.file = open(path, O_RDONLY | O_CLOEXEC);
    if (reading.file < 0)
        return fail(failure, STATUS_IO, "%s", strerror(errno));
    status = xml_walk_pieces(&source, &limits, &handler, failure);
    for (int i = 0; i < COLUMN_COUNT; i++)
        buffer_free(&reading.columns[i]);
    (void)close(reading.file);
    return status;
}
