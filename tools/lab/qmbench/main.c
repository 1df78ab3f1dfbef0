/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the server's parts, measured on this machine. Not a test: it says what is, not what
 * has to be. */
#include "server/base/file.h"
#include "server/base/version.h"
#include "tools/lab/qmbench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} subjects[] = {
    {"pool", "[JOBS ...]  the job pool in memory: size, filling, selection", bench_pool},
    {"fill", "PROJECT_DIR  filling a job pool from a project's database", bench_fill},
    {"edf", "  the deadline simulation: queues, CPUs and classes of candidates", bench_edf},
    {"files",
     "SOCKET [HOSTS [DATABASE]]  the file database in the MariaDB behind a socket, as root; one\n"
     "      with a name stays",
     bench_files},
    {"jobs", "PROJECT_DIR [JOBS]  signatures and rows that making jobs needs, nothing else",
     bench_jobs},
};

static int usage(FILE *out)
{
    fprintf(out, "Usage: qmbench SUBJECT [ARGUMENT ...]\n\n");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        fprintf(out, "  %s %s\n", subjects[i].name, subjects[i].help);
    return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    file_occupy_standard();
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return puts(program_version_line) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    for (size_t i = 0; argc > 1 && i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(argv[1], subjects[i].name) == 0)
            return subjects[i].run(argc - 2, argv + 2);
    return usage(stderr);
}
