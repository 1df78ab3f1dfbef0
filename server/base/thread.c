/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/thread.h"

#include <signal.h>
#include <stddef.h>

#include "server/base/banned.h"

bool thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    bool is_started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(ret_thread, NULL, run, context) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}
