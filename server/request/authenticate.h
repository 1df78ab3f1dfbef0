/* SPDX-License-Identifier: Apache-2.0 */
/* The consequences of who is asking: for the step that finds out, and for recorded requests, which
 * already know. */
#ifndef SERVER_REQUEST_AUTHENTICATE_H
#define SERVER_REQUEST_AUTHENTICATE_H

struct request;

/* Once host, preferences and the day are in the attempt: says what stands against new jobs, and
 * makes the plan. Asks no database. */
void authenticate_judge(struct request *request);

#endif
