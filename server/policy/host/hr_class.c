/* SPDX-License-Identifier: Apache-2.0 */
/* A class is the sum of a number for the operating system and one for the processor. Fine classes
 * tell models apart by looking for words in the model's name, in a fixed order; the first word
 * found decides, also where it was not meant ("Model 1" is found in "Model 15"). The numbers are
 * stored in workunits and shared with the project's other programs, so nothing here may be
 * improved. */
#include "server/policy/host/hr_class.h"

#include <stddef.h>

#include "server/base/banned.h"

enum {
    OS_UNKNOWN = 128,
    OS_LINUX = 256,
    OS_WINDOWS = 384,
    OS_DARWIN = 512,
    OS_MASK = ~127,
    CPU_UNKNOWN = 1,
    CPU_INTEL = 2,
    CPU_AMD = 3,
    CPU_MACINTOSH = 4,
    CPU_CELERON = 12,
    CPU_PENTIUM = 13,
    CPU_ATHLON = 5,
    CPU_ARM = 22
};

/* The first row whose word is in the text decides. A row with `deeper` goes on in that table. */
struct word_rule {
    const char *word; /* NULL ends the table and holds the number for "none of these" */
    int64_t number;
    const struct word_rule *deeper;
};

static const struct word_rule os_rules[] = {
    {"Linux", OS_LINUX, NULL}, {"Windows", OS_WINDOWS, NULL}, {"Darwin", OS_DARWIN, NULL},
    {"FreeBSD", 640, NULL},    {"Android", 768, NULL},        {NULL, OS_UNKNOWN, NULL},
};

static const struct word_rule celeron_rules[] = {
    {" M ", 18, NULL},
    {" D ", 17, NULL},
    {"III", 15, NULL},
    {NULL, CPU_CELERON, NULL},
};
static const struct word_rule pentium_rules[] = {
    {"III", 15, NULL}, {"II", 14, NULL},  {" 4 ", 16, NULL},
    {" D ", 17, NULL}, {" M ", 18, NULL}, {NULL, CPU_PENTIUM, NULL},
};
static const struct word_rule x86_rules[] = {
    {"Family 6 Model 6", 12, NULL},  {"Family 6 Model 9", 18, NULL},
    {"Family 6 Model 10", 11, NULL}, {"Family 5 Model 1", 13, NULL},
    {"Family 5 Model 2", 13, NULL},  {"Family 6 Model 1", 13, NULL},
    {"Family 15 Model 1", 16, NULL}, {"Family 15 Model 2", 16, NULL},
    {"Family 6 Model 7", 15, NULL},  {"Family 6 Model 8", 15, NULL},
    {"Family 6 Model 11", 15, NULL}, {"Family 6 Model 3", 14, NULL},
    {"Family 6 Model 5", 14, NULL},  {NULL, CPU_INTEL, NULL},
};
static const struct word_rule intel_rules[] = {
    {"Xeon", 11, NULL},    {"Celeron", 0, celeron_rules},
    {"Core", 21, NULL},    {"Pentium", 0, pentium_rules},
    {"x86", 0, x86_rules}, {NULL, CPU_INTEL, NULL},
};
static const struct word_rule athlon_rules[] = {
    {"XP", 10, NULL},
    {"MP", 19, NULL},
    {"64", 9, NULL},
    {NULL, CPU_ATHLON, NULL},
};
static const struct word_rule amd_rules[] = {
    {"Duron", 6, NULL},   {"Opteron", 8, NULL},        {"Sempron", 7, NULL},
    {"Turion", 20, NULL}, {"Athlon", 0, athlon_rules}, {NULL, CPU_AMD, NULL},
};

/* In which table the model is looked up; without one the vendor decides alone. */
static const struct {
    const char *vendor;
    const struct word_rule *models;
    int64_t fine, coarse;
} vendors[] = {
    {"Intel", intel_rules, 0, CPU_INTEL},
    {"AMD", amd_rules, 0, CPU_INTEL},
    {"Macintosh", NULL, CPU_MACINTOSH, CPU_MACINTOSH},
    {"ARM", NULL, CPU_ARM, CPU_ARM},
};

static int64_t look_up(const struct word_rule *rules, struct text text)
{
    for (;; rules++) {
        if (rules->word == NULL)
            return rules->number;
        if (!text_contains_nocase(text, text_from(rules->word)))
            continue;
        if (rules->deeper == NULL)
            return rules->number;
        rules = rules->deeper - 1;
    }
}

static int64_t cpu_class(enum hr_type type, struct text p_vendor, struct text p_model)
{
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        if (!text_contains_nocase(p_vendor, text_from(vendors[i].vendor)))
            continue;
        if (type == HR_COARSE)
            return vendors[i].coarse;
        return vendors[i].models == NULL ? vendors[i].fine : look_up(vendors[i].models, p_model);
    }
    /* Coarse classes also find ARM in the model's name, and only in capitals. */
    if (type == HR_COARSE && text_contains(p_model, TEXT("ARM")))
        return CPU_ARM;
    return CPU_UNKNOWN;
}

int64_t hr_class(enum hr_type type, struct text os_name, struct text p_vendor, struct text p_model)
{
    if (type == HR_NONE)
        return 0;
    return look_up(os_rules, os_name) + cpu_class(type, p_vendor, p_model);
}

const char *hr_class_system(int64_t class_number)
{
    const struct word_rule *rule = os_rules;

    while (rule->word != NULL && rule->number != (class_number & OS_MASK))
        rule++;
    return rule->word == NULL ? "else" : rule->word;
}

bool hr_class_is_known(enum hr_type type, int64_t class_number)
{
    int64_t os = class_number & OS_MASK, cpu = class_number - os;

    if (type == HR_NONE || class_number <= 0)
        return false;
    if (type == HR_FINE)
        return os != OS_UNKNOWN && cpu != CPU_UNKNOWN;
    if (os == OS_WINDOWS || os == OS_LINUX)
        return true;
    return os == OS_DARWIN && (cpu == CPU_INTEL || cpu == CPU_MACINTOSH);
}
