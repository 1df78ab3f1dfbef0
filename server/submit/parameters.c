/* SPDX-License-Identifier: Apache-2.0 */
/* One table of numbers, so that a new one is one row: the command line and the template reader
 * both go through parameter_set and say the same about a wrong value. */
#include "server/submit/parameters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    SPARE_RESULTS = 4,
    ERRORS = 3,
    SLOWER = 24 /* times as long as estimated a job may take: a day for an hour */
};

#define FPOPS_MOST 1e30 /* as parameters.def says */

const struct parameter parameters[] = {
#define PARAMETER(name_, type_, default_, minimum_, maximum_, place_, help_) \
    {.name = #name_,                                                         \
     .type = PARAMETER_##type_,                                              \
     .place = PARAMETER_##place_,                                            \
     .standard = (default_),                                                 \
     .minimum = (minimum_),                                                  \
     .maximum = (maximum_),                                                  \
     .offset = offsetof(struct job_parameters, name_),                       \
     .help = (help_)},
#include "server/submit/parameters.def"
#undef PARAMETER
};
const size_t parameter_count = sizeof parameters / sizeof parameters[0];

static void store(struct job_parameters *values, const struct parameter *parameter, double number)
{
    char *member = (char *)values + parameter->offset;
    if (parameter->type == PARAMETER_REAL)
        *(double *)(void *)member = number;
    else
        *(int64_t *)(void *)member = (int64_t)number;
}

void parameters_default(struct job_parameters *ret_parameters)
{
    for (size_t i = 0; i < parameter_count; i++)
        store(ret_parameters, &parameters[i], parameters[i].standard);
}

const struct parameter *parameter_find(struct text name, enum parameter_place place)
{
    for (size_t i = 0; i < parameter_count; i++)
        if ((parameters[i].place & place) != 0 && text_is(name, parameters[i].name))
            return &parameters[i];
    return NULL;
}

enum status parameter_set(struct job_parameters *values, const struct parameter *parameter,
                          struct text value, struct failure *failure)
{
    double number;
    int64_t whole;
    if (parameter->type == PARAMETER_REAL) {
        if (!text_to_real(value, &number))
            return fail(failure, STATUS_INVALID, "%s: not a number", parameter->name);
    } else {
        if (!text_to_whole(value, &whole))
            return fail(failure, STATUS_INVALID, "%s: not a whole number", parameter->name);
        number = (double)whole; /* exact: all bounds are within 32 bits */
    }
    if (!(number >= parameter->minimum && number <= parameter->maximum))
        return fail(failure, STATUS_INVALID, "%s: %.15g is not between %.15g and %.15g",
                    parameter->name, number, parameter->minimum, parameter->maximum);
    store(values, parameter, number);
    return STATUS_OK;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One loss ends no job unless that was asked for, and no number refuses another that was given. */
static void follow(struct job_parameters *values)
{
    int64_t most = greater(values->max_error_results, values->max_success_results);

    if (values->target_nresults == PARAMETER_FOLLOWS)
        values->target_nresults = values->min_quorum;
    if (values->max_total_results == PARAMETER_FOLLOWS)
        values->max_total_results = greater(values->target_nresults + SPARE_RESULTS, most);
    values->max_total_results = greater(values->max_total_results, values->target_nresults);
    if (values->max_success_results == PARAMETER_FOLLOWS)
        values->max_success_results = values->max_total_results;
    values->max_success_results = greater(values->max_success_results, values->target_nresults);
    if (values->max_error_results == PARAMETER_FOLLOWS)
        values->max_error_results =
            values->max_total_results < ERRORS ? values->max_total_results : ERRORS;
    if (values->rsc_fpops_bound == PARAMETER_FOLLOWS)
        values->rsc_fpops_bound = fmin(SLOWER * values->rsc_fpops_est, FPOPS_MOST);
}

/* Clients abort a job behind its bound: below the estimate that is each one. */
static enum status check_fpops(const struct job_parameters *values, const char *where,
                               struct failure *failure)
{
    if (values->rsc_fpops_est <= values->rsc_fpops_bound)
        return STATUS_OK;
    return fail(
        failure, STATUS_INVALID,
        "%s: rsc_fpops_est (%g) must not be above rsc_fpops_bound (%g): clients would abort "
        "every such job",
        where, values->rsc_fpops_est, values->rsc_fpops_bound);
}

enum status parameters_check(struct job_parameters *values, const char *where,
                             struct failure *failure)
{
    follow(values);
    const struct {
        const char *small, *large;
        int64_t small_value, large_value;
    } relations[] = {
        {"max_success_results", "max_total_results", values->max_success_results,
         values->max_total_results},
        {"max_error_results", "max_total_results", values->max_error_results,
         values->max_total_results},
        {"min_quorum", "target_nresults", values->min_quorum, values->target_nresults},
    };
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (relations[i].small_value > relations[i].large_value)
            return fail(failure, STATUS_INVALID,
                        "%s: %s (%" PRId64 ") must not be above %s (%" PRId64 ")", where,
                        relations[i].small, relations[i].small_value, relations[i].large,
                        relations[i].large_value);
    return check_fpops(values, where, failure);
}

enum status parameters_for_one_host(struct job_parameters *values, const char *where,
                                    struct failure *failure)
{
    values->max_total_results = values->max_success_results = values->max_error_results = 1;
    if (values->target_nresults > 1 || values->min_quorum > 1)
        return fail(
            failure, STATUS_INVALID,
            "%s: one host gets one instance of a job, so target_nresults and min_quorum must"
            " not be above 1",
            where);
    return parameters_check(values, where, failure);
}

void parameter_help(const struct parameter *parameter, char *ret_help, size_t size)
{
    if (parameter->standard < parameter->minimum) /* the explanation says what it follows */
        (void)snprintf(ret_help, size, "%s", parameter->help);
    else
        (void)snprintf(ret_help, size, "%s (%.15g)", parameter->help, parameter->standard);
}
