/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/session/ending.h"

#include <signal.h>
#include <stddef.h>
#include <sys/select.h>
#include <time.h>

#include "server/base/banned.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t wanted_by;

static void note(int number)
{
    wanted_by = number;
}

void ending_catch(void)
{
    struct sigaction noting = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND}, before;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &noting, NULL);
}

bool ending_is_wanted(void)
{
    return wanted_by != 0;
}

/* Blocked until it sleeps, so that none comes between looking and sleeping. */
void ending_sleep(double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};
    sigset_t signals, before;

    span.tv_nsec = (long)((seconds - (double)span.tv_sec) * 1e9);
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void)sigaddset(&signals, numbers[i]);
    (void)pthread_sigmask(SIG_BLOCK, &signals, &before);
    if (wanted_by == 0)
        (void)pselect(0, NULL, NULL, NULL, &span, &before);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ending_obey(void)
{
    if (wanted_by == 0)
        return;
    (void)signal(wanted_by, SIG_DFL);
    (void)raise(wanted_by);
}
