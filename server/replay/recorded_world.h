/* SPDX-License-Identifier: Apache-2.0 */
/* The world of a recorded request: all jobs that are known to have been there are in the pool,
 * nobody else wants them, and nothing is kept of what is taken. */
#ifndef SERVER_REPLAY_RECORDED_WORLD_H
#define SERVER_REPLAY_RECORDED_WORLD_H

#include "server/rpc/world.h"

extern const struct world recorded_world;

#endif
