/* SPDX-License-Identifier: Apache-2.0 */
/* desc.json and variant.json of a science app, any bytes: either taken, with texts that clients can
 * read and that break no reply, or refused with a reason. The first byte says which file it is. */
#include "server/base/arena.h"
#include "server/policy/version/buda.h"
#include "server/project/blob.h"

#include <string.h>

#include "server/base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_app(struct arena *arena, struct text document)
{
    struct failure failure = {0};
    struct buda_app app;
    enum status status = buda_app_read(arena, document, &app, &failure);

    if (status != STATUS_OK)
        must(failure.status == status && failure.text[0] != '\0');
    else
        must(app.name.length > 0 && app.long_name.length > 0 && app.number > 0 &&
             memchr(app.name.at, '\0', app.name.length) == NULL);
}

static void read_variant(struct arena *arena, struct text document)
{
    struct failure failure = {0};
    struct buda_variant variant;
    struct buda_kind kind;
    enum status status = buda_variant_read(arena, document, &variant, &kind, &failure);

    if (status != STATUS_OK) {
        must(failure.status == status && failure.text[0] != '\0');
        return;
    }
    must(variant.file_infos.length + variant.file_refs.length <= BUDA_BYTES_MAX);
    must(kind.cpu <= BUDA_CPU_ARM);
    (void)blob_is_sound(arena, variant.file_infos);
    (void)blob_is_sound(arena, variant.file_refs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 24);
    const struct text document = {(const char *)data + (size > 0), size > 0 ? size - 1 : 0};

    must(arena != NULL);
    if (size > 0 && data[0] % 2 == 0)
        read_app(arena, document);
    else
        read_variant(arena, document);
    arena_destroy(arena);
    return 0;
}
