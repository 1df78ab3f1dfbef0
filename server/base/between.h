/* SPDX-License-Identifier: Apache-2.0 */
/* A number within bounds. */
#ifndef SERVER_BASE_BETWEEN_H
#define SERVER_BASE_BETWEEN_H

/* The nearest to `value` from `low` to `high`; of what is no number, `low`. */
static inline double between(double value, double low, double high)
{
    if (!(value >= low)) /* NaN too */
        return low;
    return value > high ? high : value;
}

#endif
