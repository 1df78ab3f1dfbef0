/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts refer to columns by name, so that a new figure breaks none. They may be changed by
 * hand and drawn again: cd FOLDER; gnuplot NAME.gp. */
#include "tools/lab/volunteers/figures/plot.h"

#include "server/base/buffer.h"
#include "tools/lab/volunteers/figures/trace.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "server/base/banned.h"

extern char **environ;

/* People who are colour-blind can tell them apart. */
static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#d55e00", "#f0e442", "#000000"};
enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

static void write_head(struct buffer *script, const char *name, int width, int height)
{
    buffer_print(script,
                 "# cd here; gnuplot %s.gp\n"
                 "set terminal svg size %d,%d noenhanced font \"sans,13\" background \"white\"\n"
                 "set output \"%s.svg\"\n"
                 "set datafile separator comma\n"
                 "set border 3 lc rgb \"#606060\"\n"
                 "set tics nomirror scale 0.4\n"
                 "set grid ytics lc rgb \"#dddddd\" lt 1\n"
                 "set xrange [0:*]\n"
                 "set key outside right center Left reverse samplen 1.5 font \"sans,12\"\n",
                 name, width, height, name);
}

/* A bar from the beginning to the end of each interval. */
static void write_bars(struct buffer *script, const char *value, const char *colour,
                       const char *title, bool is_last)
{
    buffer_print(script,
                 "  file using (middle(0)):(%s / 2):(begin(0)):(end(0)):(0):(%s) with boxxyerror "
                 "lc rgb \"%s\" title \"%s\"%s\n",
                 value, value, colour, title, is_last ? "" : ", \\");
}

static void write_line(struct buffer *script, const char *value, const char *colour,
                       const char *title, bool is_last)
{
    buffer_print(script,
                 "  file using (middle(0)):(%s) with linespoints pt 7 ps 0.3 lw 2 "
                 "lc rgb \"%s\" title \"%s\"%s\n",
                 value, colour, title, is_last ? "" : ", \\");
}

void plot_write_figures(bool has_shares, struct buffer *script)
{
    write_head(script, "figures", 820, has_shares ? 860 : 660);
    buffer_print(script,
                 "file = \"figures.csv\"\n"
                 "end(x) = column(\"until_day\")\n"
                 "begin(x) = end(0) - column(\"days\")\n"
                 "middle(x) = (begin(0) + end(0)) / 2\n"
                 "useful(x) = 100 * column(\"useful_fraction\")\n"
                 "wasted(x) = useful(0) + 100 * column(\"wasted_fraction\")\n"
                 "per_day(name) = column(name) / column(\"days\")\n"
                 "set style fill solid 1 noborder\n"
                 "set lmargin 11; set rmargin 27; set key at graph 1.02,0.5 left center\n"
                 "set multiplot layout %d,1 title \"The crowd over time\" font \"sans,15\"\n"
                 "set ylabel \"part of its speed (%%)\"\nset yrange [0:100]\nplot \\\n",
                 has_shares ? 4 : 3);
    write_bars(script, "(100)", "#d9d9d9", "idle", false);
    write_bars(script, "wasted(0)", "#d55e00", "wasted", false);
    write_bars(script, "useful(0)", "#0072b2", "useful", true);
    buffer_add_string(script, "set yrange [0:*]\nset ylabel \"jobs a day\"\nplot \\\n");
    write_line(script, "per_day(\"jobs\") - per_day(\"late\") - per_day(\"failed\")", "#0072b2",
               "in time and well", false);
    write_line(script, "per_day(\"late\")", "#d55e00", "late", false);
    write_line(script, "per_day(\"failed\") + per_day(\"aborted\") + per_day(\"abandoned\")",
               "#606060", "failed or given up", true);
    buffer_add_string(script, "set ylabel \"RPCs a day\"\n");
    if (!has_shares)
        buffer_add_string(script, "set xlabel \"day\"\n");
    buffer_add_string(script, "plot \\\n");
    write_line(script, "per_day(\"rpcs\")", "#0072b2", "all", false);
    write_line(script, "per_day(\"empty_replies\")", "#e69f00", "work wanted, none sent", false);
    write_line(script, "per_day(\"failed_rpcs\")", "#d55e00", "failed", true);
    if (has_shares) {
        buffer_add_string(script, "set ylabel \"since the beginning\"\nset xlabel \"day\"\n"
                                  "plot \\\n");
        write_line(script, "column(\"share_violation\")", "#009e73", "share violation", false);
        write_line(script, "column(\"monotony\")", "#cc79a7", "monotony", true);
    }
    buffer_add_string(script, "unset multiplot\n");
}

