/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords as they are stored: hashes of other programs are read, and new ones look like theirs.
 */
#include "server/base/password.h"
#include "tests/support/test.h"

#include <string.h>
#include <time.h>

#include "server/base/banned.h"

static void hashes_of_other_programs_are_read(void **state)
{
    (void)state;
    struct text hash = TEXT("$2a$07$usesomesillystringfore2uDLvp1Ii2e./U9C8sBjqp8I90dH6hi");

    assert_int_equal(password_cost(hash), 7);
    assert_true(password_fits(hash, TEXT("rasmuslerdorf")));
    assert_true(password_fits(TEXT("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
                              TEXT("U*U")));
    assert_false(password_fits(hash, TEXT("rasmuslerdorg")));
    assert_false(password_fits(hash, NO_TEXT));
}

static void a_new_hash_is_one_of_its_password_alone(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE], other[PASSWORD_HASH_SIZE];
    struct text password = TEXT("af918ab81954a4df4a78fe5ae7e7bf72");

    assert_status(STATUS_OK, password_hash(password, hash, NULL));
    assert_status(STATUS_OK, password_hash(password, other, NULL));
    assert_int_equal(strlen(hash), 60);
    assert_memory_equal(hash, "$2y$10$", 7);
    assert_string_not_equal(hash, other);
    assert_true(password_fits(text_from(hash), password));
    assert_true(password_fits(text_from(other), password));
    assert_false(password_fits(text_from(hash), TEXT("af918ab81954a4df4a78fe5ae7e7bf73")));
}

static void what_is_no_hash_fits_nothing(void **state)
{
    (void)state;
    static const char *const stored[] = {
        "",
        "af918ab81954a4df4a78fe5ae7e7bf72",
        "$2y$15$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq", /* it would take seconds */
        "$2y$31$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq",
        "$2y$03$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq",
        "$2y$0x$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq",
        "$2x$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq",
        "$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTO",
        "$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOqq",
        "$argon2id$v=19$m=65536,t=4,p=1$abcdefghijklmnopqrstuvwxyz012",
    };

    for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
        assert_int_equal(password_cost(text_from(stored[i])), 0);
        assert_false(password_fits(text_from(stored[i]), TEXT("rasmuslerdorf")));
    }
    /* The salt has characters that no salt has. */
    assert_false(password_fits(TEXT("$2y$07$BCrypt:equires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTTOq"),
                               TEXT("rasmuslerdorf")));
}

static void no_password_is_cut(void **state)
{
    (void)state;
    char hash[PASSWORD_HASH_SIZE], longest[73];

    memset(longest, 'a', 73);
    assert_status(STATUS_OK, password_hash((struct text){.at = longest, .length = 72}, hash, NULL));
    assert_true(password_fits(text_from(hash), (struct text){.at = longest, .length = 72}));
    assert_status(STATUS_IO, password_hash((struct text){.at = longest, .length = 73}, hash, NULL));
}

/* Of this thread on a processor: hashing is nothing else, and the machine may be busy. */
static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_of_spending(int spent, int most)
{
    double begun = processor_seconds();

    password_spend(spent, most);
    return processor_seconds() - begun;
}

static void what_was_not_spent_is_spent(void **state)
{
    (void)state;
    double whole = seconds_of_spending(0, 9);

    assert_true(whole > 0);
    assert_true(seconds_of_spending(8, 9) < whole * 2);
    assert_true(seconds_of_spending(9, 9) < whole / 10);
    assert_true(seconds_of_spending(10, 9) < whole / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_of_other_programs_are_read),
        cmocka_unit_test(a_new_hash_is_one_of_its_password_alone),
        cmocka_unit_test(what_is_no_hash_fits_nothing),
        cmocka_unit_test(no_password_is_cut),
        cmocka_unit_test(what_was_not_spent_is_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
