/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a run: gnuplot scripts for the tables in the same folder, and running gnuplot, which
 * is an optional program. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_PLOT_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_PLOT_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct trace;

/* Reads figures.csv, writes figures.svg; likewise the others. Shares are those of several
 * projects. */
void plot_write_figures(bool has_shares, struct buffer *script);
/* Of intervals so many minutes long. */
void plot_write_arrivals(double minutes, struct buffer *script);
/* `host` is its number, for the title. */
void plot_write_trace(const struct trace *trace, const char *const *resource_names,
                      size_t project_count, size_t host, struct buffer *script);

/* Runs gnuplot on FOLDER/NAME.gp. STATUS_NOT_FOUND: it is not installed. */
MUST_CHECK enum status plot_draw(const char *folder, const char *name, struct failure *failure);

#endif
