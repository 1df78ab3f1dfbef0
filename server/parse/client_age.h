/* SPDX-License-Identifier: Apache-2.0 */
/* The ages of clients. Clients of twenty years ask for work, and what they say and read has changed
 * many times; each change is a row of client_ages.def and a constant here, to which the version of
 * a message (message_client_version) is compared: version >= CLIENT_READS_XML. A client whose
 * version is not known counts as older than all of them. */
#ifndef SERVER_PARSE_CLIENT_AGE_H
#define SERVER_PARSE_CLIENT_AGE_H

enum client_age {
#define CLIENT_AGE(name, version, below) CLIENT_##name = (version),
#include "server/parse/client_ages.def"
#undef CLIENT_AGE
};

#endif
