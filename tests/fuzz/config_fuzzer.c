/* SPDX-License-Identifier: Apache-2.0 */
/* config_load on any config.xml: loaded or refused with a reason, never half. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/config_fuzzer_XXXXXX";
static char path[sizeof folder + 16];

static void remove_folder(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    xml_startup();
    must(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/config.xml", folder);
    atexit(remove_folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 24);
    struct buffer dump = buffer_on_heap(0);
    struct config_findings findings;
    struct failure failure = {0};
    struct config *config = NULL;
    FILE *file = fopen(path, "wb");
    size_t errors = 0;
    enum status status;

    must(arena != NULL && file != NULL);
    must(fwrite(data, 1, size, file) == size && fclose(file) == 0);
    status = config_load(folder, arena, &config, &findings, &failure);
    for (size_t i = 0; i < findings.count; i++)
        errors += findings.items[i].is_error;
    if (status == STATUS_OK) {
        must(errors == 0 && config != NULL);
        config_dump(config, &dump);
        config_release(config);
    } else {
        must(failure.status == status && failure.text[0] != '\0');
    }
    buffer_free(&dump);
    arena_destroy(arena);
    return 0;
}
