/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/session/progress_line.h"

#include "server/base/clock.h"
#include "server/base/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

#define EVERY_SECONDS 2.0

void progress(struct session *session, const char *what, int64_t count)
{
    struct progress *last = &session->progress;
    double now = clock_seconds();

    if (last->what == NULL || strcmp(last->what, what) != 0 || count < last->count)
        *last = (struct progress){.what = what, .began = now, .shown = now};
    last->count = count;
    if (now - last->shown < EVERY_SECONDS)
        return;
    last->shown = now;
    if (isatty(STDERR_FILENO) == 1 && !option_given(session, "quiet"))
        shown_line(stderr, "%" PRId64 " %s in %.0f s, %.0f in a second", count, what,
                   now - last->began, (double)count / (now - last->began));
}
