/* SPDX-License-Identifier: Apache-2.0 */
/* What a template says that will not do what its author means: a misspelt element, which is copied
 * to clients and has no effect, or an output file that no client ever uploads. Nothing here makes a
 * template wrong; `qmctl jobs create` prints it as warnings. Pure. */
#ifndef SERVER_SUBMIT_TEMPLATE_ADVICE_H
#define SERVER_SUBMIT_TEMPLATE_ADVICE_H

#include "server/base/text.h"

struct buffer;
struct template_file;

/* Both add a line for each finding, "in.xml:7: <rsc_fpop_est>: ...", ADVICE_LINES_MAX at most. */
enum { ADVICE_LINES_MAX = 20 };
void input_template_advice(const struct template_file *file, struct buffer *lines);
void output_template_advice(const struct template_file *file, struct buffer *lines);
/* Where the template says otherwise than the value that was given for a parameter, which has no
 * effect then: a line, "in.xml:7: <delay_bound>: 600 counts, not --delay_bound 60". */
void input_template_override(const struct template_file *file, const char *parameter,
                             struct text given, struct buffer *lines);

#endif
