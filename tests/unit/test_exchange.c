/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's time for one exchange, where it works for others meanwhile. */
#include "server/process/exchange.h"

#include "server/base/clock.h"
#include "server/process/receive.h"
#include "tests/support/test.h"

static const uint64_t spell_ns = UINT64_C(5000000);

/* Keeps the thread busy for a spell of its CPU time. */
static void work(void)
{
    uint64_t begun_ns = clock_thread_ns();

    while (clock_thread_ns() - begun_ns < spell_ns)
        ;
}

static void time_for_others_is_told_apart(void **state)
{
    struct received received = {.taken_ns = clock_ns(), .taken_cpu_ns = clock_thread_ns()};
    struct exchange exchange = {.received = &received};
    uint64_t own_ns, all_ns;

    (void)state;
    work();
    for (int turn = 1; turn <= 2; turn++) {
        exchange_leave(&exchange);
        work();
        exchange_resume(&exchange);
        assert_true(received.others_cpu_ns >= (uint64_t)turn * spell_ns);
        assert_true(received.others_ns >= (uint64_t)turn * spell_ns);
    }
    work();
    all_ns = clock_ns() - received.taken_ns;
    own_ns = exchange_held_ns(&exchange, received.taken_ns + all_ns);
    assert_true(own_ns >= 2 * spell_ns);
    assert_true(own_ns + 2 * spell_ns <= all_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_for_others_is_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
