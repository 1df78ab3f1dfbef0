/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of qmbench: parts of the server without a client or a web server around them. main.c
 * calls the one that the first argument names, with the arguments behind it; each makes what it
 * measures, runs in one thread, prints its figures (qmbench.1.md), and returns an exit status. */
#ifndef TOOLS_LAB_QMBENCH_BENCH_H
#define TOOLS_LAB_QMBENCH_BENCH_H

int bench_pool(int argc, char **argv);
int bench_fill(int argc, char **argv);
int bench_edf(int argc, char **argv);
int bench_files(int argc, char **argv);
int bench_jobs(int argc, char **argv);

#endif
