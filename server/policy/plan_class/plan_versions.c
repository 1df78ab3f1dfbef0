/* SPDX-License-Identifier: Apache-2.0 */
/* A version is read part by part; what each part is multiplied by is said in the header. */
#include "server/policy/plan_class/plan_versions.h"

#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

size_t version_read_dotted(struct text text, double *ret_numbers, size_t most)
{
    size_t count = 0, at = 0;

    while (count < most && at < text.length && text.at[at] >= '0' && text.at[at] <= '9') {
        double number = 0;

        while (at < text.length && text.at[at] >= '0' && text.at[at] <= '9')
            number = number * 10 + (text.at[at++] - '0');
        ret_numbers[count++] = fmin(number, 1e9);
        if (at >= text.length || text.at[at] != '.')
            break;
        at++;
    }
    return count;
}

static struct text after(struct text text, size_t offset)
{
    return offset >= text.length
               ? NO_TEXT
               : (struct text){.at = text.at + offset, .length = text.length - offset};
}

struct text version_after(struct text text, struct text mark)
{
    size_t found = text_find(text, mark);

    return found >= text.length ? NO_TEXT : after(text, found + mark.length);
}

double plan_os_version(struct text os_name, struct text os_version)
{
    double part[4] = {0};

    if (text_contains_nocase(os_name, TEXT("Windows"))) {
        /* "... Edition, (10.00.19041.00)" */
        struct text version = version_after(os_version, TEXT("("));

        while (version.length > 0 && version_read_dotted(version, part, 4) < 3)
            version = version_after(version, TEXT("("));
        if (version.length == 0)
            return -1;
        return part[0] * 1e8 + part[1] * 1e6 + part[2] * 100 + part[3];
    }
    if (text_contains_nocase(os_name, TEXT("Linux")) ||
        text_contains_nocase(os_name, TEXT("Darwin")) ||
        text_contains_nocase(os_name, TEXT("Android"))) {
        /* "6.1.0-27-amd64", or since 7.9 "Debian GNU/Linux 12 [6.1.0-27-amd64|libc 2.36]" */
        struct text version = version_after(os_version, TEXT("["));

        if (version.length == 0)
            version = text_trim(os_version);
        if (version_read_dotted(version, part, 3) < 2)
            return -1;
        return part[0] * 10000 + part[1] * 100 + part[2];
    }
    return -1;
}

double plan_android_version(struct text os_version)
{
    double part[3] = {0};

    if (version_read_dotted(version_after(os_version, TEXT("(Android ")), part, 3) == 0)
        return -1;
    return part[0] * 10000 + part[1] * 100 + part[2];
}

double plan_libc_version(struct text os_version)
{
    double part[2] = {0};
    struct text version = version_after(os_version, TEXT("|libc "));

    if (version_read_dotted(version, part, 2) < 2)
        return 0;
    return part[0] * 100 + part[1];
}

double opencl_version(struct text text)
{
    double part[2] = {0};

    if (version_read_dotted(version_after(text, TEXT("OpenCL ")), part, 2) < 2)
        return 0;
    return part[0] * 100 + part[1];
}

double opencl_revision(struct text text)
{
    double part[2] = {0};

    if (version_read_dotted(text, part, 2) < 1)
        return 0;
    return part[0] * 100 + part[1];
}

double cal_version(struct text text)
{
    double part[3] = {0};

    if (version_read_dotted(text, part, 3) < 3)
        return 0;
    return part[0] * 1e7 + part[1] * 1e4 + part[2];
}

/* --- in words --------------------------------------------------------------------------------- */

/* What the parts of a version are multiplied by; a part of 0 ends them. */
enum { PARTS = 3 };
static const struct {
    double scales[PARTS];
    int digits; /* of each part but the first, at least */
} forms[] = {
    [VERSION_PLAIN] = {{1}, 1},
    [VERSION_OF_CLIENT] = {{1e4, 100, 1}, 1},
    [VERSION_OF_WINDOWS] = {{1e8, 1e6, 100}, 1},
    [VERSION_OF_LIBRARY] = {{100, 1}, 1},
    [VERSION_OF_CUDA] = {{1000, 10}, 1},
    [VERSION_OF_DRIVER] = {{100, 1}, 2},
    [VERSION_OF_CAL] = {{1e7, 1e4, 1}, 1},
};

struct version_words version_words(enum version_form form, double version)
{
    struct version_words words = {.text = "unknown"};
    double rest = fmin(version, 1e12);
    size_t length = 0;

    if (!(version >= 0))
        return words;
    for (size_t i = 0; i < PARTS && forms[form].scales[i] > 0; i++) {
        /* The second part of Windows 10 and later is 0, and its build may be above 9,999. */
        bool is_ten = form == VERSION_OF_WINDOWS && i == 1 && version >= 10 * forms[form].scales[0];
        double part = is_ten ? 0 : floor(rest / forms[form].scales[i]);

        length += (size_t)snprintf(words.text + length, sizeof words.text - length, "%s%0*.0f",
                                   i > 0 ? "." : "", i > 0 ? forms[form].digits : 1, part);
        rest -= part * forms[form].scales[i];
    }
    return words;
}
