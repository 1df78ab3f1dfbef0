/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/session/pass_session.h"

#include "server/base/shown.h"
#include "tools/qmctl/session/ending.h"
#include "tools/qmctl/session/progress_line.h"

#include <stdio.h>

#include "server/base/banned.h"

static void say(void *context, const char *sentence)
{
    (void)context;
    shown_line(stderr, "qmctl: %s", sentence);
}

static void show_progress(void *context, const char *what, int64_t count)
{
    progress(context, what, count);
}

static bool is_to_end(void *context)
{
    (void)context;
    return ending_is_wanted();
}

struct pass_owner session_owner(struct session *session)
{
    return (struct pass_owner){.db = session->db,
                               .config = session->config,
                               .arena = session->arena,
                               .failure = &session->failure,
                               .say = say,
                               .progress = show_progress,
                               .is_to_end = is_to_end,
                               .context = session};
}
