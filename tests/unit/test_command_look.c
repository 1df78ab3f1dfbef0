/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a command that an option names is there, before it is needed. */
#include "server/passes/command_look.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_files(void **state)
{
    char command[512];

    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/qm-command.XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(command, sizeof(command),
             "cd '%s' && echo : >plain && cp plain good && chmod 644 plain && chmod 755 good", dir);
    return system(command);
}

static int remove_files(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}

/* @: the folder. words NULL: nothing is said. */
static const struct {
    const char *command, *words;
} commands[] = {
    {"@/good", NULL},
    {"  @/good --first 'a b' | cat", NULL},
    {"@/good;true", NULL},
    {"cat", NULL},
    {"cd @ && ./good", NULL},
    {"if true; then cat; fi #", NULL},
    {"'@/what the shell changes'", NULL},
    {"$COMMAND", NULL},
    {"A=1 @/good", NULL},
    {"(cat)", NULL},
    {"@/missing", "/missing: No such file or directory"},
    {"@/missing --first", "/missing: No such file or directory"},
    {"@/plain", "/plain cannot be executed (chmod +x)"},
    {"@", "is not a program"},
    {"there-is-no-such-command a b", "the shell finds no command \"there-is-no-such-command\""},
};

static void put_folder(const char *command, char *ret_words, size_t size)
{
    size_t before = strcspn(command, "@");

    snprintf(ret_words, size, "%.*s%s%s", (int)before, command, command[before] != '\0' ? dir : "",
             command[before] != '\0' ? command + before + 1 : "");
}

static void what_cannot_be_run_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct failure failure = {.status = STATUS_OK};
        char command[256];

        put_folder(commands[i].command, command, sizeof(command));
        assert_status(commands[i].words == NULL ? STATUS_OK : STATUS_IO,
                      command_look(command, &failure));
        if (commands[i].words != NULL && strstr(failure.text, commands[i].words) == NULL)
            fail_msg("%s: %s", command, failure.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_run_is_named, make_files, remove_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
