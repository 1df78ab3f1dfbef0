/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka as this project uses it, and the asserts that 1.1.5 lacks. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include "server/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define assert_status(wanted, call)                                                \
    do {                                                                           \
        enum status status_ = (call);                                              \
        if (status_ != (wanted))                                                   \
            fail_msg("%s: got \"%s\", wanted \"%s\"", #call, status_word(status_), \
                     status_word(wanted));                                         \
    } while (0)
#define assert_text(text_, string)                                                                \
    do {                                                                                          \
        struct text got_ = (text_);                                                               \
        if (!text_is(got_, string))                                                               \
            fail_msg("%s is \"" TEXT_FORMAT "\", wanted \"%s\"", #text_, TEXT_ARG(got_), string); \
    } while (0)
#define assert_i64(got, wanted)                                                             \
    do {                                                                                    \
        int64_t got_ = (got), wanted_ = (wanted);                                           \
        if (got_ != wanted_)                                                                \
            fail_msg("%s is %lld, wanted %lld", #got, (long long)got_, (long long)wanted_); \
    } while (0)
#define assert_real(got, wanted, tolerance)                                    \
    do {                                                                       \
        double got_ = (got), wanted_ = (wanted);                               \
        if (!(got_ - wanted_ <= (tolerance) && wanted_ - got_ <= (tolerance))) \
            fail_msg("%s is %.17g, wanted %.17g", #got, got_, wanted_);        \
    } while (0)

#endif
