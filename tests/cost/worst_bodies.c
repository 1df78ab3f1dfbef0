/* SPDX-License-Identifier: Apache-2.0 */
/* What the requests of tests/support/worst_bodies.def cost, as a table: CPU time of one thread for
 * parsing and for everything behind it, without the database. For people; build it with the preset
 * release. `worst_bodies --names` prints the names, `worst_bodies NAME KEY HOST` the bytes of one
 * request, of the account with that key. */
#include "tests/support/worst_bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_body(const char *name, const char *key, const char *host)
{
    for (size_t i = 0; i < worst_body_count; i++)
        if (strcmp(worst_bodies[i].name, name) == 0) {
            struct buffer body = worst_body_make(&worst_bodies[i], key, atoll(host));
            bool is_written = fwrite(body.at, 1, body.length, stdout) == body.length;

            buffer_free(&body);
            return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
        }
    (void)fprintf(stderr, "worst_bodies: there is no \"%s\"\n", name);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < worst_body_count && argc == 2 && strcmp(argv[1], "--names") == 0; i++)
        printf("%s\n", worst_bodies[i].name);
    if (argc == 2 && strcmp(argv[1], "--names") == 0)
        return EXIT_SUCCESS;
    if (argc == 4)
        return write_body(argv[1], argv[2], argv[3]);
    printf("%-36s %8s %9s %9s %10s %9s %6s %6s\n", "request", "MB", "parse ms", "beyond ms",
           "units", "arena MB", "calls", "jobs");
    for (size_t i = 0; i < worst_body_count; i++) {
        struct worst_cost cost;

        if (argc == 2 && strcmp(worst_bodies[i].name, argv[1]) != 0)
            continue;
        worst_body_walk(&worst_bodies[i], true, &cost);
        printf("%-36s %8.2f %9.1f %9.1f %9.1fM %9.1f %6d %6zu %s\n", worst_bodies[i].name,
               (double)cost.body / 1e6, cost.parse_ms, cost.whole_ms - cost.parse_ms,
               (double)cost.units / 1e6, (double)cost.arena / 1e6, cost.calls, cost.jobs,
               cost.reason == NULL ? "" : cost.reason);
    }
    return EXIT_SUCCESS;
}
