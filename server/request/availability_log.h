/* SPDX-License-Identifier: Apache-2.0 */
/* The clients' logs of when they could compute (time_stats_log), kept for studies of volunteers'
 * computers. */
#ifndef SERVER_REQUEST_AVAILABILITY_LOG_H
#define SERVER_REQUEST_AVAILABILITY_LOG_H

struct request;

/* After the commit, if the project asks for the logs and this request has one: a file for each
 * host, time_stats_log/ID MODULO 1000/ID in the project's folder (protocol(7) 2.17). */
void availability_log_keep(const struct request *request);

#endif
