/* SPDX-License-Identifier: Apache-2.0 */
/* parse_request on any bytes: no crash, nothing read outside the body, and whatever is called a
 * request ends like one. */
#include "server/base/arena.h"
#include "server/base/xml.h"
#include "server/parse/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    xml_startup();
    return 0;
}

/* Reads every byte, for the sanitizer. */
static size_t touch(struct text text)
{
    size_t zeros = 0;

    for (size_t i = 0; i < text.length; i++)
        zeros += text.at[i] == '\0';
    return zeros;
}

static void check(const struct message *message)
{
    size_t zeros = touch(message->authenticator) + touch(message->code_sign_key) +
                   touch(message->global_preferences) + touch(message->time_stats_log) +
                   touch(message->working_global_preferences) + touch(message->client_opaque);

    must(message->platform_count <= MESSAGE_PLATFORMS_MAX);
    must(message->coproc_count <= MESSAGE_COPROCS_MAX);
    must(isfinite(message->p_fpops) && isfinite(message->cpu_req_seconds));
    for (size_t i = 0; i < message->platform_count; i++)
        must(message->platforms[i].length > 0);
    for (size_t i = 0; i < message->result_count; i++) {
        must(message->results[i].name.length > 0);
        zeros += touch(message->results[i].stderr_out) + touch(message->results[i].xml_doc_out);
    }
    for (size_t i = 0; i < message->trickle_count; i++)
        zeros += touch(message->trickles[i].xml) + touch(message->trickles[i].variety);
    for (size_t i = 0; i < message->coproc_count; i++)
        must(message->coprocs[i].type.length > 0 && isfinite(message->coprocs[i].count));
    for (size_t i = 0; i < message->ip_result_count; i++)
        must(message->ip_results[i].time_remaining >= 0);
    must(zeros == 0); /* a NUL byte ends a request, and no entity makes one */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct parse_limits limits = {.results_max = 50, .depth_max = 100};
    const uint8_t *nul = size == 0 ? NULL : memchr(data, '\0', size);
    struct text body = {(const char *)data, size}, whole = body;
    struct arena *arena = arena_create(1 << 24);
    struct failure failure = {0};
    struct message message;
    enum status status;

    must(arena != NULL);
    if (nul != NULL)
        whole.length = (size_t)(nul - data);
    status = parse_request(body, &limits, arena, &message, &failure);
    must(status == STATUS_OK || failure.status == status);
    must(status == STATUS_OK || status == STATUS_INVALID || status == STATUS_TOO_LARGE);
    if (status == STATUS_OK) {
        must(text_ends(text_trim(whole), TEXT("</scheduler_request>")));
        check(&message);
    }
    arena_destroy(arena);
    return 0;
}
