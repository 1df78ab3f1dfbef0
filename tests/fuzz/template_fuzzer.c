/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a template of jobs or of results: it is refused with a reason, or documents come of
 * it that can be sent. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/xml.h"
#include "server/submit/parameters.h"
#include "server/submit/template_input.h"
#include "server/submit/template_output.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { FILES_MOST = 100 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config *config;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    xml_startup();
    must(config_defaults(&config) == STATUS_OK);
    return 0;
}

static void write_job(struct arena *arena, struct text text, struct failure *failure)
{
    struct job_file files[FILES_MOST];
    struct input_template input;
    struct job_parameters values = {0};
    struct input_document document = {.config = config, .files = files};
    struct buffer buffer = buffer_in(arena);

    if (input_template_read(arena, "in", text, &input, failure) != STATUS_OK) {
        must(failure->text[0] != '\0');
        return;
    }
    if (input.file_count > FILES_MOST ||
        input_template_parameters(&input, &values, failure) != STATUS_OK)
        return;
    for (size_t i = 0; i < input.file_count; i++)
        files[i] = (struct job_file){.name = TEXT("file"), .bytes = 10};
    document.file_count = input.file_count;
    if (input_template_write(&input, &document, &buffer, failure) == STATUS_OK)
        must(buffer.length > 0 && buffer.length <= JOB_DOCUMENT_MAX);
}

static void write_result(struct arena *arena, struct text text, struct failure *failure)
{
    const struct output_options options = {.upload_url = TEXT("https://example.org/up")};
    struct output_template output;
    struct buffer buffer = buffer_in(arena);

    if (output_template_read(arena, "out", text, &options, &output, failure) != STATUS_OK) {
        must(failure->text[0] != '\0');
        return;
    }
    if (output_template_write(&output, arena, TEXT("job_0"), 7, NULL, &buffer, failure) ==
        STATUS_OK)
        must(buffer.length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 26);
    struct failure failure = {0};
    char *bytes = malloc(size + 1);

    must(arena != NULL && bytes != NULL);
    memcpy(bytes, data, size);
    write_job(arena, (struct text){.at = bytes, .length = size}, &failure);
    memset(&failure, 0, sizeof(failure));
    write_result(arena, (struct text){.at = bytes, .length = size}, &failure);
    free(bytes);
    arena_destroy(arena);
    return 0;
}