void plot_write_arrivals(double minutes, struct buffer *script)
{
    write_head(script, "arrivals", 820, 380);
    buffer_print(script,
                 "file = \"arrivals.csv\"\n"
                 "rate(count) = count / %g\n"
                 "answered(x) = column(\"sent\") + column(\"empty\") + column(\"reported\")\n"
                 "down(x) = answered(0) + column(\"down\")\n"
                 "all(x) = down(0) + column(\"outage\") + column(\"failed\")\n"
                 "set style fill solid 0.85 noborder\n"
                 "set title \"Arrivals of RPCs, by what became of them\" font \"sans,15\"\n"
                 "set xlabel \"day\"\n"
                 "set ylabel \"RPCs a minute (mean of %g min)\"\n"
                 "set yrange [0:*]\n"
                 "plot file using (column(\"day\")):(rate(all(0))) with filledcurves x1 "
                 "lc rgb \"#999999\" title \"nobody answered\", \\\n"
                 "  \"\" using (column(\"day\")):(rate(down(0))) with filledcurves x1 "
                 "lc rgb \"#d55e00\" title \"sent away: down\", \\\n"
                 "  \"\" using (column(\"day\")):(rate(answered(0))) with filledcurves x1 "
                 "lc rgb \"#e69f00\" title \"none sent\", \\\n"
                 "  \"\" using (column(\"day\")):(rate(column(\"sent\") + column(\"reported\"))) "
                 "with filledcurves x1 lc rgb \"#56b4e9\" title \"reports\", \\\n"
                 "  \"\" using (column(\"day\")):(rate(column(\"sent\"))) with filledcurves x1 "
                 "lc rgb \"#0072b2\" title \"jobs sent\"\n",
                 minutes, minutes);
}

void plot_write_trace(const struct trace *trace, const char *const *resource_names,
                      size_t project_count, size_t host, struct buffer *script)
{
    size_t rows = trace->slot_count;

    write_head(script, "trace", 900, (int)(150 + 22 * (rows < 80 ? rows : 80)));
    buffer_print(
        script,
        "set title \"What the processors of host %zu did (white: nothing)\" font \"sans,15\"\n"
        "unset grid\nset tics scale 0\nset xlabel \"day\"\n"
        "set yrange [%zu.6:0.4]\nset style fill solid 0.9 noborder\nset ytics (",
        host, rows);
    for (size_t i = 0; i < rows; i++)
        buffer_print(script, "%s\"%s %zu\" %zu", i > 0 ? ", " : "",
                     resource_names[trace->slots[i].resource], trace->slots[i].number + 1, i + 1);
    buffer_print(script, ")\nbegin(x) = column(\"begin_days\")\nend(x) = column(\"end_days\")\n"
                         "of(project) = column(\"project\") == project ? column(\"row\") : NaN\n"
                         "plot \"trace.csv\" using (begin(0)):(of(-1)):(begin(0)):(end(0)):"
                         "(of(-1) - 0.5):(of(-1) + 0.5) with boxxyerror lc rgb \"#e6e6e6\" "
                         "title \"off\"");
    for (size_t p = 0; p < project_count; p++)
        buffer_print(script,
                     ", \\\n  \"\" using (begin(0)):(of(%zu)):(begin(0)):(end(0)):"
                     "(of(%zu) - 0.4):(of(%zu) + 0.4) with boxxyerror lc rgb \"%s\" "
                     "title \"project %zu\"",
                     p + 1, p + 1, p + 1, colours[p % COLOURS], p + 1);
    buffer_add_string(script, "\n");
}

enum status plot_draw(const char *folder, const char *name, struct failure *failure)
{
    posix_spawn_file_actions_t actions;
    char file[128], program[] = "gnuplot";
    char *arguments[] = {program, file, NULL};
    int error, how = 0;
    pid_t child;

    snprintf(file, sizeof(file), "%s.gp", name);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    error = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return fail(failure, STATUS_NOT_FOUND,
                    "gnuplot is not installed (package gnuplot-nox): %s/%s.gp is not drawn", folder,
                    name);
    if (error != 0)
        return fail(failure, STATUS_IO, "gnuplot: %s", strerror(error));
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return fail(failure, STATUS_IO, "gnuplot: %s", strerror(errno));
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
        return fail(failure, STATUS_IO, "gnuplot failed on %s/%s", folder, file);
    return STATUS_OK;
}
