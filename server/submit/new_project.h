/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a new project: config.xml and the page by which clients find the scheduler. */
#ifndef SERVER_SUBMIT_NEW_PROJECT_H
#define SERVER_SUBMIT_NEW_PROJECT_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stddef.h>

struct buffer;

struct new_project {
    struct text dir; /* absolute */
    struct text master_url, name;
    struct text db_name, db_host, db_socket, db_user, db_passwd;
    const struct text *scheduler_urls;
    size_t scheduler_count;
};

void project_write_config(const struct new_project *project, struct buffer *buffer);
/* The master page (protocol(7) 1.4): each URL in both forms, each tag on a line of its own, because
 * clients read the page in pieces of 255 bytes. STATUS_TOO_LARGE: a URL that would be cut. */
MUST_CHECK enum status project_write_master_page(struct text name,
                                                 const struct text *scheduler_urls, size_t count,
                                                 struct buffer *buffer, struct failure *failure);

#define MASTER_PAGE_LINE_MAX 254

/* The platforms that every project knows, `anonymous` among them. */
struct standard_platform {
    const char *name, *friendly_name;
};
extern const struct standard_platform standard_platforms[];
extern const size_t standard_platform_count;

#endif
