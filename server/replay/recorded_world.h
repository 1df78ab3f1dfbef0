/* SPDX-License-Identifier: Apache-2.0 */
/* The world of a recorded request: the pool holds all jobs known to have been there, nobody else
 * wants them, and taking one leaves no trace. */
#ifndef SERVER_REPLAY_RECORDED_WORLD_H
#define SERVER_REPLAY_RECORDED_WORLD_H

#include "server/rpc/world.h"

extern const struct world recorded_world;

#endif
