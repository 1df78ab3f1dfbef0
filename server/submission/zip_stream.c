/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/zip_stream.h"

#include "server/base/buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    PIECE = 64 * 1024,
    LOCAL_HEAD = 0x04034b50,
    LIST_HEAD = 0x02014b50,
    LIST_END = 0x06054b50,
    LARGE_END = 0x06064b50,
    LARGE_PLACE = 0x07064b50,
    LARGE_FIELD = 1,
    VERSION_USUAL = 10,
    VERSION_LARGE = 45,
    NAMES_ARE_UTF8 = 0x0800,
    DATE_1980 = 0x21 /* the first of January, as nobody's time matters */
};
#define MOST_32   UINT64_C(0xffffffff)
#define MOST_16   UINT64_C(0xffff)
#define LIST_MOST (INT64_C(1) << 40)

uint32_t crc32_of(uint32_t before, struct text bytes)
{
    /* The remainders of half a byte. */
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~before;

    for (size_t i = 0; i < bytes.length; i++) {
        crc ^= (unsigned char)bytes.at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void add_number(struct buffer *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buffer_add_char(to, (char)(number >> (8 * i) & 0xff));
}

static void add_16(struct buffer *to, uint64_t number)
{
    add_number(to, number, 2);
}

static void add_32(struct buffer *to, uint64_t number)
{
    add_number(to, number, 4);
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

/* --- files ------------------------------------------------------------------------------------ */

struct zip_entry {
    struct text name;
    uint64_t bytes, offset;
    uint32_t crc;
};

static void send(struct zip_stream *zip, struct text bytes)
{
    zip->send(zip->context, bytes);
    zip->sent += bytes.length;
}

/* What both heads of a file have in common. */
static void add_common(struct buffer *to, const struct zip_entry *entry, bool is_large)
{
    add_16(to, is_large ? VERSION_LARGE : VERSION_USUAL);
    add_16(to, NAMES_ARE_UTF8);
    add_16(to, 0); /* not packed */
    add_16(to, 0);
    add_16(to, DATE_1980);
    add_32(to, entry->crc);
    add_32(to, is_large ? MOST_32 : entry->bytes);
    add_32(to, is_large ? MOST_32 : entry->bytes);
    add_16(to, entry->name.length);
}

static void send_head(struct zip_stream *zip, const struct zip_entry *entry)
{
    struct buffer head = buffer_on_heap(0);
    bool is_large = entry->bytes >= MOST_32;

    add_32(&head, LOCAL_HEAD);
    add_common(&head, entry, is_large);
    add_16(&head, is_large ? 20 : 0);
    buffer_add(&head, entry->name);
    if (is_large) {
        add_16(&head, LARGE_FIELD);
        add_16(&head, 16);
        add_number(&head, entry->bytes, 8);
        add_number(&head, entry->bytes, 8);
    }
    send(zip, buffer_text(&head));
    buffer_free(&head);
}

static enum status list_file(struct zip_stream *zip, const struct zip_entry *entry,
                             struct failure *failure)
{
    struct buffer head = buffer_on_heap(0);
    bool is_large = entry->bytes >= MOST_32 || entry->offset >= MOST_32;
    enum status status;

    add_32(&head, LIST_HEAD);
    add_16(&head, VERSION_LARGE);
    add_common(&head, entry, is_large);
    add_16(&head, is_large ? 28 : 0);
    add_16(&head, 0);
    add_16(&head, 0);
    add_16(&head, 0);
    add_32(&head, 0);
    add_32(&head, is_large ? MOST_32 : entry->offset);
    buffer_add(&head, entry->name);
    if (is_large) {
        add_16(&head, LARGE_FIELD);
        add_16(&head, 24);
        add_number(&head, entry->bytes, 8);
        add_number(&head, entry->bytes, 8);
        add_number(&head, entry->offset, 8);
    }
    status = spool_add(zip->list, buffer_text(&head), failure);
    buffer_free(&head);
    return status;
}

/* Reads the file from its beginning; sends it, or only adds it up. */
static enum status read_file(struct zip_stream *zip, int descriptor, bool is_sent,
                             struct zip_entry *entry)
{
    char piece[PIECE];
    uint64_t at = 0;

    entry->crc = 0;
    for (;;) {
        ssize_t got = pread(descriptor, piece, sizeof(piece), (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return STATUS_IO;
        if (got == 0)
            break;
        entry->crc = crc32_of(entry->crc, (struct text){piece, (size_t)got});
        if (is_sent)
            send(zip, (struct text){piece, (size_t)got});
        at += (uint64_t)got;
    }
    entry->bytes = at;
    return STATUS_OK;
}

enum status zip_stream_add(struct zip_stream *zip, struct text name, int descriptor,
                           struct failure *failure)
{
    struct zip_entry entry = {.name = text_first(name, (size_t)MOST_16), .offset = zip->sent};
    struct zip_entry again = {.bytes = 0};
    enum status status = read_file(zip, descriptor, false, &entry);

    if (status == STATUS_OK) {
        send_head(zip, &entry);
        status = read_file(zip, descriptor, true, &again);
    }
    if (status != STATUS_OK || again.bytes != entry.bytes || again.crc != entry.crc)
        return fail(failure, STATUS_IO, TEXT_FORMAT " changed while it was sent, or cannot be read",
                    TEXT_ARG(text_first(name, 100)));
    zip->files++;
    return list_file(zip, &entry, failure);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void add_large_end(const struct zip_stream *zip, struct buffer *end, uint64_t list_at)
{
    add_32(end, LARGE_END);
    add_number(end, 44, 8);
    add_16(end, VERSION_LARGE);
    add_16(end, VERSION_LARGE);
    add_32(end, 0);
    add_32(end, 0);
    add_number(end, zip->files, 8);
    add_number(end, zip->files, 8);
    add_number(end, (uint64_t)zip->list->length, 8);
    add_number(end, list_at, 8);
    add_32(end, LARGE_PLACE);
    add_32(end, 0);
    add_number(end, zip->sent, 8);
    add_32(end, 1);
}

enum status zip_stream_end(struct zip_stream *zip, struct failure *failure)
{
    struct buffer end = buffer_on_heap(0);
    uint64_t list_at = zip->sent;
    struct xml_source list = spool_source(zip->list);
    struct text piece;

    while (zip->list->length > 0 && (piece = list.next(list.context)).length > 0)
        send(zip, piece);
    if (zip->sent != list_at + (uint64_t)zip->list->length)
        return fail(failure, STATUS_IO, "the list of files cannot be read");
    if (zip->files >= MOST_16 || list_at >= MOST_32 || (uint64_t)zip->list->length >= MOST_32)
        add_large_end(zip, &end, list_at);
    add_32(&end, LIST_END);
    add_16(&end, 0);
    add_16(&end, 0);
    add_16(&end, at_most(zip->files, MOST_16));
    add_16(&end, at_most(zip->files, MOST_16));
    add_32(&end, at_most((uint64_t)zip->list->length, MOST_32));
    add_32(&end, at_most(list_at, MOST_32));
    add_16(&end, 0);
    send(zip, buffer_text(&end));
    buffer_free(&end);
    spool_end(zip->list);
    return STATUS_OK;
}

void zip_stream_begin(struct zip_stream *zip, struct spool *list, rpc_send *sender, void *context)
{
    *zip = (struct zip_stream){.send = sender, .context = context, .list = list};
    spool_begin(list, LIST_MOST);
}
