/* SPDX-License-Identifier: Apache-2.0 */
/* What both readers of FastCGI records know of a record's head. */
#ifndef SERVER_WEB_FCGI_PARTS_H
#define SERVER_WEB_FCGI_PARTS_H

enum {
    FCGI_HEAD_BYTES = 8,
    FCGI_BEGIN_BYTES = 8, /* content of RECORD_BEGIN */
    FCGI_VERSION = 1,
    FCGI_RESPONDER = 1 /* the role that web servers want of us */
};
enum record_type {
    RECORD_BEGIN = 1,
    RECORD_END = 3,
    RECORD_PARAMS = 4,
    RECORD_STDIN = 5,
    RECORD_STDOUT = 6
};

static inline unsigned fcgi_number(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

#endif
