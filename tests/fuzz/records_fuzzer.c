/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI records of any bytes: what is said of them does not depend on the pieces in which they
 * come, and of the body no more is copied than there is. */
#include "server/base/random.h"
#include "server/base/status.h"
#include "server/web/fcgi_records.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { COPIED_MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a block of exactly its size, so that a read beyond it is seen. */
static enum fcgi_progress check_pieces(const uint8_t *data, size_t size, uint64_t seed,
                                       struct fcgi_check *ret_check)
{
    struct random random = {.state = seed};
    enum fcgi_progress progress = FCGI_INCOMPLETE;

    *ret_check = (struct fcgi_check){.at = 0};
    for (size_t have = 0; have < size && progress == FCGI_INCOMPLETE;) {
        char *bytes;

        have += 1 + random_next(&random) % (size - have);
        bytes = malloc(have);
        must(bytes != NULL);
        memcpy(bytes, data, have);
        progress = fcgi_check(ret_check, (struct text){.at = bytes, .length = have});
        must(progress != FCGI_COMPLETE || ret_check->at <= have);
        free(bytes);
    }
    return progress;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct text bytes = {.at = (const char *)data, .length = size};
    struct fcgi_check whole = {.at = 0}, pieces;
    enum fcgi_progress progress = fcgi_check(&whole, bytes);
    char copied[COPIED_MOST];

    if (size == 0)
        return 0;
    must(check_pieces(data, size, size, &pieces) == progress);
    must(progress == FCGI_UNSOUND || pieces.body_bytes == whole.body_bytes);
    must(progress == FCGI_UNSOUND || pieces.variable_bytes == whole.variable_bytes);
    must(whole.variable_bytes <= FCGI_VARIABLES_MAX || progress == FCGI_UNSOUND);
    if (progress == FCGI_COMPLETE) {
        size_t got = fcgi_copy_body(&whole, bytes, copied, sizeof(copied));

        must(got == (whole.body_bytes < sizeof(copied) ? whole.body_bytes : sizeof(copied)));
        got = fcgi_copy_variables(bytes, copied, sizeof(copied));
        must(got ==
             (whole.variable_bytes < sizeof(copied) ? whole.variable_bytes : sizeof(copied)));
        (void)fcgi_variable_in((struct text){.at = copied, .length = got}, "SCRIPT_NAME");
    }
    return 0;
}
