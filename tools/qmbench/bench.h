/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of qmbench; each answers an exit status. */
#ifndef TOOLS_QMBENCH_BENCH_H
#define TOOLS_QMBENCH_BENCH_H

int bench_pool(int argc, char **argv);
int bench_fill(int argc, char **argv);
int bench_edf(int argc, char **argv);
int bench_files(int argc, char **argv);

#endif
