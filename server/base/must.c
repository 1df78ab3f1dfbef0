/* SPDX-License-Identifier: Apache-2.0 */
/* Below all others: text, arenas and what is shown must be right, too. */
#include "server/base/status.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

void must_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: our own mistake: not true: %s\n", file, line, condition);
    abort();
}
