/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a job (parameters.def), from arguments and templates. */
#ifndef SERVER_SUBMIT_PARAMETERS_H
#define SERVER_SUBMIT_PARAMETERS_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMETER_FIELD_REAL    double
#define PARAMETER_FIELD_INTEGER int64_t

struct job_parameters {
#define PARAMETER(name, type, default_, minimum, maximum, place, help) PARAMETER_FIELD_##type name;
#include "server/submit/parameters.def"
#undef PARAMETER
};

enum parameter_type { PARAMETER_REAL, PARAMETER_INTEGER };
enum parameter_place { PARAMETER_ARGUMENT = 1, PARAMETER_TEMPLATE = 2, PARAMETER_BOTH = 3 };
struct parameter {
    const char *name;
    enum parameter_type type;
    enum parameter_place place;
    double standard, minimum, maximum;
    size_t offset; /* in struct job_parameters */
    const char *help;
};
extern const struct parameter parameters[];
extern const size_t parameter_count;

void parameters_default(struct job_parameters *ret_parameters);
/* NULL when there is none of that name at that place. */
const struct parameter *parameter_find(struct text name, enum parameter_place place);
/* STATUS_INVALID: not a number, or out of range; the failure says "NAME: ...". */
MUST_CHECK enum status parameter_set(struct job_parameters *values,
                                     const struct parameter *parameter, struct text value,
                                     struct failure *failure);
/* Raises max_success_results and max_total_results to target_nresults, then checks how the numbers
 * must be to each other. `where` begins the message. */
MUST_CHECK enum status parameters_check(struct job_parameters *values, const char *where,
                                        struct failure *failure);

#endif
