/* SPDX-License-Identifier: Apache-2.0 */
/* Records and heads of uploads, of any bytes: what is read of them does not depend on the pieces in
 * which they come, and what is read can be believed: a name stays in its folder, an offset in its
 * file. */
#include "server/base/random.h"
#include "server/base/status.h"
#include "server/upload/upload_decision.h"
#include "server/upload/upload_head.h"
#include "server/web/fcgi_records.h"
#include "server/web/fcgi_stream.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(struct text body, bool is_end)
{
    static const struct upload_limits limits = {.ignores_certificates = true, .bytes_max = 1000};
    struct upload_head head;
    struct upload_decision decision;
    size_t length = 0;

    if (!upload_head_read(body, is_end, &head, &length)) {
        must(!is_end && body.length < UPLOAD_HEAD_BYTES_MAX);
        return;
    }
    must(length <= body.length && length <= UPLOAD_HEAD_BYTES_MAX);
    must(head.name[0] == '\0' || upload_name_usable(text_from(head.name)));
    must(head.kind == UPLOAD_UNKNOWN || head.fault != NULL || head.name[0] != '\0');
    must(head.kind != UPLOAD_FILE || head.fault != NULL ||
         (head.offset >= 0 && head.offset <= head.nbytes));
    must(head.md5[0] == '\0' || strlen(head.md5) == MD5_HEX_SIZE - 1);
    decision = upload_screen(&head, &limits, false);
    must(decision.step != UPLOAD_RECEIVE || head.fault == NULL);
    must(decision.step != UPLOAD_RECEIVE || head.nbytes <= limits.bytes_max);
}

/* All bodies of the records, and how it ended. Each piece lies in a block of exactly its size. */
static enum fcgi_piece take_apart(const uint8_t *data, size_t size, uint64_t seed,
                                  struct buffer *body)
{
    struct random random = {.state = seed};
    enum fcgi_piece piece = FCGI_PIECE_NONE;
    struct fcgi_stream stream;

    fcgi_stream_begin(&stream);
    for (size_t at = 0; at < size && piece == FCGI_PIECE_NONE;) {
        size_t length = seed == 0 ? size : 1 + random_next(&random) % (size - at);
        char *block = malloc(length);
        struct text part = {block, length}, got;

        must(block != NULL);
        memcpy(block, data + at, length);
        do {
            piece = fcgi_stream_next(&stream, &part, &got);
            if (piece == FCGI_PIECE_BODY)
                buffer_add(body, got);
            if (piece == FCGI_PIECE_VARIABLES)
                (void)fcgi_variable_in(buffer_text(&stream.variables), "REMOTE_ADDR");
        } while (piece == FCGI_PIECE_BODY || piece == FCGI_PIECE_VARIABLES);
        free(block);
        at += length;
    }
    buffer_free(&stream.variables);
    return piece;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole = buffer_on_heap(0), pieces = buffer_on_heap(0);
    struct text head = {(const char *)data, size};

    if (size == 0)
        return 0;
    must(take_apart(data, size, 0, &whole) == take_apart(data, size, size, &pieces));
    must(text_equal(buffer_text(&whole), buffer_text(&pieces)));
    check_head(buffer_text(&whole), true);
    (void)fcgi_variable_in(head, "A");
    check_head(head, false);
    check_head(head, true);
    buffer_free(&whole);
    buffer_free(&pieces);
    return 0;
}
