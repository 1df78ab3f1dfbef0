/* SPDX-License-Identifier: Apache-2.0 */
/* The delay that a request's client gets: policy/refusal/delay.h with this request's load and its
 * own random share. */
#ifndef SERVER_RPC_REQUEST_DELAY_H
#define SERVER_RPC_REQUEST_DELAY_H

#include "server/policy/refusal/delay.h"

struct request;

/* The delay of a cause as this request's client is to be told it; see delay_for. */
double delay_of_request(const struct request *request, enum delay_cause cause, double configured);
/* Raises the answer's delay to what the load alone demands. */
void delay_by_load(struct request *request);

#endif
