/* SPDX-License-Identifier: Apache-2.0 */
/* What --help prints, from the table of subcommands: an overview says one sentence of each, the
 * help of one subcommand all of it. Lines are for terminals of 80 columns. */
#ifndef TOOLS_QMCTL_HELP_H
#define TOOLS_QMCTL_HELP_H

#include "server/base/text.h"
#include "tools/qmctl/session/project_session.h"

void help_overview(void);
/* Of "jobs": the subcommands that begin so. False: there are none, and nothing is printed. */
bool help_group(const char *group);
void help_subcommand(const struct subcommand *command);
/* Without its full stop. */
struct text help_first_sentence(const char *help);
/* The subcommand that was meant by two words, of which the second may be ""; NULL: none is near. */
const char *help_meant(const char *first, const char *second);

#endif
