/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of homogeneous redundancy: which hosts are of one kind. */
#include "server/policy/host/hr_class.h"

#include "tests/support/test.h"

/* fine, coarse, OS, vendor, model; 0: unknown, so that no job is sent for its sake. */
static const struct {
    int64_t fine, coarse;
    const char *os_name, *vendor, *model;
} cases[] = {
    {405, 386, "Microsoft Windows 11", "GenuineIntel", "Intel(R) Core(TM) i7 [Family 6 Model 158]"},
    {259, 258, "Linux Debian", "AuthenticAMD", "AMD Ryzen 9 [Family 25 Model 33]"},
    {278, 278, "Linux", "ARM", "ARMv7 Processor"},
    {0, 278, "Linux", "Broadcom", "ARMv7 Processor"},
    {0, 257, "Linux", "Broadcom", "armv7 processor"},
    {0, 0, "Solaris", "GenuineIntel", "x86"},
    {0, 0, "Plan 9", "unheard of", "of"},
    {395, 386, "windows xp", "genuineintel", "intel xeon"},
    {402, 386, "Windows", "GenuineIntel", "Celeron(R) M processor"},
    {402, 386, "Windows", "GenuineIntel", "Pentium(R) M processor"},
    {402, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 9 Stepping 5"}, /* the same */
    {401, 386, "Windows", "GenuineIntel", "Celeron(R) D CPU 2.80GHz"},
    {401, 386, "Windows", "GenuineIntel", "Pentium(R) D CPU 2.80GHz"},
    {396, 386, "Windows", "GenuineIntel", "Celeron(R)"},
    {400, 386, "Windows", "GenuineIntel", "Pentium(R) 4 CPU"},
    {399, 386, "Windows", "GenuineIntel", "Pentium III"},
    {399, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 7 Stepping 3"},
    {399, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 8 Stepping 6"},
    {398, 386, "Windows", "GenuineIntel", "Pentium II"},
    /* The quirks: "Model 1" is found in "Model 11" and "Model 15", so that the row for Model 11 is
     * never reached; "Model 6" in "Model 60". */
    {397, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 11 Stepping 1"},
    {397, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 15 Stepping 1"},
    {396, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 60 Stepping 3"},
    {395, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 10 Stepping 3"},
    {398, 386, "Windows", "GenuineIntel", "x86 Family 6 Model 5 Stepping 2"},
    {389, 386, "Windows", "AuthenticAMD", "Athlon(tm) Processor"},
    {394, 386, "Windows", "AuthenticAMD", "Athlon(tm) XP 2400+"},
    {393, 386, "Windows", "AuthenticAMD", "Athlon(tm) 64 Processor"},
    {404, 386, "Windows", "AuthenticAMD", "Turion(tm) 64 Mobile"},
    {516, 516, "Darwin", "Macintosh", "PowerMac"},
    {534, 0, "Darwin", "ARM", "Apple M1"},
    {0, 0, "Darwin", "Apple", "Apple M1"},
    {642, 0, "FreeBSD", "GenuineIntel", "something else"},
    {790, 0, "Android", "ARM", "cortex"},
    /* Linux is looked for first. */
    {278, 278, "Android Linux", "ARM", ""},
};

static void known_hosts_have_their_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text os = text_from(cases[i].os_name), vendor = text_from(cases[i].vendor);
        struct text model = text_from(cases[i].model);
        int64_t fine = hr_class(HR_FINE, os, vendor, model);
        int64_t coarse = hr_class(HR_COARSE, os, vendor, model);

        assert_i64(hr_class_is_known(HR_FINE, fine) ? fine : 0, cases[i].fine);
        assert_i64(hr_class_is_known(HR_COARSE, coarse) ? coarse : 0, cases[i].coarse);
    }
}

static void no_redundancy_has_no_class(void **state)
{
    (void)state;
    assert_i64(hr_class(HR_NONE, TEXT("Linux"), TEXT("GenuineIntel"), TEXT("Xeon")), 0);
    assert_false(hr_class_is_known(HR_NONE, 267));
    assert_false(hr_class_is_known(HR_FINE, 0));
}

static void a_class_tells_its_system(void **state)
{
    (void)state;
    assert_string_equal(hr_class_system(267), "Linux");
    assert_string_equal(hr_class_system(384 + 2), "Windows");
    assert_string_equal(hr_class_system(768 + 22), "Android");
    assert_string_equal(hr_class_system(128 + 3), "else");
    assert_string_equal(hr_class_system(0), "else");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hosts_have_their_class),
        cmocka_unit_test(no_redundancy_has_no_class),
        cmocka_unit_test(a_class_tells_its_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
