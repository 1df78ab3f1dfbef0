/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is made of: a text file of lines "name value"; # begins a comment. */
#ifndef TOOLS_VOLUNTEERS_SCENARIO_H
#define TOOLS_VOLUNTEERS_SCENARIO_H

#include "server/base/text.h"
#include "tools/volunteers/population.h"

struct scenario {
    double hosts, days, seed;
    double begin;               /* s since 1970 */
    double arrival_days;        /* over which the hosts attach, one after the other */
    double cpus_max, always_on; /* of the population; 0 or 1 */
    struct population population;
};

/* What a file does not name stays as measured; STATUS_INVALID names the line. */
MUST_CHECK enum status scenario_read(struct text file, struct scenario *ret_scenario,
                                     struct failure *failure);

#endif
