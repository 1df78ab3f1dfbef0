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

enum { PARAMETER_FOLLOWS = 0, PARAMETER_HELP_MOST = 200 };

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
/* Numbers that nobody gave follow from the others. Those given are checked against each other, but
 * max_success_results and max_total_results below target_nresults are raised to it. `where` begins
 * the message. */
MUST_CHECK enum status parameters_check(struct job_parameters *values, const char *where,
                                        struct failure *failure);
/* The same for a job that only one host may compute: hosts get one instance of such a job, so
 * no maximum is above 1, whatever was given. */
MUST_CHECK enum status parameters_for_one_host(struct job_parameters *values, const char *where,
                                               struct failure *failure);
/* The explanation, with the default in brackets; cut to `size` bytes. */
void parameter_help(const struct parameter *parameter, char *ret_help, size_t size);

#endif
