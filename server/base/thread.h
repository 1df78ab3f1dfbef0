/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that help the first one: no signal comes to them. */
#ifndef SERVER_BASE_THREAD_H
#define SERVER_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* To be joined. False: there is none, and the caller goes on without it. */
bool thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context);

#endif
